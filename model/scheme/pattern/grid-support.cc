// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/grid-support.h"

#include "ns3/scheme-support.h"

#include <fmt/format.h>
#include <numeric>

namespace ns3::gradsync
{

Plan
BuildGridPlan(const SchemeRequest& request, const GridStreams& streams)
{
    const auto pieces = GetCount(request.parameters, "pipelineChunks", 1);
    const auto streamCount = static_cast<uint32_t>(streams.orders.size());
    const GridExchange grid(streams.ranks, streams.sizes);
    const auto parts = CountChunks(grid.GetChunkCount(), streamCount);
    const auto chunks = CountTrackedChunks(request.workers, parts, pieces);
    const auto layout = ChunkLayout::Even(request.gradientBytes, chunks, request.elementBytes);
    DataflowBuilder builder(request.workers, request.workers, layout);
    uint32_t first = 0;
    for (uint32_t piece = 0; piece < pieces; ++piece)
    {
        for (uint32_t stream = 0; stream < streamCount; ++stream)
        {
            grid.Add(builder,
                     layout,
                     streams.orders[stream],
                     streams.style,
                     first,
                     stream,
                     streams.form);
            first += grid.GetChunkCount();
        }
    }
    return builder.Build();
}

std::vector<uint32_t>
CountUp(uint32_t count)
{
    std::vector<uint32_t> numbers(count);
    std::iota(numbers.begin(), numbers.end(), 0U);
    return numbers;
}

ParameterSpec
MakeWidthSpec()
{
    return {"width",
            int64_t{0},
            "ranks in a row, which are consecutive; 0: the most square grid, wider than high",
            {},
            0,
            1 << 20,
            {int64_t{2}, int64_t{4}, int64_t{8}, int64_t{16}}};
}

std::vector<uint32_t>
GetWidthAndHeight(const SchemeRequest& request)
{
    const auto workers = request.workers;
    auto width = GetCount(request.parameters, "width", 0);
    if (width == 0)
    {
        width = 1;
        while (uint64_t{width} * width < workers || workers % width != 0)
        {
            ++width;
        }
    }
    if (workers % width != 0)
    {
        throw SchemeError(fmt::format("width is {}, but must divide the {} workers into full rows",
                                      width,
                                      workers));
    }
    return {width, workers / width};
}

} // namespace ns3::gradsync
