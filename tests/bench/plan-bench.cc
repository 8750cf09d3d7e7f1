// SPDX-License-Identifier: GPL-2.0-only
// What plans cost: operations, bytes held, and the time to build, verify and count them.
//
// Usage: plan-bench [SCHEME [WORKERS [PARAMETER=INTEGER]...]]; default: ps 1024. Workers sit in
// racks of 32 that are oversubscribed 4:1.
#include "bench/process-usage.h"

#include "ns3/plan-statistics.h"
#include "ns3/plan-verifier.h"
#include "ns3/scheme.h"

#include <chrono>
#include <fmt/format.h>
#include <string>

namespace ns3::gradsync
{

namespace
{

constexpr uint32_t RACK = 32;
constexpr uint64_t GRADIENT_BYTES = 97'000'000;

/// Runs a step and prints how long it took, and the peak memory of the process so far.
template <typename Step>
auto
Measure(const char* name, Step step)
{
    const auto start = std::chrono::steady_clock::now();
    auto result = step();
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    fmt::print("{:10} {:8.3f} s   peak RSS {:7.1f} MB\n",
               name,
               elapsed.count(),
               static_cast<double>(bench::GetPeakRssBytes()) / 1e6);
    return result;
}

int
Run(int argc, char** argv)
{
    const std::string name = argc > 1 ? argv[1] : "ps";
    const auto* scheme = FindScheme(name);
    if (scheme == nullptr)
    {
        fmt::print(stderr, "no scheme {}\n", name);
        return 2;
    }
    SchemeRequest request;
    request.workers = argc > 2 ? static_cast<uint32_t>(std::stoul(argv[2])) : 1024;
    request.gradientBytes = GRADIENT_BYTES;
    request.parameters = MakeDefaultParameters(*scheme);
    for (int i = 3; i < argc; ++i)
    {
        const std::string argument = argv[i];
        const auto equals = argument.find('=');
        request.parameters.Set(argument.substr(0, equals),
                               int64_t{std::stoll(argument.substr(equals + 1))});
    }
    GroupLevel racks{"rack", {}, (request.workers + RACK - 1) / RACK, 4.0};
    for (uint32_t rank = 0; rank < request.workers; ++rank)
    {
        racks.groupOf.push_back(rank / RACK);
    }
    request.groups.levels = {racks};

    const auto plan = Measure("build", [&] { return scheme->build(request); });
    fmt::print("{} operations, plan of {:.1f} MB\n",
               plan.GetOperations().size(),
               static_cast<double>(plan.GetMemoryBytes()) / 1e6);
    const auto statistics =
        Measure("statistics", [&] { return ComputePlanStatistics(plan, request.groups); });
    fmt::print("{} transfers, {:.3f} GB, longest chain {}\n",
               statistics.transferCount,
               static_cast<double>(statistics.totalBytes) / 1e9,
               statistics.GetLongestChain());
    const auto verification = Measure("verify", [&] { return PlanVerifier().Verify(plan); });
    for (const auto& violation : verification.violations)
    {
        fmt::print("{}\n", violation);
    }
    return verification.ok ? 0 : 1;
}

} // namespace

} // namespace ns3::gradsync

int
main(int argc, char** argv)
{
    return ns3::gradsync::Run(argc, argv);
}
