// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/plan-join.h"

#include "ns3/plan-builder.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <utility>
#include <vector>

namespace ns3::gradsync
{

namespace
{

void
CheckPart(const Plan& part, const Plan& first)
{
    const auto operations = part.GetOperations();
    const bool trains = std::any_of(operations.begin(), operations.end(), [](const auto& one) {
        return one.kind == OperationKind::Train;
    });
    if (!part.GetCollective().IsAllReduce() || part.GetGate() || trains)
    {
        throw std::invalid_argument("only synchronous all-reduces can be several at once");
    }
    if (part.GetRankCount() != first.GetRankCount() ||
        part.GetWorkerCount() != first.GetWorkerCount())
    {
        throw std::invalid_argument("they are of different ranks");
    }
    if (part.HasAggregations() &&
        (part.GetAggregationProtocol().name != first.GetAggregationProtocol().name ||
         part.SharesExponents() != first.SharesExponents()))
    {
        throw std::invalid_argument("switches want all of them as the same kind of integers");
    }
}

ChunkLayout
JoinLayouts(std::span<const std::shared_ptr<const Plan>> parts)
{
    std::vector<uint64_t> sizes;
    for (const auto& part : parts)
    {
        const auto& layout = part->GetLayout();
        for (uint32_t chunk = 0; chunk < layout.GetChunkCount(); ++chunk)
        {
            sizes.push_back(layout.GetBytes(chunk, 1));
        }
    }
    return ChunkLayout::FromSizes(sizes);
}

/// Copies one part after the other into a plan.
class PlanJoin
{
  public:
    explicit PlanJoin(std::span<const std::shared_ptr<const Plan>> parts)
        : m_builder(parts.front()->GetRankCount(),
                    parts.front()->GetWorkerCount(),
                    JoinLayouts(parts))
    {
    }

    void Append(const Plan& part)
    {
        AppendGroups(part);
        const auto offset = m_operations;
        const auto count = static_cast<OperationId>(part.GetOperations().size());
        for (OperationId id = 0; id < count; ++id)
        {
            AppendOperation(part, id);
        }
        for (OperationId id = 0; id < count; ++id)
        {
            for (const auto later : part.GetSuccessors(id))
            {
                m_builder.AddEdge(offset + id, offset + later);
            }
        }
        m_chunks += part.GetLayout().GetChunkCount();
        if (part.SelectsSums())
        {
            m_builder.SetSelectsSums();
        }
        if (part.SharesExponents())
        {
            m_builder.SetSharesExponents();
        }
    }

    Plan Build()
    {
        return m_builder.Build();
    }

  private:
    /// The same ranks are one group.
    void AppendGroups(const Plan& part)
    {
        m_groupOf.clear();
        for (const auto& ranks : part.GetAggregationGroups())
        {
            auto known = m_groups.find(ranks);
            if (known == m_groups.end())
            {
                const auto group =
                    m_builder.AddAggregationGroup(ranks, part.GetAggregationProtocol());
                known = m_groups.emplace(ranks, group).first;
            }
            m_groupOf.push_back(known->second);
        }
    }

    void AppendOperation(const Plan& part, OperationId id)
    {
        Operation operation = part.GetOperations()[id];
        ++m_operations;
        if (operation.IsCompute())
        {
            m_builder.AddCompute(operation.kind,
                                 operation.src,
                                 part.GetComputePicoseconds(id),
                                 operation.firstChunk);
            return;
        }
        if (operation.IsMove())
        {
            operation.firstChunk += m_chunks;
        }
        if (operation.IsAggregate())
        {
            operation.stream = m_groupOf.at(operation.stream);
        }
        const auto added = m_builder.AddLike(operation);
        if (part.IsCompressed() && operation.IsTransfer())
        {
            m_builder.SetMessageBytes(added, part.GetBytes(id));
        }
    }

    PlanBuilder m_builder;
    OperationId m_operations{0};
    uint32_t m_chunks{0};
    std::map<std::vector<uint32_t>, uint32_t> m_groups; //!< ranks -> number in the whole
    std::vector<uint32_t> m_groupOf;                    //!< [group of the part] -> in the whole
};

} // namespace

Plan
JoinPlans(std::span<const std::shared_ptr<const Plan>> parts)
{
    if (parts.empty())
    {
        throw std::invalid_argument("there is nothing to exchange");
    }
    PlanJoin join(parts);
    for (const auto& part : parts)
    {
        CheckPart(*part, *parts.front());
        join.Append(*part);
    }
    return join.Build();
}

} // namespace ns3::gradsync
