// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_JOB_SPEC_H
#define GRADSYNC_JOB_SPEC_H

#include "ns3/aggregation-finder.h"
#include "ns3/codec-profile.h"
#include "ns3/codec-spec.h"
#include "ns3/data-rate.h"
#include "ns3/differential-transmission.h"
#include "ns3/exchange-compressor.h"
#include "ns3/message-protocol.h"
#include "ns3/network-model.h"
#include "ns3/nstime.h"
#include "ns3/scheme-choice.h"
#include "ns3/topology.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace ns3::gradsync
{

/// Gradient of a job that gives none: ResNet-50, 25,557,032 parameters of 4 bytes.
inline constexpr uint64_t DEFAULT_GRADIENT_BYTES = 25'557'032ULL * 4;

/// A part of the gradient that is exchanged on its own.
struct TensorSpec
{
    std::string name;
    uint64_t bytes{0};
    uint32_t count{1};                  //!< so many of them
    std::optional<CodecChoice> codec{}; //!< none: float32
};

/// A training job, before its plan is made.
struct JobSpec
{
    std::string name;
    SchemeChoice scheme;
    uint64_t gradientBytes{DEFAULT_GRADIENT_BYTES};
    uint32_t iterations{1};
    uint32_t workers{0};
    std::vector<uint32_t>
        endpointOf; //!< [rank] -> endpoint index, workers first, then dedicated servers
    std::vector<NodeId> aggregationRoots{}; //!< as of Job
    NetworkModel network; //!< of the run's transport: what the scheme `auto` estimates with
    /// Likewise of its switches; none: the scheme `auto` does not let them aggregate.
    AggregationFinder findAggregations;
    Time start;
    Time compute;
    std::vector<Time> computeOf;      //!< [worker]: in place of `compute`; empty: all take that
    std::optional<CodecChoice> codec; //!< none: float32
    /// What the gradient is made of, in the order in which exchanges begin; empty: one whole. They
    /// have codecs of their own, and gradientBytes together.
    std::vector<TensorSpec> tensors;
    std::shared_ptr<const CodecProfile> profile; //!< none: the codec takes no time
    std::optional<MessageProtocol> protocol;     //!< none: messages are their bytes alone
    std::optional<DataRate> reduceRate;          //!< none: adding costs no time
    uint32_t maxOutstandingSends{0};             //!< of a rank, 0: no limit
    DifferentialTransmission transmission;       //!< of what others add
    std::optional<Time> timeout;                 //!< of an iteration; 0: no limit
    bool replans{false};                         //!< goes on without ranks that crash
};

} // namespace ns3::gradsync

#endif // GRADSYNC_JOB_SPEC_H
