// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_PLANNING_TRANSLATION_H
#define GRADSYNC_PLANNING_TRANSLATION_H

#include "ns3/planning-error.h"
#include "ns3/scenario-error.h"

#include <utility>

namespace ns3::gradsync
{

/// Calls a function that plans: a job that cannot be planned is bad input here.
/// \throws ScenarioError where the function throws PlanningError
template <typename Function>
decltype(auto)
TranslatePlanningErrors(Function&& function)
{
    try
    {
        return std::forward<Function>(function)();
    }
    catch (const PlanningError& error)
    {
        throw ScenarioError(error.what());
    }
}

} // namespace ns3::gradsync

#endif // GRADSYNC_PLANNING_TRANSLATION_H
