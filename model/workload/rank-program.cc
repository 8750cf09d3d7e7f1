// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/rank-program.h"

#include <algorithm>

namespace ns3::gradsync
{

namespace
{

TrainingStream
GetStream(ParallelGroup group)
{
    switch (group)
    {
    case ParallelGroup::Tensor:
    case ParallelGroup::ExpertTensor:
        return TrainingStream::Tensor;
    case ParallelGroup::Context:
        return TrainingStream::Context;
    case ParallelGroup::Expert:
        return TrainingStream::Expert;
    case ParallelGroup::Data:
    case ParallelGroup::ExpertData:
    case ParallelGroup::Pipeline:
        break;
    }
    return TrainingStream::Data;
}

} // namespace

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
      m_exchange(spec, m_groups, builder, meeting, rank)
{
    for (size_t group = 0; group < PARALLEL_GROUPS; ++group)
    {
        m_groups[group] = layout.GetGroup(static_cast<ParallelGroup>(group), rank);
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
        m_exchange.Finish(m_last);
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

/// What is split among slices, as evenly as whole numbers are.
uint64_t
RankProgram::GetShare(uint64_t whole, uint32_t slice) const
{
    return (slice + 1) * whole / m_slices.size() - slice * whole / m_slices.size();
}

void
RankProgram::Compute(uint32_t slice, uint64_t picoseconds, const std::string& label)
{
    const auto task = m_builder.AddCompute(m_rank,
                                           static_cast<uint32_t>(TrainingStream::Compute),
                                           GetShare(picoseconds, slice),
                                           label);
    WaitForBlockers(slice, task);
    m_slices[slice].last = task;
    m_last = task;
}

void
RankProgram::WaitForBlockers(uint32_t slice, TaskId task)
{
    for (const auto blocker : std::exchange(m_slices[slice].blockers, {}))
    {
        m_builder.AddEdge(blocker, task);
    }
}

void
RankProgram::Communicate(uint32_t slice, CommunicationId id, TrainingStream stream)
{
    const auto part = m_builder.AddPart(m_rank, static_cast<uint32_t>(stream), id);
    if (const auto last = m_slices[slice].last)
    {
        m_builder.AddEdge(*last, part);
    }
    WaitForBlockers(slice, part);
    m_slices[slice].blockers.push_back(part);
}

void
RankProgram::DoCollectives(uint32_t slice,
                           const std::vector<BlockCollective>& collectives,
                           const std::string& label)
{
    for (const auto& collective : collectives)
    {
        const auto& ranks = GetGroup(collective.group);
        if (ranks.size() > 1)
        {
            const auto stream = GetStream(collective.group);
            auto own = collective;
            own.bytes = std::max<uint64_t>(GetShare(collective.bytes, slice), 1);
            Communicate(slice,
                        m_meeting.Join(ranks, static_cast<uint32_t>(stream), m_rank, own, label),
                        stream);
        }
    }
}

void
RankProgram::DoBlock(const std::vector<BlockCollective>& before,
                     uint64_t picoseconds,
                     const std::vector<BlockCollective>& after,
                     const std::string& label)
{
    for (uint32_t slice = 0; slice < m_slices.size(); ++slice)
    {
        DoCollectives(slice, before, label);
        Compute(slice, picoseconds, label);
        DoCollectives(slice, after, label);
    }
}

/// Everything that comes next waits for it.
void
RankProgram::Block(TaskId task)
{
    for (auto& slice : m_slices)
    {
        slice.blockers.push_back(task);
    }
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
    m_builder.AddEdge(m_last, part);
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

void
RankProgram::WriteForward(const PipelinePass& pass)
{
    const auto part = GetPart(pass);
    if (part > 0)
    {
        Receive(pass, part - 1, TrainingStream::ReceiveForward);
    }
    for (auto block = m_firstBlocks[part]; block < m_firstBlocks[part + 1]; ++block)
    {
        const auto& of = m_spec.blocks[block];
        for (const auto sum : m_exchange.TakeSums(block))
        {
            Block(sum);
        }
        DoBlock(of.beforeForward, of.forwardPicoseconds, of.afterForward, "forward " + of.name);
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
    for (auto block = m_firstBlocks[part + 1]; block-- > m_firstBlocks[part];)
    {
        const auto& of = m_spec.blocks[block];
        DoBlock(of.beforeBackward, of.backwardPicoseconds, of.afterBackward, "backward " + of.name);
        ready.push_back(m_last);
    }
    if (part > 0)
    {
        Send(pass, part - 1, TrainingStream::SendBackward);
    }
    if (isLast)
    {
        m_exchange.Exchange(m_firstBlocks[part], m_firstBlocks[part + 1], ready);
    }
}

void
RankProgram::WriteWeightGradient(const PipelinePass& pass)
{
    const auto part = GetPart(pass);
    const bool isLast = CountGradients(pass.chunk);
    std::vector<TaskId> ready;
    for (auto block = m_firstBlocks[part + 1]; block-- > m_firstBlocks[part];)
    {
        const auto& of = m_spec.blocks[block];
        DoBlock({}, of.weightPicoseconds, {}, "weights " + of.name);
        ready.push_back(m_last);
    }
    if (isLast)
    {
        m_exchange.Exchange(m_firstBlocks[part], m_firstBlocks[part + 1], ready);
    }
}

bool
RankProgram::CountGradients(uint32_t chunk)
{
    return ++m_accumulated[chunk] == m_spec.pipeline.microbatches;
}

} // namespace ns3::gradsync
