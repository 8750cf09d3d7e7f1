// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/rank-program.h"

#include "ns3/gradient-buckets.h"

#include <algorithm>
#include <cmath>

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
      m_accumulated(spec.pipeline.chunks, 0)
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
    for (const auto& bucket : m_later)
    {
        Exchange(bucket, m_last);
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
    return m_layout.GetPeer(m_rank, part % m_spec.pipeline.stages);
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
    if (m_hasLast)
    {
        m_builder.AddEdge(m_last, part);
    }
    WaitForBlockers(part);
    m_blockers.push_back(part);
}

void
RankProgram::DoCollectives(const std::vector<BlockCollective>& collectives,
                           const std::string& label)
{
    for (const auto& collective : collectives)
    {
        const auto& ranks = GetGroup(collective.group);
        if (ranks.size() > 1)
        {
            const auto stream = GetStream(collective.group);
            Communicate(m_meeting.Join(ranks, stream, m_rank, collective, label), stream);
        }
    }
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
    const auto id = m_meeting.Send(m_rank, peer, pass.kind, pass.microbatch, to, bytes);
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
                                       GetBytesAfter(std::min(GetPart(pass), from)));
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
        DoCollectives(of.beforeForward, "forward " + of.name);
        Compute(of.forwardPicoseconds, "forward " + of.name);
        DoCollectives(of.afterForward, "forward " + of.name);
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
        DoCollectives(of.beforeBackward, "backward " + of.name);
        Compute(of.backwardPicoseconds, "backward " + of.name);
        ready.push_back(m_last);
        DoCollectives(of.afterBackward, "backward " + of.name);
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

std::vector<RankProgram::Bucket>
RankProgram::MakeBuckets(uint32_t part) const
{
    std::vector<Bucket> buckets;
    for (const auto group : {ParallelGroup::Data, ParallelGroup::ExpertData})
    {
        std::vector<uint64_t> bytes;
        for (auto block = m_firstBlocks[part + 1]; block-- > m_firstBlocks[part];)
        {
            const auto& of = m_spec.blocks[block];
            bytes.push_back(group == ParallelGroup::Data ? of.gradientBytes
                                                         : of.expertGradientBytes);
        }
        if (GetGroup(group).size() > 1)
        {
            for (const auto& bucket : MakeGradientBuckets(bytes, m_spec.buckets))
            {
                buckets.push_back({group, bucket.bytes, bucket.last});
            }
        }
    }
    std::erase_if(buckets, [](const auto& bucket) { return bucket.bytes == 0; });
    std::ranges::stable_sort(buckets, {}, &Bucket::last);
    return buckets;
}

void
RankProgram::ExchangeGradients(uint32_t part, const std::vector<TaskId>& ready)
{
    for (const auto& bucket : MakeBuckets(part))
    {
        if (m_spec.overlaps)
        {
            Exchange(bucket, ready[bucket.last]);
        }
        else
        {
            m_later.push_back(bucket);
        }
    }
}

void
RankProgram::Exchange(const Bucket& bucket, TaskId after)
{
    const auto id = m_meeting.Join(GetGroup(bucket.group),
                                   TrainingStream::Data,
                                   m_rank,
                                   {m_spec.gradientScheme, bucket.bytes, bucket.group},
                                   "gradients");
    const auto part = m_builder.AddPart(m_rank, static_cast<uint32_t>(TrainingStream::Data), id);
    m_builder.AddEdge(after, part);
    m_exchanged.emplace_back(bucket, part);
}

void
RankProgram::GatherParameters()
{
    if (m_spec.dataParallelism != DataParallelism::ShardedOptimizer)
    {
        return;
    }
    for (const auto& [bucket, exchanged] : m_exchanged)
    {
        const auto share =
            std::max(1.0, std::round(static_cast<double>(bucket.bytes) * m_spec.parameterShare));
        const auto id =
            m_meeting.Join(GetGroup(bucket.group),
                           TrainingStream::Data,
                           m_rank,
                           {m_spec.parameterScheme, static_cast<uint64_t>(share), bucket.group},
                           "parameters");
        const auto part =
            m_builder.AddPart(m_rank, static_cast<uint32_t>(TrainingStream::Data), id);
        m_builder.AddEdge(exchanged, part);
    }
}

} // namespace ns3::gradsync
