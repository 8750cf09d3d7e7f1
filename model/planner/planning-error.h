// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_PLANNING_ERROR_H
#define GRADSYNC_PLANNING_ERROR_H

#include <fmt/format.h>
#include <stdexcept>
#include <string>

namespace ns3::gradsync
{

/// A job that cannot be planned on its network. The text is one line for the user.
class PlanningError : public std::runtime_error
{
  public:
    /// \param where job and part of it, as "job0: scheme ring"
    PlanningError(const std::string& where, const std::string& what)
        : std::runtime_error(fmt::format("{}: {}", where, what))
    {
    }
};

/// Of a job with DGT whose scheme lets switches add.
inline constexpr const char* LOST_SUMMANDS =
    "switches that aggregate wait for what every worker sends: nothing of it may be lost";

} // namespace ns3::gradsync

#endif // GRADSYNC_PLANNING_ERROR_H
