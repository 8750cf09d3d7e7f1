// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/netreduce-driver.h"

#include "ns3/aggregation-contents.h"
#include "ns3/netreduce-header.h"
#include "ns3/netreduce-node.h"
#include "ns3/netreduce-session.h"
#include "ns3/roce-transport.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <boost/endian/conversion.hpp>
#include <fmt/format.h>
#include <stdexcept>

namespace ns3::gradsync
{

using boost::endian::store_big_u16;
using boost::endian::store_big_u32;
using boost::endian::store_big_u64;

NS_OBJECT_ENSURE_REGISTERED(NetReduceDriver);

TypeId
NetReduceDriver::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::gradsync::NetReduceDriver")
            .SetParent<AggregationDriver>()
            .SetGroupName("GradSync")
            .AddConstructor<NetReduceDriver>()
            .AddAttribute("MessagePackets",
                          "Packets of a full message, each of one MTU.",
                          UintegerValue(64),
                          MakeUintegerAccessor(&NetReduceDriver::m_messagePackets),
                          MakeUintegerChecker<uint32_t>(1, 65536))
            .AddAttribute("Window",
                          "Messages that a worker may have under way without their sums. Boxes "
                          "keep twice as many for each job.",
                          UintegerValue(4),
                          MakeUintegerAccessor(&NetReduceDriver::m_window),
                          MakeUintegerChecker<uint32_t>(1, 4096));
    return tid;
}

void
NetReduceDriver::Check(const AggregationGroup& /* group */) const
{
    const auto& network = GetNetwork();
    if (network.settings.engine == ENGINE_P4)
    {
        throw std::invalid_argument("the engine p4 is for the slot protocol (switchml, passing): "
                                    "NetReduce runs natively");
    }
    if (!network.foreign.empty())
    {
        throw std::invalid_argument("NetReduce does not go with programs of the user");
    }
    if (network.settings.saturate)
    {
        throw std::invalid_argument(
            "NetReduce's sums wrap around: attribute Saturate is not for it");
    }
    const auto& transport = *network.transport;
    if (transport.GetRecovery() != RECOVERY_GO_BACK_N)
    {
        throw std::invalid_argument("NetReduce's boxes take packets in order: attribute Recovery "
                                    "must be go-back-n");
    }
    if (transport.UsesTelemetry())
    {
        throw std::invalid_argument("NetReduce's packets have no room for the telemetry of the "
                                    "congestion control hpcc");
    }
    if (transport.GetMtuBytes() % BYTES_PER_VALUE != 0)
    {
        throw std::invalid_argument(fmt::format("NetReduce: attribute Mtu is {} bytes, which are "
                                                "no whole number of integers",
                                                transport.GetMtuBytes()));
    }
}

std::unique_ptr<AggregationSession>
NetReduceDriver::MakeSession(const AggregationGroup& group, uint32_t id)
{
    return std::make_unique<NetReduceSession>(*this, group, id);
}

uint32_t
NetReduceDriver::GetValueCount() const
{
    return GetNetwork().transport->GetMtuBytes() / BYTES_PER_VALUE;
}

std::unique_ptr<AggregationNode>
NetReduceDriver::MakeNode(NodeId node)
{
    auto& network = GetNetwork();
    return std::make_unique<NetReduceNode>(*network.fabric->GetSwitch(node),
                                           network.fabric->GetPool(),
                                           network.contents,
                                           network.settings.values != VALUES_SIZES);
}

/// The queue pair takes it first; what it may bring about is up to the worker.
void
NetReduceDriver::Receive(FabricPacket* packet, uint32_t endpoint, TimeStepCount now)
{
    auto& network = GetNetwork();
    const auto content = network.contents.Get(*packet);
    const auto& header = content.As<NetReduceHeader>();
    if (!header.isResult)
    {
        network.fabric->GetPool().Give(packet); // no box has seen it
        return;
    }
    network.contents.Release(packet->feedback);
    packet->feedback = header.feedback;
    packet->flags &= static_cast<uint8_t>(~PacketFlag::PROGRAM);
    GetHost().GetSink(endpoint).Receive(packet, endpoint, now);
    auto* session = FindSession<NetReduceSession>(header.job);
    if (!session)
    {
        return;
    }
    const auto workers = session->GetWorkers();
    if (header.child < workers.size() && workers[header.child]->GetEndpoint() == endpoint)
    {
        workers[header.child]->OnResult(content, network.statistics);
    }
}

uint32_t
NetReduceDriver::CountValues(const AggregationPacket& /* content */) const
{
    return GetValueCount();
}

std::vector<uint8_t>
NetReduceDriver::MakeFrame(const FabricPacket& packet, NodeId /* sender */, NodeId /* receiver */)
{
    const auto& content = GetNetwork().contents.Get(packet);
    const auto& header = content.As<NetReduceHeader>();
    const size_t start = header.messageBytes != 0 ? NetReduceHeader::BYTES : 0;
    const auto valueBytes = BYTES_PER_VALUE * content.values.size();
    std::vector<uint8_t> payload(start + std::max<size_t>(valueBytes, packet.payloadBytes));
    if (start != 0)
    {
        store_big_u16(payload.data(), header.job);
        store_big_u16(&payload[2], header.child);
        store_big_u64(&payload[4], header.sequence);
        store_big_u32(&payload[12], header.messageBytes);
    }
    for (size_t i = 0; i < content.values.size(); ++i)
    {
        store_big_u32(&payload[start + BYTES_PER_VALUE * i],
                      static_cast<uint32_t>(content.values[i]));
    }
    payload.resize(start + packet.payloadBytes);
    return payload;
}

} // namespace ns3::gradsync
