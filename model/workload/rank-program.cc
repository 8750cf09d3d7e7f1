// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/rank-program.h"

#include "ns3/gradient-buckets.h"

#include <algorithm>
#include <cmath>

namespace ns3::gradsync
{

RankProgram::RankProgram(const TrainingSpec& spec,
                         std::span<const uint32_t> firstBlocks,
                         WorkloadBuilder& builder,
                         TrainingMeeting& meeting,
                         uint32_t rank)
    : m_spec(spec),
      m_firstBlocks(firstBlocks),
      m_builder(builder),
      m_meeting(meeting),
      m_rank(rank),
      m_stage(rank / (spec.tensor * spec.data)),
      m_accumulated(spec.pipeline.chunks, 0)
{
    const auto first = rank - rank % spec.tensor;
    for (uint32_t member = 0; member < spec.tensor; ++member)
    {
        m_tensorGroup.push_back(first + member);
    }
    const auto replicas = m_stage * spec.tensor * spec.data + rank % spec.tensor;
    for (uint32_t replica = 0; replica < spec.data; ++replica)
    {
        m_dataGroup.push_back(replicas + replica * spec.tensor);
    }
}

void
RankProgram::Write()
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
    for (const auto bytes : m_later)
    {
        Exchange(bytes, m_last);
    }
    GatherParameters();
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
    const auto stride = m_spec.tensor * m_spec.data;
    return part % m_spec.pipeline.stages * stride + m_rank % stride;
}

void
RankProgram::Compute(uint64_t picoseconds, const std::string& label)
{
    const auto task = m_builder.AddCompute(m_rank,
                                           static_cast<uint32_t>(TrainingStream::Compute),
                                           picoseconds,
                                           label);
    WaitForBlockers(task);
    m_last = task;
    m_hasLast = true;
}

void
RankProgram::WaitForBlockers(TaskId task)
{
    for (const auto blocker : m_blockers)
    {
        m_builder.AddEdge(blocker, task);
    }
    m_blockers.clear();
}

void
RankProgram::Communicate(CommunicationId id, TrainingStream stream)
{
    const auto part = m_builder.AddPart(m_rank, static_cast<uint32_t>(stream), id);
    if (m_hasLast && stream == TrainingStream::Tensor)
    {
        m_builder.AddEdge(m_last, part);
    }
    WaitForBlockers(part);
    m_blockers.push_back(part);
}

void
RankProgram::DoTensorCollectives(const std::vector<BlockCollective>& collectives,
                                 const std::string& label)
{
    for (const auto& collective : collectives)
    {
        if (m_spec.tensor > 1)
        {
            Communicate(
                m_meeting.Join(m_tensorGroup, TrainingStream::Tensor, m_rank, collective, label),
                TrainingStream::Tensor);
        }
    }
}

void
RankProgram::Send(const PipelinePass& pass, uint32_t to, TrainingStream stream)
{
    const auto peer = GetRank(to);
    if (peer == m_rank)
    {
        return;
    }
    const auto id =
        m_meeting.Send(m_rank, peer, pass.kind, pass.microbatch, to, m_spec.activationBytes);
    const auto part = m_builder.AddPart(m_rank, static_cast<uint32_t>(stream), id);
    m_builder.AddEdge(m_last, part);
    for (const auto blocker : m_blockers)
    {
        m_builder.AddEdge(blocker, part);
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
                                       pass.microbatch,
                                       GetPart(pass),
                                       m_spec.activationBytes);
        m_blockers.push_back(m_builder.AddPart(m_rank, static_cast<uint32_t>(stream), id));
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
        Compute(of.forwardPicoseconds, "forward " + of.name);
        DoTensorCollectives(of.afterForward, "forward " + of.name);
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
        Compute(of.backwardPicoseconds, "backward " + of.name);
        ready.push_back(m_last);
        DoTensorCollectives(of.afterBackward, "backward " + of.name);
    }
    if (part > 0)
    {
        Send(pass, part - 1, TrainingStream::SendBackward);
    }
    if (isLast)
    {
        ExchangeGradients(part, ready);
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
        Compute(of.weightPicoseconds, "weights " + of.name);
        ready.push_back(m_last);
    }
    if (isLast)
    {
        ExchangeGradients(part, ready);
    }
}

bool
RankProgram::CountGradients(uint32_t chunk)
{
    return ++m_accumulated[chunk] == m_spec.pipeline.microbatches;
}

void
RankProgram::ExchangeGradients(uint32_t part, const std::vector<TaskId>& ready)
{
    if (m_spec.data == 1)
    {
        return;
    }
    std::vector<uint64_t> bytes;
    for (auto block = m_firstBlocks[part + 1]; block-- > m_firstBlocks[part];)
    {
        bytes.push_back(m_spec.blocks[block].gradientBytes);
    }
    for (const auto& bucket : MakeGradientBuckets(bytes, m_spec.buckets))
    {
        if (bucket.bytes == 0)
        {
            continue; // blocks without parameters
        }
        if (m_spec.overlaps)
        {
            Exchange(bucket.bytes, ready[bucket.last]);
        }
        else
        {
            m_later.push_back(bucket.bytes);
        }
    }
}

void
RankProgram::Exchange(uint64_t bytes, TaskId after)
{
    const auto id = m_meeting.Join(m_dataGroup,
                                   TrainingStream::Data,
                                   m_rank,
                                   {m_spec.gradientScheme, bytes},
                                   "gradients");
    const auto part = m_builder.AddPart(m_rank, static_cast<uint32_t>(TrainingStream::Data), id);
    m_builder.AddEdge(after, part);
    m_exchanged.emplace_back(bytes, part);
}

void
RankProgram::GatherParameters()
{
    if (m_spec.dataParallelism != DataParallelism::ShardedOptimizer)
    {
        return;
    }
    for (const auto& [bytes, exchanged] : m_exchanged)
    {
        const auto share =
            std::max(1.0, std::round(static_cast<double>(bytes) * m_spec.parameterShare));
        const auto id = m_meeting.Join(m_dataGroup,
                                       TrainingStream::Data,
                                       m_rank,
                                       {m_spec.parameterScheme, static_cast<uint64_t>(share)},
                                       "parameters");
        const auto part =
            m_builder.AddPart(m_rank, static_cast<uint32_t>(TrainingStream::Data), id);
        m_builder.AddEdge(exchanged, part);
    }
}

} // namespace ns3::gradsync
