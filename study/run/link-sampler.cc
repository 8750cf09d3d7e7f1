// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/link-sampler.h"

#include "ns3/simulator.h"

#include <utility>

namespace ns3::gradsync
{

LinkSampler::LinkSampler(const Ptr<FabricNetwork>& fabric,
                         const Time& every,
                         std::function<bool()> isSettled)
    : m_fabric(fabric),
      m_every(every),
      m_isSettled(std::move(isSettled)),
      m_last(m_fabric->GetPortCount())
{
    m_fabric->KeepInStep();
    m_event = Simulator::Schedule(m_every, &LinkSampler::Sample, this);
}

LinkSampler::~LinkSampler()
{
    m_event.Cancel();
}

void
LinkSampler::Sample()
{
    for (size_t port = 0; port < m_last.size(); ++port)
    {
        // The queue first: asking for it brings the counters up to date.
        const auto queueBytes = m_fabric->GetQueueBytes(port);
        const auto counters = m_fabric->GetCounters(port);
        auto& last = m_last[port];
        const auto wireBytes = counters.wireBytes - last.wireBytes;
        const auto paused = TimeStep(static_cast<uint64_t>(counters.pausedFor - last.pausedFor));
        if (wireBytes > 0 || queueBytes > 0 || paused.IsStrictlyPositive())
        {
            m_samples.push_back(
                {Simulator::Now(), static_cast<uint32_t>(port), wireBytes, queueBytes, paused});
        }
        last = counters;
    }
    ++m_count;
    if (m_count < MAX_SAMPLES && !m_isSettled())
    {
        m_event = Simulator::Schedule(m_every, &LinkSampler::Sample, this);
    }
}

} // namespace ns3::gradsync
