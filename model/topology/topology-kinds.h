// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_TOPOLOGY_KINDS_H
#define GRADSYNC_TOPOLOGY_KINDS_H

#include "ns3/parameter-spec.h"
#include "ns3/server-builder.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace ns3::gradsync
{

/// A shape of networks that scenarios can name.
struct TopologyKind
{
    KindSpec spec;
    /// \throws ParameterError, or std::invalid_argument with a text for the user
    Topology (*make)(const ParameterSet& parameters);
};

/// All of them, sorted by name. To add one: a row in the file.
std::span<const TopologyKind> GetTopologies();

/// Number of something that a network has. Optional where it has a meaning not to be given.
ParameterSpec MakeCountSpec(std::string name, std::string help, int64_t example);

/// Such numbers, 0 too, of as many things.
ParameterSpec MakeCountListSpec(std::string name, std::string help);

/// That number, 0 where it is not given.
uint32_t GetCountOf(const ParameterSet& parameters, const std::string& name);

/// `{"rate": ..., "delay": ...}`; without a rate where something else may decide it.
ParameterSpec MakeLinkSpec(std::string name, std::string help, Presence rate);

/// The rate is 0 where it is not given.
LinkOptions GetLink(const ParameterSet& parameters, const std::string& name);

/// A link whose rate is not given where the wanted oversubscription decides it.
LinkOptions GetUplink(const ParameterSet& parameters,
                      const std::string& name,
                      double oversubscription);

/// The wanted ratio of a group; 0 where it is not.
ParameterSpec MakeOversubscriptionSpec(std::string name, std::string help);

/// What the servers of generated networks are made of.
ParameterSpec MakeServerSpec();

ServerOptions GetServer(const ParameterSet& parameters);

/// Links and wanted oversubscriptions of networks with three tiers.
std::vector<ParameterSpec> MakeTierSpecs();

/// Reads these into the options of a generator.
template <typename Options>
void
GetTiers(const ParameterSet& parameters, Options& options)
{
    options.rackOversubscription = parameters.Get<double>("rackOversubscription");
    options.podOversubscription = parameters.Get<double>("podOversubscription");
    options.hostLink = GetLink(parameters, "hostLink");
    options.leafUplink = GetUplink(parameters, "leafUplink", options.rackOversubscription);
    options.aggregationUplink =
        GetUplink(parameters, "aggregationUplink", options.podOversubscription);
    options.server = GetServer(parameters);
}

} // namespace ns3::gradsync

#endif // GRADSYNC_TOPOLOGY_KINDS_H
