// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_SLOT_AGGREGATION_H
#define GRADSYNC_SLOT_AGGREGATION_H

#include "ns3/aggregation-switch.h"
#include "ns3/aggregation-worker.h"
#include "ns3/atp-node.h"
#include "ns3/atp-server.h"
#include "ns3/atp-worker.h"
#include "ns3/event-id.h"
#include "ns3/netreduce-node.h"
#include "ns3/netreduce-worker.h"
#include "ns3/network-aggregation.h"
#include "ns3/p4-switch-node.h"
#include "ns3/slot-contents.h"
#include "ns3/slot-tensor.h"
#include "ns3/slot-worker.h"
#include "ns3/switch-pipelines.h"
#include "ns3/switch-tree.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace ns3::gradsync
{

/// What packets of an aggregation carry.
enum AggregationValues
{
    VALUES_SIZES, //!< nothing: only sizes matter
    VALUES_REAL,  //!< integers, which switches add up and workers check
    VALUES_FLOAT  //!< likewise, those of gradients
};

/// What a sum is that int32 cannot hold.
enum AggregationOverflow
{
    OVERFLOW_ERROR, //!< a failure of the job
    OVERFLOW_COUNT  //!< expected, and counted
};

/// What adds up in switches, for the slot protocol.
enum AggregationEngine
{
    ENGINE_NATIVE, //!< SlotSwitch
    ENGINE_P4      //!< slot-aggregation.p4 in a P4Pipeline: the same packets, more slowly
};

/// How jobs of the slot protocol share the slots of a switch.
enum SlotSharing
{
    SHARING_STATIC, //!< each has as many as it wants, from the beginning on
    SHARING_DYNAMIC //!< those that exchange have equal shares
};

/// A P4 program for a switch, and its configuration.
struct P4SwitchProgram
{
    std::shared_ptr<const P4Program> program;
    std::string configuration;     //!< commands of simple_switch_CLI
    std::string configurationName; //!< for messages
};

/**
 * Aggregation in the switches of the fabric (doc/aggregation.rst): by the slot protocol of SwitchML
 * and PASSING over any number of levels, by NetReduce likewise, and, for groups that have a
 * parameter server, by ATP.
 */
class SlotAggregation : public NetworkAggregation, private PacketSink
{
  public:
    static TypeId GetTypeId();
    SlotAggregation();
    ~SlotAggregation() override;

    void Install(const Ptr<FabricNetwork>& fabric,
                 std::shared_ptr<const Topology> topology) override;
    uint32_t OpenAggregation(const AggregationGroup& group) override;
    void CloseAggregation(uint32_t group) override;
    void Aggregate(const AggregationMessage& message) override;
    void Abandon(const Transport::MessageFilter& isMeant) override;
    void SetTransport(RoceTransport* transport) override;
    void Equip(FabricPacket& packet,
               uint32_t endpoint,
               uint32_t stream,
               const MessagePlace& place) override;
    uint16_t GetSendingPort(uint32_t endpoint, uint32_t stream) const override;
    void SetRebuildHandler(RebuildHandler handler) override;
    void SetAggregatorState(NodeId node, bool adds) override;
    void AvoidInAggregations(const AggregationOutage& outage) override;
    AggregationStatistics GetStatistics() const override;
    /// In place of the switch's part in any protocol. Before Install.
    void SetProgram(NodeId node, P4SwitchProgram program);

    std::vector<uint8_t> MakeFrame(const FabricPacket& packet,
                                   NodeId sender,
                                   NodeId receiver) override;
    void AddStatistics(TransportStatistics& total) const override;

    /// The parts of a node in the protocols, or nullptr when it has none.
    const AggregationSwitch* GetSwitch(NodeId node) const;
    const AtpNode* GetAtpNode(NodeId node) const;
    const P4SwitchNode* GetUserSwitch(NodeId node) const;

    /// What the packets of all aggregations carry.
    SlotContents& GetContents()
    {
        return m_contents;
    }

  protected:
    void DoDispose() override;

  private:
    /// The programs of a node.
    struct NodePrograms final : public SwitchProgram
    {
        SlotContents* contents{nullptr};
        PacketPool* pool{nullptr};
        std::unique_ptr<AggregationSwitch> slots;
        std::unique_ptr<AtpNode> atp;
        std::unique_ptr<NetReduceNode> ring;
        std::unique_ptr<P4SwitchNode> user;         //!< takes all packets, where there is one
        std::unique_ptr<SwitchPipelines> pipelines; //!< null: a switch without limits

        bool Process(FabricPacket* packet, uint16_t port, TimeStepCount now) override;
        bool ProcessNow(FabricPacket* packet, uint16_t port, TimeStepCount now);
        bool EnterPipelines(FabricPacket* packet, uint16_t port);
        bool ProcessNatively(FabricPacket* packet, uint16_t port, TimeStepCount now);
    };

    /// A group.
    struct Session
    {
        AggregationJob job; //!< its number is a new one whenever switches begin anew
        uint32_t group;     //!< as the transport calls it
        uint32_t turn;      //!< among those that switches are chosen for
        AggregationGroup members;
        std::shared_ptr<const std::vector<uint32_t>> endpoints; //!< of the members
        SwitchTree tree;                                        //!< not of ATP
        bool hasBegun{false};    //!< likewise: some worker has contributed
        bool isPlaced{false};    //!< likewise: it has slots
        std::set<NodeId> adding; //!< switches that add up for it
        std::string failure;     //!< why no switches add up any more
        SlotWorker::Settings slotSettings;
        AtpWorker::Settings atpSettings;
        std::vector<NodeId> nodes; //!< that have a part in it
        std::unique_ptr<AggregationTensor> tensor;
        std::unique_ptr<AtpServer> server; //!< of ATP; null: the slot protocol
        std::vector<uint32_t> racks; //!< of ATP: bits of the workers of each switch of level 0
        std::vector<SlotWorker*> slotWorkers; //!< of the slot protocol: all workers
        NetReduceWorker::Settings ringSettings;
        std::vector<NetReduceWorker*> ringWorkers; //!< of NetReduce: all workers
        std::map<uint32_t, uint32_t> rankOf;       //!< of NetReduce: by endpoint
        uint64_t firstPacket{0};                   //!< of NetReduce: with which its boxes begin
        std::vector<std::unique_ptr<AggregationWorker>> workers;

        bool IsNetReduce() const
        {
            return members.protocol == AggregationProtocol::NetReduce;
        }
    };

    void Receive(FabricPacket* packet, uint32_t endpoint, TimeStepCount now) override;
    void TakeNumber(Session& session);
    void Forget(Session& session);
    void MakeTensor(Session& session, const AggregationTensor::Shape& shape);
    void FillJob(Session& session, uint32_t workers, uint16_t valueCount, uint32_t headerBytes);
    void OpenSlots(Session& session);
    void BuildTree(Session& session);
    void CheckWidth(const SwitchTree::Hop& hop) const;
    void AddRoles(Session& session);
    // Slots of each: slot-sharing.cc.
    void TakeSlots(Session& session);
    void RequestSlots();
    std::map<uint32_t, uint32_t> ShareSlots();
    void ReallotSlots();
    bool Place(const std::set<uint32_t>& groups, const std::map<uint32_t, uint32_t>& shares);
    void AddNeighbours(std::set<uint32_t>& groups,
                       const std::map<uint32_t, uint32_t>& shares) const;
    void TakeShare(Session& session, uint32_t slots);
    static void RestartWorkers(Session& session);
    // Other switches: aggregation-rebuild.cc.
    bool IsHit(const Session& session) const;
    void Rebuild(Session& session);
    void GiveUp(Session& session, const std::string& reason);
    void RebuildSlots(Session& session);
    void RebuildAtp(Session& session);
    FabricPort& ChooseAtpPort(const Session& session, uint32_t endpoint);
    NodePrograms& GetPrograms(NodeId node);
    std::unique_ptr<SwitchPipelines> MakePipelines(NodeId node, NodePrograms& programs);
    AggregationSwitch& GetSlotProgram(NodeId node);
    void RemoveRoles(Session& session);
    void TakeSink(uint32_t endpoint);
    void Retire(const AggregationWorker& worker);

    // P4 programs: slot-aggregation-p4.cc.
    void InstallPrograms();
    static void CheckCompiled(const char* attribute,
                              uint32_t value,
                              uint32_t compiled,
                              bool mayBeLess);
    P4SwitchNode::Place GetPlace(NodeId node);
    std::unique_ptr<P4SlotSwitch> MakeSlotEngine(NodeId node);
    std::vector<uint8_t> MakeSlotFrame(const SlotPacket& content,
                                       NodeId sender,
                                       NodeId receiver) const;

    // The part of ATP: atp-aggregation.cc.
    void OpenAtp(Session& session);
    void AddAtpRoles(Session& session);
    AtpNode& GetAtpProgram(NodeId node);
    NodeId FindLeaf(uint32_t endpoint) const;
    std::vector<uint8_t> MakeAtpFrame(const FabricPacket& packet, NodeId sender, NodeId receiver);
    void ReceiveAtp(const SlotPacket& content, const FabricPacket& packet, uint32_t endpoint);
    void OnServerData(Session& session, const SlotPacket& content, const FabricPacket& packet);

    // The part of NetReduce: netreduce-aggregation.cc.
    void CheckNetReduce() const;
    void OpenNetReduce(Session& session);
    static void LinkRing(Session& session);
    NetReduceNode& GetRingProgram(NodeId node);
    void RebuildNetReduce(Session& session);
    void ReceiveNetReduce(FabricPacket* packet, uint32_t endpoint, TimeStepCount now);
    static std::vector<uint8_t> MakeNetReducePayload(const SlotPacket& content, uint32_t dataBytes);

    uint32_t m_slots;
    uint32_t m_poolSlots;
    SlotSharing m_sharing;
    uint32_t m_valueCount;
    bool m_saturate;
    uint32_t m_valueBits;
    AggregationOverflow m_overflow;
    Time m_timeout;
    uint32_t m_retryLimit;
    AggregationValues m_values;
    int m_gradients; //!< index in GetGradientDistributions
    double m_scale;
    AggregationEngine m_engine;
    uint32_t m_atpAggregators;
    double m_atpBusyShare;
    uint32_t m_atpWindow;
    Time m_atpFirstTimeout;
    Time m_atpTimeout;
    uint32_t m_netReduceMessagePackets;
    uint32_t m_netReduceWindow;
    uint32_t m_pipelines;
    double m_pipelinePacketRate;
    uint32_t m_valuesPerPass;
    Time m_processingDelay;

    RoceTransport* m_transport{nullptr};
    Ptr<FabricNetwork> m_fabric;
    std::shared_ptr<const Topology> m_topology;
    SlotContents m_contents;
    std::shared_ptr<const P4Program> m_slotProgram; //!< of the engine p4, once it is in use
    std::map<NodeId, P4SwitchProgram> m_userPrograms;
    std::map<uint32_t, std::unique_ptr<Session>> m_sessions; //!< by group
    std::map<uint16_t, Session*> m_byNumber;                 //!< by number of the job
    /// Endpoints of the workers by number, also of jobs that are gone, whose packets may not be.
    std::map<uint16_t, std::shared_ptr<const std::vector<uint32_t>>> m_endpoints;
    AggregationOutage m_outage; //!< as far as it is known
    std::set<NodeId> m_plain;   //!< switches that do not add up now
    RebuildHandler m_onRebuild;
    EventId m_reallotment; //!< of dynamic sharing
    std::map<NodeId, NodePrograms> m_programs;
    std::map<uint32_t, PacketSink*> m_sinks; //!< [endpoint] -> who takes what is not for us
    uint16_t m_nextNumber{0};
    uint32_t m_nextGroup{0};
    uint32_t m_sessionCount{0};         //!< ever
    AggregationStatistics m_statistics; //!< what workers tell
    uint64_t m_resultBytes{0};          //!< of workers that are gone
    uint64_t m_retransmittedBytes{0};   //!< likewise
};

} // namespace ns3::gradsync

#endif // GRADSYNC_SLOT_AGGREGATION_H
