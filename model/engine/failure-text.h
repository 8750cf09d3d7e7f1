// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_FAILURE_TEXT_H
#define GRADSYNC_FAILURE_TEXT_H

#include "ns3/nstime.h"
#include "ns3/plan.h"

#include <cstdint>
#include <span>
#include <string>

namespace ns3::gradsync
{

/// "#7 reduce 3 -> 5" or "#7 join at rank 3".
std::string DescribeOperation(const Plan& plan, OperationId id);

/// That a job has not ended in its time, which is written to the picosecond.
std::string DescribeTimeout(const Time& timeout);

/// Why a job is not done although nothing went wrong: the simulation has ended.
const char* DescribeStall();

/// What a failure is made of.
struct FailureFacts
{
    std::string job;
    uint32_t iteration;
    std::string cause;
    std::span<const OperationId> unfinished; //!< ascending
    std::span<const OperationId> inNetwork;  //!< of these, handed to the transport; ascending
};

/// One line for the user; names the first few unfinished operations.
std::string FormatFailure(const Plan& plan, const FailureFacts& facts);

} // namespace ns3::gradsync

#endif // GRADSYNC_FAILURE_TEXT_H
