// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_NETWORK_PARTS_H
#define GRADSYNC_NETWORK_PARTS_H

#include "ns3/exchange-engine.h"
#include "ns3/fault-injector.h"
#include "ns3/link-sampler.h"
#include "ns3/scenario.h"
#include "ns3/traffic-generator.h"
#include "ns3/transport.h"

#include <filesystem>
#include <memory>
#include <set>
#include <string>

namespace ns3::gradsync
{

/// What is known to go wrong with the settings of a run's transport on its network.
std::set<std::string> ListConcerns(const ResolvedRun& run);

/// The network of a run. \throws ScenarioError where the transport refuses it
Ptr<Transport> InstallTransport(const ResolvedRun& run);

/// Of the links whose packets are wanted; none without a folder.
void StartCaptures(const ResolvedRun& run,
                   const Ptr<Transport>& transport,
                   const std::filesystem::path& folder);

/// Foreign flows, which end when the engine is settled. \param generator as it was made
void InstallTraffic(const ResolvedRun& run,
                    const Ptr<Transport>& transport,
                    const Ptr<ExchangeEngine>& engine,
                    const Ptr<TrafficGenerator>& generator);

/// None unless the scenario asks for samples.
std::unique_ptr<LinkSampler> StartSampler(const ResolvedRun& run,
                                          const Ptr<Transport>& transport,
                                          const Ptr<ExchangeEngine>& engine);

Ptr<FaultInjector> InstallFaults(const ResolvedRun& run,
                                 const Ptr<Transport>& transport,
                                 const Ptr<ExchangeEngine>& engine);

} // namespace ns3::gradsync

#endif // GRADSYNC_NETWORK_PARTS_H
