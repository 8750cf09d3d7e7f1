// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_ASYNCHRONOUS_SUMMARY_H
#define GRADSYNC_ASYNCHRONOUS_SUMMARY_H

#include <cstdint>
#include <string>
#include <vector>

namespace ns3::gradsync
{

struct AsynchronousResult;
struct RunResult;

/// What the asynchronous jobs of a run were like, all together.
struct AsynchronousSummary
{
    uint64_t steps{0};   //!< of all workers; 0: all else means nothing
    uint64_t updates{0}; //!< that all servers have applied
    double meanStaleness{0.0};
    uint32_t mostStaleness{0};
    uint32_t mostAhead{0};
    double stepsPerSecond{0.0}; //!< see AsynchronousResult
    int64_t heldPs{0};          //!< of a worker, for the bound: the mean
};

AsynchronousSummary SummariseAsynchronous(const RunResult& result);

/// Message bytes between racks that a job has sent.
uint64_t CountCrossRackBytes(const AsynchronousResult& asynchronous, const RunResult& result);

/// For the terminal; nothing for runs without such jobs.
std::vector<std::string> DescribeAsynchronous(const AsynchronousSummary& summary);

} // namespace ns3::gradsync

#endif // GRADSYNC_ASYNCHRONOUS_SUMMARY_H
