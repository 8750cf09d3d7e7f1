// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/plan-builder.h"
#include "ns3/scheme-support.h"
#include "ns3/schemes.h"

#include <vector>

namespace ns3::gradsync
{

namespace
{

/// Collects the operations of one exchange over parameter servers.
class PsPlan
{
  public:
    explicit PsPlan(const SchemeRequest& request)
        : m_workers(request.workers),
          m_dedicated(GetCount(request.parameters, "servers", 0)),
          m_servers(m_dedicated > 0 ? m_dedicated : m_workers),
          m_subChunks(GetCount(request.parameters, "pipelineChunks", 1)),
          m_barrier(request.parameters.Get<bool>("barrier")),
          m_layout(ChunkLayout::Even(request.gradientBytes,
                                     CountChunks(m_servers, m_subChunks),
                                     request.elementBytes)),
          m_builder(m_workers + m_dedicated, m_workers, m_layout)
    {
    }

    Plan Build()
    {
        AddPushes();
        AddPulls();
        return m_builder.Build();
    }

  private:
    uint32_t GetServerRank(uint32_t server) const
    {
        return m_dedicated > 0 ? m_workers + server : server;
    }

    bool IsMoved(uint32_t worker, uint32_t server, uint32_t chunk) const
    {
        return GetServerRank(server) != worker && m_layout.GetBytes(chunk, 1) > 0;
    }

    /// Calls visit(worker, server, chunk) for each push of the pieces `subChunk`, in their order.
    template <typename Visit>
    void ForEachPush(uint32_t subChunk, const Visit& visit) const
    {
        // Worker i starts at server i + 1, so that not everybody hits server 0 first.
        for (uint32_t turn = 1; turn <= m_servers; ++turn)
        {
            for (uint32_t worker = 0; worker < m_workers; ++worker)
            {
                const uint32_t server = (worker + turn) % m_servers;
                const uint32_t chunk = server * m_subChunks + subChunk;
                if (IsMoved(worker, server, chunk))
                {
                    visit(worker, server, chunk);
                }
            }
        }
    }

    /// All edges lead to higher ids, which spares whoever walks through the plan to come back.
    void AddPushes()
    {
        for (uint32_t subChunk = 0; subChunk < m_subChunks; ++subChunk)
        {
            ForEachPush(subChunk, [this](uint32_t worker, uint32_t server, uint32_t chunk) {
                m_builder.AddReduce(worker, GetServerRank(server), chunk, 1, server);
            });
        }
        const auto completions = m_barrier ? 1 : m_layout.GetChunkCount();
        for (uint32_t chunk = 0; chunk < completions; ++chunk)
        {
            m_complete.push_back(m_builder.AddJoin(GetServerRank(chunk / m_subChunks)));
        }
        OperationId push = 0;
        for (uint32_t subChunk = 0; subChunk < m_subChunks; ++subChunk)
        {
            ForEachPush(subChunk, [this, &push](uint32_t, uint32_t, uint32_t chunk) {
                m_builder.AddEdge(push++, GetComplete(chunk));
            });
        }
    }

    void AddPulls()
    {
        for (uint32_t subChunk = 0; subChunk < m_subChunks; ++subChunk)
        {
            for (uint32_t turn = 1; turn <= m_workers; ++turn)
            {
                for (uint32_t server = 0; server < m_servers; ++server)
                {
                    const uint32_t worker = (server + turn) % m_workers;
                    const uint32_t chunk = server * m_subChunks + subChunk;
                    if (IsMoved(worker, server, chunk))
                    {
                        const auto rank = GetServerRank(server);
                        const auto pull = m_builder.AddCopy(rank, worker, chunk, 1, server);
                        m_builder.AddEdge(GetComplete(chunk), pull);
                    }
                }
            }
        }
    }

    /// Done when the server holds the whole sum of a chunk (with a barrier: of all chunks).
    OperationId GetComplete(uint32_t chunk) const
    {
        return m_complete[m_barrier ? 0 : chunk];
    }

    uint32_t m_workers;
    uint32_t m_dedicated; //!< 0: co-located
    uint32_t m_servers;
    uint32_t m_subChunks;
    bool m_barrier;
    ChunkLayout m_layout;
    PlanBuilder m_builder;
    std::vector<OperationId> m_complete;
};

Plan
BuildPs(const SchemeRequest& request)
{
    CheckRequest(request);
    return PsPlan(request).Build();
}

} // namespace

Scheme
MakePsScheme()
{
    return {
        "ps",
        "parameter servers: push to the servers of the shards, pull the sums",
        "Li et al. 2014; co-located as in Wan et al. 2020 (RAT)",
        {
            {"servers",
             int64_t{0},
             "dedicated server ranks over which the gradient is sharded; 0: every worker also "
             "serves one shard",
             {},
             0,
             65536},
            MakePipelineChunksSpec(1, "chunks per shard; a chunk is pulled when it is complete"),
            {"barrier", false, "no pull starts before all pushes of the exchange arrived", {}},
        },
        [](const ParameterSet& parameters) { return GetCount(parameters, "servers", 0); },
        BuildPs,
    };
}

} // namespace ns3::gradsync
