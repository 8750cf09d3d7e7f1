// SPDX-License-Identifier: GPL-2.0-only
// What a training iteration of many ranks costs: prints one line of JSON with tasks, bytes held and
// the time to build and to run it on the fluid network.
#include "bench/bench-program.h"
#include "bench/process-usage.h"

#include "ns3/exchange-engine.h"
#include "ns3/fluid-transport.h"
#include "ns3/plan-shelf.h"
#include "ns3/recorder.h"
#include "ns3/simulator.h"
#include "ns3/spine-leaf-topology.h"
#include "ns3/training-workload.h"

#include <chrono>
#include <nlohmann/json.hpp>
#include <numeric>

using namespace ns3;
using namespace ns3::gradsync;

namespace
{

constexpr uint64_t MICROSECOND = 1'000'000; // in picoseconds
constexpr uint32_t RACK = 32;

struct Options
{
    std::string scheme{"halving-doubling"};
    uint32_t ranks{1024};
    uint32_t tensor{1};
    uint32_t stages{1};
    uint32_t microbatches{1};
    uint32_t collectives{400}; //!< of each rank
    uint64_t bytes{1'000'000}; //!< of a collective
};

SchemeChoice
Choose(const std::string& name)
{
    const auto* scheme = FindScheme(name);
    if (scheme == nullptr)
    {
        throw std::invalid_argument("unknown scheme " + name);
    }
    return {scheme, MakeDefaultParameters(*scheme)};
}

/// A block of each stage has four collectives of its tensor-parallel ranks a microbatch and one of
/// the data-parallel ones: as many blocks as make the collectives that are asked for.
TrainingSpec
MakeSpec(const Options& options)
{
    ModelBlock block;
    block.name = "block";
    block.forwardPicoseconds = 100 * MICROSECOND;
    block.backwardPicoseconds = 200 * MICROSECOND;
    const BlockCollective sum{Choose(options.scheme), options.bytes};
    TrainingSpec spec;
    spec.tensor = options.tensor;
    spec.data = options.ranks / options.tensor / options.stages;
    spec.pipeline.stages = options.stages;
    spec.pipeline.microbatches = options.microbatches;
    uint32_t ofBlock = 0;
    if (options.tensor > 1)
    {
        block.afterForward.assign(2, sum);
        block.afterBackward.assign(2, sum);
        ofBlock += 4 * options.microbatches;
    }
    if (spec.data > 1)
    {
        block.gradientBytes = options.bytes;
        ofBlock += 1;
    }
    if (ofBlock == 0)
    {
        throw std::invalid_argument("ranks of stages alone have no collectives");
    }
    spec.blocks.assign(size_t{options.stages} * ((options.collectives + ofBlock - 1) / ofBlock),
                       block);
    spec.activationBytes = options.bytes;
    spec.gradientScheme = Choose(options.scheme);
    spec.buckets = {1, 1}; // a block each
    return spec;
}

Ptr<FluidTransport>
MakeNetwork(uint32_t hosts)
{
    SpineLeafOptions network;
    network.spines = 4;
    network.leaves = (hosts + RACK - 1) / RACK;
    network.hostsPerLeaf = std::min(hosts, RACK);
    network.hostLink = {DataRate("100Gbps"), MicroSeconds(1)};
    network.fabricLink = {DataRate("800Gbps"), MicroSeconds(1)}; // not oversubscribed
    auto topology = std::make_shared<Topology>(MakeSpineLeafTopology(network));
    auto transport = CreateObject<FluidTransport>();
    transport->Install(topology, std::make_shared<RoutingTables>(*topology));
    return transport;
}

nlohmann::ordered_json
Run(const Options& options)
{
    using Clock = std::chrono::steady_clock;
    const auto programBytes = bench::GetPeakRssBytes();
    Time::SetResolution(Time::PS);
    const auto begin = Clock::now();
    TrainingJob job;
    job.name = "iteration";
    {
        PlanShelf shelf;
        job.workload =
            std::make_shared<const Workload>(MakeTrainingWorkload(MakeSpec(options), shelf));
    }
    const auto built = Clock::now();
    const auto builtBytes = bench::GetPeakRssBytes();
    const auto workload = job.workload;
    uint64_t parts = 0;
    for (const auto& task : workload->GetTasks())
    {
        parts += task.IsCompute() ? 0 : 1;
    }
    job.endpointOf.resize(workload->GetRankCount());
    std::iota(job.endpointOf.begin(), job.endpointOf.end(), 0);
    auto engine = CreateObject<ExchangeEngine>();
    engine->SetTransport(MakeNetwork(options.ranks));
    engine->AddTraining(std::move(job));
    const Recorder recorder(engine, Recorder::Detail::Iterations);
    const auto start = Clock::now();
    Simulator::Run();
    const auto end = Clock::now();
    if (const auto failure = engine->GetFailure())
    {
        throw std::runtime_error(failure->reason);
    }
    const auto seconds = [](auto time) { return std::chrono::duration<double>(time).count(); };
    const auto& iteration = recorder.GetIterations()[0];
    return {{"scheme", options.scheme},
            {"ranks", workload->GetRankCount()},
            {"tensor", options.tensor},
            {"stages", options.stages},
            {"microbatches", options.microbatches},
            {"tasks", workload->GetTasks().size()},
            {"communications", workload->GetCommunications().size()},
            {"communications_of_a_rank",
             static_cast<double>(parts) / static_cast<double>(workload->GetRankCount())},
            {"iteration_s", (iteration.end - iteration.start).GetSeconds()},
            {"workload_bytes", workload->GetMemoryBytes()},
            {"program_rss_bytes", programBytes},
            {"built_rss_bytes", builtBytes},
            {"peak_rss_bytes", bench::GetPeakRssBytes()},
            {"events", Simulator::GetEventCount()},
            {"build_s", seconds(built - begin)},
            {"run_s", seconds(end - start)}};
}

} // namespace

int
main(int argc, char** argv)
{
    Options options;
    const bench::BenchProgram program{
        "workload-bench",
        "One training iteration of many ranks on the fluid network",
        {
            {"--scheme", &options.scheme, "of all collectives"},
            {"--ranks", &options.ranks},
            {"--tensor", &options.tensor, "ranks of a tensor group"},
            {"--stages", &options.stages, "of the pipeline"},
            {"--microbatches", &options.microbatches},
            {"--collectives", &options.collectives, "of each rank, at least"},
            {"--bytes", &options.bytes, "of a collective"},
        },
        [&] { return Run(options); }};
    return program.Main(argc, argv);
}
