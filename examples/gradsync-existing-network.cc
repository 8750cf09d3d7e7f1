// SPDX-License-Identifier: GPL-2.0-only
// An exchange on a network that is there already, built with ns-3's own helpers:
//
//   ./ns3 run "gradsync-existing-network --segments=3"
//
// Three workers on either side of a dumbbell exchange in a ring, over ns-3's TCP. A part of the
// gradient is n segments, few enough for the first window of 10, of 1448 bytes and 54 of headers
// (PPP, IPv4, TCP). With t for one on a link and d for the delay of a link, a part that passes h
// links takes
//
//   (n + h - 1) t + h d        (n segments leave the host, the last one is stored h - 1 times more)
//
// Ways 2 -> 3 and 5 -> 0 have h = 3 links, all others 2. The ring has 2(w - 1) steps, and a chain
// of 10 ways around it, of which each waits for the one before, has 4 of the long ones. That is
// what it takes at least; more than that only opening connections takes, one round trip of small
// packets, and acknowledgements: at most n / 2 + 1 a step on each link, of 54 bytes.
#include "ns3/command-line.h"
#include "ns3/gradsync-module.h"
#include "ns3/internet-stack-helper.h"
#include "ns3/ipv4-address-helper.h"
#include "ns3/ipv4-global-routing-helper.h"
#include "ns3/point-to-point-helper.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <iostream>

using namespace ns3;
using namespace ns3::gradsync;

namespace
{

constexpr uint32_t WORKERS = 6;
constexpr uint32_t PAYLOAD = 1448;
constexpr uint32_t HEADERS = 54;
constexpr uint32_t LARGEST_HEADERS = 82; //!< of a request for a connection
const Time DELAY = MicroSeconds(20);

/// Nothing in here knows of gradsync.
NodeContainer
BuildDumbbell()
{
    NodeContainer hosts(WORKERS);
    const NodeContainer routers(2);
    InternetStackHelper().Install(NodeContainer(hosts, routers));
    PointToPointHelper link;
    link.SetDeviceAttribute("DataRate", StringValue("1Gbps")); // a byte takes 8 ns
    link.SetChannelAttribute("Delay", TimeValue(DELAY));
    Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.0");
    for (uint32_t i = 0; i < WORKERS; ++i)
    {
        addresses.Assign(link.Install(hosts.Get(i), routers.Get(i / (WORKERS / 2))));
        addresses.NewNetwork();
    }
    addresses.Assign(link.Install(routers.Get(0), routers.Get(1)));
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();
    return hosts;
}

} // namespace

int
main(int argc, char* argv[])
{
    uint32_t segments = 4;
    CommandLine command(__FILE__);
    command.AddValue("segments", "Of each part of the gradient, 4 at most for the bound", segments);
    command.Parse(argc, argv);

    const NodeContainer hosts = BuildDumbbell();
    ExchangeHelper exchange("ring");
    exchange.SetAttribute("GradientBytes", UintegerValue(uint64_t{WORKERS} * segments * PAYLOAD));
    exchange.Install(hosts);

    const auto network = FabricHost::Of(hosts);
    const Recorder recorder(network->GetEngine(), Recorder::Detail::Iterations);
    Simulator::Run();
    const auto ict = recorder.GetIterations().front().end;
    const auto bytes = network->GetTransport()->GetStatistics().goodputBytes;
    Simulator::Destroy();

    const auto least = [](uint32_t count, uint32_t links) {
        return NanoSeconds(8) * ((count + links - 1) * (PAYLOAD + HEADERS)) + links * DELAY;
    };
    const auto shortest = 6 * least(segments, 2) + 4 * least(segments, 3);
    const auto small = NanoSeconds(8) * ((6 * 2 + 4 * 3) * (segments / 2 + 1) * HEADERS);
    const auto longest = shortest + small + 2 * 3 * (DELAY + NanoSeconds(8) * LARGEST_HEADERS);
    const auto planned = uint64_t{2} * (WORKERS - 1) * WORKERS * segments * PAYLOAD;
    const bool isInside = ict >= shortest && ict <= longest;
    std::cout << "ring on a dumbbell: " << bytes << " bytes, by the plan " << planned << "; "
              << (isInside ? "inside" : "outside") << " the bounds of " << shortest.GetNanoSeconds()
              << " and " << longest.GetNanoSeconds() << " ns\n";
    return bytes == planned && isInside ? 0 : 1;
}
