// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/gather-exchange.h"
#include "ns3/scheme-support.h"
#include "ns3/schemes.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <random>

namespace ns3::gradsync
{

namespace
{

constexpr double MAX_PART_BYTES = 1e12;
constexpr double MAX_TOTAL_BYTES = 0x1p52; //!< so that sums stay whole numbers in a double

/// Sizes that a scenario gives, in bytes.
std::vector<double>
GetSizes(const SchemeRequest& request)
{
    const auto& sizes = request.parameters.Get<std::vector<double>>("sizes");
    if (sizes.size() != request.workers)
    {
        throw SchemeError(fmt::format("sizes has {} entries, but there are {} workers",
                                      sizes.size(),
                                      request.workers));
    }
    for (const auto size : sizes)
    {
        if (!(size >= 0 && size <= MAX_PART_BYTES && size == std::floor(size)))
        {
            throw SchemeError(
                fmt::format("sizes has {}, but a size is a whole number of bytes from 0 to {:g}",
                            size,
                            MAX_PART_BYTES));
        }
    }
    return sizes;
}

/// Entries of every worker, uniform around the density of the whole gradient, in bytes.
std::vector<double>
DrawSizes(const SchemeRequest& request)
{
    const auto& parameters = request.parameters;
    const double elements =
        static_cast<double>(request.gradientBytes) / static_cast<double>(request.elementBytes);
    const auto density = parameters.Get<double>("density");
    const auto spread = parameters.Get<double>("spread");
    const auto entryBytes = GetCount(parameters, "entryBytes", 1);
    // The engine's numbers are the same everywhere; those of standard distributions are not.
    const auto* seed = parameters.Find<int64_t>("drawSeed");
    std::mt19937_64 engine(static_cast<uint64_t>(seed ? *seed : 1));
    std::vector<double> sizes;
    for (uint32_t worker = 0; worker < request.workers; ++worker)
    {
        const double unit = static_cast<double>(engine() >> 11) * 0x1.0p-53;
        const double share = std::min(1.0, density * (1.0 + spread * (2.0 * unit - 1.0)));
        // The largest element always goes, as with top-k.
        const double entries = share > 0 ? std::max(1.0, std::round(elements * share)) : 0.0;
        sizes.push_back(entries * entryBytes);
    }
    return sizes;
}

Plan
BuildSparseAllGather(const SchemeRequest& request)
{
    CheckRequest(request);
    const auto pieces = GetCount(request.parameters, "pipelineChunks", 1);
    CountTrackedChunks(request.workers, request.workers, pieces);
    const bool isGiven = !request.parameters.Get<std::vector<double>>("sizes").empty();
    const auto sizes = isGiven ? GetSizes(request) : DrawSizes(request);
    double total = 0;
    for (const auto size : sizes)
    {
        total += size;
    }
    if (total == 0 || total > MAX_TOTAL_BYTES)
    {
        throw SchemeError(fmt::format("the workers give {:.0f} bytes in all, but it must be from 1 "
                                      "to {:.0f}",
                                      total,
                                      MAX_TOTAL_BYTES));
    }
    // With weights that are whole numbers the weighted layout meets every size to the byte.
    return BuildAllGatherPlan(request,
                              ChunkLayout::Weighted(static_cast<uint64_t>(total), sizes, pieces, 1),
                              pieces);
}

ParameterSpec
MakeDrawSeedSpec()
{
    auto spec = Optional({"drawSeed",
                          int64_t{1},
                          "seed of the sizes that are drawn; by default that of the run",
                          {},
                          0,
                          4294967295.0});
    spec.isSeed = true;
    return spec;
}

} // namespace

Scheme
MakeSparseAllGatherScheme()
{
    return {
        "sparse-all-gather",
        "collective: all workers get the sparse gradients of all, which differ in size",
        "Lin et al. 2018 (DGC); Li et al. 2022 (TopkA in Ok-Topk)",
        {MakeAllGatherAlgorithmSpec(),
         {"sizes",
          std::vector<double>{},
          "bytes that each worker gives; empty: drawn from density and spread",
          {},
          0,
          MAX_PART_BYTES},
         {"density", 0.001, "share of the gradient's elements that a worker gives", {}, 0, 1},
         {"entryBytes",
          int64_t{8},
          "bytes of an element that is given: index and value",
          {},
          1,
          1024},
         {"spread",
          0.0,
          "workers' densities are uniform from (1 - spread) to (1 + spread) times density; 0: "
          "equal",
          {},
          0,
          1},
         MakeDrawSeedSpec(),
         MakePipelineChunksSpec(1, "pieces of each worker's part, which travel one by one")},
        CountNoServers,
        BuildSparseAllGather,
        {},
        PlanOrigin::Own,
        true,
    };
}

} // namespace ns3::gradsync
