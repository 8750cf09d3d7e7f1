// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/plan-builder.h"
#include "ns3/scheme-support.h"
#include "ns3/schemes.h"

#include <vector>

namespace ns3::gradsync
{

namespace
{

/**
 * In the round of stride k^t the ranks that are multiples of k^t but not of k^(t+1) send to the
 * next lower multiple of k^(t+1). So the subtrees are aligned blocks of ranks, and with racks of a
 * power of k no rack is left before it is reduced. The broadcast goes back, a rank serving the
 * children of one round after those of the other.
 */
class KNomialPlan
{
  public:
    explicit KNomialPlan(const SchemeRequest& request)
        : m_workers(request.workers),
          m_radix(GetCount(request.parameters, "radix", 2)),
          m_pieces(GetCount(request.parameters, "pipelineChunks", 1)),
          m_layout(ChunkLayout::Even(request.gradientBytes, m_pieces, request.elementBytes)),
          m_builder(m_workers, m_workers, m_layout)
    {
        // The transfers of one direction.
        CountChunks(m_workers, m_pieces);
    }

    Plan Build()
    {
        for (uint32_t chunk = 0; chunk < m_pieces; ++chunk)
        {
            if (m_layout.GetBytes(chunk, 1) > 0)
            {
                AddReduces(chunk);
                AddCopies(chunk);
            }
        }
        return m_builder.Build();
    }

  private:
    void AddReduces(uint32_t chunk)
    {
        m_before.assign(m_workers, {});
        m_top = 1;
        for (uint64_t stride = 1; stride < m_workers; stride *= m_radix)
        {
            m_top = stride;
            const uint64_t block = stride * m_radix;
            for (uint64_t rank = stride; rank < m_workers; rank += stride)
            {
                if (const auto parent = rank - rank % block; parent != rank)
                {
                    const auto send = m_builder.AddReduce(static_cast<uint32_t>(rank),
                                                          static_cast<uint32_t>(parent),
                                                          chunk,
                                                          1);
                    WaitFor(m_before[rank], send);
                    m_before[parent].push_back(send);
                }
            }
        }
    }

    void AddCopies(uint32_t chunk)
    {
        // m_before: at the root its last reduces, elsewhere the arrival, then the sends of a round.
        for (uint64_t stride = m_top; stride > 0; stride /= m_radix)
        {
            const uint64_t block = stride * m_radix;
            for (uint64_t parent = 0; parent < m_workers; parent += block)
            {
                std::vector<OperationId> sends;
                for (uint64_t rank = parent + stride; rank < m_workers && rank < parent + block;
                     rank += stride)
                {
                    sends.push_back(m_builder.AddCopy(static_cast<uint32_t>(parent),
                                                      static_cast<uint32_t>(rank),
                                                      chunk,
                                                      1));
                    WaitFor(m_before[parent], sends.back());
                    m_before[rank] = {sends.back()};
                }
                if (!sends.empty())
                {
                    m_before[parent] = sends;
                }
            }
        }
    }

    void WaitFor(const std::vector<OperationId>& earlier, OperationId later)
    {
        for (const auto id : earlier)
        {
            m_builder.AddEdge(id, later);
        }
    }

    uint32_t m_workers;
    uint32_t m_radix;
    uint32_t m_pieces;
    ChunkLayout m_layout;
    PlanBuilder m_builder;
    uint64_t m_top{1};                              //!< stride of the last round
    std::vector<std::vector<OperationId>> m_before; //!< [rank]: what its next send waits for
};

Plan
BuildKNomial(const SchemeRequest& request)
{
    CheckRequest(request);
    return KNomialPlan(request).Build();
}

} // namespace

Scheme
MakeKNomialScheme()
{
    return {
        "k-nomial",
        "k-nomial tree: the whole gradient is reduced to rank 0 and broadcast back",
        "Thakur et al. 2005; radix 2 is the binomial tree",
        {
            {"radix",
             int64_t{2},
             "ranks that meet in one step; 2: binomial",
             {},
             2,
             1 << 20,
             {int64_t{4}, int64_t{8}}},
            MakePipelineChunksSpec(1, "pieces of the gradient that travel one by one"),
        },
        CountNoServers,
        BuildKNomial,
    };
}

} // namespace ns3::gradsync
