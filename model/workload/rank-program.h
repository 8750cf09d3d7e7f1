// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_RANK_PROGRAM_H
#define GRADSYNC_RANK_PROGRAM_H

#include "ns3/training-meeting.h"
#include "ns3/training-workload.h"
#include "ns3/workload-builder.h"

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
                std::span<const uint32_t> firstBlocks,
                WorkloadBuilder& builder,
                TrainingMeeting& meeting,
                uint32_t rank);

    void Write();

  private:
    bool HasWeightPasses() const;
    uint32_t GetPart(const PipelinePass& pass) const;
    uint32_t GetRank(uint32_t part) const;
    /// Waits for all that the rank's passes wait for at this point.
    void Compute(uint64_t picoseconds, const std::string& label);
    void WaitForBlockers(TaskId task);
    /// What comes next waits for it.
    void Communicate(CommunicationId id, TrainingStream stream);
    void DoTensorCollectives(const std::vector<BlockCollective>& collectives,
                             const std::string& label);
    /// Nobody at this rank waits until it is there.
    void Send(const PipelinePass& pass, uint32_t to, TrainingStream stream);
    void Receive(const PipelinePass& pass, uint32_t from, TrainingStream stream);
    void WriteForward(const PipelinePass& pass);
    void WriteBackward(const PipelinePass& pass);
    void WriteWeightGradient(const PipelinePass& pass);
    /// One microbatch more. \returns whether it was the last
    bool CountGradients(uint32_t chunk);
    /// \param ready [block of the part, from its last one on] the task that has made its gradient
    void ExchangeGradients(uint32_t part, const std::vector<TaskId>& ready);
    void Exchange(uint64_t bytes, TaskId after);
    /// Of sharded optimizers, when all gradients are there.
    void GatherParameters();

    const TrainingSpec& m_spec;
    std::span<const uint32_t> m_firstBlocks;
    WorkloadBuilder& m_builder;
    TrainingMeeting& m_meeting;
    uint32_t m_rank;
    uint32_t m_stage;
    std::vector<uint32_t> m_tensorGroup;
    std::vector<uint32_t> m_dataGroup;
    std::vector<uint32_t> m_accumulated; //!< [chunk] microbatches whose gradients are there
    std::vector<TaskId> m_blockers;      //!< what the next pass waits for
    TaskId m_last{0};                    //!< computed last
    bool m_hasLast{false};
    std::vector<uint64_t> m_later; //!< bytes of buckets, exchanged at the end
    std::vector<std::pair<uint64_t, TaskId>> m_exchanged; //!< bytes of buckets, and their sums
};

} // namespace ns3::gradsync

#endif // GRADSYNC_RANK_PROGRAM_H
