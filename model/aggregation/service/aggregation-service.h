// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_AGGREGATION_SERVICE_H
#define GRADSYNC_AGGREGATION_SERVICE_H

#include "ns3/aggregation-driver.h"
#include "ns3/aggregation-host.h"
#include "ns3/aggregation-session.h"
#include "ns3/network-aggregation.h"
#include "ns3/node-programs.h"
#include "ns3/p4-switch-program.h"
#include "ns3/running-numbers.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace ns3::gradsync
{

/**
 * Aggregation in the switches of the fabric (doc/aggregation.rst): keeps groups, their numbers,
 * the sinks of their endpoints and the programs of switches, and finds other switches when some
 * fail. What protocols do is up to their drivers, which are those of GetAggregationDrivers and any
 * others that are added.
 */
class AggregationService : public NetworkAggregation,
                           private AggregationHost,
                           private PacketReceiver
{
  public:
    static TypeId GetTypeId();
    AggregationService();
    ~AggregationService() override;

    /// One more driver, or another one for some protocols. Before Install.
    /// \param protocols that it is for, as plans name them
    void AddDriver(const std::string& name,
                   const std::vector<std::string>& protocols,
                   const Ptr<AggregationDriver>& driver);
    /// By name, for its Attributes; nullptr when there is none.
    Ptr<AggregationDriver> GetDriver(const std::string& name) const;
    /// Likewise.
    Ptr<Object> GetPart(const std::string& name) override;

    /// In place of the switch's part in any protocol. Before Install.
    void SetProgram(NodeId node, P4SwitchProgram program);

    void Install(const Ptr<FabricNetwork>& fabric,
                 std::shared_ptr<const Topology> topology) override;
    void SetTransport(RoceTransport* transport) override;
    uint32_t OpenAggregation(const AggregationGroup& group) override;
    void CloseAggregation(uint32_t group) override;
    void Aggregate(const AggregationMessage& message) override;
    void Abandon(const Transport::MessageFilter& isMeant) override;
    void Equip(FabricPacket& packet,
               uint32_t endpoint,
               uint32_t stream,
               const MessagePlace& place) override;
    uint16_t GetSendingPort(uint32_t endpoint, uint32_t stream) const override;
    void SetRebuildHandler(RebuildHandler handler) override;
    void SetAggregatorState(NodeId node, bool adds) override;
    void AvoidInAggregations(const AggregationOutage& outage) override;
    std::vector<uint8_t> MakeFrame(const FabricPacket& packet,
                                   NodeId sender,
                                   NodeId receiver) override;
    std::optional<AggregationLoad> DescribeLoad(uint32_t group) const override;
    AggregationStatistics GetStatistics() const override;
    std::string FindShared(const std::string& protocol) const override;
    void AddStatistics(TransportStatistics& total) const override;

    /// The part of a node in the protocol of a driver, or nullptr.
    const AggregationNode* FindPart(NodeId node, const std::string& driver) const;

    /// What the packets of all aggregations carry.
    AggregationContents& GetContents()
    {
        return m_network.contents;
    }

  protected:
    void DoDispose() override;

  private:
    struct Driver
    {
        std::string name;
        Ptr<AggregationDriver> object;
    };

    // For drivers.
    AggregationNetwork& GetNetwork() override;
    AggregationDriver* FindDriver(uint8_t number) override;
    void TakeNumber(AggregationSession& session) override;
    AggregationSession* FindSession(uint16_t number) override;
    const std::vector<uint32_t>* FindEndpoints(uint16_t number) const override;
    uint32_t TakeTurn() override;
    void TakeSink(uint32_t endpoint) override;
    PacketReceiver& GetSink(uint32_t endpoint) override;
    AggregationNode& GetNode(AggregationDriver& driver, NodeId node) override;
    void ReadFrame(std::span<const uint8_t> frame, AggregationPacket& content) override;

    void Receive(FabricPacket* packet, uint32_t endpoint, TimeStepCount now) override;
    void TakeSettings();
    void FindIncapable();
    bool HasLimits() const;
    void InstallPrograms();
    AggregationDriver& ChooseDriver(const std::string& protocol) const;
    AggregationSession& GetSessionOfStream(uint32_t stream) const;
    void Rebuild(AggregationSession& session);
    void Forget(AggregationSession& session);
    void Retire(const AggregationSession& session);
    NodePrograms& GetPrograms(NodeId node);

    AggregationEngine m_engine;
    AggregationValues m_values;
    uint32_t m_valueBits;
    int m_gradients; //!< index in GetGradientDistributions
    double m_scale;
    bool m_saturate;
    AggregationOverflow m_overflow;
    uint32_t m_retryLimit;
    AggregationTier m_tier;
    double m_share;
    uint64_t m_switchMemoryBytes;
    uint32_t m_pipelines;
    double m_pipelinePacketRate;
    uint32_t m_valuesPerPass;
    Time m_processingDelay;

    AggregationNetwork m_network;
    std::vector<Driver> m_drivers; //!< by the number that packets have
    std::map<std::string, AggregationDriver*> m_byProtocol;
    std::set<NodeId> m_incapable; //!< switches that never aggregate
    std::map<NodeId, P4SwitchProgram> m_userPrograms;
    std::map<NodeId, NodePrograms> m_programs;
    std::map<uint32_t, std::unique_ptr<AggregationSession>> m_sessions; //!< by group
    std::map<uint16_t, AggregationSession*> m_byNumber;
    /// Endpoints of the members by number, also of sessions that are gone, whose packets may not
    /// be.
    std::map<uint16_t, std::shared_ptr<const std::vector<uint32_t>>> m_endpoints;
    std::map<uint32_t, PacketReceiver*> m_sinks; //!< [endpoint] -> who takes what is not for us
    RebuildHandler m_onRebuild;
    uint16_t m_nextNumber{0};
    RunningNumbers m_groups{FIRST_STREAM}; //!< so that streams from FIRST_STREAM on fit
    uint32_t m_nextTurn{0};
    uint64_t m_resultBytes{0};        //!< of workers that are gone
    uint64_t m_retransmittedBytes{0}; //!< likewise
};

} // namespace ns3::gradsync

#endif // GRADSYNC_AGGREGATION_SERVICE_H
