// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/gather-exchange.h"

#include "ns3/grid-support.h"
#include "ns3/group-exchange.h"
#include "ns3/lock-step.h"

#include <algorithm>

namespace ns3::gradsync
{

namespace
{

/**
 * Bruck et al. 1997: in step t worker i sends all that it has to worker i - 2^t, its own part and
 * those of the 2^t - 1 workers after it; at the end only what is missing there.
 */
class BruckGather
{
  public:
    BruckGather(uint32_t workers,
                const ChunkLayout& layout,
                uint32_t pieces,
                const Collective& collective)
        : m_builder(workers, workers, layout, collective),
          m_steps(m_builder, workers),
          m_layout(layout),
          m_workers(workers),
          m_pieces(pieces)
    {
    }

    Plan Build()
    {
        for (uint32_t held = 1; held < m_workers; held *= 2)
        {
            m_steps.Begin();
            const auto count = std::min(held, m_workers - held);
            for (uint32_t src = 0; src < m_workers; ++src)
            {
                const auto dst = (src + m_workers - held) % m_workers;
                const auto beforeWrap = std::min(count, m_workers - src);
                AddRange(src, dst, src, beforeWrap);
                AddRange(src, dst, 0, count - beforeWrap);
            }
        }
        return m_builder.Build();
    }

  private:
    void AddRange(uint32_t src, uint32_t dst, uint32_t firstPart, uint32_t parts)
    {
        if (m_layout.GetBytes(firstPart * m_pieces, parts * m_pieces) > 0)
        {
            m_steps.AddCopy(src, dst, firstPart * m_pieces, parts * m_pieces);
        }
    }

    PlanBuilder m_builder;
    LockStep m_steps;
    const ChunkLayout& m_layout;
    uint32_t m_workers;
    uint32_t m_pieces;
};

} // namespace

Plan
BuildAllGatherPlan(const SchemeRequest& request, const ChunkLayout& layout, uint32_t pieces)
{
    const auto workers = request.workers;
    std::vector<uint32_t> sources(layout.GetChunkCount());
    for (uint32_t chunk = 0; chunk < sources.size(); ++chunk)
    {
        sources[chunk] = chunk / pieces;
    }
    const Collective collective("all-gather", std::move(sources), {Collective::ALL});
    const auto& algorithm = request.parameters.Get<std::string>("algorithm");
    if (algorithm == "bruck")
    {
        return BruckGather(workers, layout, pieces, collective).Build();
    }
    DataflowBuilder builder(workers, workers, layout, collective);
    GroupExchange exchange(builder,
                           layout,
                           algorithm == "ring" ? ExchangeStyle::Ring : ExchangeStyle::Direct);
    for (uint32_t piece = 0; piece < pieces; ++piece)
    {
        exchange.AddAllGather(CountUp(workers), MakeOwnSlices(workers, pieces, piece));
    }
    return builder.Build();
}

ParameterSpec
MakeAllGatherAlgorithmSpec()
{
    return {"algorithm",
            std::string("ring"),
            "ring: parts go from neighbour to neighbour; direct: from everybody to everybody; "
            "bruck: all that one has, in log2 w steps",
            {"ring", "direct", "bruck"}};
}

} // namespace ns3::gradsync
