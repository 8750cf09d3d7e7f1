// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_ROCE_TRANSPORT_H
#define GRADSYNC_ROCE_TRANSPORT_H

#include "ns3/congestion-control.h"
#include "ns3/divided-transport.h"
#include "ns3/fabric-network.h"
#include "ns3/network-aggregation.h"
#include "ns3/network-part.h"
#include "ns3/roce-capture.h"
#include "ns3/roce-connection-table.h"
#include "ns3/roce-flows.h"
#include "ns3/roce-frame-maker.h"
#include "ns3/roce-mirrors.h"
#include "ns3/roce-nic.h"
#include "ns3/roce-queue-pair.h"
#include "ns3/roce-receiver.h"
#include "ns3/roce-sender.h"
#include "ns3/traced-callback.h"
#include "ns3/transport.h"
#include "ns3/watched-trace.h"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace ns3::gradsync
{

/**
 * RoCEv2 reliable connections over the fabric (InfiniBand Architecture Specification vol. 1, 9.7,
 * annex A17): segmentation into packets of one MTU, coalesced acknowledgements, go-back-N recovery
 * by negative acknowledgements and a timeout, or selective repeat as IRN does it (Mittal et al.,
 * "Revisiting network support for RDMA", SIGCOMM'18). Queue pairs send at line rate, held back by
 * PFC, or as a CongestionControl tells them.
 */
class RoceTransport : public Transport,
                      public TransportCapabilities,
                      public TransportFaults,
                      public TransportParts,
                      public DividedTransport,
                      private PacketReceiver
{
  public:
    static TypeId GetTypeId();
    RoceTransport();
    ~RoceTransport() override;

    void Install(std::shared_ptr<const Topology> topology,
                 std::shared_ptr<const RoutingTables> routes) override;
    void Send(const Message& message) override;
    void PrefetchSend(uint32_t src, uint32_t dst, uint32_t stream) const override;
    void Abandon(const MessageFilter& isMeant) override;
    std::vector<LinkStatistics> GetLinkStatistics() const override;
    TransportStatistics GetStatistics() const override;
    void AddState(StateWords& words) override;

    TransportCapabilities* GetCapabilities() override;
    TransportFaults* GetFaults() override;
    TransportParts* GetParts() override;
    NetworkAggregation* GetAggregation() const override;

    bool HasPackets() const override;
    double GetPayloadShare() const override;
    bool HasHostFaults() const override;
    /// "aggregation", where there is one, and every congestion control by its name.
    std::vector<std::string> ListParts() const override;
    Ptr<Object> GetPart(const std::string& name) override;
    Ptr<FabricNetwork> GetFabric() const override;
    std::vector<std::string> ListConcerns(const Topology& topology) override;
    void SetAggregation(const Ptr<NetworkAggregation>& aggregation) override;

    /// The frame of a packet that is none of a protocol of switches, on the link from one node to
    /// another, without FCS.
    std::vector<uint8_t> MakeFrame(const FabricPacket& packet, NodeId sender, NodeId receiver)
    {
        return m_frames.Make(packet, sender, receiver);
    }

    // TransportParts
    std::string FindObstacle() const override;
    void AddPlaces(uint32_t src, uint32_t dst, std::set<uint32_t>& places) const override;
    std::unique_ptr<NetworkPart> MakePart(
        std::span<const uint32_t> endpoints,
        const std::set<std::pair<uint32_t, uint32_t>>& pairs) override;
    bool MayHaveTwins() const override;
    void SetTwins(std::span<const PartTwins> sets) override;
    bool AreTwins() const override;

    /// To pcap files, see RoceCapture.
    void Capture(LinkId link, const std::string& folder) override;
    void CloseCaptures() override;

    DividedTransport* GetDivided() override;
    void Divide(const TopologyDivision& division, DividedMessages messages) override;
    Time Announce(const AwaitedEndpoints& endpoints) override;
    SwitchRounds* HoldSwitches(int64_t lookahead) override;
    void SetBound(int64_t bound) override;
    void Depart(int64_t now) override;
    int64_t GetFirstArrival() const override;
    int64_t GetNextStart() const override;
    void Take(uint32_t part, OutgoingBatch& batch) override;
    void Put(BatchReader& batch) override;

    void SetLinkState(LinkId link, const LinkState& state) override;
    void SetEndpointState(uint32_t endpoint, const EndpointState& state) override;
    void SetRoutes(std::shared_ptr<const RoutingTables> routes) override;

    /// Signature of the trace source "Recovery": a queue pair learns of a loss.
    using RecoveryCallback = void (*)(uint32_t src, uint32_t dst, bool isTimeout);

    /// Signature of the trace source "Payload": bytes of a message that the receiver takes.
    using PayloadCallback = void (*)(uint64_t tag, uint64_t offsetBytes, uint32_t bytes);

    /// Signature of the trace source "Rate". \param bitRate on the wire \param at may lie in the
    /// past, as packets start late (see LazySender); in order for one connection
    using RateCallback =
        void (*)(uint32_t src, uint32_t dst, uint32_t stream, double bitRate, Time at);

    /// Signature of the trace source "Window".
    using WindowCallback =
        void (*)(uint32_t src, uint32_t dst, uint32_t stream, uint32_t packets, Time at);

    /**
     * The congestion control algorithm of that name, in short or of its TypeId, whose Attributes
     * may be set until Install; nullptr when there is none. Only the one that the Attribute
     * CongestionControl names is used.
     */
    Ptr<CongestionControl> GetCongestionControl(const std::string& name);

    /// Payload of a full packet.
    uint32_t GetMtuBytes() const
    {
        return m_mtuBytes;
    }

    /// Data packets that one acknowledgement is for, at most.
    uint32_t GetAckEvery() const
    {
        return m_ackEvery;
    }

    RoceRecovery GetRecovery() const
    {
        return m_recovery;
    }

    /// Whether packets carry in-band telemetry. After Install.
    bool UsesTelemetry() const
    {
        return m_signals.telemetry;
    }

    /// Queue pairs that there are, in use or not: memory follows what is under way.
    uint32_t CountQueuePairs() const
    {
        return m_connections.CountQueuePairs();
    }

  protected:
    void DoDispose() override;

  private:
    void Receive(FabricPacket* packet, uint32_t endpoint, TimeStepCount now) override;
    void PrefetchFor(const FabricPacket& packet, uint32_t round) const override;
    void PrefetchDelivery(const RoceQueuePair& queuePair, uint32_t round) const;
    void PrefetchAcknowledgement(const RoceQueuePair& queuePair, uint32_t round) const;
    void FailRefused(Message message);
    void AddPacketState(const FabricPacket& packet, StateWords& words) const;

    void CheckSettings() const;
    void InstallCongestionControl();
    void InstallNics();
    void InstallHalves();
    uint32_t m_mtuBytes;
    uint32_t m_ackEvery;
    uint32_t m_windowPackets;
    Time m_timeout;
    uint32_t m_retryLimit;
    RoceRecovery m_recovery;
    uint32_t m_reorderTolerance;
    uint32_t m_keptQueuePairs;
    std::string m_congestionControl; //!< name of the algorithm
    bool m_keepsRates;

    std::map<std::string, Ptr<CongestionControl>>
        m_controls;                   //!< asked for, by the name of their entry
    Ptr<CongestionControl> m_control; //!< in use; null without
    CongestionSignals m_signals;
    uint32_t m_telemetryBytes{0}; //!< of each packet
    Ptr<FabricNetwork> m_fabric;
    Ptr<NetworkAggregation> m_aggregation; //!< null: switches do not aggregate
    std::shared_ptr<const Topology> m_topology;
    RoceNics m_nics;

    /// Parts that are not simulated, as one with these ports is.
    struct Twins
    {
        uint64_t others;
        std::vector<uint32_t> ports;
    };

    void AddTwins(TransportStatistics& total) const;

    RoceConnectionTable m_connections;
    RoceFrameMaker m_frames{m_connections};
    std::unique_ptr<RoceCapture> m_capture;    //!< null: nothing is captured
    RoceSender::RecoveryTrace m_recoveryTrace; //!< trace source "Recovery"
    RoceReceiver::PayloadTrace m_payloadTrace; //!< trace source "Payload"
    RoceFlows::RateTrace m_rateTrace{
        [this](bool /* isWatched */) { m_flows.Follow(); }}; //!< trace source "Rate"
    RoceFlows::WindowTrace m_windowTrace{
        [this](bool /* isWatched */) { m_flows.Follow(); }}; //!< trace source "Window"
    RoceFlows m_flows{m_rateTrace, m_windowTrace};
    RoceSender m_sender{m_connections, m_flows, m_nics, m_recoveryTrace};
    RoceReceiver m_receiver{m_payloadTrace};
    uint64_t m_savedEvents{0};              //!< of parts
    std::vector<Twins> m_twins;             //!< a set of parts each
    std::unique_ptr<RoceMirrors> m_mirrors; //!< null: one process simulates all
};

} // namespace ns3::gradsync

#endif // GRADSYNC_ROCE_TRANSPORT_H
