// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_SCENARIO_H
#define GRADSYNC_SCENARIO_H

#include "ns3/asynchronous-job-spec.h"
#include "ns3/fault-spec.h"
#include "ns3/job-spec.h"
#include "ns3/json-document.h"
#include "ns3/named-files.h"
#include "ns3/p4-switch-program.h"
#include "ns3/topology.h"
#include "ns3/traffic-generator.h"
#include "ns3/training-job-spec.h"
#include "ns3/transport-registry.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace ns3::gradsync
{

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
    std::shared_ptr<NamedFiles> files{std::make_shared<NamedFiles>()}; //!< of all its runs
};

/// One point of the sweep: a scenario without sweep.
struct ScenarioPoint
{
    uint32_t index{0};
    std::vector<Json> values; //!< of the axes, in their order
    Json document;            //!< values set, topology file put in place, nothing left to look up
};

/// A run, ready to be simulated.
struct ResolvedRun
{
    ScenarioPoint point;
    std::shared_ptr<const Topology> topology;
    TransportChoice transport;
    std::map<NodeId, P4SwitchProgram> programs; //!< of switches that run a P4 program of the user
    AttributeSettings fabric;
    bool hasFluidServers{false};                   //!< see TieredTransport
    std::vector<JobSpec> jobs;                     //!< that exchange gradients
    std::vector<TrainingJobSpec> trainings;        //!< that train; they are numbered behind these
    std::vector<AsynchronousJobSpec> asynchronous; //!< likewise behind these
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
