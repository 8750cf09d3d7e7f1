// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_FABRIC_NETWORK_H
#define GRADSYNC_FABRIC_NETWORK_H

#include "ns3/ecn-marker.h"
#include "ns3/fabric-endpoint.h"
#include "ns3/fabric-port.h"
#include "ns3/fabric-switch.h"
#include "ns3/flood-source.h"
#include "ns3/link-fault.h"
#include "ns3/link-state.h"
#include "ns3/load-balancing.h"
#include "ns3/object.h"
#include "ns3/packet-loss.h"
#include "ns3/packet-pool.h"
#include "ns3/routing-tables.h"
#include "ns3/state-words.h"
#include "ns3/switch-rounds.h"
#include "ns3/topology-division.h"
#include "ns3/topology.h"
#include "ns3/traced-callback.h"
#include "ns3/watched-trace.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace ns3::gradsync
{

/**
 * The packet-level network: a port for each direction of each link of a Topology, a switch for each
 * node that forwards, an endpoint for each that does not.
 */
class FabricNetwork : public Object, private PortObserver, private PacketReceiver
{
  public:
    static TypeId GetTypeId();
    FabricNetwork();
    ~FabricNetwork() override;

    /**
     * Builds the network. Called once, after the Attributes are set.
     * \param maxFrameBytes the largest frame on the wire, for the PFC headroom
     * \throws std::invalid_argument when the buffers cannot hold the headrooms
     */
    void Install(std::shared_ptr<const Topology> topology,
                 std::shared_ptr<const RoutingTables> routes,
                 uint32_t maxFrameBytes);

    FabricEndpoint& GetEndpoint(uint32_t endpoint);

    /// The switch at a node that forwards; nullptr at endpoints.
    FabricSwitch* GetSwitch(NodeId node) const
    {
        return m_switches[node];
    }

    /// \param index as of GetCounters
    FabricPort& GetPort(size_t index)
    {
        return *m_ports[index];
    }

    /// Whether a program of a switch reads all packets that pass it.
    bool DoProgramsTakeAll() const
    {
        return std::ranges::any_of(m_switches, [](const auto* forwarder) {
            return forwarder && forwarder->DoesProgramTakeAll();
        });
    }

    /// Who takes the packets that reach an endpoint, be it deaf or not.
    PacketReceiver* GetSink(uint32_t endpoint);
    void SetSink(uint32_t endpoint, PacketReceiver* sink);

    /// Lets `tap` see what both ends of a link send. \param tap must outlive the simulation
    void SetTap(LinkId link, PacketTap* tap);

    /// True when packets of one connection overtake each other as a rule.
    bool IsReordering() const
    {
        return gradsync::IsReordering(m_loadBalancing);
    }

    /// Why its nodes cannot be simulated by several processes, a sentence that names the Attribute;
    /// empty: they can.
    std::string FindShared() const;

    /// Links or full buffers may lose packets, also where nothing has gone wrong.
    bool MayLose() const
    {
        return m_lossRate > 0.0 || !m_pfc;
    }

    /// Several processes simulate it together: about so many times the packets of this one are
    /// under way, for which the Attribute PrefetchPackets holds, and faults touch what is here.
    void Divide(const TopologyDivision& division)
    {
        m_division = division;
    }

    /// How often a link has returned from a fault. \param index of a port, as of GetCounters
    uint32_t CountReturns(size_t index) const
    {
        const auto found = m_faults.empty() ? m_faults.end() : m_faults.find(index);
        return found == m_faults.end() ? 0 : found->second->CountReturns();
    }

    /// From an arrival on, packets on a link from another process started when it had returned so
    /// often. \param index of a port, as of GetCounters
    void ExpectReturns(size_t index, uint32_t returns, TimeStepCount arrival)
    {
        if (returns > 0) [[unlikely]]
        {
            GetFault(index).Expect(returns, arrival);
        }
    }

    /// Somebody looks into the network while it runs, or changes it: nothing is simulated ahead of
    /// the simulator (SwitchRounds). To be called before the first packet.
    void KeepInStep();

    /// Nothing is simulated at this time or later, in time steps, though the simulator may be asked
    /// for it: from there on packets may still come from elsewhere.
    void SetBound(TimeStepCount bound);

    /// From now on switches go on when they are told to (SwitchRounds::RunHeld). Before the first
    /// packet. \param lookahead that all of them must have at least, the same \returns nullptr
    /// where that is not so: nothing has changed
    SwitchRounds* HoldRounds(TimeStepCount lookahead);

    /// What switches have done in rounds up to now.
    SwitchRoundCounts GetRoundCounts() const;

    PacketPool& GetPool()
    {
        return m_pool;
    }

    /// Port number by which `endpoint` sends a flow: ECMP over its NICs.
    uint16_t ChooseEndpointPort(uint32_t endpoint, uint32_t flowHash, uint32_t destination) const;

    const Topology& GetTopology() const
    {
        return *m_topology;
    }

    /// Adds all that packets from an endpoint to another may touch: ports by their index, and
    /// behind these, from GetPortCount() on, nodes that forward.
    void AddPlaces(uint32_t src, uint32_t dst, std::set<uint32_t>& places) const;

    /// The ports on the way from an endpoint to another; none where there are several ways.
    std::vector<uint32_t> FindOnlyPath(uint32_t src, uint32_t dst) const;

    /**
     * From now on some ports carry nothing, and others do for them, as they would do the same:
     * their counters are those. Only where MayHaveTwins, and before the first packet.
     * \param simulated [port] itself, or the port that does for it; indices as of GetCounters
     */
    void SetTwins(std::vector<uint32_t> simulated);

    /// Whether what happens in a part of the network can be counted.
    bool MayHaveTwins() const;

    /// Whether it still can, and what packets met at these ports is the same at equal ones.
    /// \param isMarked they may be
    bool AreTwins(std::span<const uint32_t> ports, bool isMarked) const;

    /// What a part of the network has done. Only where MayHaveTwins.
    struct PartCounts
    {
        uint64_t events{0};       //!< of packets, and what switches do in place of them
        uint64_t arrivedBytes{0}; //!< payload, at endpoints; of what has left, if all has arrived
    };

    /// \param ports all ports of the part: each of its switches is at the end of one
    PartCounts CountPart(std::span<const uint32_t> ports) const;

    /// Links or hosts have faults, or lose packets, or had faults.
    bool HasFaults() const
    {
        return !m_losses.empty() || !m_faults.empty() || !m_floods.empty() ||
               !m_linkStates.empty() || !m_deafSinks.empty();
    }

    /// What decides how it goes on from now; syncs all ports.
    void AddState(const PacketStateWriter& addConnection, StateWords& words);

    /// Counters of one direction of a link. \param index 2 * link + (0: a to b, 1: b to a)
    PortCounters GetCounters(size_t index) const;
    size_t GetPortCount() const;

    /// Data bytes that wait at a sending port now. \param index as of GetCounters
    uint64_t GetQueueBytes(size_t index);

    /// Packets that no port counts as dropped: they had no path, or reached a host that receives
    /// nothing.
    uint64_t GetLostPackets() const;

    /// A fault changes a link. Waiting packets of a link that goes down are dropped, those on the
    /// wire lost, and both ends forget PFC pauses.
    void SetLinkState(LinkId link, const LinkState& state);

    /// A fault changes an endpoint. One that does not send still acknowledges.
    void SetEndpointState(uint32_t endpoint, const EndpointState& state);

    /// Packets follow these routes from now on.
    void SetRoutes(std::shared_ptr<const RoutingTables> routes);

    /// Signature of the trace source "Drop". \param port as the index of GetCounters
    using DropCallback = void (*)(uint32_t port, uint32_t wireBytes);
    /// Signature of the trace source "Pause". \param port the paused sender
    using PauseCallback = void (*)(uint32_t port, bool paused);
    /// Signature of the trace source "Mark". \param queueBytes the packet included
    using MarkCallback = void (*)(uint32_t port, uint64_t queueBytes);
    /// Signature of the trace source "Queue". \param at may lie in the past; in order at one port
    using QueueCallback = void (*)(uint32_t port, uint64_t queueBytes, Time at);

  protected:
    void DoDispose() override;

  private:
    uint32_t GetPortIndex(NodeId node, uint16_t port) const;
    NodeId GetTarget(size_t port) const;
    std::span<const uint16_t> GetWays(NodeId node, uint32_t dst) const;
    void SetPrefetching(bool prefetches);
    void OnDrop(uint32_t portIndex, const FabricPacket& packet) override;
    void OnPause(uint32_t portIndex, bool paused) override;
    void OnMark(uint32_t portIndex, uint64_t queueBytes) override;
    void OnQueue(uint32_t portIndex, uint64_t queueBytes, TimeStepCount at) override;
    void WatchQueues(bool isWatched);
    void Receive(FabricPacket* packet, uint32_t endpoint, TimeStepCount now) override;
    PacketLoss* GetLoss(size_t port) const;
    NodeId GetSource(size_t port) const;
    bool IsHere(NodeId node) const;
    bool ComesFromElsewhere(size_t port) const;
    LinkFault& GetFault(size_t port);
    void SetFlood(size_t port, double bitRate);
    void TakeDown(LinkId link, TimeStepCount now);
    void ConnectPorts();
    std::vector<FabricPort*> GetIngressPorts(NodeId node);
    TimeStepCount GetLeastDelay(NodeId node) const;
    void BeginRounds();
    bool IsLookedInto() const;
    void RequireInStep();
    SwitchRounds& ProvideRounds(TimeStepCount lookahead);
    void AddNodes(uint32_t maxFrameBytes);
    void AddSwitch(NodeId node, uint32_t maxFrameBytes);
    std::vector<FabricPort*> GetEgressPorts(NodeId node);
    uint64_t GetHeadroomBytes(const TopologyLink& link, uint32_t maxFrameBytes) const;
    void InstallTelemetry(LinkId id);
    EcnMarker* GetEcnMarker(const DataRate& rate);
    void CountBlocked(FabricPort& port);

    bool m_pfc;
    bool m_countBlocked;
    bool m_goesInRounds;
    uint64_t m_bufferBytes;
    double m_pauseAlpha;
    double m_dropAlpha;
    uint64_t m_droppableBytes;
    LoadBalancing m_loadBalancing;
    uint64_t m_hashSeed;
    Time m_flowletGap;
    uint64_t m_ecnMinBytes;
    uint64_t m_ecnMaxBytes;
    double m_ecnMaxProbability;
    DataRate m_ecnReferenceRate;
    double m_lossRate;
    size_t m_prefetchPorts;
    size_t m_prefetchPackets;
    TopologyDivision m_division; //!< of one process: without nodes
    bool m_prefetches{false};

    std::shared_ptr<const Topology> m_topology;
    std::shared_ptr<const RoutingTables> m_routes;
    PacketPool m_pool;
    /// By the least delay of the links to the switches; none: all are in step with the simulator.
    std::map<TimeStepCount, Ptr<SwitchRounds>> m_rounds;
    std::vector<Ptr<FabricPort>> m_ports; //!< 2 a link
    size_t m_portCount{0};
    std::vector<uint32_t> m_simulated; //!< [port] that does for it; empty: each for itself
    std::vector<std::unique_ptr<FabricNode>> m_nodes;
    std::vector<FabricEndpoint*> m_endpoints;
    std::vector<FabricSwitch*> m_switches;                    //!< [node]; null for endpoints
    std::vector<std::unique_ptr<PacketLoss>> m_losses;        //!< [port]; empty without loss
    std::vector<NextHopChooser> m_choosers;                   //!< [node]
    std::map<uint64_t, std::unique_ptr<EcnMarker>> m_markers; //!< by bit rate of the link
    std::map<size_t, std::unique_ptr<LinkFault>> m_faults;    //!< [port], once a fault was there
    std::map<size_t, std::unique_ptr<FloodSource>> m_floods;  //!< [port], once one was there
    std::map<LinkId, LinkState> m_linkStates;                 //!< of the same links
    std::map<uint32_t, PacketReceiver*>
        m_deafSinks; //!< [endpoint that receives nothing] -> its own
    uint64_t m_unreceivedPackets{0};
    TracedCallback<uint32_t, uint32_t> m_dropTrace; //!< trace source "Drop"
    TracedCallback<uint32_t, bool> m_pauseTrace;    //!< trace source "Pause"
    TracedCallback<uint32_t, uint64_t> m_markTrace; //!< trace source "Mark"
    WatchedTrace<uint32_t, uint64_t, Time> m_queueTrace{
        [this](bool isWatched) { WatchQueues(isWatched); }}; //!< trace source "Queue"
    static inline uint32_t s_prefetching{0};                 //!< networks that have the cache fetch
};

} // namespace ns3::gradsync

#endif // GRADSYNC_FABRIC_NETWORK_H
