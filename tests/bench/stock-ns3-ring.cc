// SPDX-License-Identifier: GPL-2.0-only
// Ring all-reduce on stock ns-3 over a spine-leaf network; prints one line of JSON.
#include "bench/bench-program.h"
#include "bench/process-usage.h"
#include "bench/stock-ns3.h"

#include "ns3/spine-leaf-topology.h"
#include "ns3/units.h"

#include <nlohmann/json.hpp>
#include <string>

using namespace ns3::gradsync;

namespace
{

struct Options
{
    uint32_t spines{4};
    uint32_t leaves{4};
    uint32_t hostsPerLeaf{4};
    uint64_t gradientBytes{8'000'000};
    std::string rate{"100Gbps"};
    StockTcpOptions tcp;
};

nlohmann::ordered_json
Run(const Options& options)
{
    SpineLeafOptions network;
    network.spines = options.spines;
    network.leaves = options.leaves;
    network.hostsPerLeaf = options.hostsPerLeaf;
    network.hostLink = {ParseRate(options.rate), ns3::MicroSeconds(1)};
    network.fabricLink = network.hostLink;
    const auto topology = MakeSpineLeafTopology(network);
    const auto result = RunStockRing(topology, options.gradientBytes, options.tcp);
    const auto hops = static_cast<double>(result.dataPacketHops);
    return {{"benchmark", "stock-ns3-ring"},
            {"hosts", topology.GetEndpoints().size()},
            {"mtu_bytes", options.tcp.segmentBytes},
            {"gradient_bytes", options.gradientBytes},
            {"ict_s", result.ict.GetSeconds()},
            {"data_packet_hops", result.dataPacketHops},
            {"control_packet_hops", result.controlPacketHops},
            {"dropped_packets", result.droppedPackets},
            {"wall_s", result.wallSeconds},
            {"user_s", bench::GetUserSeconds()},
            {"hops_per_s", hops / result.wallSeconds},
            {"events", result.events},
            {"events_per_hop", static_cast<double>(result.events) / hops},
            {"peak_rss_bytes", bench::GetPeakRssBytes()}};
}

} // namespace

int
main(int argc, char** argv)
{
    Options options;
    const bench::BenchProgram program{
        "stock-ns3-ring",
        "A ring all-reduce on stock ns-3 (point-to-point devices, IPv4, TCP), 1 us a link. "
        "The options are those of exchange-bench.",
        {
            {"--spines", &options.spines},
            {"--leaves", &options.leaves},
            {"--hosts-per-leaf", &options.hostsPerLeaf},
            {"--gradient", &options.gradientBytes, "bytes"},
            {"--mtu", &options.tcp.segmentBytes, "payload bytes of a packet"},
            {"--rate", &options.rate, "of every link"},
            {"--buffer", &options.tcp.bufferBytes, "of a socket, bytes"},
        },
        [&] { return Run(options); }};
    return program.Main(argc, argv);
}
