// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/plan-join.h"

#include "ns3/plan-builder.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
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

void
CheckParts(std::span<const std::shared_ptr<const Plan>> parts)
{
    if (parts.empty())
    {
        throw std::invalid_argument("there is nothing to exchange");
    }
    for (const auto& part : parts)
    {
        CheckPart(*part, *parts.front());
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

/// The same chunks, as shares of so many bytes.
ChunkLayout
StretchLayout(const ChunkLayout& layout, uint64_t bytes)
{
    constexpr uint64_t ELEMENT_BYTES = 4;
    const auto all = static_cast<long double>(layout.GetTotalBytes());
    std::vector<uint64_t> sizes;
    uint64_t before = 0;
    uint64_t place = 0;
    for (uint32_t chunk = 0; chunk < layout.GetChunkCount(); ++chunk)
    {
        before += layout.GetBytes(chunk, 1);
        const auto share = static_cast<long double>(before) / all * bytes;
        const uint64_t end = before == layout.GetTotalBytes()
                                 ? bytes
                                 : static_cast<uint64_t>(share) / ELEMENT_BYTES * ELEMENT_BYTES;
        sizes.push_back(end - place);
        place = end;
    }
    return ChunkLayout::FromSizes(sizes);
}

/// Copies one part after the other into a plan.
class PlanJoin
{
  public:
    /// \param layout of all chunks \param hasSizes whether messages have other sizes than chunks
    PlanJoin(const Plan& first, const ChunkLayout& layout, bool hasSizes)
        : m_builder(first.GetRankCount(), first.GetWorkerCount(), layout),
          m_hasSizes(hasSizes),
          m_steps(first.GetWorkerCount())
    {
    }

    /// What a worker does after all that has come to it, and before what it sends from now on.
    void AppendStep(const ChainStep& step)
    {
        if (step.picoseconds == 0 && m_arrivals.empty())
        {
            return;
        }
        for (uint32_t worker = 0; worker < m_steps.size(); ++worker)
        {
            const auto added = step.picoseconds > 0
                                   ? m_builder.AddCompute(step.kind, worker, step.picoseconds)
                                   : m_builder.AddJoin(worker);
            ++m_operations;
            if (m_steps[worker])
            {
                m_builder.AddEdge(*m_steps[worker], added);
            }
            m_steps[worker] = added;
        }
        for (const auto& [operation, worker] : m_arrivals)
        {
            m_builder.AddEdge(operation, *m_steps[worker]);
        }
        m_arrivals.clear();
    }

    void Append(const Plan& part)
    {
        AppendGroups(part);
        const auto offset = m_operations;
        const auto count = static_cast<OperationId>(part.GetOperations().size());
        for (OperationId id = 0; id < count; ++id)
        {
            AppendOperation(part, id);
            ChainOperation(part.GetOperations()[id], offset + id);
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
    /// The same ranks are one group, if the same of them give and get.
    void AppendGroups(const Plan& part)
    {
        m_groupOf.clear();
        for (uint32_t own = 0; own < part.GetAggregationGroups().size(); ++own)
        {
            const auto& ranks = part.GetAggregationGroups()[own];
            const auto flow = part.GetAggregationFlow(own);
            auto known = m_groups.find({ranks, flow});
            if (known == m_groups.end())
            {
                const auto group =
                    m_builder.AddAggregationGroup(ranks, part.GetAggregationProtocol(), flow);
                known = m_groups.emplace(std::pair(ranks, flow), group).first;
            }
            m_groupOf.push_back(known->second);
        }
    }

    /// Nothing where there are no steps.
    void ChainOperation(const Operation& operation, OperationId id)
    {
        if (operation.src < m_steps.size() && m_steps[operation.src])
        {
            m_builder.AddEdge(*m_steps[operation.src], id);
        }
        if (operation.dst < m_steps.size())
        {
            m_arrivals.emplace_back(id, operation.dst);
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
        if ((m_hasSizes || part.IsCompressed()) && operation.IsTransfer())
        {
            m_builder.SetMessageBytes(added, part.GetBytes(id));
        }
    }

    PlanBuilder m_builder;
    bool m_hasSizes;
    std::vector<std::optional<OperationId>> m_steps;            //!< [worker] the last one
    std::vector<std::pair<OperationId, uint32_t>> m_arrivals{}; //!< since then, and at whom
    OperationId m_operations{0};
    uint32_t m_chunks{0};
    std::map<std::pair<std::vector<uint32_t>, GroupFlow>, uint32_t>
        m_groups;                    //!< ranks -> number in the whole
    std::vector<uint32_t> m_groupOf; //!< [group of the part] -> in the whole
};

} // namespace

Plan
JoinPlans(std::span<const std::shared_ptr<const Plan>> parts)
{
    CheckParts(parts);
    PlanJoin join(*parts.front(), JoinLayouts(parts), false);
    for (const auto& part : parts)
    {
        join.Append(*part);
    }
    return join.Build();
}

Plan
ChainPlans(std::span<const std::shared_ptr<const Plan>> parts,
           std::span<const ChainStep> steps,
           uint64_t gradientBytes)
{
    CheckParts(parts);
    const auto layout = JoinLayouts(parts);
    if (parts.front()->HasAggregations())
    {
        throw std::invalid_argument("a network that adds up does not do it twice");
    }
    if (steps.size() != parts.size() + 1 || layout.GetTotalBytes() == 0 ||
        gradientBytes < layout.GetTotalBytes())
    {
        throw std::invalid_argument("these are not the steps and bytes of a chain");
    }
    PlanJoin chain(*parts.front(), StretchLayout(layout, gradientBytes), true);
    for (size_t i = 0; i < parts.size(); ++i)
    {
        chain.AppendStep(steps[i]);
        chain.Append(*parts[i]);
    }
    if (steps.back().picoseconds > 0)
    {
        chain.AppendStep(steps.back());
    }
    return chain.Build();
}

} // namespace ns3::gradsync
