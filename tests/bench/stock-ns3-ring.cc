// SPDX-License-Identifier: GPL-2.0-only
// Ring all-reduce on stock ns-3 over a spine-leaf network; prints one line of JSON.
#include "bench/process-usage.h"
#include "bench/stock-ns3.h"

#include "ns3/spine-leaf-topology.h"
#include "ns3/units.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <nlohmann/json.hpp>
#include <string>

int
main(int argc, char** argv)
{
    using namespace ns3::gradsync;
    SpineLeafOptions network;
    network.spines = 4;
    network.leaves = 4;
    network.hostsPerLeaf = 4;
    uint64_t gradientBytes = 8'000'000;
    std::string rate = "100Gbps";
    StockTcpOptions tcp;
    CLI::App app{
        "A ring all-reduce on stock ns-3 (point-to-point devices, IPv4, TCP), 1 us a link. "
        "The options are those of exchange-bench."};
    app.add_option("--spines", network.spines)->capture_default_str();
    app.add_option("--leaves", network.leaves)->capture_default_str();
    app.add_option("--hosts-per-leaf", network.hostsPerLeaf)->capture_default_str();
    app.add_option("--gradient", gradientBytes, "bytes")->capture_default_str();
    app.add_option("--mtu", tcp.segmentBytes, "payload bytes of a packet")->capture_default_str();
    app.add_option("--rate", rate, "of every link")->capture_default_str();
    app.add_option("--buffer", tcp.bufferBytes, "of a socket, bytes")->capture_default_str();
    CLI11_PARSE(app, argc, argv);
    try
    {
        network.hostLink = {ParseRate(rate), ns3::MicroSeconds(1)};
        network.fabricLink = network.hostLink;
        const auto topology = MakeSpineLeafTopology(network);
        const auto result = RunStockRing(topology, gradientBytes, tcp);
        const auto hops = static_cast<double>(result.dataPacketHops);
        const nlohmann::ordered_json line{
            {"benchmark", "stock-ns3-ring"},
            {"hosts", topology.GetEndpoints().size()},
            {"mtu_bytes", tcp.segmentBytes},
            {"gradient_bytes", gradientBytes},
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
        std::puts(line.dump().c_str());
    }
    catch (const std::exception& error)
    {
        std::fprintf(stderr, "stock-ns3-ring: %s\n", error.what());
        return 1;
    }
    return 0;
}
