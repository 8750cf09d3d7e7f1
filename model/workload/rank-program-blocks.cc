// SPDX-License-Identifier: GPL-2.0-only
// What a rank does of one block: computation and collectives, slice by slice.
#include "ns3/rank-program.h"

#include <algorithm>
#include <utility>

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

bool
RankProgram::HasRing(const RingAttention& ring) const
{
    return ring.bytes > 0 && GetGroup(ParallelGroup::Context).size() > 1;
}

void
RankProgram::DoRing(uint32_t slice,
                    const RingAttention& ring,
                    const std::string& label,
                    bool isBackward)
{
    auto& own = m_slices[slice];
    auto after = std::exchange(own.blockers, {});
    if (own.last)
    {
        after.push_back(*own.last);
    }
    const auto picoseconds = isBackward ? ring.backwardPicoseconds : ring.forwardPicoseconds;
    const auto end = m_ring.Write({std::max<uint64_t>(GetShare(ring.bytes, slice), 1),
                                   GetShare(picoseconds, slice),
                                   isBackward,
                                   label},
                                  after);
    own.last = end.computed;
    m_last = end.computed;
    if (end.returned)
    {
        own.blockers.push_back(*end.returned);
    }
}

void
RankProgram::DoComputation(uint32_t slice, const BlockPass& pass)
{
    const auto& ring = m_spec.blocks[pass.block].ring;
    if (!HasRing(ring))
    {
        Compute(slice, pass.picoseconds, pass.label);
        return;
    }
    const bool goesBack = pass.kind == PassKind::Backward;
    if (goesBack && ring.isRecomputed)
    {
        DoRing(slice, ring, pass.label, false);
    }
    if (goesBack)
    {
        // Gradients of keys and values are there before those of what made them.
        DoRing(slice, ring, pass.label, true);
    }
    Compute(slice, pass.picoseconds, pass.label);
    if (pass.kind == PassKind::Forward)
    {
        DoRing(slice, ring, pass.label, false);
    }
}

void
RankProgram::DoBlock(const BlockPass& pass)
{
    const auto gathered = m_parameters.BeginBlock(pass.block);
    for (uint32_t slice = 0; slice < m_slices.size(); ++slice)
    {
        DoCollectives(slice, pass.before, pass.label);
        // Parameters are there before they are computed with; what comes in needs none.
        auto& blockers = m_slices[slice].blockers;
        blockers.insert(blockers.end(), gathered.begin(), gathered.end());
        DoComputation(slice, pass);
        DoCollectives(slice, pass.after, pass.label);
    }
    m_parameters.EndBlock(pass.block, *m_last);
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

} // namespace ns3::gradsync
