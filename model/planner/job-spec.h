// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_JOB_SPEC_H
#define GRADSYNC_JOB_SPEC_H

#include "ns3/codec-profile.h"
#include "ns3/codec-spec.h"
#include "ns3/data-rate.h"
#include "ns3/network-model.h"
#include "ns3/nstime.h"
#include "ns3/scheme-choice.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace ns3::gradsync
{

/// Gradient of a job that gives none: ResNet-50, 25,557,032 parameters of 4 bytes.
inline constexpr uint64_t DEFAULT_GRADIENT_BYTES = 25'557'032ULL * 4;

/// A training job, before its plan is made.
struct JobSpec
{
    std::string name;
    SchemeChoice scheme;
    uint64_t gradientBytes{DEFAULT_GRADIENT_BYTES};
    uint32_t iterations{1};
    uint32_t workers{0};
    std::vector<uint32_t>
        endpointOf;       //!< [rank] -> endpoint index, workers first, then dedicated servers
    NetworkModel network; //!< of the run's transport: what the scheme `auto` estimates with
    Time start;
    Time compute;
    std::vector<Time> computeOf;    //!< [worker]: in place of `compute`; empty: all take that
    std::optional<CodecSpec> codec; //!< none: float32
    /// On which messages it works: "all", "servers" (between dedicated servers), or the name of a
    /// level, whose groups they must leave.
    std::string codecScope{"all"};
    std::shared_ptr<const CodecProfile> profile; //!< none: the codec takes no time
    std::optional<DataRate> reduceRate;          //!< none: adding costs no time
    uint32_t maxOutstandingSends{0};             //!< of a rank, 0: no limit
    std::optional<Time> timeout;                 //!< of an iteration; 0: no limit
    bool replans{false};                         //!< goes on without ranks that crash
};

} // namespace ns3::gradsync

#endif // GRADSYNC_JOB_SPEC_H
