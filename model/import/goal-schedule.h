// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_GOAL_SCHEDULE_H
#define GRADSYNC_GOAL_SCHEDULE_H

#include "ns3/goal-annotation.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ns3::gradsync
{

/// One line of a rank: something sent, received or computed.
struct GoalStep
{
    enum class Kind : uint8_t
    {
        Send,
        Receive,
        Calc
    };

    Kind kind{Kind::Calc};
    uint32_t rank{0};
    uint32_t line{0};
    uint64_t amount{0}; //!< bytes, or nanoseconds of a calc
    uint32_t peer{0};
    uint32_t tag{0};
    uint32_t processor{0}; //!< cpu
    uint32_t nic{0};       //!< nic
    size_t note{NO_NOTE};  //!< index in GoalSchedule::notes

    static constexpr size_t NO_NOTE = SIZE_MAX;
};

/// `later` starts when `earlier` is done, or when it has started.
struct GoalDependency
{
    size_t later; //!< index in GoalSchedule::steps
    size_t earlier;
    bool onStart; //!< irequires
    uint32_t line;
};

/**
 * A schedule in the text form of GOAL (Hoefler et al., ICPP 2009; the grammar is that of
 * LogGOPSim's txt2bin), with gradsync's annotations if it has any.
 */
struct GoalSchedule
{
    std::string file; //!< for messages
    uint32_t ranks{0};
    std::vector<GoalStep> steps; //!< in the order of the file
    std::vector<GoalDependency> dependencies;
    std::vector<goal_annotation::StepNote> notes;
    std::optional<goal_annotation::PlanNote> plan;

    /// File and line, for messages.
    std::string GetWhere(const GoalStep& step) const;
};

/**
 * Reads a schedule and checks what does not take matching its messages.
 * \param file for messages only \throws ImportError with file, line and what is allowed
 */
GoalSchedule ReadGoal(const std::string& file, std::string_view text);

/// What stands before the first rank: no step. \throws ImportError as ReadGoal
GoalSchedule ReadGoalHeader(const std::string& file, std::string_view text);

} // namespace ns3::gradsync

#endif // GRADSYNC_GOAL_SCHEDULE_H
