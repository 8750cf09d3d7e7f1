// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/rank-layout.h"

#include "ns3/workload-builder.h"

#include <algorithm>
#include <fmt/format.h>

namespace ns3::gradsync
{

namespace
{

constexpr size_t
At(ParallelAxis axis)
{
    return static_cast<size_t>(axis);
}

/// Which layers a group is of, and along which axes it lies.
struct GroupAxes
{
    bool ofExperts;
    std::vector<ParallelAxis> axes;
};

GroupAxes
GetAxes(ParallelGroup group)
{
    switch (group)
    {
    case ParallelGroup::Tensor:
        return {false, {ParallelAxis::Tensor}};
    case ParallelGroup::Context:
        return {false, {ParallelAxis::Context}};
    case ParallelGroup::Data:
        return {false, {ParallelAxis::Data, ParallelAxis::Context}};
    case ParallelGroup::Pipeline:
        return {false, {ParallelAxis::Pipeline}};
    case ParallelGroup::Expert:
        return {true, {ParallelAxis::Expert}};
    case ParallelGroup::ExpertTensor:
        return {true, {ParallelAxis::Tensor}};
    case ParallelGroup::ExpertData:
        return {true, {ParallelAxis::Data}};
    }
    return {};
}

uint32_t
CountRanks(const ParallelDegrees& degrees)
{
    uint64_t ranks = 1;
    for (const auto degree :
         {degrees.tensor, degrees.context, degrees.data, degrees.pipeline, degrees.expert})
    {
        if (degree == 0)
        {
            throw WorkloadError("parallelism of each kind is of at least one rank");
        }
    }
    for (const auto degree : {degrees.tensor, degrees.context, degrees.data, degrees.pipeline})
    {
        ranks *= degree;
        if (ranks > RankLayout::MAX_RANKS)
        {
            throw WorkloadError(fmt::format("{} tensor x {} context x {} data x {} pipeline ranks "
                                            "are more than {}",
                                            degrees.tensor,
                                            degrees.context,
                                            degrees.data,
                                            degrees.pipeline,
                                            RankLayout::MAX_RANKS));
        }
    }
    return static_cast<uint32_t>(ranks);
}

/// How many ranks have the same part of the same experts.
uint32_t
CountExpertReplicas(const ParallelDegrees& degrees, uint32_t stageRanks, uint32_t expertTensor)
{
    const auto experts = uint64_t{degrees.expert} * expertTensor;
    if (stageRanks % experts != 0)
    {
        throw WorkloadError(fmt::format("{} expert x {} tensor ranks do not divide the {} ranks of "
                                        "a stage ({} tensor x {} context x {} data)",
                                        degrees.expert,
                                        expertTensor,
                                        stageRanks,
                                        degrees.tensor,
                                        degrees.context,
                                        degrees.data));
    }
    return static_cast<uint32_t>(stageRanks / experts);
}

} // namespace

RankLayout::RankLayout(const ParallelDegrees& degrees)
    : m_order(CompleteOrder(degrees.order)),
      m_ranks(CountRanks(degrees))
{
    const auto expertTensor = degrees.expertTensor == 0 ? degrees.tensor : degrees.expertTensor;
    const auto replicas = CountExpertReplicas(degrees, m_ranks / degrees.pipeline, expertTensor);
    m_axes = Stack({degrees.tensor, degrees.context, 1, degrees.data, degrees.pipeline});
    m_expertAxes = Stack({expertTensor, 1, degrees.expert, replicas, degrees.pipeline});
    CheckStages();
}

std::vector<ParallelAxis>
RankLayout::CompleteOrder(const std::vector<ParallelAxis>& order)
{
    if (order.empty())
    {
        return {ParallelAxis::Tensor,
                ParallelAxis::Context,
                ParallelAxis::Expert,
                ParallelAxis::Data,
                ParallelAxis::Pipeline};
    }
    auto sorted = order;
    std::ranges::sort(sorted);
    for (size_t axis = 0; axis < PARALLEL_AXES; ++axis)
    {
        if (sorted.size() != PARALLEL_AXES || At(sorted[axis]) != axis)
        {
            throw WorkloadError("an order of ranks has tensor, context, expert, data and pipeline, "
                                "each once");
        }
    }
    return order;
}

RankLayout::Axes
RankLayout::Stack(const std::array<uint32_t, PARALLEL_AXES>& sizes) const
{
    Axes axes;
    uint32_t stride = 1;
    for (const auto axis : m_order)
    {
        axes[At(axis)] = {sizes[At(axis)], stride};
        stride *= sizes[At(axis)];
    }
    return axes;
}

void
RankLayout::CheckStages() const
{
    const auto& pipeline = m_axes[At(ParallelAxis::Pipeline)];
    if (pipeline.size > 1 && pipeline.stride != m_expertAxes[At(ParallelAxis::Pipeline)].stride)
    {
        throw WorkloadError("by this order of ranks layers and their experts would be on different "
                            "stages: let the pipeline come last");
    }
}

std::vector<uint32_t>
RankLayout::GetGroup(ParallelGroup group, uint32_t rank) const
{
    const auto [ofExperts, along] = GetAxes(group);
    const auto& axes = ofExperts ? m_expertAxes : m_axes;
    std::vector<uint32_t> members{rank};
    for (const auto axis : along)
    {
        const auto [size, stride] = axes[At(axis)];
        members.front() -= rank / stride % size * stride;
    }
    for (const auto axis : m_order)
    {
        if (std::ranges::find(along, axis) == along.end())
        {
            continue;
        }
        const auto [size, stride] = axes[At(axis)];
        const auto known = members.size();
        for (uint32_t step = 1; step < size; ++step)
        {
            for (size_t i = 0; i < known; ++i)
            {
                members.push_back(members[i] + step * stride);
            }
        }
    }
    return members;
}

uint32_t
RankLayout::GetGroupSize(ParallelGroup group) const
{
    const auto [ofExperts, along] = GetAxes(group);
    uint32_t size = 1;
    for (const auto axis : along)
    {
        size *= (ofExperts ? m_expertAxes : m_axes)[At(axis)].size;
    }
    return size;
}

uint32_t
RankLayout::GetStage(uint32_t rank) const
{
    const auto [size, stride] = m_axes[At(ParallelAxis::Pipeline)];
    return rank / stride % size;
}

uint32_t
RankLayout::GetPeer(uint32_t rank, uint32_t stage) const
{
    const auto stride = m_axes[At(ParallelAxis::Pipeline)].stride;
    return rank - GetStage(rank) * stride + stage * stride;
}

} // namespace ns3::gradsync
