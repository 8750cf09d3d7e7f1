// SPDX-License-Identifier: GPL-2.0-only
// SwitchML: a switch aggregates the gradients of eight workers, with every sum checked.
//
//   ./ns3 run gradsync-switchml
//
// All workers send packet i at the same time, and the switch sends the sum when the last one is
// there. With t for a packet on a link and d for its delay, the first sum is back after 2 (t + d).
// A packet of 64 values is 342 bytes on the wire: Ethernet 14 + 4, IPv4 20, UDP 8, SwitchML 20,
// values 256, preamble and gap 20. Slots are enough for all that is sent until then, so that
// workers never wait: of n packets the last one leaves (n - 1) t after the first, and the whole
// takes
//
//   (n - 1) t + 2 (t + d).
//
// Every worker takes every packet of the sum once.
#include "ns3/aggregation-helper.h"
#include "ns3/exchange-helper.h"
#include "ns3/fabric-helper.h"
#include "ns3/fabric-host.h"
#include "ns3/recorder.h"
#include "ns3/simulator.h"
#include "ns3/star-topology.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <fmt/format.h>

using namespace ns3;
using namespace ns3::gradsync;

namespace
{

constexpr uint32_t WORKERS = 8;
constexpr uint32_t PACKETS = 1000;
constexpr uint32_t VALUES_PER_PACKET = 64;
constexpr uint32_t PACKET_BYTES = 342;
const Time DELAY = MicroSeconds(1);

} // namespace

int
main()
{
    Time::SetResolution(Time::PS);
    StarOptions options;
    options.hosts = WORKERS;
    options.hostLink = {DataRate("8Gbps"), DELAY}; // a byte is a nanosecond

    AggregationHelper aggregation;
    aggregation.SetAttribute("Values", StringValue("real"));
    aggregation.SetDriverAttribute("slot", "Slots", UintegerValue(64));
    aggregation.SetDriverAttribute("slot", "ValuesPerPacket", UintegerValue(VALUES_PER_PACKET));
    FabricHelper fabric;
    fabric.SetAggregation(aggregation);
    const NodeContainer hosts = fabric.Install(MakeStarTopology(options));
    const auto network = FabricHost::Of(hosts);

    ExchangeHelper exchange("switchml");
    exchange.SetAttribute("GradientBytes",
                          UintegerValue(uint64_t{4} * VALUES_PER_PACKET * PACKETS));
    exchange.Install(hosts);

    const Recorder recorder(network->GetEngine(), Recorder::Detail::Iterations);
    Simulator::Run();
    const auto statistics = network->GetTransport()->RequireAggregation().GetStatistics();
    Simulator::Destroy();

    const auto ict = recorder.GetIterations().front().end;
    const auto packet = NanoSeconds(PACKET_BYTES);
    const auto expected = (PACKETS - 1) * packet + 2 * (packet + DELAY);
    fmt::print("SwitchML, {} workers: {} ps, by the closed form {} ps\n",
               WORKERS,
               ict.GetPicoSeconds(),
               expected.GetPicoSeconds());
    fmt::print("sums taken: {}, of these wrong: {}\n", statistics.results, statistics.wrongSums);
    const bool sumsHold =
        statistics.results == uint64_t{WORKERS} * PACKETS && statistics.wrongSums == 0;
    return ict == expected && sumsHold ? 0 : 1;
}
