// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_SHARDED_PARAMETERS_H
#define GRADSYNC_SHARDED_PARAMETERS_H

#include "ns3/gradient-exchange.h"
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

/**
 * Writes down how one rank gathers the parameters of which it holds a share, and scatters their
 * gradients (ZeRO-3: Rajbhandari et al., SC'20; FSDP: Zhao et al., VLDB'23, section 3.3.2).
 *
 * Both are on the data stream. Within a pass parameters are gathered one unit ahead: when a unit
 * begins to be computed, the next one is gathered, on the way back AG 1, AG 2, RS 1, AG 3, RS 2,
 * ... A pass begins to gather when the one before it is computed.
 */
class ShardedParameters
{
  public:
    /// The arguments outlive it. Without DataParallelism::FullySharded it does nothing.
    ShardedParameters(const TrainingSpec& spec,
                      const GradientExchange::Groups& groups,
                      WorkloadBuilder& builder,
                      TrainingMeeting& meeting,
                      uint32_t rank);

    /// What a pass does beside its computations.
    struct Duty
    {
        bool gathers{false};
        bool scatters{false};
    };

    /// Of a pass of a microbatch. \param isFirst of the iteration through these blocks, isLast
    /// likewise
    Duty GetDuty(PassKind kind, bool isFirst, bool isLast) const;

    /// A pass begins. \param blocks in its order, of one chunk \param after what was computed last
    void BeginPass(const Duty& duty,
                   const std::vector<uint32_t>& blocks,
                   std::optional<TaskId> after);

    /// A block begins, the next one of the pass. \returns what its computation waits for
    std::vector<TaskId> BeginBlock(uint32_t block);

    /// It is computed, by this task last.
    void EndBlock(uint32_t block, TaskId computed);

  private:
    /// Blocks that are gathered as one, as a pass comes through them.
    struct Unit
    {
        uint32_t firstBlock;
        uint32_t lastBlock;
        std::string name;
        uint64_t bytes{0};
        uint64_t expertBytes{0};
        bool isGathered{false};
        std::vector<TaskId> gathered;
    };

    std::vector<Unit> MakeUnits(const std::vector<uint32_t>& blocks) const;
    void Gather(size_t unit);
    std::vector<TaskId> Exchange(const Unit& unit,
                                 const SchemeChoice& scheme,
                                 std::span<const GradientCodecRule> codecs,
                                 const std::string& label,
                                 std::optional<TaskId> after);

    const TrainingSpec& m_spec;
    const GradientExchange::Groups& m_groups;
    WorkloadBuilder& m_builder;
    TrainingMeeting& m_meeting;
    uint32_t m_rank;
    Duty m_duty;
    std::vector<Unit> m_units; //!< of the pass
    size_t m_unit{0};          //!< that is computed
    std::optional<TaskId> m_computed;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_SHARDED_PARAMETERS_H
