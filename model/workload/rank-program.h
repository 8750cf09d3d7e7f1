// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_RANK_PROGRAM_H
#define GRADSYNC_RANK_PROGRAM_H

#include "ns3/rank-layout.h"
#include "ns3/training-meeting.h"
#include "ns3/training-workload.h"
#include "ns3/workload-builder.h"

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace ns3::gradsync
{

/// Writes down what one rank does.
class RankProgram
{
  public:
    RankProgram(const TrainingSpec& spec,
                const RankLayout& layout,
                std::span<const uint32_t> firstBlocks,
                WorkloadBuilder& builder,
                TrainingMeeting& meeting,
                uint32_t rank);

    void Write();

  private:
    /// Gradients that are exchanged together.
    struct Bucket
    {
        ParallelGroup group;
        uint64_t bytes;
        uint32_t last; //!< of the part's blocks, from its last one on: then all of it is there
    };

    const std::vector<uint32_t>& GetGroup(ParallelGroup group) const;
    bool HasWeightPasses() const;
    uint32_t GetPart(const PipelinePass& pass) const;
    uint32_t GetRank(uint32_t part) const;
    /// Waits for all that the rank's passes wait for at this point.
    void Compute(uint64_t picoseconds, const std::string& label);
    void WaitForBlockers(TaskId task);
    /// What comes next waits for it.
    void Communicate(CommunicationId id, TrainingStream stream);
    void DoCollectives(const std::vector<BlockCollective>& collectives, const std::string& label);
    /// Nobody at this rank waits until it is there.
    void Send(const PipelinePass& pass, uint32_t to, TrainingStream stream);
    void Receive(const PipelinePass& pass, uint32_t from, TrainingStream stream);
    /// What goes from the part to the next one, and as much comes back.
    uint64_t GetBytesAfter(uint32_t part) const;
    void WriteForward(const PipelinePass& pass);
    void WriteBackward(const PipelinePass& pass);
    void WriteWeightGradient(const PipelinePass& pass);
    /// One microbatch more. \returns whether it was the last
    bool CountGradients(uint32_t chunk);
    /// \param ready [block of the part, from its last one on] the task that has made its gradient
    void ExchangeGradients(uint32_t part, const std::vector<TaskId>& ready);
    /// Of a part, in the order in which they are there.
    std::vector<Bucket> MakeBuckets(uint32_t part) const;
    void Exchange(const Bucket& bucket, TaskId after);
    /// Of sharded optimizers, when all gradients are there.
    void GatherParameters();

    const TrainingSpec& m_spec;
    const RankLayout& m_layout;
    std::span<const uint32_t> m_firstBlocks;
    WorkloadBuilder& m_builder;
    TrainingMeeting& m_meeting;
    uint32_t m_rank;
    uint32_t m_stage;
    std::array<std::vector<uint32_t>, PARALLEL_GROUPS> m_groups; //!< [ParallelGroup]
    std::vector<uint32_t> m_accumulated; //!< [chunk] microbatches whose gradients are there
    std::vector<TaskId> m_blockers;      //!< what the next pass waits for
    TaskId m_last{0};                    //!< computed last
    bool m_hasLast{false};
    std::vector<Bucket> m_later;                        //!< exchanged at the end
    std::vector<std::pair<Bucket, TaskId>> m_exchanged; //!< and their sums
};

} // namespace ns3::gradsync

#endif // GRADSYNC_RANK_PROGRAM_H
