// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_TRAINING_JOB_SPEC_H
#define GRADSYNC_TRAINING_JOB_SPEC_H

#include "ns3/data-rate.h"
#include "ns3/differential-transmission.h"
#include "ns3/message-protocol.h"
#include "ns3/network-model.h"
#include "ns3/nstime.h"
#include "ns3/trace-workload.h"
#include "ns3/training-workload.h"

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace ns3::gradsync
{

/// What is known of an iteration beside its workload; 0 and empty: not known.
struct TrainingFigures
{
    double modelFlops{0.0};            //!< of the model alone, without what is computed again
    double peakFlopsPerSecond{0.0};    //!< of all devices together
    uint64_t samples{0};               //!< that all ranks go through
    uint64_t tokens{0};                //!< likewise
    std::vector<uint64_t> memoryBytes; //!< [rank] at most held at once
    /// [rank] microbatches, times chunks, whose activations its stage holds at most at once
    std::vector<uint32_t> inFlight;
};

/// What is chosen by estimates; else it is as the spec says. Schemes are where they are `auto`.
struct TrainingTuning
{
    bool exchange{false}; //!< DataParallelism, of a job that has AllReduce
    bool buckets{false};
    bool slices{false};
};

/// A job that runs training iterations, before its workload is made.
struct TrainingJobSpec
{
    std::string name;
    std::variant<TrainingSpec, TraceJobSpec> spec;
    std::vector<uint32_t> endpointOf; //!< [rank] -> endpoint index
    uint32_t iterations{1};
    /// Between iterations. Without, a block's forward pass waits for its own sum; not of traces.
    bool hasBarrier{true};
    Time start;
    std::optional<MessageProtocol> protocol; //!< none: messages are their bytes alone
    std::optional<DataRate> reduceRate;      //!< none: adding costs no time
    DifferentialTransmission transmission;   //!< of what others add
    std::optional<Time> timeout;             //!< of an iteration; 0: no limit
    bool replans{false}; //!< goes on when ranks are lost, where each has all of the model
    TrainingFigures figures;
    TrainingTuning tuning;
    NetworkModel network; //!< of the run's transport: what choices are estimated with
};

} // namespace ns3::gradsync

#endif // GRADSYNC_TRAINING_JOB_SPEC_H
