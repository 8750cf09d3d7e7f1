// SPDX-License-Identifier: GPL-2.0-only
// RAT in four racks of four hosts whose uplinks are 6:1 oversubscribed, as it is and with a link
// between a leaf and a spine down from 20 % of the exchange on.
//
//   ./ns3 run gradsync-rat
//
// On an ideal network RAT of r racks with w workers takes T = 2K/(wB) max[w-1, o(r-1)]
// (doc/schemes.rst), here the second one: 2K(r-1)/r bytes leave each rack, whose uplinks have
// Bw/(ro) together. Packets are 1,106 bytes on the wire for 1,024 of the gradient, so T 1106/1024
// is a bound; delays and the ends of trees take a little more.
//
// When one of the two uplinks of a rack fails at 0.2 T, at least 80 % of what is to leave the rack
// are left for the other one alone: 0.2 T + 2 (1 - 0.2) T = 1.8 T is a bound then.
#include "ns3/exchange-helper.h"
#include "ns3/fabric-helper.h"
#include "ns3/fabric-host.h"
#include "ns3/fault-injector.h"
#include "ns3/recorder.h"
#include "ns3/simulator.h"
#include "ns3/spine-leaf-topology.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"
#include "ns3/wire-format.h"

#include <fmt/format.h>

using namespace ns3;
using namespace ns3::gradsync;

namespace
{

constexpr uint32_t RACKS = 4;
constexpr uint32_t WORKERS = 16;
constexpr double OVERSUBSCRIPTION = 6;
constexpr uint64_t GRADIENT_BYTES = 16'777'216;
constexpr double HOST_RATE = 10e9; // bits per second
constexpr uint32_t MTU_BYTES = 1024;

/// Of one exchange, in seconds. \param downFrom when the link fails; 0: never
double
Run(const Time& downFrom)
{
    SpineLeafOptions options;
    options.spines = 2;
    options.leaves = RACKS;
    options.hostsPerLeaf = WORKERS / RACKS;
    options.hostLink = {DataRate("10Gbps"), MicroSeconds(1)};
    options.fabricLink.delay = MicroSeconds(1);
    options.oversubscription = OVERSUBSCRIPTION;

    FabricHelper fabric;
    fabric.SetTransportAttribute("Mtu", UintegerValue(MTU_BYTES));
    fabric.SetTransportAttribute("Recovery", StringValue("selective-repeat"));
    fabric.SetFabricAttribute("LoadBalancing", StringValue("destination"));
    const NodeContainer hosts = fabric.Install(MakeSpineLeafTopology(options));
    const auto network = FabricHost::Of(hosts);

    ExchangeHelper exchange("rat", "pipelineChunks", 8);
    exchange.SetAttribute("GradientBytes", UintegerValue(GRADIENT_BYTES));
    exchange.Install(hosts);

    const auto faults = CreateObject<FaultInjector>();
    if (!downFrom.IsZero())
    {
        FaultSpec fault{};
        fault.kind = FaultKind::LinkDown;
        fault.pool = {0}; // the first link of the topology: leaf0 to spine0
        fault.start = downFrom;
        fault.detectionDelay = MicroSeconds(10);
        faults->Install({fault},
                        network->GetTopology(),
                        network->GetTransport(),
                        network->GetEngine());
    }
    const Recorder recorder(network->GetEngine(), Recorder::Detail::Iterations);
    Simulator::Run();
    Simulator::Destroy();
    return recorder.GetIterations().front().end.GetSeconds();
}

} // namespace

int
main()
{
    Time::SetResolution(Time::PS);
    const double ideal =
        2 * 8.0 * GRADIENT_BYTES / (WORKERS * HOST_RATE) * OVERSUBSCRIPTION * (RACKS - 1);
    const double bound = ideal * wire::RoceDataBytes(MTU_BYTES) / MTU_BYTES;
    const double whole = Run(Time(0));
    const double faulty = Run(Seconds(0.2 * bound));
    fmt::print("RAT, 6:1: {:.3f} ms, bound {:.3f} ms\n", 1e3 * whole, 1e3 * bound);
    fmt::print("a link down: {:.3f} ms, bound {:.3f} ms\n", 1e3 * faulty, 1e3 * 1.8 * bound);
    const bool isBounded = whole >= bound && faulty >= 1.8 * bound;
    const bool isNear = whole < 1.1 * bound && faulty < 1.15 * 1.8 * bound;
    return isBounded && isNear ? 0 : 1;
}
