// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/sharded-parameters.h"

#include <algorithm>
#include <utility>

namespace ns3::gradsync
{

ShardedParameters::ShardedParameters(const TrainingSpec& spec,
                                     const GradientExchange::Groups& groups,
                                     WorkloadBuilder& builder,
                                     TrainingMeeting& meeting,
                                     uint32_t rank)
    : m_spec(spec),
      m_groups(groups),
      m_builder(builder),
      m_meeting(meeting),
      m_rank(rank)
{
}

ShardedParameters::Duty
ShardedParameters::GetDuty(PassKind kind, bool isFirst, bool isLast) const
{
    if (m_spec.dataParallelism != DataParallelism::FullySharded)
    {
        return {};
    }
    const bool eachPass = m_spec.parameterGather == ParameterGather::Pass;
    // Gradients of weights are made from activations, without the weights.
    const bool needs = kind != PassKind::WeightGradient;
    const bool makes = m_spec.schedule == PipelineSchedule::ZeroBubbleH1
                           ? kind == PassKind::WeightGradient
                           : kind == PassKind::Backward;
    return {needs && (eachPass || (kind == PassKind::Forward && isFirst)),
            makes && (eachPass || isLast)};
}

std::vector<ShardedParameters::Unit>
ShardedParameters::MakeUnits(const std::vector<uint32_t>& blocks) const
{
    std::vector<Unit> units;
    for (const auto block : blocks)
    {
        const auto& of = m_spec.blocks[block];
        // Forward a block joins the one before it, on the way back the one that follows it joins.
        const bool isBack = !units.empty() && block < units.back().lastBlock;
        const auto joins = isBack ? block + 1 : block;
        if (units.empty() || !m_spec.blocks[joins].joinsPrevious)
        {
            units.push_back({block, block, of.name, 0, 0, false, {}});
        }
        auto& unit = units.back();
        unit.lastBlock = block;
        const auto bytes = of.gradientBytes + of.expertGradientBytes;
        // By the name of its first block with parameters.
        const bool isFirstOf = isBack ? bytes > 0 : unit.bytes + unit.expertBytes == 0;
        unit.name = isFirstOf ? of.name : unit.name;
        unit.bytes += of.gradientBytes;
        unit.expertBytes += of.expertGradientBytes;
    }
    return units;
}

void
ShardedParameters::BeginPass(const Duty& duty,
                             const std::vector<uint32_t>& blocks,
                             std::optional<TaskId> after)
{
    m_duty = duty;
    m_unit = 0;
    m_computed = after;
    m_units.clear();
    if (duty.gathers || duty.scatters)
    {
        m_units = MakeUnits(blocks);
    }
}

void
ShardedParameters::Gather(size_t unit)
{
    if (unit < m_units.size() && !std::exchange(m_units[unit].isGathered, true))
    {
        m_units[unit].gathered =
            Exchange(m_units[unit], m_spec.parameterScheme, {}, "parameters ", m_computed);
    }
}

std::vector<TaskId>
ShardedParameters::BeginBlock(uint32_t block)
{
    if (!m_duty.gathers || m_units[m_unit].firstBlock != block)
    {
        return {};
    }
    Gather(m_unit);
    Gather(m_unit + 1);
    return m_units[m_unit].gathered;
}

void
ShardedParameters::EndBlock(uint32_t block, TaskId computed)
{
    m_computed = computed;
    if (m_units.empty() || m_units[m_unit].lastBlock != block)
    {
        return;
    }
    if (m_duty.scatters)
    {
        Exchange(m_units[m_unit], m_spec.gradientScheme, m_spec.codecs, "gradients ", computed);
    }
    ++m_unit;
}

/// With the ranks that have the same parameters, with those that have the same experts.
std::vector<TaskId>
ShardedParameters::Exchange(const Unit& unit,
                            const SchemeChoice& scheme,
                            std::span<const GradientCodecRule> codecs,
                            const std::string& label,
                            std::optional<TaskId> after)
{
    const auto& replicas = m_groups[static_cast<size_t>(ParallelGroup::Data)];
    const auto& expertReplicas = m_groups[static_cast<size_t>(ParallelGroup::ExpertData)];
    const bool isOne = replicas == expertReplicas;
    std::vector<TaskId> parts;
    const auto add = [&](const std::vector<uint32_t>& ranks, uint64_t bytes, ParallelGroup group) {
        if (ranks.size() == 1 || bytes == 0)
        {
            return;
        }
        constexpr auto STREAM = static_cast<uint32_t>(TrainingStream::Data);
        const auto codec = ChooseCodec(codecs, unit.name, bytes);
        const auto id = m_meeting.Join(ranks,
                                       STREAM,
                                       m_rank,
                                       {scheme, bytes, group, codec},
                                       NameCompressed(label + unit.name, codec));
        parts.push_back(m_builder.AddPart(m_rank, STREAM, id));
        if (after)
        {
            m_builder.AddEdge(*after, parts.back());
        }
    };
    add(replicas, unit.bytes + (isOne ? unit.expertBytes : 0), ParallelGroup::Data);
    add(expertReplicas, isOne ? 0 : unit.expertBytes, ParallelGroup::ExpertData);
    return parts;
}

} // namespace ns3::gradsync
