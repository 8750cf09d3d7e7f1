// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/divided-surroundings.h"

#include "ns3/network-parts.h"

#include <vector>

namespace ns3::gradsync
{

DividedSurroundings::DividedSurroundings(const ResolvedRun& run,
                                         const WindowSimulatorImpl& simulator,
                                         const WindowProtocol& protocol,
                                         uint32_t processes)
    : m_run(run),
      m_simulator(simulator),
      m_generator(CreateObject<TrafficGenerator>())
{
    m_generator->Divide([&protocol](uint32_t endpoint) { return protocol.IsHere(endpoint); },
                        processes);
}

DividedSurroundings::~DividedSurroundings()
{
    m_flows.reset();
    m_generator->Dispose();
    m_faults.reset();
    if (m_injector)
    {
        m_injector->Dispose();
    }
}

bool
DividedSurroundings::AreAny(const ResolvedRun& run)
{
    return !run.faults.empty() || !run.traffic.empty() || !run.sampleEvery.IsZero();
}

void
DividedSurroundings::AddReceivers(std::vector<DividedMessages::Receiver>& receivers) const
{
    const auto endpoints = m_run.traffic.empty() ? 0 : m_run.topology->GetEndpoints().size();
    for (uint32_t endpoint = 0; endpoint < endpoints; ++endpoint)
    {
        receivers.push_back({&m_generator->GetHandler(), endpoint});
    }
}

void
DividedSurroundings::Start(const Ptr<Transport>& transport, const Ptr<ExchangeEngine>& engine)
{
    m_injector = InstallFaults(m_run, transport, engine);
    if (m_run.recordMessages || m_run.recordTrace)
    {
        m_faults.emplace(m_injector, "Fault");
    }
    InstallTraffic(m_run, transport, engine, m_generator);
    if (m_run.recordMessages)
    {
        m_flows.emplace(m_generator, m_simulator);
    }
    m_sampler = StartSampler(m_run, transport, engine);
}

uint64_t
DividedSurroundings::CountEvents() const
{
    return m_injector->CountEvents() + m_generator->CountEvents() +
           (m_sampler ? m_sampler->GetCount() : 0);
}

std::string
DividedSurroundings::GetProblem() const
{
    return m_injector->GetProblem() + m_generator->GetProblem();
}

std::vector<FaultRecord>
DividedSurroundings::TakeFaults()
{
    return m_faults ? m_faults->Take() : std::vector<FaultRecord>{};
}

PartSurroundings
DividedSurroundings::Describe() const
{
    return {.lastFlowEnd = m_generator->GetLastEnd(),
            .flows = m_flows ? m_flows->GetFlows() : std::vector<OrderedFlow>{},
            .samples = m_sampler ? m_sampler->GetSamples() : std::vector<LinkSample>{}};
}

} // namespace ns3::gradsync
