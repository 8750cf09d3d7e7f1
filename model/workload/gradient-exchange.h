// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_GRADIENT_EXCHANGE_H
#define GRADSYNC_GRADIENT_EXCHANGE_H

#include "ns3/rank-layout.h"
#include "ns3/training-meeting.h"
#include "ns3/training-workload.h"
#include "ns3/workload-builder.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace ns3::gradsync
{

/// The streams of a rank: TrainingStream, and what the exchange of gradients has beside its first.
std::vector<StreamSpec> MakeTrainingStreams(const TrainingSpec& spec);

/// Writes down what one rank does to sum gradients with its peers.
class GradientExchange
{
  public:
    /// [ParallelGroup] those of the rank
    using Groups = std::array<std::vector<uint32_t>, PARALLEL_GROUPS>;

    /// The arguments outlive the exchange.
    GradientExchange(const TrainingSpec& spec,
                     const Groups& groups,
                     WorkloadBuilder& builder,
                     TrainingMeeting& meeting,
                     uint32_t rank);

    /**
     * Blocks [first, end) have the gradients of all microbatches.
     * \param ready [block, from the last one on] the task that made its gradient
     */
    void Exchange(uint32_t first, uint32_t end, const std::vector<TaskId>& ready);

    /// A block whose tied parameters another rank has, too. \param ranks both of them
    void Tie(uint32_t block, const std::vector<uint32_t>& ranks);

    /// There are no more gradients in this iteration. \param last computed
    void Finish(TaskId last);

    /// What the next forward pass of a block waits for. Empty the second time.
    std::vector<TaskId> TakeSums(uint32_t block);

  private:
    /// Gradients that are exchanged together.
    struct Bucket
    {
        ParallelGroup group;
        uint64_t bytes;
        uint32_t last;  //!< in the order of backward passes: then all of it is there
        uint32_t first; //!< those of blocks [first, end) of the model that have the codec
        uint32_t end;
        SharedCodec codec;
    };

    /// One collective on the way to a sum.
    struct Phase
    {
        SchemeChoice scheme;
        std::vector<uint32_t> ranks;
        uint64_t bytes;
        uint32_t stream;
        std::string label;
        SharedCodec codec{};
    };

    /// A part of a bucket whose gather comes at the end of the iteration.
    struct Late
    {
        Bucket bucket;
        Phase phase;
        TaskId after;
    };

    /// The block whose parameters another rank has, too.
    struct Tied
    {
        uint32_t block;
        std::vector<uint32_t> ranks;
        std::vector<TaskId> summed; //!< when the rank's own data-parallel peers have
    };

    const std::vector<uint32_t>& GetGroup(ParallelGroup group) const;
    SharedCodec GetCodec(ParallelGroup group, uint32_t block) const;
    bool IsTied(const Bucket& bucket) const;
    void GatherLate();
    void SumTied(TaskId last);
    std::vector<Bucket> MakeBuckets(uint32_t first, uint32_t end) const;
    void AddBuckets(ParallelGroup group,
                    uint32_t first,
                    uint32_t end,
                    std::vector<Bucket>& buckets) const;
    std::vector<uint64_t> Cut(uint64_t bytes) const;
    void Exchange(const Bucket& bucket, TaskId after);
    void ExchangePiece(const Bucket& bucket, uint64_t bytes, TaskId after);
    std::vector<Phase> ListPhases(const Bucket& bucket, uint64_t bytes);
    std::vector<Phase> ListHierarchy(const Bucket& bucket, uint64_t bytes);
    std::vector<std::vector<uint32_t>> FindInnerGroups(ParallelGroup group);
    TaskId Add(const Bucket& bucket, const Phase& phase, TaskId after);
    void AddSum(const Bucket& bucket, TaskId sum);

    const TrainingSpec& m_spec;
    const Groups& m_groups;
    WorkloadBuilder& m_builder;
    TrainingMeeting& m_meeting;
    uint32_t m_rank;
    uint32_t m_turn{0};         //!< pieces so far: they take streams in turn
    std::vector<Bucket> m_kept; //!< exchanged at the end
    std::vector<Late> m_late;   //!< gathered at the end
    std::optional<Tied> m_tied;
    std::optional<TaskId> m_tiedSum;         //!< of this iteration
    std::vector<std::vector<TaskId>> m_sums; //!< [block] of the iteration before
};

} // namespace ns3::gradsync

#endif // GRADSYNC_GRADIENT_EXCHANGE_H
