// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_LINK_SAMPLER_H
#define GRADSYNC_LINK_SAMPLER_H

#include "ns3/event-id.h"
#include "ns3/fabric-network.h"
#include "ns3/link-sample.h"
#include "ns3/nstime.h"
#include "ns3/ptr.h"

#include <cstdint>
#include <functional>
#include <vector>

namespace ns3::gradsync
{

/// Looks at all links of a packet-level network at equal intervals of simulated time.
class LinkSampler
{
  public:
    /// Then it stops: the simulation of an exchange that is stuck must come to an end.
    static constexpr uint32_t MAX_SAMPLES = 100'000;

    /// Starts at once. \param every the interval \param isSettled whether to stop
    LinkSampler(const Ptr<FabricNetwork>& fabric,
                const Time& every,
                std::function<bool()> isSettled);
    ~LinkSampler();
    LinkSampler(const LinkSampler&) = delete;
    LinkSampler& operator=(const LinkSampler&) = delete;

    /// How often it has looked, in an event each.
    uint32_t GetCount() const
    {
        return m_count;
    }

    /// In the order of time, then port; without those of idle ports.
    const std::vector<LinkSample>& GetSamples() const
    {
        return m_samples;
    }

  private:
    void Sample();

    Ptr<FabricNetwork> m_fabric;
    Time m_every;
    std::function<bool()> m_isSettled;
    std::vector<PortCounters> m_last; //!< [port] counters at the sample before
    std::vector<LinkSample> m_samples;
    uint32_t m_count{0};
    EventId m_event;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_LINK_SAMPLER_H
