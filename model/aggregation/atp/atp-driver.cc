// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/atp-driver.h"

#include "ns3/aggregation-address.h"
#include "ns3/atp-frame.h"
#include "ns3/atp-node.h"
#include "ns3/atp-session.h"
#include "ns3/double.h"
#include "ns3/udp-frame.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <bit>
#include <fmt/format.h>
#include <stdexcept>

namespace ns3::gradsync
{

NS_OBJECT_ENSURE_REGISTERED(AtpDriver);

TypeId
AtpDriver::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::gradsync::AtpDriver")
            .SetParent<AggregationDriver>()
            .SetGroupName("GradSync")
            .AddConstructor<AtpDriver>()
            .AddAttribute("Aggregators",
                          "Aggregators of a switch, which all jobs share; 0: none, all packets go "
                          "to the parameter server.",
                          UintegerValue(4096),
                          MakeUintegerAccessor(&AtpDriver::m_aggregators),
                          MakeUintegerChecker<uint32_t>(0, 1U << 24))
            .AddAttribute("BusyShare",
                          "Share of the aggregators of each switch that jobs outside the "
                          "simulation hold, spread evenly.",
                          DoubleValue(0.0),
                          MakeDoubleAccessor(&AtpDriver::m_busyShare),
                          MakeDoubleChecker<double>(0.0, 1.0))
            .AddAttribute("Window",
                          "Most packets that a worker has under way, and how many it begins with "
                          "(NSDI 2021, section 3.6).",
                          UintegerValue(100),
                          MakeUintegerAccessor(&AtpDriver::m_window),
                          MakeUintegerChecker<uint32_t>(1, 65536))
            .AddAttribute("FirstTimeout",
                          "A worker without the result of a packet for this long sends it again.",
                          TimeValue(MilliSeconds(50)),
                          MakeTimeAccessor(&AtpDriver::m_firstTimeout),
                          MakeTimeChecker(NanoSeconds(1)))
            .AddAttribute("Timeout",
                          "And again after this long; doubled from the tenth time in a row on.",
                          TimeValue(MicroSeconds(200)),
                          MakeTimeAccessor(&AtpDriver::m_timeout),
                          MakeTimeChecker(NanoSeconds(1)));
    return tid;
}

void
AtpDriver::Check(const AggregationGroup& group) const
{
    if (!group.server)
    {
        throw std::invalid_argument("ATP needs a parameter server");
    }
    if (group.rootSwitch)
    {
        throw std::invalid_argument("ATP's switches are those of the racks of workers and server: "
                                    "no other can be the root");
    }
    if (GetNetwork().settings.engine == ENGINE_P4)
    {
        throw std::invalid_argument("the engine p4 is for the slot protocol "
                                    "(switchml, passing): ATP runs natively");
    }
    if (group.endpoints.size() > AtpHeader::MAX_WORKERS)
    {
        throw std::invalid_argument(fmt::format("{} workers, but the bitmaps of ATP hold {}",
                                                group.endpoints.size(),
                                                AtpHeader::MAX_WORKERS));
    }
}

std::unique_ptr<AggregationSession>
AtpDriver::MakeSession(const AggregationGroup& group, uint32_t id)
{
    return std::make_unique<AtpSession>(*this, group, id);
}

std::unique_ptr<AggregationNode>
AtpDriver::MakeNode(NodeId node)
{
    auto& network = GetNetwork();
    return std::make_unique<AtpNode>(
        *network.fabric->GetSwitch(node),
        network.fabric->GetPool(),
        network.contents,
        AtpSwitch::Config{.aggregators = m_aggregators,
                          .valueCount = ATP_VALUES,
                          .busyShare = m_busyShare,
                          .window = m_window,
                          .computesSums = network.settings.values != VALUES_SIZES});
}

void
AtpDriver::Receive(FabricPacket* packet, uint32_t endpoint, TimeStepCount /* now */)
{
    // A copy: the endpoint may send, which may use these contents again.
    const auto content = GetNetwork().contents.Get(*packet);
    if (auto* session = FindSession<AtpSession>(content.As<AtpHeader>().job))
    {
        session->Receive(content, *packet, endpoint);
    }
    GetNetwork().fabric->GetPool().Give(packet);
}

uint32_t
AtpDriver::CountValues(const AggregationPacket& /* content */) const
{
    return ATP_VALUES;
}

/**
 * Level 0 are the workers' bits, level 1 those of the switches that have any of them. Of the level
 * that counts at the next switch only this is known: workers' packets are of level 0, all others of
 * data of level 1.
 */
std::vector<uint8_t>
AtpDriver::MakeFrame(const FabricPacket& packet, NodeId sender, NodeId receiver)
{
    const auto& content = GetNetwork().contents.Get(packet);
    const auto& atp = content.As<AtpHeader>();
    const auto* session = FindSession<AtpSession>(atp.job);
    if (!session)
    {
        return {}; // of a job that is over
    }
    const bool isData = atp.stage == AtpStage::Data;
    auto header = session->MakeWireHeader(atp, m_aggregators);
    const bool isFromSwitch = GetNetwork().topology->GetNodes()[sender].kind == NodeKind::Switch;
    header.level = isData && isFromSwitch ? 1 : 0;
    const auto address = [](uint32_t endpoint) {
        return AggregationAddress::FIRST_ENDPOINT + endpoint;
    };
    const auto& endpoints = *session->GetEndpoints();
    const auto first = static_cast<size_t>(std::countr_zero(atp.bitmap));
    const auto server = address(session->GetServer());
    const auto worker = address(endpoints[std::min(first, endpoints.size() - 1)]);
    std::vector<uint8_t> frame(GetAtpFrameBytes(ATP_VALUES));
    WriteUdpHeaders(
        frame,
        {AggregationAddress::MakeMac(sender), isData ? worker : server},
        {AggregationAddress::MakeMac(receiver), isData ? server : address(packet.destination)},
        ATP_UDP_PORT);
    const bool isMarked = (packet.flags & PacketFlag::CONGESTION_EXPERIENCED) != 0;
    constexpr size_t DIFFSERV_AT = 15;
    frame[DIFFSERV_AT] = isMarked ? 3 : 2; // RFC 3168
    auto values = content.values;
    values.resize(ATP_VALUES); // zeros where only sizes matter
    WriteAtpPayload(frame, header, values);
    WriteChecksums(frame);
    return frame;
}

} // namespace ns3::gradsync
