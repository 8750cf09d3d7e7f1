// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_SCENARIO_H
#define GRADSYNC_SCENARIO_H

#include "ns3/codec-profile.h"
#include "ns3/fault-spec.h"
#include "ns3/json-document.h"
#include "ns3/scheme-reader.h"
#include "ns3/topology.h"
#include "ns3/traffic-generator.h"
#include "ns3/transport-registry.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace ns3::gradsync
{

/// Gradient of a job that gives none: ResNet-50, 25,557,032 parameters of 4 bytes.
inline constexpr uint64_t DEFAULT_GRADIENT_BYTES = 25'557'032ULL * 4;

/// `--set PATH=VALUE`: the value is JSON, or else the text itself.
struct ScenarioOverride
{
    std::string path;
    std::string value;
};

/// One swept parameter.
struct SweepAxis
{
    std::string path;
    std::vector<Json> values; //!< at least one
};

/// A scenario file, read: what all its runs have in common.
struct Scenario
{
    std::string file; //!< as the user gave it
    std::string title;
    Json document; //!< with all overrides applied, the sweep still in it
    std::vector<SweepAxis> axes;
    uint32_t runCount{1}; //!< product of the axes' lengths
};

/// One point of the sweep: a scenario without sweep.
struct ScenarioPoint
{
    uint32_t index{0};
    std::vector<Json> values; //!< of the axes, in their order
    Json document;            //!< values set, topology file put in place, nothing left to look up
};

/// A training job as the scenario describes it.
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

/// A run, ready to be simulated.
struct ResolvedRun
{
    ScenarioPoint point;
    std::shared_ptr<const Topology> topology;
    TransportChoice transport;
    std::map<NodeId, P4SwitchProgram> programs; //!< of switches that run a P4 program of the user
    AttributeSettings fabric;
    std::vector<JobSpec> jobs;
    std::vector<FaultSpec> faults;
    std::vector<TrafficSpec> traffic;
    uint32_t seed{1};
    bool recordMessages{true};
    bool recordLinks{true};
    Time sampleEvery;                  //!< links over time; 0: not sampled
    std::vector<LinkId> capturedLinks; //!< to pcap files
    bool recordTrace{false};
};

} // namespace ns3::gradsync

#endif // GRADSYNC_SCENARIO_H
