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

void
SetUp(ExchangeApplication& application,
      double reduceSecondsPerByte,
      const DifferentialTransmission& transmission)
{
    application.SetAttribute("ReduceSecondsPerByte", DoubleValue(reduceSecondsPerByte));
    application.SetAttribute("ReliableShare", DoubleValue(transmission.reliableShare));
    application.SetAttribute("BlockBytes", UintegerValue(transmission.blockBytes));
}

} // namespace

Ptr<ExchangeApplication>
EngineHosts::InstallAt(uint32_t endpoint, const Time& start)
{
    auto application = CreateObject<ExchangeApplication>();
    // An Application counts its start from when it is installed, a Job from 0.
    application->SetStartTime(std::max(start - Simulator::Now(), Time(0)));
    MakeNode(endpoint)->AddApplication(application);
    return application;
}

/// What all kinds of jobs set.
template <typename AnyJob>
std::vector<Ptr<ExchangeApplication>>
EngineHosts::InstallAll(const AnyJob& job, const DifferentialTransmission& transmission)
{
    std::vector<Ptr<ExchangeApplication>> applications;
    for (const auto endpoint : job.endpointOf)
    {
        applications.push_back(InstallAt(endpoint, job.start));
        SetUp(*applications.back(), job.reduceSecondsPerByte, transmission);
    }
    return applications;
}

std::vector<Ptr<ExchangeApplication>>
EngineHosts::Install(const Job& job)
{
    auto applications = InstallAll(job, job.transmission);
    const auto& own = job.computeOf;
    for (uint32_t rank = 0; rank < applications.size(); ++rank)
    {
        auto& application = *applications[rank];
        if (rank < job.plan->GetWorkerCount())
        {
            application.SetAttribute("ComputeTime",
                                     TimeValue(own.empty() ? job.compute : own[rank]));
        }
        application.SetAttribute("MaxOutstandingSends", UintegerValue(job.maxOutstandingSends));
    }
    return applications;
}

std::vector<Ptr<ExchangeApplication>>
EngineHosts::Install(const TrainingJob& job)
{
    return InstallAll(job, job.transmission);
}

std::vector<Ptr<ExchangeApplication>>
EngineHosts::Install(const AsynchronousJob& job)
{
    return InstallAll(job, {});
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
