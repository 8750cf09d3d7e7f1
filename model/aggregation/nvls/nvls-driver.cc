// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/nvls-driver.h"

#include "ns3/nvls-header.h"
#include "ns3/nvls-node.h"
#include "ns3/nvls-session.h"
#include "ns3/uinteger.h"

namespace ns3::gradsync
{

NS_OBJECT_ENSURE_REGISTERED(NvlsDriver);

NvlsDriver::NvlsDriver()
    : NativeDriver("NVLS")
{
}

TypeId
NvlsDriver::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::gradsync::NvlsDriver")
            .SetParent<NativeDriver>()
            .SetGroupName("GradSync")
            .AddConstructor<NvlsDriver>()
            .AddAttribute("PayloadBytes",
                          "Data of a full packet, in bytes, a multiple of 4 (NVLink: up to 16 "
                          "flits of 16 bytes). Larger ones are simulated faster.",
                          UintegerValue(256),
                          MakeUintegerAccessor(&NvlsDriver::m_payloadBytes),
                          MakeUintegerChecker<uint32_t>(4, 8192))
            .AddAttribute("HeaderBytes",
                          "What each packet, a request or an acknowledgement too, has beside its "
                          "data, in bytes (NVLink: a flit of 16).",
                          UintegerValue(16),
                          MakeUintegerAccessor(&NvlsDriver::m_headerBytes),
                          MakeUintegerChecker<uint32_t>(1, 1024))
            .AddAttribute("Window",
                          "Packets that a GPU has under way, for each of its reductions and "
                          "multicasts: the credits of its requests.",
                          UintegerValue(256),
                          MakeUintegerAccessor(&NvlsDriver::m_window),
                          MakeUintegerChecker<uint32_t>(1, 65536))
            .AddAttribute("Timeout",
                          "A GPU that gets no result for this long sends its requests again; "
                          "doubled with each time in a row, up to 64 times.",
                          TimeValue(MilliSeconds(10)),
                          MakeTimeAccessor(&NvlsDriver::m_timeout),
                          MakeTimeChecker(NanoSeconds(1)));
    return tid;
}

bool
NvlsDriver::HasFlow(AggregationFlow flow) const
{
    return flow != AggregationFlow::AllReduce;
}

std::unique_ptr<AggregationSession>
NvlsDriver::MakeSession(const AggregationGroup& group, uint32_t id)
{
    return std::make_unique<NvlsSession>(*this, group, id);
}

std::unique_ptr<AggregationNode>
NvlsDriver::MakeNode(NodeId node)
{
    auto& network = GetNetwork();
    return std::make_unique<NvlsNode>(*network.fabric->GetSwitch(node),
                                      network.fabric->GetPool(),
                                      network.contents,
                                      network.settings.values == VALUES_FLOAT);
}

void
NvlsDriver::Receive(FabricPacket* packet, uint32_t endpoint, TimeStepCount /* now */)
{
    const auto content = TakeContent(packet);
    const auto& header = content.As<NvlsHeader>();
    const auto* session = FindSession<NvlsSession>(header.job);
    if (!session)
    {
        return; // of a job that is over
    }
    const auto workers = session->GetWorkers();
    if (header.member < workers.size() && workers[header.member]->GetEndpoint() == endpoint)
    {
        workers[header.member]->OnResult(content, GetNetwork().statistics);
    }
}

} // namespace ns3::gradsync
