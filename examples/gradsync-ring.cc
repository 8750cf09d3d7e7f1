// SPDX-License-Identifier: GPL-2.0-only
// Ring all-reduce on a graph of one's own: six switches in a circle, a host at each.
//
//   ./ns3 run "gradsync-ring --packets=50"
//
// Every directed link of the circle belongs to one pair of neighbours. Without acknowledgements,
// which go against the direction of the data, nothing queues, and the time is known to the
// picosecond. A part of the gradient is n packets; its way has h = 3 links. With t for a packet on
// a link and d for the delay of a link, one step of the ring takes
//
//   (n + h - 1) t + h d        (n packets leave the host, the last one is stored h - 1 times more)
//
// and the ring of w hosts has 2(w - 1) steps, of which each begins when the one before is
// delivered.
#include "ns3/command-line.h"
#include "ns3/exchange-helper.h"
#include "ns3/fabric-helper.h"
#include "ns3/fabric-host.h"
#include "ns3/recorder.h"
#include "ns3/simulator.h"
#include "ns3/uinteger.h"
#include "ns3/wire-format.h"

#include <fmt/format.h>

using namespace ns3;
using namespace ns3::gradsync;

namespace
{

constexpr uint32_t WORKERS = 6;
constexpr uint32_t LINKS_OF_WAY = 3;
constexpr uint32_t MTU_BYTES = 1000;
const DataRate RATE("8Gbps"); // a byte is a nanosecond
const Time DELAY = NanoSeconds(500);

Topology
MakeCircle()
{
    Topology topology;
    std::vector<NodeId> switches;
    for (uint32_t i = 0; i < WORKERS; ++i)
    {
        switches.push_back(topology.AddNode(fmt::format("switch{}", i), NodeKind::Switch, 1));
        const auto host = topology.AddNode(fmt::format("host{}", i), NodeKind::Host, 0);
        topology.AddLink(host, switches[i], RATE, DELAY, LinkKind::Host);
    }
    for (uint32_t i = 0; i < WORKERS; ++i)
    {
        topology.AddLink(switches[i], switches[(i + 1) % WORKERS], RATE, DELAY, LinkKind::Fabric);
    }
    return topology;
}

} // namespace

int
main(int argc, char* argv[])
{
    Time::SetResolution(Time::PS);
    uint32_t packets = 100;
    CommandLine command(__FILE__);
    command.AddValue("packets", "Packets of each part of the gradient", packets);
    command.Parse(argc, argv);

    FabricHelper fabric("roce");
    fabric.SetTransportAttribute("Mtu", UintegerValue(MTU_BYTES));
    fabric.SetTransportAttribute("AckEvery", UintegerValue(0));
    const NodeContainer hosts = fabric.Install(MakeCircle());

    ExchangeHelper exchange("ring");
    exchange.SetAttribute("GradientBytes", UintegerValue(uint64_t{WORKERS} * packets * MTU_BYTES));
    exchange.Install(hosts);

    const Recorder recorder(FabricHost::Of(hosts)->GetEngine(), Recorder::Detail::Iterations);
    Simulator::Run();
    Simulator::Destroy();
    const auto& iteration = recorder.GetIterations().front();
    const auto ict = iteration.end - iteration.start;

    const auto packet = NanoSeconds(wire::RoceDataBytes(MTU_BYTES));
    const auto step = (packets + LINKS_OF_WAY - 1) * packet + LINKS_OF_WAY * DELAY;
    const auto expected = 2 * (WORKERS - 1) * step;
    fmt::print("ring of {} hosts: {} ps, by the closed form {} ps\n",
               WORKERS,
               ict.GetPicoSeconds(),
               expected.GetPicoSeconds());
    return ict == expected ? 0 : 1;
}
