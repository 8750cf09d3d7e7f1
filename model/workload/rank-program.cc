// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/rank-program.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace ns3::gradsync
{

RankProgram::RankProgram(const TrainingSpec& spec,
                         const RankLayout& layout,
                         std::span<const uint32_t> firstBlocks,
                         WorkloadBuilder& builder,
                         TrainingMeeting& meeting,
                         uint32_t rank)
    : m_spec(spec),
      m_layout(layout),
      m_firstBlocks(firstBlocks),
      m_builder(builder),
      m_meeting(meeting),
      m_rank(rank),
      m_stage(layout.GetStage(rank)),
      m_slices(spec.slices),
      m_exchange(spec, m_groups, builder, meeting, rank),
      m_parameters(spec, m_groups, builder, meeting, rank),
      m_ring(m_groups[static_cast<size_t>(ParallelGroup::Context)], builder, meeting, rank)
{
    for (size_t group = 0; group < PARALLEL_GROUPS; ++group)
    {
        m_groups[group] = layout.GetGroup(static_cast<ParallelGroup>(group), rank);
    }
    const auto stages = spec.pipeline.stages;
    if (spec.tied.gradientBytes > 0 && stages > 1 && (m_stage == 0 || m_stage == stages - 1))
    {
        m_exchange.Tie(m_stage == 0 ? 0 : static_cast<uint32_t>(spec.blocks.size()) - 1,
                       {layout.GetPeer(rank, 0), layout.GetPeer(rank, stages - 1)});
    }
}

const std::vector<uint32_t>&
RankProgram::GetGroup(ParallelGroup group) const
{
    return m_groups[static_cast<size_t>(group)];
}

void
RankProgram::Write()
{
    for (m_iteration = 0; m_iteration < m_spec.iterations; ++m_iteration)
    {
        m_builder.SetIteration(m_iteration);
        m_accumulated.assign(m_spec.pipeline.chunks, 0);
        WriteIteration();
        m_exchange.Finish(*m_last);
    }
}

void
RankProgram::WriteIteration()
{
    const auto passes = ListPasses(m_spec.schedule, m_spec.pipeline, m_stage);
    for (const auto& pass : passes)
    {
        switch (pass.kind)
        {
        case PassKind::Forward:
            WriteForward(pass);
            break;
        case PassKind::Backward:
            WriteBackward(pass);
            break;
        case PassKind::WeightGradient:
            WriteWeightGradient(pass);
            break;
        }
    }
}

bool
RankProgram::HasWeightPasses() const
{
    return m_spec.schedule == PipelineSchedule::ZeroBubbleH1;
}

uint32_t
RankProgram::GetPart(const PipelinePass& pass) const
{
    return pass.chunk * m_spec.pipeline.stages + m_stage;
}

uint32_t
RankProgram::GetRank(uint32_t part) const
{
    return m_layout.GetPeer(m_rank, part % m_spec.pipeline.stages);
}

/// Counted over all iterations: messages are told apart by it.
uint32_t
RankProgram::CountMicrobatch(const PipelinePass& pass) const
{
    return m_iteration * m_spec.pipeline.microbatches + pass.microbatch;
}

uint64_t
RankProgram::GetBytesAfter(uint32_t part) const
{
    const auto own = m_spec.blocks[m_firstBlocks[part + 1] - 1].outputBytes;
    return own == 0 ? m_spec.activationBytes : own;
}

void
RankProgram::Send(const PipelinePass& pass, uint32_t to, TrainingStream stream)
{
    const auto peer = GetRank(to);
    if (peer == m_rank)
    {
        return;
    }
    const auto bytes = GetBytesAfter(std::min(GetPart(pass), to));
    const auto id = m_meeting.Send(m_rank, peer, pass.kind, CountMicrobatch(pass), to, bytes);
    const auto part = m_builder.AddPart(m_rank, static_cast<uint32_t>(stream), id);
    m_builder.AddEdge(*m_last, part);
    for (const auto& slice : m_slices)
    {
        for (const auto blocker : slice.blockers)
        {
            m_builder.AddEdge(blocker, part);
        }
    }
}

void
RankProgram::Receive(const PipelinePass& pass, uint32_t from, TrainingStream stream)
{
    const auto peer = GetRank(from);
    if (peer != m_rank)
    {
        const auto id = m_meeting.Send(peer,
                                       m_rank,
                                       pass.kind,
                                       CountMicrobatch(pass),
                                       GetPart(pass),
                                       GetBytesAfter(std::min(GetPart(pass), from)));
        Block(m_builder.AddPart(m_rank, static_cast<uint32_t>(stream), id));
    }
}

std::vector<uint32_t>
RankProgram::ListBlocks(const PipelinePass& pass) const
{
    const auto part = GetPart(pass);
    std::vector<uint32_t> blocks(m_firstBlocks[part + 1] - m_firstBlocks[part]);
    std::iota(blocks.begin(), blocks.end(), m_firstBlocks[part]);
    if (pass.kind != PassKind::Forward)
    {
        std::ranges::reverse(blocks);
    }
    return blocks;
}

std::vector<uint32_t>
RankProgram::BeginPass(const PipelinePass& pass, bool isLast)
{
    auto blocks = ListBlocks(pass);
    const auto duty = m_parameters.GetDuty(pass.kind, pass.microbatch == 0, isLast);
    m_parameters.BeginPass(duty, blocks, m_last);
    return blocks;
}

void
RankProgram::WriteForward(const PipelinePass& pass)
{
    const auto part = GetPart(pass);
    if (part > 0)
    {
        Receive(pass, part - 1, TrainingStream::ReceiveForward);
    }
    for (const auto block : BeginPass(pass, false))
    {
        const auto& of = m_spec.blocks[block];
        for (const auto sum : m_exchange.TakeSums(block))
        {
            Block(sum);
        }
        DoBlock({block,
                 of.beforeForward,
                 of.forwardPicoseconds,
                 of.afterForward,
                 "forward " + of.name,
                 PassKind::Forward});
    }
    if (part + 2 < m_firstBlocks.size())
    {
        Send(pass, part + 1, TrainingStream::SendForward);
    }
}

void
RankProgram::WriteBackward(const PipelinePass& pass)
{
    const auto part = GetPart(pass);
    if (part + 2 < m_firstBlocks.size())
    {
        Receive(pass, part + 1, TrainingStream::ReceiveBackward);
    }
    const bool isLast = !HasWeightPasses() && CountGradients(pass.chunk);
    std::vector<TaskId> ready;
    for (const auto block : BeginPass(pass, isLast))
    {
        const auto& of = m_spec.blocks[block];
        DoBlock({block,
                 of.beforeBackward,
                 of.backwardPicoseconds,
                 of.afterBackward,
                 "backward " + of.name,
                 PassKind::Backward});
        ready.push_back(*m_last);
    }
    if (part > 0)
    {
        Send(pass, part - 1, TrainingStream::SendBackward);
    }
    if (isLast)
    {
        ExchangeGradients(pass, ready);
    }
}

void
RankProgram::WriteWeightGradient(const PipelinePass& pass)
{
    static const std::vector<BlockCollective> none;
    const bool isLast = CountGradients(pass.chunk);
    std::vector<TaskId> ready;
    for (const auto block : BeginPass(pass, isLast))
    {
        const auto& of = m_spec.blocks[block];
        DoBlock({block, none, of.weightPicoseconds, none, "weights " + of.name, pass.kind});
        ready.push_back(*m_last);
    }
    if (isLast)
    {
        ExchangeGradients(pass, ready);
    }
}

bool
RankProgram::CountGradients(uint32_t chunk)
{
    return ++m_accumulated[chunk] == m_spec.pipeline.microbatches;
}

void
RankProgram::ExchangeGradients(const PipelinePass& pass, const std::vector<TaskId>& ready)
{
    if (m_spec.dataParallelism != DataParallelism::FullySharded)
    {
        const auto part = GetPart(pass);
        m_exchange.Exchange(m_firstBlocks[part], m_firstBlocks[part + 1], ready);
    }
}

} // namespace ns3::gradsync
