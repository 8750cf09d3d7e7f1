// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_SWITCH_INBOX_H
#define GRADSYNC_SWITCH_INBOX_H

#include "ns3/fabric-packet.h"
#include "ns3/prefetch.h"
#include "ns3/topology.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace ns3::gradsync
{

class FabricPort;
class FabricSwitch;
class LazySender;

/**
 * What one switch has to do: the packets on the links that lead to it, and departures that must be
 * seen in time. SwitchRounds has it done, some time ahead of the simulator, in the order in which
 * events would have come (EventOrder): by time, arrivals before departures, each by their ports.
 */
class SwitchInbox
{
  public:
    /// A packet that comes in a round.
    struct Arrival
    {
        TimeStepCount at;
        FabricPacket* packet;
        uint32_t place; //!< of its link
    };

    /// What all inboxes work with, one after the other.
    struct Desk
    {
        /// A link of which there may be more packets in this round.
        struct Cursor
        {
            FabricPacket* packet;
            uint32_t place;
        };

        /// How much of `done` a switch has done in one go.
        struct Turn
        {
            NodeId node;
            size_t count;
        };

        std::vector<Cursor> cursors;
        std::vector<Arrival> arrivals;
        std::vector<Arrival> sorted;
        std::vector<uint32_t> starts;    //!< [part of a round] where its arrivals go
        std::vector<TimeStepCount> done; //!< when all was that was done ahead of the simulator
        std::vector<Turn> turns;         //!< by whom, in the same order
        bool fetches{false};             //!< whether the cache is to fetch what comes next
    };

    /// \param links that lead to the switch, by its port
    SwitchInbox(FabricSwitch& node, const std::vector<FabricPort*>& links);

    /// A link has something on its wire again. \param port of the switch
    void Expect(uint16_t port, TimeStepCount arrival)
    {
        m_links[m_placeOf[port]].due = arrival;
    }

    /// What waits at a port of the switch leaves then, which must be seen in time.
    void AddDeparture(LazySender& port, TimeStepCount at);

    /**
     * Does what is to be done before `end`. Everything before `now` was done.
     * \returns when there is something to be done next; INT64_MAX: nothing is known
     */
    TimeStepCount Run(TimeStepCount now, TimeStepCount end, Desk& desk);

    /// How often it has done something, ahead of the simulator or not.
    uint64_t GetDoneCount() const
    {
        return m_doneCount;
    }

    NodeId GetNode() const
    {
        return m_id;
    }

    /// Gives departures that are still to come back to their ports, which schedule them.
    void Dissolve(TimeStepCount now);

    /// Fetches what Run touches, the inbox itself fetched.
    void PrefetchLinks() const
    {
        Prefetch(m_links.data(), m_links.size() * sizeof(Link));
    }

    /// Likewise, after PrefetchLinks.
    void PrefetchPorts(TimeStepCount end) const;

  private:
    /// One that leads here.
    struct Link
    {
        TimeStepCount due; //!< when the first packet arrives; INT64_MAX: there is none
        FabricPort* from;
        uint16_t port; //!< of the switch
    };

    struct Departure
    {
        TimeStepCount at;
        uint32_t index; //!< of the port, by which simultaneous ones are ordered
        LazySender* port;
    };

    static bool IsBefore(const Departure& one, const Departure& other);

    bool HasDeparture() const
    {
        return m_firstDeparture < m_departures.size();
    }

    void Gather(TimeStepCount now, TimeStepCount end, Desk& desk);
    void GatherNext(TimeStepCount end, Desk& desk);
    void Depart(TimeStepCount until, Desk& desk);
    void Fetch(const Desk& desk, size_t i, std::span<FabricPort*> egresses) const;
    TimeStepCount FindNext() const;

    FabricSwitch* m_node;
    NodeId m_id; //!< of the switch
    uint64_t m_doneCount{0};
    std::vector<Link> m_links;           //!< [place] in the order of simultaneous events
    std::vector<uint16_t> m_placeOf;     //!< [port]
    std::vector<Departure> m_departures; //!< in their order, from m_firstDeparture on
    size_t m_firstDeparture{0};
};

} // namespace ns3::gradsync

#endif // GRADSYNC_SWITCH_INBOX_H
