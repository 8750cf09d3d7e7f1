// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/dataflow-builder.h"
#include "ns3/fallback-spec.h"
#include "ns3/scheme-groups.h"
#include "ns3/scheme-support.h"
#include "ns3/schemes.h"

#include <fmt/format.h>
#include <map>
#include <string>
#include <vector>

namespace ns3::gradsync
{

namespace
{

constexpr const char* DEFAULT_BROADCAST = "chain";

/// Collects the transfers of one exchange.
class HierarchicalPlan
{
  public:
    explicit HierarchicalPlan(const SchemeRequest& request)
        : m_request(request),
          m_groups(FindGroups(request, DefaultGroups::InnermostLevel)),
          m_subChunks(GetCount(request.parameters, "pipelineChunks", 1)),
          m_broadcastChunks(GetCount(request.parameters, "broadcastChunks", 1)),
          m_barrier(request.parameters.Get<bool>("barrier")),
          m_aggregates(request.parameters.Get<std::string>("inside") == "nvls")
    {
        if (m_aggregates && request.parameters.Get<std::string>("broadcast") != DEFAULT_BROADCAST)
        {
            throw SchemeError("broadcast is for groups that have no NVSwitch between them, but "
                              "inside is nvls, and the switch multicasts");
        }
        for (const auto& group : m_groups)
        {
            m_roots.push_back(group.front());
        }
        CutBuffer();
    }

    Plan Build()
    {
        DataflowBuilder builder(m_request.workers, m_request.workers, m_layout);
        if (m_aggregates)
        {
            AddAggregations(builder, AggregationFlow::Reduce);
            EndStage(builder);
            AddRing(builder, m_roots);
            EndStage(builder);
            AddAggregations(builder, AggregationFlow::Multicast);
            return builder.Build();
        }
        for (const auto& group : m_groups)
        {
            AddRing(builder, group);
        }
        if (m_groups.size() > 1)
        {
            EndStage(builder);
            AddRing(builder, m_roots);
            EndStage(builder);
            AddBroadcasts(builder);
        }
        return builder.Build();
    }

  private:
    struct Range
    {
        uint32_t first;
        uint32_t count;
    };

    void CutBuffer()
    {
        std::map<uint32_t, ChunkLayout> layouts;
        const auto cutInto = [&](uint32_t pieces) {
            layouts.try_emplace(
                pieces,
                ChunkLayout::Even(m_request.gradientBytes, pieces, m_request.elementBytes));
        };
        cutInto(m_broadcastChunks);
        cutInto(CountChunks(static_cast<uint32_t>(m_roots.size()), m_subChunks));
        for (const auto& group : m_groups)
        {
            cutInto(CountChunks(static_cast<uint32_t>(group.size()), m_subChunks));
        }
        std::vector<ChunkLayout> all;
        all.reserve(layouts.size());
        for (const auto& [pieces, layout] : layouts)
        {
            all.push_back(layout);
        }
        m_layout = ChunkLayout::CommonRefinement(all);
        for (const auto& [pieces, layout] : layouts)
        {
            auto& ranges = m_ranges[pieces];
            for (uint32_t piece = 0; piece < pieces; ++piece)
            {
                const auto first = m_layout.FindChunk(layout.GetBytes(0, piece));
                const auto end = m_layout.FindChunk(layout.GetBytes(0, piece + 1));
                ranges.push_back({first, end - first});
            }
        }
    }

    /// The pieces of the buffer when it is cut for a ring of so many ranks.
    const std::vector<Range>& GetRingRanges(size_t ringSize) const
    {
        return m_ranges.at(static_cast<uint32_t>(ringSize) * m_subChunks);
    }

    void EndStage(DataflowBuilder& builder) const
    {
        if (m_barrier)
        {
            builder.AddBarrier();
        }
    }

    static void AddCopy(DataflowBuilder& builder, uint32_t src, uint32_t dst, const Range& range)
    {
        if (range.count > 0) // 0: fewer elements than pieces
        {
            builder.AddCopy(src, dst, range.first, range.count);
        }
    }

    /// From all of a group to its root, or from the root to all, by the switch between them.
    void AddAggregations(DataflowBuilder& builder, AggregationFlow flow) const
    {
        std::vector<uint32_t> numbers;
        for (const auto& group : m_groups)
        {
            numbers.push_back(
                group.size() < 2 ? 0
                                 : builder.AddAggregationGroup(group,
                                                               {.name = "nvls", .addsFloats = true},
                                                               {flow, group.front()}));
        }
        for (const auto& range : m_ranges.at(m_broadcastChunks))
        {
            for (size_t i = 0; i < m_groups.size() && range.count > 0; ++i)
            {
                if (m_groups[i].size() > 1)
                {
                    builder.AddAggregate(numbers[i], range.first, range.count);
                }
            }
        }
    }

    /// Ring all-reduce: as ring-scheme.cc, step t moves part (i - t) from member i to the next one.
    void AddRing(DataflowBuilder& builder, const Ranks& ring) const
    {
        const auto size = static_cast<uint32_t>(ring.size());
        const auto& ranges = GetRingRanges(size);
        for (uint32_t step = 0; step < 2 * (size - 1); ++step)
        {
            for (uint32_t piece = 0; piece < size * m_subChunks; ++piece)
            {
                const uint32_t subChunk = piece / size;
                const uint32_t member = piece % size;
                const uint32_t part = (member + 2 * size - step) % size;
                const auto& range = ranges[part * m_subChunks + subChunk];
                const uint32_t next = ring[(member + 1) % size];
                if (step >= size - 1)
                {
                    AddCopy(builder, ring[member], next, range);
                }
                else if (range.count > 0)
                {
                    builder.AddReduce(ring[member], next, range.first, range.count);
                }
            }
        }
    }

    void AddBroadcasts(DataflowBuilder& builder) const
    {
        const auto& form = m_request.parameters.Get<std::string>("broadcast");
        if (form == "scatter-allgather")
        {
            for (const auto& group : m_groups)
            {
                AddScatter(builder, group);
            }
            EndStage(builder);
            for (const auto& group : m_groups)
            {
                AddAllGather(builder, group);
            }
            return;
        }
        if (form != "star" && form != "chain")
        {
            throw SchemeError(fmt::format("broadcast is \"{}\", but must be star, "
                                          "scatter-allgather or chain",
                                          form));
        }
        for (const auto& group : m_groups)
        {
            for (const auto& range : m_ranges.at(m_broadcastChunks))
            {
                for (size_t member = 1; member < group.size(); ++member)
                {
                    const auto src = form == "star" ? group.front() : group[member - 1];
                    AddCopy(builder, src, group[member], range);
                }
            }
        }
    }

    /// The root sends each member its part.
    void AddScatter(DataflowBuilder& builder, const Ranks& group) const
    {
        const auto& ranges = GetRingRanges(group.size());
        for (uint32_t subChunk = 0; subChunk < m_subChunks; ++subChunk)
        {
            for (size_t member = 1; member < group.size(); ++member)
            {
                AddCopy(builder,
                        group.front(),
                        group[member],
                        ranges[member * m_subChunks + subChunk]);
            }
        }
    }

    /// The parts travel around the ring, but not to the root, which holds them all.
    void AddAllGather(DataflowBuilder& builder, const Ranks& group) const
    {
        const size_t size = group.size();
        const auto& ranges = GetRingRanges(size);
        for (size_t step = 0; step + 1 < size; ++step)
        {
            for (uint32_t subChunk = 0; subChunk < m_subChunks; ++subChunk)
            {
                for (size_t member = 0; member + 1 < size; ++member)
                {
                    const size_t part = (member + size - step) % size;
                    AddCopy(builder,
                            group[member],
                            group[member + 1],
                            ranges[part * m_subChunks + subChunk]);
                }
            }
        }
    }

    const SchemeRequest& m_request;
    std::vector<Ranks> m_groups;
    uint32_t m_subChunks;
    uint32_t m_broadcastChunks;
    bool m_barrier;
    bool m_aggregates; //!< inside of groups
    Ranks m_roots;
    ChunkLayout m_layout;
    std::map<uint32_t, std::vector<Range>> m_ranges; //!< pieces -> where they lie in m_layout
};

Plan
BuildHierarchical(const SchemeRequest& request)
{
    CheckRequest(request);
    return HierarchicalPlan(request).Build();
}

} // namespace

Scheme
MakeHierarchicalScheme()
{
    return {
        "hierarchical",
        "ring all-reduce in each group, ring among the roots of the groups, broadcast in each "
        "group",
        "Jia et al. 2018 (Tencent)",
        MergeSpecs(MakeGroupSpecs(DefaultGroups::InnermostLevel),
                   {
                       MakePipelineChunksSpec(1, "pieces in which each part of a ring travels"),
                       {"broadcast",
                        std::string(DEFAULT_BROADCAST),
                        "how a root gives the result to its group",
                        {"star", "scatter-allgather", "chain"}},
                       {"broadcastChunks",
                        int64_t{16},
                        "pieces of the gradient in a star or chain broadcast, or in NVLS",
                        {},
                        1,
                        1 << 20},
                       {"barrier",
                        true,
                        "no stage starts before all groups are done with the one before",
                        {},
                        0,
                        1,
                        {false}},
                       {"inside",
                        std::string("ring"),
                        "how a group adds up before, and with nvls gets the result after: ring and "
                        "broadcast, or reduction and multicast by an NVSwitch",
                        {"ring", "nvls"}},
                       MakeFallbackSpec(),
                   }),
        [](const ParameterSet&) { return 0u; },
        BuildHierarchical,
    };
}

} // namespace ns3::gradsync
