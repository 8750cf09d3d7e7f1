// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_ROCE_FLOWS_H
#define GRADSYNC_ROCE_FLOWS_H

#include "ns3/congestion-control.h"
#include "ns3/object-pool.h"
#include "ns3/roce-connection-table.h"
#include "ns3/roce-nic.h"
#include "ns3/roce-queue-pair.h"
#include "ns3/routing-tables.h"
#include "ns3/topology.h"
#include "ns3/watched-trace.h"

#include <cstdint>
#include <memory>
#include <unordered_map>

namespace ns3::gradsync
{

class PacketPool;

/**
 * What congestion control decides for RoCE's connections: tells the algorithm what happens to each,
 * measures what it asks for, and tells who follows the decisions.
 *
 * Connections share one flow until the algorithm has to know them apart. What it has decided is
 * kept when a connection has nothing to send, as a NIC's queue pair keeps its context. Ports must
 * be synced to the time of a call.
 */
class RoceFlows
{
  public:
    /// Source, destination, stream, bits per second on the wire, when.
    using RateTrace = WatchedTrace<uint32_t, uint32_t, uint32_t, double, Time>;
    /// Source, destination, stream, packets, when.
    using WindowTrace = WatchedTrace<uint32_t, uint32_t, uint32_t, uint32_t, Time>;

    struct Settings
    {
        uint32_t windowPackets;    //!< most unacknowledged packets of a connection; 0: no limit
        uint32_t mtuBytes;         //!< payload of a full packet
        uint32_t telemetryBytes;   //!< of each packet
        bool keepsRates;           //!< of connections that have nothing to send
        CongestionSignals signals; //!< that the algorithm wants
    };

    /// Both must outlive this.
    RoceFlows(const RateTrace& rateTrace, const WindowTrace& windowTrace)
        : m_rateTrace(rateTrace),
          m_windowTrace(windowTrace)
    {
    }

    /// Before the first connection. \param control null: all send at line rate
    void Install(const Settings& settings,
                 const Ptr<CongestionControl>& control,
                 std::shared_ptr<const Topology> topology,
                 std::shared_ptr<const RoutingTables> routes,
                 const RoceNics& nics,
                 PacketPool& pool);

    /// Lets go of the algorithm.
    void Dispose()
    {
        m_control = nullptr;
    }

    /// Somebody began or ended to listen to a trace.
    void Follow()
    {
        m_isFollowed = m_rateTrace.IsWatched() || m_windowTrace.IsWatched();
    }

    /// True when a connection may open later than its first message is there: congestion control
    /// remembers nothing of it, and does not look at it before it has to know it apart.
    bool MayWait(const RoceConnection& connection) const
    {
        return !m_control ||
               (m_settings.signals.opensFresh && (m_kept.empty() || !m_kept.contains(connection)));
    }

    /// True when congestion control has not had to know it apart.
    bool IsFresh(const RoceQueuePair& queuePair) const
    {
        return queuePair.flow == &m_fresh;
    }

    void Open(RoceQueuePair& queuePair);
    /// \param isIdle all is sent, and the connection may open again
    void Close(RoceQueuePair& queuePair, bool isIdle);

    /// A data packet is to leave at `start`: equips it with what its acknowledgement must tell.
    void OnSend(const RoceQueuePair& queuePair, FabricPacket& packet, TimeStepCount start)
    {
        if (m_control)
        {
            Equip(queuePair, packet, start);
        }
    }

    /// Before the queue pair takes it.
    void OnAcknowledgement(RoceQueuePair& queuePair, const FabricPacket& packet, TimeStepCount now)
    {
        if (m_control)
        {
            TakeFeedback(queuePair, packet, now);
        }
    }

    void OnNotification(RoceQueuePair& queuePair, TimeStepCount now);
    void OnLoss(RoceQueuePair& queuePair, bool isTimeout, TimeStepCount now);

    /// What decides how it goes on, of the connections that have nothing to send.
    void AddState(StateWords& words) const;
    /// Likewise of an open connection.
    void AddState(const RoceQueuePair& queuePair, StateWords& words) const;
    /// Likewise of a packet of it.
    void AddState(const FabricPacket& packet,
                  const RoceQueuePair& queuePair,
                  StateWords& words) const;

  private:
    /// The flow of a connection that has nothing to send.
    struct KeptFlow
    {
        RoceFlow* flow;
        uint16_t sourcePort; //!< to whose line rate and path it belongs
    };

    struct HashConnection
    {
        size_t operator()(const RoceConnection& connection) const
        {
            return connection.GetHash();
        }
    };

    /// Gives the queue pair the flow that was kept of its connection, if there is one.
    bool Resume(RoceQueuePair& queuePair);
    void Free(RoceFlow& flow);
    /// The flow of a queue pair, no longer the one that fresh ones share.
    void Own(RoceQueuePair& queuePair);
    void MeasurePath(const RoceQueuePair& queuePair) const;
    void Equip(const RoceQueuePair& queuePair, FabricPacket& packet, TimeStepCount start);
    void TakeFeedback(RoceQueuePair& queuePair, const FabricPacket& packet, TimeStepCount now);

    /// Lets the algorithm decide on the flow of a queue pair; who follows flows hears of it.
    template <typename DECISION>
    void Decide(const RoceQueuePair& queuePair, TimeStepCount at, const DECISION& decide)
    {
        auto& flow = *queuePair.flow;
        if (!m_isFollowed) [[likely]]
        {
            decide(flow);
            return;
        }
        const CongestionFlow before = flow;
        decide(flow);
        TellChanges(queuePair, before, at);
    }

    void TellChanges(const RoceQueuePair& queuePair,
                     const CongestionFlow& before,
                     TimeStepCount at) const;

    Settings m_settings{};
    Ptr<CongestionControl> m_control;
    std::shared_ptr<const Topology> m_topology;
    std::shared_ptr<const RoutingTables> m_routes;
    const RoceNics* m_nics{nullptr};
    PacketPool* m_pool{nullptr};
    ObjectPool<RoceFlow> m_flows;
    std::unordered_map<RoceConnection, KeptFlow, HashConnection> m_kept;
    RoceFlow m_fresh{};  //!< of all queue pairs that congestion control has not touched
    int m_stampShift{0}; //!< time steps of a time stamp's unit, as a power of two
    bool m_isFollowed{false};
    const RateTrace& m_rateTrace;
    const WindowTrace& m_windowTrace;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_ROCE_FLOWS_H
