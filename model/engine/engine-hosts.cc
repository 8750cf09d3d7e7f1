// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/engine-hosts.h"

#include "ns3/double.h"
#include "ns3/simulator.h"
#include "ns3/uinteger.h"

#include <algorithm>

namespace ns3::gradsync
{

namespace
{

/// What all kinds of jobs set. Each rank gets a copy: to construct an object of ns-3, which looks
/// for the values of all its attributes, takes much longer.
template <typename AnyJob>
Ptr<ExchangeApplication>
MakePrototype(const AnyJob& job, const DifferentialTransmission& transmission)
{
    auto prototype = CreateObject<ExchangeApplication>();
    // An Application counts its start from when it is installed, a Job from 0.
    prototype->SetStartTime(std::max(job.start - Simulator::Now(), Time(0)));
    prototype->SetAttribute("ReduceSecondsPerByte", DoubleValue(job.reduceSecondsPerByte));
    prototype->SetAttribute("ReliableShare", DoubleValue(transmission.reliableShare));
    prototype->SetAttribute("BlockBytes", UintegerValue(transmission.blockBytes));
    return prototype;
}

} // namespace

std::vector<Ptr<ExchangeApplication>>
EngineHosts::InstallAll(std::span<const uint32_t> endpoints,
                        const Ptr<const ExchangeApplication>& prototype)
{
    std::vector<Ptr<ExchangeApplication>> applications;
    for (const auto endpoint : endpoints)
    {
        applications.push_back(CopyObject<ExchangeApplication>(prototype));
        MakeNode(endpoint)->AddApplication(applications.back());
    }
    return applications;
}

std::vector<Ptr<ExchangeApplication>>
EngineHosts::Install(const Job& job)
{
    const auto prototype = MakePrototype(job, job.transmission);
    prototype->SetAttribute("MaxOutstandingSends", UintegerValue(job.maxOutstandingSends));
    const auto worker = CopyObject<ExchangeApplication>(prototype);
    worker->SetAttribute("ComputeTime", TimeValue(job.compute));
    const std::span endpoints(job.endpointOf);
    const auto workers = job.plan->GetWorkerCount();
    auto applications = InstallAll(endpoints.first(workers), worker);
    for (uint32_t rank = 0; rank < job.computeOf.size(); ++rank)
    {
        applications[rank]->SetAttribute("ComputeTime", TimeValue(job.computeOf[rank]));
    }
    const auto servers = InstallAll(endpoints.subspan(workers), prototype);
    applications.insert(applications.end(), servers.begin(), servers.end());
    return applications;
}

std::vector<Ptr<ExchangeApplication>>
EngineHosts::Install(const TrainingJob& job)
{
    return InstallAll(job.endpointOf, MakePrototype(job, job.transmission));
}

std::vector<Ptr<ExchangeApplication>>
EngineHosts::Install(const AsynchronousJob& job)
{
    return InstallAll(job.endpointOf, MakePrototype(job, {}));
}

Ptr<Node>
EngineHosts::GetNode(uint32_t endpoint) const
{
    const auto found = m_nodes.find(endpoint);
    return found == m_nodes.end() ? nullptr : found->second;
}

Ptr<Node>
EngineHosts::MakeNode(uint32_t endpoint)
{
    auto& node = m_nodes[endpoint];
    if (!node)
    {
        node = CreateObject<Node>();
    }
    return node;
}

void
EngineHosts::SetNode(uint32_t endpoint, const Ptr<Node>& node)
{
    m_nodes[endpoint] = node;
}

void
EngineHosts::Clear()
{
    m_nodes.clear();
}

} // namespace ns3::gradsync
