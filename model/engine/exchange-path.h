// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_EXCHANGE_PATH_H
#define GRADSYNC_EXCHANGE_PATH_H

#include "ns3/nstime.h"
#include "ns3/plan.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace ns3::gradsync
{

/// From when to when something was done.
struct WorkSpan
{
    Time begin;
    Time end;
};

/// When the parts of one iteration of a plan were done, as far as they took place.
struct ExchangeTimes
{
    /// Of a plan of which nothing was done yet. \param whole the iteration
    ExchangeTimes(const Plan& plan, const WorkSpan& whole);

    WorkSpan iteration;
    std::vector<std::optional<WorkSpan>> transfers;    //!< [operation]
    std::vector<std::optional<WorkSpan>> work;         //!< [operation] what a rank computed for it
    std::vector<std::optional<WorkSpan>> computations; //!< [rank] of the gradient
};

/// What a part of the path is.
enum class ExchangeStepKind : uint8_t
{
    Computation, //!< a rank computes its gradient
    Transfer,    //!< a message, or an aggregation from the last that gave to it
    Work,        //!< a rank computes for an operation, or adds what it received
    Wait         //!< nothing of the plan: the latency of a protocol, a fault
};

/// A part of what the end of an exchange waited for.
struct ExchangeStep
{
    ExchangeStepKind kind;
    OperationId operation; //!< of a transfer or of work
    uint32_t rank;         //!< of a computation
    WorkSpan span;
};

/**
 * What the end of an iteration waited for: parts without a gap, from its beginning to its end, in
 * the order of time. Each begins when the one before it ends: an operation that it waits for, what
 * its rank had in hand, or the gradient of its rank. Of several that ended at once, the one with
 * the lowest id.
 */
std::vector<ExchangeStep> FindExchangePath(const Plan& plan, const ExchangeTimes& times);

} // namespace ns3::gradsync

#endif // GRADSYNC_EXCHANGE_PATH_H
