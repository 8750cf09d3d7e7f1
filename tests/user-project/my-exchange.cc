// SPDX-License-Identifier: GPL-2.0-only
// A ring all-reduce of w = 8 workers around one switch, as a program of a user's own.
//
// A part of the gradient is n packets. With t for one on a link and d for the delay of a link, and
// without acknowledgements, a step takes (n + 1) t + 2 d: n packets leave the worker, and the
// switch stores the last one. The ring has 2(w - 1) steps (doc/schemes.rst).
#include <ns3/gradsync.h>
#include <ns3/simulator.h>
#include <ns3/uinteger.h>

#include <iostream>

using namespace ns3;
using namespace ns3::gradsync;

int
main()
{
    constexpr uint32_t w = 8;
    constexpr uint32_t n = 100;
    Time::SetResolution(Time::PS);
    FabricHelper fabric("roce");
    fabric.SetTransportAttribute("Mtu", UintegerValue(1000));
    fabric.SetTransportAttribute("AckEvery", UintegerValue(0));
    const LinkOptions link{DataRate("8Gbps"), MicroSeconds(1)}; // a byte is a nanosecond
    const NodeContainer hosts = fabric.Install(MakeStarTopology({w, link, {}}));

    ExchangeHelper exchange("ring");
    exchange.SetAttribute("GradientBytes", UintegerValue(uint64_t{w} * n * 1000));
    exchange.Install(hosts);
    const Recorder recorder(FabricHost::Of(hosts)->GetEngine(), Recorder::Detail::Iterations);
    Simulator::Run();
    Simulator::Destroy();

    const auto t = NanoSeconds(wire::RoceDataBytes(1000));
    const auto expected = 2 * (w - 1) * ((n + 1) * t + 2 * link.delay);
    std::cout << recorder.GetIterations().front().end.GetPicoSeconds() << " ps, by the closed form "
              << expected.GetPicoSeconds() << " ps\n";
    return recorder.GetIterations().front().end == expected ? 0 : 1;
}
