// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_TRAINING_SUMMARY_H
#define GRADSYNC_TRAINING_SUMMARY_H

#include <cstdint>
#include <string>
#include <vector>

namespace ns3::gradsync
{

struct RunResult;

/// Tasks of critical paths that are alike.
struct CriticalShare
{
    std::string stream;
    std::string label; //!< with * for numbers: see GetLabelFamily
    double share;      //!< of the time of all iterations
};

/**
 * What training iterations of a run were like: means over the ranks of an iteration, and over
 * iterations. computation + exposed + bubble is the iteration, to the picosecond.
 */
struct TrainingSummary
{
    uint32_t iterations{0}; //!< done, of all training jobs; 0: all else means nothing
    int64_t iterationPs{0};
    int64_t computationPs{0};
    int64_t hiddenPs{0};
    int64_t exposedPs{0};
    int64_t bubblePs{0};
    double mfu{0.0};              //!< 0: not known; so the next three
    double samplesPerSecond{0.0}; //!< of all jobs together
    double tokensPerSecond{0.0};
    uint64_t memoryBytes{0};                 //!< of the rank that holds the most
    std::vector<CriticalShare> criticalPath; //!< largest first
};

TrainingSummary SummariseTraining(const RunResult& result);

/// A label with * for each number in it, so that layers have the same: "forward block *".
std::string GetLabelFamily(const std::string& label);

/// For the terminal, a line each: what iterations are made of, and what bounds them. Nothing for
/// runs without training.
std::vector<std::string> DescribeTraining(const TrainingSummary& summary);

} // namespace ns3::gradsync

#endif // GRADSYNC_TRAINING_SUMMARY_H
