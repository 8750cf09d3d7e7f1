// SPDX-License-Identifier: GPL-2.0-only
// One exchange on the packet-level fabric, measured: prints one line of JSON. ./ns3 bench runs the
// grid.
#include "bench/bench-program.h"
#include "bench/process-usage.h"

#include "ns3/exchange-engine.h"
#include "ns3/fabric-helper.h"
#include "ns3/group-finder.h"
#include "ns3/object-factory.h"
#include "ns3/radix-scheduler.h"
#include "ns3/recorder.h"
#include "ns3/roce-transport.h"
#include "ns3/scheme.h"
#include "ns3/simulator.h"
#include "ns3/spine-leaf-topology.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <chrono>
#include <nlohmann/json.hpp>
#include <numeric>

using namespace ns3;
using namespace ns3::gradsync;

namespace
{

struct Options
{
    std::string scheme{"ring"};
    uint32_t spines{4};
    uint32_t leaves{4};
    uint32_t hostsPerLeaf{4};
    uint64_t gradientBytes{100'000'000};
    uint32_t mtuBytes{4096};
    std::string rate{"100Gbps"};
    std::string congestionControl{"none"};
    std::string loadBalancing{"destination"};
    std::string scheduler{"ns3::gradsync::RadixScheduler"};
    uint32_t maxOutstandingSends{0};
    uint64_t prefetchPorts{8192};
    uint64_t prefetchPackets{6144};
};

Job
MakeJob(const Options& options, const Topology& topology)
{
    const auto* scheme = FindScheme(options.scheme);
    if (!scheme)
    {
        throw std::invalid_argument("unknown scheme " + options.scheme);
    }
    Job job;
    job.name = options.scheme;
    job.maxOutstandingSends = options.maxOutstandingSends;
    job.endpointOf.resize(topology.GetEndpoints().size());
    std::iota(job.endpointOf.begin(), job.endpointOf.end(), 0);
    SchemeRequest request;
    request.workers = static_cast<uint32_t>(job.endpointOf.size());
    request.gradientBytes = options.gradientBytes;
    request.groups = ComputeWorkerGroups(topology, job.endpointOf);
    request.parameters = MakeDefaultParameters(*scheme);
    job.plan = std::make_shared<Plan>(scheme->build(request));
    return job;
}

nlohmann::ordered_json
Run(const Options& options)
{
    const auto programBytes = bench::GetPeakRssBytes(); // without any network
    Time::SetResolution(Time::PS);
    if (options.scheduler == RadixScheduler::GetTypeId().GetName())
    {
        FabricHelper::UseFastScheduler(); // as scenarios do
    }
    else
    {
        Simulator::SetScheduler(ObjectFactory(options.scheduler));
    }
    SpineLeafOptions network;
    network.spines = options.spines;
    network.leaves = options.leaves;
    network.hostsPerLeaf = options.hostsPerLeaf;
    network.hostLink = {DataRate(options.rate), MicroSeconds(1)};
    network.fabricLink = network.hostLink;
    auto topology = std::make_shared<Topology>(MakeSpineLeafTopology(network));

    auto roce = CreateObject<RoceTransport>();
    roce->SetAttribute("Mtu", UintegerValue(options.mtuBytes));
    roce->SetAttribute("CongestionControl", StringValue(options.congestionControl));
    roce->GetFabric()->SetAttribute("LoadBalancing", StringValue(options.loadBalancing));
    roce->GetFabric()->SetAttribute("PrefetchPorts", UintegerValue(options.prefetchPorts));
    roce->GetFabric()->SetAttribute("PrefetchPackets", UintegerValue(options.prefetchPackets));
    roce->Install(topology, std::make_shared<RoutingTables>(*topology));
    auto engine = CreateObject<ExchangeEngine>();
    engine->SetTransport(roce);
    engine->AddJob(MakeJob(options, *topology));
    Recorder recorder(engine, Recorder::Detail::Iterations);

    const auto userBefore = bench::GetUserSeconds();
    const auto start = std::chrono::steady_clock::now();
    Simulator::Run();
    const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start;
    const auto user = bench::GetUserSeconds() - userBefore;
    if (const auto failure = engine->GetFailure())
    {
        throw std::runtime_error(failure->reason);
    }

    const auto statistics = roce->GetStatistics();
    const auto events = Simulator::GetEventCount() + CountBeyondSimulator(statistics);
    const auto hops = static_cast<double>(statistics.dataPacketHops);
    const auto& iteration = recorder.GetIterations()[0];
    return {{"scheme", options.scheme},
            {"hosts", topology->GetEndpoints().size()},
            {"mtu_bytes", options.mtuBytes},
            {"congestion_control", options.congestionControl},
            {"load_balancing", options.loadBalancing},
            {"gradient_bytes", options.gradientBytes},
            {"max_outstanding_sends", options.maxOutstandingSends},
            {"prefetch_ports", options.prefetchPorts},
            {"prefetch_packets", options.prefetchPackets},
            {"ict_s", (iteration.end - iteration.start).GetSeconds()},
            {"data_packet_hops", statistics.dataPacketHops},
            {"control_packet_hops", statistics.controlPacketHops},
            {"dropped_packets", statistics.droppedPackets},
            {"ecn_marked_packets", statistics.ecnMarkedPackets},
            {"pfc_pause_s", statistics.pfcPause.GetSeconds()},
            {"events", events},
            {"events_per_hop", static_cast<double>(events) / hops},
            {"wall_s", wall.count()},
            {"user_s", user},
            {"hops_per_s", hops / wall.count()},
            {"program_rss_bytes", programBytes},
            {"peak_packets", roce->GetFabric()->GetPool().GetCapacity()},
            {"peak_rss_bytes", bench::GetPeakRssBytes()}};
}

} // namespace

int
main(int argc, char** argv)
{
    Options options;
    const bench::BenchProgram program{
        "exchange-bench",
        "One exchange on the packet-level fabric: RoCE with PFC and acknowledgements",
        {
            {"--scheme", &options.scheme, "ps, ring, rat, ..."},
            {"--spines", &options.spines},
            {"--leaves", &options.leaves},
            {"--hosts-per-leaf", &options.hostsPerLeaf},
            {"--gradient", &options.gradientBytes, "bytes"},
            {"--mtu", &options.mtuBytes, "payload bytes of a packet"},
            {"--rate", &options.rate, "of every link"},
            {"--congestion-control", &options.congestionControl, "none, dcqcn, ..."},
            {"--load-balancing", &options.loadBalancing, "hash, destination, ..."},
            {"--max-outstanding-sends", &options.maxOutstandingSends, "of a rank; 0: no limit"},
            {"--scheduler", &options.scheduler, "TypeId of the event scheduler"},
            {"--prefetch-ports", &options.prefetchPorts, "FabricNetwork's PrefetchPorts"},
            {"--prefetch-packets", &options.prefetchPackets, "its PrefetchPackets"},
        },
        [&] { return Run(options); }};
    return program.Main(argc, argv);
}
