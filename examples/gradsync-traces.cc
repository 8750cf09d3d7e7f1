// SPDX-License-Identifier: GPL-2.0-only
// Listening to trace sources of an exchange: ./ns3 run gradsync-traces
//
// m = 8 workers send their gradients to a parameter server at once, which sends everybody the sum.
// With n packets in a gradient, the k-th packets of all workers reach the switch together, and it
// has begun to send k packets to the server by then, or k - 1 where arrivals are counted first:
// when the last ones come, n (m - 1) packets wait there, or one more. Nothing marks or stops them,
// as there is no congestion control and room for all.
#include "ns3/boolean.h"
#include "ns3/config.h"
#include "ns3/gradsync-module.h"
#include "ns3/simulator.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <cstdint>
#include <iostream>
#include <string>

using namespace ns3;
using namespace ns3::gradsync;

namespace
{

constexpr uint32_t WORKERS = 8;
constexpr uint32_t PACKETS = 50;
constexpr uint32_t PACKET_BYTES = 1082; // on the wire: 1000 and headers, preamble and gap

/// What has been heard.
struct Heard
{
    uint64_t sends{0};
    uint64_t bytes{0};
    uint64_t longestQueue{0};
    Time end;
};

Heard g_heard;

// The trace sources fix these types.
// NOLINTBEGIN(performance-unnecessary-value-param)
void
OnSend(std::string /* path */, uint32_t /* rank */, OperationId /* operation */, uint64_t bytes)
{
    ++g_heard.sends;
    g_heard.bytes += bytes;
}

void
OnQueue(uint32_t /* port */, uint64_t queueBytes, Time /* at */)
{
    g_heard.longestQueue = std::max(g_heard.longestQueue, queueBytes);
}

// NOLINTEND(performance-unnecessary-value-param)

void
OnIteration(const IterationRecord& record)
{
    g_heard.end = record.end;
}

} // namespace

int
main()
{
    Time::SetResolution(Time::PS);
    FabricHelper fabric("roce");
    fabric.SetTransportAttribute("Mtu", UintegerValue(1000));
    fabric.SetTransportAttribute("AckEvery", UintegerValue(0));
    fabric.SetFabricAttribute("Pfc", BooleanValue(false));
    const LinkOptions link{DataRate("8Gbps"), MicroSeconds(1)};
    const NodeContainer hosts = fabric.Install(MakeStarTopology({WORKERS + 1, link, {}}));
    ExchangeHelper exchange("ps", "servers", 1);
    exchange.SetAttribute("GradientBytes", UintegerValue(uint64_t{PACKETS} * 1000));
    exchange.Install(hosts);

    // By a path, of every rank; without one, of the network and of the engine.
    Config::Connect("/NodeList/*/ApplicationList/*/$ns3::gradsync::ExchangeApplication/Send",
                    MakeCallback(&OnSend));
    const auto network = FabricHost::Of(hosts);
    const auto packets = network->GetTransport()->GetCapabilities()->GetFabric();
    packets->TraceConnectWithoutContext("Queue", MakeCallback(&OnQueue));
    network->GetEngine()->TraceConnectWithoutContext("Iteration", MakeCallback(&OnIteration));
    Simulator::Run();
    Simulator::Destroy();

    const auto least = uint64_t{PACKETS} * (WORKERS - 1) * PACKET_BYTES;
    std::cout << g_heard.sends << " transfers of " << g_heard.bytes << " bytes until "
              << g_heard.end.GetPicoSeconds() << " ps; longest queue " << g_heard.longestQueue
              << " bytes, by the closed form " << least << " or " << PACKET_BYTES << " more\n";
    const bool isRight = g_heard.sends == uint64_t{2} * WORKERS &&
                         g_heard.bytes == uint64_t{2} * WORKERS * PACKETS * 1000;
    const auto more = g_heard.longestQueue - least;
    return isRight && (more == 0 || more == PACKET_BYTES) ? 0 : 1;
}
