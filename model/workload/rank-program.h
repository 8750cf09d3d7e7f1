// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_RANK_PROGRAM_H
#define GRADSYNC_RANK_PROGRAM_H

#include "ns3/context-ring.h"
#include "ns3/gradient-exchange.h"
#include "ns3/rank-layout.h"
#include "ns3/sharded-parameters.h"
#include "ns3/training-meeting.h"
#include "ns3/training-workload.h"
#include "ns3/workload-builder.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
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
    /// Of a microbatch: what its next computation waits for.
    struct Slice
    {
        std::optional<TaskId> last{}; //!< computed
        std::vector<TaskId> blockers{};
    };

    void WriteIteration();
    const std::vector<uint32_t>& GetGroup(ParallelGroup group) const;
    bool HasWeightPasses() const;
    uint32_t GetPart(const PipelinePass& pass) const;
    uint32_t GetRank(uint32_t part) const;
    uint32_t CountMicrobatch(const PipelinePass& pass) const;
    uint64_t GetShare(uint64_t whole, uint32_t slice) const;
    /// Waits for all that the slice's passes wait for at this point.
    void Compute(uint32_t slice, uint64_t picoseconds, const std::string& label);
    void WaitForBlockers(uint32_t slice, TaskId task);
    /// What comes next in the slice waits for it.
    void Communicate(uint32_t slice, CommunicationId id, TrainingStream stream);
    void DoCollectives(uint32_t slice,
                       const std::vector<BlockCollective>& collectives,
                       const std::string& label);

    /// What of a block belongs to a pass.
    struct BlockPass
    {
        uint32_t block;
        const std::vector<BlockCollective>& before;
        uint64_t picoseconds;
        const std::vector<BlockCollective>& after;
        std::string label;
        PassKind kind;
    };

    bool HasRing(const RingAttention& ring) const;
    void DoRing(uint32_t slice,
                const RingAttention& ring,
                const std::string& label,
                bool isBackward);
    /// A slice of a block, but for its collectives.
    void DoComputation(uint32_t slice, const BlockPass& pass);

    /// Slice by slice.
    void DoBlock(const BlockPass& pass);
    /// Blocks of a chunk, from the last one on where it goes back.
    std::vector<uint32_t> ListBlocks(const PipelinePass& pass) const;
    /// \returns the blocks, in their order. \param isLast of the iteration
    std::vector<uint32_t> BeginPass(const PipelinePass& pass, bool isLast);
    void Block(TaskId task);
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
    void ExchangeGradients(const PipelinePass& pass, const std::vector<TaskId>& ready);

    const TrainingSpec& m_spec;
    const RankLayout& m_layout;
    std::span<const uint32_t> m_firstBlocks;
    WorkloadBuilder& m_builder;
    TrainingMeeting& m_meeting;
    uint32_t m_rank;
    uint32_t m_stage;
    uint32_t m_iteration{0};
    GradientExchange::Groups m_groups;
    std::vector<uint32_t> m_accumulated; //!< [chunk] microbatches whose gradients are there
    std::vector<Slice> m_slices;
    std::optional<TaskId> m_last; //!< computed last
    GradientExchange m_exchange;
    ShardedParameters m_parameters;
    ContextRing m_ring;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_RANK_PROGRAM_H
