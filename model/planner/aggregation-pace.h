// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_AGGREGATION_PACE_H
#define GRADSYNC_AGGREGATION_PACE_H

#include "ns3/aggregation-load.h"
#include "ns3/max-min-allocator.h"

#include <cstdint>
#include <span>
#include <vector>

namespace ns3::gradsync
{

/**
 * The aggregations of a group as one flow over all links that they use: what it takes of each, and
 * how long its packets take where nothing else is under way (doc/auto.rst).
 */
class AggregationPace
{
  public:
    /// \param capacities of link directions, in bytes per second
    AggregationPace(AggregationLoad load, std::span<const double> capacities);

    uint64_t CountPackets(uint64_t bytes) const;

    /// What the window counts.
    uint64_t CountMessages(uint64_t bytes) const
    {
        return (CountPackets(bytes) + m_load.messagePackets - 1) / m_load.messagePackets;
    }

    /// What an aggregation takes on the link that is busy with it for longest, in bytes.
    double GetBytes(uint64_t bytes) const;

    /// Of every link, for each byte of GetBytes.
    std::span<const MaxMinAllocator::Use> GetUses() const
    {
        return m_uses;
    }

    /// As of AggregationLoad.
    std::span<const uint32_t> GetFirstLinks() const
    {
        return m_load.firstLinks;
    }

    /// How long the first window of an aggregation keeps the link of an endpoint busy, in seconds.
    double GetFirstWindow(uint64_t bytes) const;

    /// As of AggregationLoad.
    bool IsRequested() const
    {
        return m_load.isRequested;
    }

    /// Of a full packet, with nothing else under way, in seconds.
    double GetRoundTrip() const
    {
        return m_load.roundTrip.Get(m_load.payloadBytes);
    }

    /// What a packet takes where the window alone holds it back.
    double GetWindowSeconds() const
    {
        return GetRoundTrip() / (static_cast<double>(m_load.window) * m_load.messagePackets);
    }

    /// What a window of full packets takes on the link that is busy for longest, in bytes.
    double GetWindowBytes() const;

    /// From the end of GetBytes to the last result, in seconds.
    double GetTail(uint64_t bytes) const
    {
        return m_load.tail.Get(GetLastContent(bytes));
    }

    /// Aggregations one after the other.
    struct Series
    {
        uint64_t packets{0};
        uint64_t messages{0};
        uint64_t bytes{0};     //!< of the gradient
        uint64_t lastBytes{0}; //!< of it, in the last one

        void Add(const AggregationPace& pace, uint64_t aggregationBytes)
        {
            packets += pace.CountPackets(aggregationBytes);
            messages += pace.CountMessages(aggregationBytes);
            bytes += aggregationBytes;
            lastBytes = aggregationBytes;
        }
    };

    /// How long they take with nothing else under way: what links and the window let through.
    double GetUnloadedSeconds(const Series& series) const;

    /// Of one aggregation.
    double GetUnloadedSeconds(uint64_t bytes) const
    {
        Series series;
        series.Add(*this, bytes);
        return GetUnloadedSeconds(series);
    }

  private:
    struct LinkUse
    {
        AggregationLoad::Use use{};
        double secondsPerByte{0.0};
    };

    double GetLastContent(uint64_t bytes) const;
    static double GetSeconds(const LinkUse& link, const Series& series);

    AggregationLoad m_load;
    double m_firstPerByte{0.0}; //!< of the slowest of the first links, in seconds
    LinkUse m_busiest;          //!< that takes longest for a full packet
    LinkUse m_lightest; //!< that takes the shortest for one, of those that carry the gradient
    std::vector<MaxMinAllocator::Use> m_uses;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_AGGREGATION_PACE_H
