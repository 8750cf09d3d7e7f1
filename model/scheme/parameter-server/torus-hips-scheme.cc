// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/grid-support.h"
#include "ns3/scheme-support.h"
#include "ns3/schemes.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace ns3::gradsync
{

namespace
{

constexpr size_t MAX_DIMENSIONS = 16;

/// The parameter `dimensions`, or the most square grid of two.
std::vector<uint32_t>
GetDimensions(const SchemeRequest& request)
{
    const auto& given = request.parameters.Get<std::vector<double>>("dimensions");
    std::vector<uint32_t> sizes;
    uint64_t product = 1;
    for (const auto size : given)
    {
        if (!(size >= 1 && size <= request.workers && size == std::floor(size)))
        {
            product = 0;
            break;
        }
        sizes.push_back(static_cast<uint32_t>(size));
        product = std::min<uint64_t>(product * sizes.back(), UINT32_MAX);
    }
    if (given.empty())
    {
        uint32_t width = 1;
        while (uint64_t{width} * width < request.workers || request.workers % width != 0)
        {
            ++width;
        }
        return {width, request.workers / width};
    }
    if (product != request.workers || given.size() > MAX_DIMENSIONS)
    {
        throw SchemeError(fmt::format(
            "dimensions are [{}], but must be at most {} whole numbers whose product is "
            "the {} workers",
            fmt::join(given, ", "),
            MAX_DIMENSIONS,
            request.workers));
    }
    return sizes;
}

/// The ranks with every coordinate mirrored: rings over them go around the other way.
Ranks
MakeMirrored(uint32_t workers, const std::vector<uint32_t>& sizes)
{
    Ranks ranks;
    ranks.reserve(workers);
    for (uint32_t index = 0; index < workers; ++index)
    {
        uint32_t mirrored = 0;
        uint32_t stride = 1;
        for (const auto size : sizes)
        {
            const uint32_t coordinate = index / stride % size;
            mirrored += (size - coordinate) % size * stride;
            stride *= size;
        }
        ranks.push_back(mirrored);
    }
    return ranks;
}

Plan
BuildTorusHips(const SchemeRequest& request)
{
    CheckRequest(request);
    const auto workers = request.workers;
    const auto sizes = GetDimensions(request);
    const auto dimensions = static_cast<uint32_t>(sizes.size());
    const bool isBoth = request.parameters.Get<bool>("bothDirections");
    const auto pieces = GetCount(request.parameters, "pipelineChunks", 1);
    const auto streams = isBoth ? 2 * dimensions : dimensions;
    const auto chunks = CountTrackedChunks(workers, CountChunks(workers, streams), pieces);
    const auto layout = ChunkLayout::Even(request.gradientBytes, chunks, request.elementBytes);
    const std::vector<GridExchange> grids = {GridExchange(CountUp(workers), sizes),
                                             GridExchange(MakeMirrored(workers, sizes), sizes)};
    DataflowBuilder builder(workers, workers, layout);
    uint32_t first = 0;
    for (uint32_t piece = 0; piece < pieces; ++piece)
    {
        auto order = CountUp(dimensions);
        for (uint32_t stream = 0; stream < streams; ++stream)
        {
            const auto& grid = grids[stream / dimensions];
            grid.Add(builder, layout, order, ExchangeStyle::Ring, first, stream);
            first += workers;
            std::rotate(order.begin(), order.begin() + 1, order.end());
        }
    }
    return builder.Build();
}

} // namespace

Scheme
MakeTorusHipsScheme()
{
    return {
        "torus-hips",
        "HiPS on a torus of servers that are linked directly: a ring stage per dimension, a stream "
        "per port",
        "Geng et al. 2018 (HiPS)",
        {
            {"dimensions",
             std::vector<double>{},
             "servers along each dimension; their product is the number of workers, whose ranks "
             "run "
             "along the first dimension first. Empty: the most square grid of two",
             {},
             1,
             1 << 20},
            {"bothDirections",
             true,
             "a second stream per dimension goes around its rings the other way; false: one",
             {}},
            MakePipelineChunksSpec(1, "pieces of each stream that are exchanged one by one"),
        },
        CountNoServers,
        BuildTorusHips,
    };
}

} // namespace ns3::gradsync
