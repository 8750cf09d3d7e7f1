// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/network-parts.h"

#include "ns3/network-choice.h"
#include "ns3/run-store.h"
#include "ns3/scenario-error.h"
#include "ns3/transport-registry.h"

#include <stdexcept>
#include <utility>

namespace ns3::gradsync
{

namespace
{

NetworkChoice
GetNetworkChoice(const ResolvedRun& run)
{
    return {run.transport, run.fabric, run.programs, run.hasFluidServers};
}

} // namespace

std::set<std::string>
ListConcerns(const ResolvedRun& run)
{
    const auto transport = MakeFabricHelper(GetNetworkChoice(run)).Create();
    auto* capabilities = transport->GetCapabilities();
    if (capabilities == nullptr)
    {
        return {};
    }
    const auto concerns = capabilities->ListConcerns(*run.topology);
    return {concerns.begin(), concerns.end()};
}

Ptr<Transport>
InstallTransport(const ResolvedRun& run)
{
    try
    {
        return MakeFabricHelper(GetNetworkChoice(run)).InstallTransport(run.topology);
    }
    catch (const std::invalid_argument& error)
    {
        throw ScenarioError("transport " + run.transport.kind, error.what());
    }
}

void
StartCaptures(const ResolvedRun& run,
              const Ptr<Transport>& transport,
              const std::filesystem::path& folder)
{
    if (!folder.empty() && !run.capturedLinks.empty())
    {
        const auto captures = folder / RunStore::CAPTURE_FOLDER;
        std::filesystem::create_directories(captures);
        for (const auto link : run.capturedLinks)
        {
            transport->GetCapabilities()->Capture(link, captures.string());
        }
    }
}

void
InstallTraffic(const ResolvedRun& run,
               const Ptr<Transport>& transport,
               const Ptr<ExchangeEngine>& engine,
               const Ptr<TrafficGenerator>& generator)
{
    generator->Install(run.traffic, *run.topology, transport, [engine = PeekPointer(engine)] {
        return engine->IsSettled();
    });
}

std::unique_ptr<LinkSampler>
StartSampler(const ResolvedRun& run,
             const Ptr<Transport>& transport,
             const Ptr<ExchangeEngine>& engine)
{
    if (run.sampleEvery.IsZero())
    {
        return nullptr;
    }
    return std::make_unique<LinkSampler>(
        transport->GetCapabilities()->GetFabric(),
        run.sampleEvery,
        [engine = PeekPointer(engine)] { return engine->IsSettled(); });
}

Ptr<FaultInjector>
InstallFaults(const ResolvedRun& run,
              const Ptr<Transport>& transport,
              const Ptr<ExchangeEngine>& engine)
{
    auto injector = CreateObject<FaultInjector>();
    injector->Install(run.faults, run.topology, transport, engine);
    return injector;
}

} // namespace ns3::gradsync
