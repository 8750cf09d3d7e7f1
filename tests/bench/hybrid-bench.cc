// SPDX-License-Identifier: GPL-2.0-only
// One iteration of a hybrid-parallel training job, of scenarios/hybrid-parallel.json on so many
// GPUs: prints one line of JSON with hops, seconds and bytes.
#include "bench/bench-program.h"
#include "bench/process-usage.h"

#include "ns3/scenario-reader.h"
#include "ns3/scenario-runner.h"
#include "ns3/time-resolution.h"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

using namespace ns3;
using namespace ns3::gradsync;

namespace
{

constexpr uint32_t SERVER = 8; //!< GPUs, a tensor-parallel group
constexpr uint32_t UNIT = 64;  //!< servers at the same leaves

struct Options
{
    std::string scenario{"scenarios/hybrid-parallel.json"};
    uint32_t gpus{1024};
    uint32_t stages{8};
    std::string servers{"fluid"};
    std::vector<std::string> settings;
};

std::vector<ScenarioOverride>
MakeOverrides(const Options& options)
{
    const auto servers = options.gpus / SERVER;
    const auto perUnit = std::min(servers, UNIT);
    if (servers == 0 || options.gpus % SERVER != 0 || servers % perUnit != 0)
    {
        throw std::invalid_argument(
            fmt::format("found {} GPUs, expected up to {}, or a multiple of them",
                        options.gpus,
                        UNIT * SERVER));
    }
    std::vector<ScenarioOverride> overrides{
        {"topology.units", std::to_string(servers / perUnit)},
        {"topology.serversPerUnit", std::to_string(perUnit)},
        {"job.training.pipeline", std::to_string(options.stages)},
        {"fidelity.server", options.servers},
        {"title", fmt::format("{} GPUs", options.gpus)}};
    for (const auto& text : options.settings)
    {
        overrides.push_back(ParseOverride(text));
    }
    return overrides;
}

nlohmann::ordered_json
Run(const Options& options)
{
    using Clock = std::chrono::steady_clock;
    const auto seconds = [](Clock::duration time) {
        return std::chrono::duration<double>(time).count();
    };
    const auto programBytes = bench::GetPeakRssBytes();
    UsePicoseconds();
    const auto begin = Clock::now();
    const auto scenario = ReadScenario(options.scenario, MakeOverrides(options));
    const auto run = ResolveRun(scenario, 0);
    const auto read = Clock::now();
    double untilFirst = 0.0;
    const auto result = RunScenario(run, [&](uint64_t /* deliveredBytes */) {
        untilFirst = untilFirst == 0.0 ? seconds(Clock::now() - read) : untilFirst;
    });
    const auto end = Clock::now();
    const auto& summary = result.summary;
    if (!summary.finished)
    {
        throw std::runtime_error(summary.failure);
    }
    const auto user = bench::GetUserSeconds();
    const auto hops = static_cast<double>(summary.packetHops);
    return {{"gpus", options.gpus},
            {"stages", options.stages},
            {"servers", options.servers},
            {"iteration_s", static_cast<double>(summary.meanIctPs) * 1e-12},
            {"goodput_bytes", summary.goodputBytes},
            {"data_packet_hops", summary.packetHops},
            {"events", summary.events},
            {"recorded_collectives", summary.recordedCollectives},
            {"read_s", seconds(read - begin)},
            {"until_first_message_s", untilFirst}, // planned and installed
            {"wall_s", seconds(end - begin)},
            {"user_s", user},
            {"hops_per_user_s", hops / user},
            {"program_rss_bytes", programBytes},
            {"peak_rss_bytes", bench::GetPeakRssBytes()}};
}

} // namespace

int
main(int argc, char** argv)
{
    Options options;
    const bench::BenchProgram program{
        "hybrid-bench",
        "One iteration of a hybrid-parallel job: tensor 8, pipeline, data",
        {
            {"--scenario", &options.scenario},
            {"--gpus", &options.gpus, "eight a server"},
            {"--stages", &options.stages, "of the pipeline"},
            {"--servers", &options.servers, "fluid or packets"},
            {"--set", &options.settings, "as of ./ns3 run: PATH=VALUE"},
        },
        [&] { return Run(options); }};
    return program.Main(argc, argv);
}
