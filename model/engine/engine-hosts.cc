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

void
SetUp(ExchangeApplication& application, const Job& job, uint32_t rank)
{
    if (rank < job.plan->GetWorkerCount())
    {
        const auto& own = job.computeOf;
        application.SetAttribute("ComputeTime", TimeValue(own.empty() ? job.compute : own[rank]));
    }
    SetUp(application, job.reduceSecondsPerByte, job.transmission);
    application.SetAttribute("MaxOutstandingSends", UintegerValue(job.maxOutstandingSends));
}

} // namespace

Ptr<ExchangeApplication>
EngineHosts::Install(uint32_t endpoint, const Time& start)
{
    auto application = CreateObject<ExchangeApplication>();
    // An Application counts its start from when it is installed, a Job from 0.
    application->SetStartTime(std::max(start - Simulator::Now(), Time(0)));
    MakeNode(endpoint)->AddApplication(application);
    return application;
}

std::vector<Ptr<ExchangeApplication>>
EngineHosts::Install(const Job& job)
{
    std::vector<Ptr<ExchangeApplication>> applications;
    for (uint32_t rank = 0; rank < job.endpointOf.size(); ++rank)
    {
        applications.push_back(Install(job.endpointOf[rank], job.start));
        SetUp(*applications.back(), job, rank);
    }
    return applications;
}

std::vector<Ptr<ExchangeApplication>>
EngineHosts::Install(const TrainingJob& job)
{
    std::vector<Ptr<ExchangeApplication>> applications;
    for (const auto endpoint : job.endpointOf)
    {
        applications.push_back(Install(endpoint, job.start));
        SetUp(*applications.back(), job.reduceSecondsPerByte, job.transmission);
    }
    return applications;
}

std::vector<Ptr<ExchangeApplication>>
EngineHosts::Install(const AsynchronousJob& job)
{
    std::vector<Ptr<ExchangeApplication>> applications;
    for (const auto endpoint : job.endpointOf)
    {
        applications.push_back(Install(endpoint, job.start));
        SetUp(*applications.back(), job.reduceSecondsPerByte, {});
    }
    return applications;
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
