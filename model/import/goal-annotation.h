// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_GOAL_ANNOTATION_H
#define GRADSYNC_GOAL_ANNOTATION_H

#include "ns3/plan.h"

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace ns3::gradsync
{

/**
 * What a GOAL schedule does not say of a plan, as comments that other readers of GOAL skip: chunks
 * and collective before the first rank, and before every step the operation that it belongs to.
 * doc/import.rst has the lines.
 */
namespace goal_annotation
{

/// What comments with an annotation begin with; a space follows.
inline constexpr std::string_view PREFIX = "//gradsync";

/// What stands before a send or a calc.
struct StepNote
{
    bool isSignal{false}; //!< a message of no operation: it tells another rank that one is done
    OperationId id{0};
    Operation operation{}; //!< but for its ranks
    uint64_t picoseconds{0};
};

/// What stands before the ranks.
struct PlanNote
{
    uint32_t workers{0};
    std::string collective;
    std::vector<uint32_t> sources;
    std::vector<uint32_t> targets;
    Collective::Sum sum{Collective::Sum::Exact};
    std::vector<uint64_t> chunkBytes;
    std::optional<PlanGate> gate; //!< but for its operation
};

/// An annotation that cannot be read; the text does not name the file.
class Error : public std::runtime_error
{
  public:
    using std::runtime_error::runtime_error;
};

/// Lines, each with its end.
std::string WritePlan(const Plan& plan);
std::string WriteOperation(const Plan& plan, OperationId id);
std::string WriteSignal();

/// Whether a line, prefix left out, is about the whole plan.
bool IsOfPlan(std::string_view line);

/// Adds what a line about the plan says. \throws Error
void ReadPlanLine(std::string_view line, PlanNote& note);

/// \throws Error
StepNote ReadStepLine(std::string_view line);

} // namespace goal_annotation

} // namespace ns3::gradsync

#endif // GRADSYNC_GOAL_ANNOTATION_H
