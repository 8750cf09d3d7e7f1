// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_FLUID_TRANSPORT_H
#define GRADSYNC_FLUID_TRANSPORT_H

#include "ns3/event-id.h"
#include "ns3/max-min-allocator.h"
#include "ns3/transport.h"

#include <map>
#include <span>
#include <unordered_map>

namespace ns3::gradsync
{

/**
 * The network as a fluid: max-min fair rates, no packets. Oracle and fast preview.
 *
 * Messages with equal (src, dst, stream) form a connection, which serves them one after the other.
 * The connections with a message share the links max-min fairly; traffic splits evenly over
 * equal-cost paths. A message is delivered when its last bit is served, plus the propagation delay
 * of the path (the longest one where paths differ). Rates adapt at once, there are no queues and no
 * losses.
 *
 * Bytes served are accounted when a message is served completely.
 */
class FluidTransport : public Transport, public TransportCapabilities, public TransportFaults
{
  public:
    static TypeId GetTypeId();

    FluidTransport();
    ~FluidTransport() override;

    void Install(std::shared_ptr<const Topology> topology,
                 std::shared_ptr<const RoutingTables> routes) override;

    /**
     * \throws std::invalid_argument when an endpoint does not exist or the message goes to its
     * sender; an unreachable receiver is reported to the handler
     */
    void Send(const Message& message) override;

    TransportCapabilities* GetCapabilities() override;
    TransportFaults* GetFaults() override;
    bool HasHostFaults() const override;

    /// A connection with a dead link on one of its paths stands still until the link or the routes
    /// change; nothing is lost. \throws std::invalid_argument for random loss: there are no packets
    void SetLinkState(LinkId link, const LinkState& state) override;
    void SetEndpointState(uint32_t endpoint, const EndpointState& state) override;
    void SetRoutes(std::shared_ptr<const RoutingTables> routes) override;
    void Abandon(const MessageFilter& isMeant) override;

    std::vector<LinkStatistics> GetLinkStatistics() const override;
    TransportStatistics GetStatistics() const override;
    /// Of one that nothing is under way in; else it refuses.
    void AddState(StateWords& words) override;

    /// Number of times the rates of all connections were computed: the cost of a fluid run.
    uint64_t GetAllocationCount() const;

  protected:
    void DoDispose() override;

  private:
    static constexpr uint32_t NONE = UINT32_MAX;

    struct QueuedMessage
    {
        uint64_t bytes;
        uint64_t tag;
        MessageHandler* handler;
        uint32_t next; //!< in the same connection, or in the free list
    };

    struct Connection
    {
        uint32_t pair;
        uint32_t head{NONE}; //!< the message in service
        uint32_t tail{NONE};
    };

    /// The message in service of one connection: served when its pair has served `target` bytes.
    struct Service
    {
        double target;
        uint32_t connection;

        /// Heap order: least target first, then the connection that was opened first.
        bool operator<(const Service& other) const
        {
            return target != other.target ? target > other.target : connection > other.connection;
        }
    };

    /**
     * All connections of one (src, dst). They use the same links and so always have the same rate:
     * one service counter and one heap of targets stand for all of them.
     */
    struct Pair
    {
        uint32_t src{0};
        uint32_t dst{0};
        Time delay;
        double served{0}; //!< bytes each connection was served since the pair became active
        std::vector<Service> heap;  //!< least target first
        uint32_t activeIndex{NONE}; //!< position in m_active
        uint64_t payloadBytes{0};   //!< of messages served
        uint64_t wireBytes{0};      //!< likewise, with what stands for headers
        bool touched{false};        //!< listed in m_touched
        bool hasPath{true};
        bool blocked{false}; //!< by a fault: its connections have rate 0
    };

    struct Delivery
    {
        uint64_t bytes;
        uint64_t tag;
        MessageHandler* handler;
    };

    /// What a direction of a link carried.
    struct Carried
    {
        double payloadBytes{0};
        double wireBytes{0};
    };

    struct ConnectionKey
    {
        uint32_t pair;
        uint32_t stream;
        bool operator==(const ConnectionKey&) const = default;
    };

    struct KeyHash
    {
        size_t operator()(const ConnectionKey& key) const
        {
            return std::hash<uint64_t>{}(static_cast<uint64_t>(key.pair) << 32 | key.stream);
        }
    };

    void CheckMessage(const Message& message) const;
    uint32_t FindPair(uint32_t src, uint32_t dst);
    uint32_t FindConnection(uint32_t pair, uint32_t stream);
    Time FindLongestDelay(NodeId node, uint32_t endpoint) const;
    void Fail(Message message);
    std::vector<MaxMinAllocator::Use> GetUses(uint32_t src, uint32_t dst) const;
    void RequestFaultUpdate();
    bool IsMeant(const Connection& connection, const MessageFilter& isMeant) const;
    void Close(uint32_t connection);
    void UpdateBlocked();
    bool IsBlocked(uint32_t pair) const;
    std::span<const uint32_t> SelectFlowing();

    void Enqueue(uint32_t connection, const Message& message);
    void StartService(uint32_t connection, double base);
    void Touch(uint32_t pair);
    void Deactivate(uint32_t pair);
    void Advance();
    void RequestAllocation();
    void Allocate();
    bool ApplyTouched();
    void ScheduleServe();
    void CancelServe();
    void Serve();
    bool IsHeadServed(uint32_t pair) const;
    void FinishHead(uint32_t pair);
    void AddDelivery(const Time& delay, const QueuedMessage& message);
    void Deliver(const Time& time);
    void AddCarried(uint32_t pair, std::vector<Carried>& carried) const;

    double m_efficiency; //!< attribute Efficiency
    std::shared_ptr<const Topology> m_topology;
    std::shared_ptr<const RoutingTables> m_routes;
    MaxMinAllocator m_allocator; //!< classes are pairs, links are link directions
    std::vector<Pair> m_pairs;
    std::vector<double> m_rates;        //!< [pair] -> bytes per tick of one connection
    std::vector<uint32_t> m_flowCounts; //!< [pair] -> connections in service at the last allocation
    std::vector<Connection> m_connections;
    std::vector<QueuedMessage> m_messages; //!< pool
    uint32_t m_freeMessage{NONE};
    std::unordered_map<uint64_t, uint32_t> m_pairOf;
    std::unordered_map<ConnectionKey, uint32_t, KeyHash> m_connectionOf;
    std::vector<uint32_t> m_active;  //!< pairs with a connection in service
    std::vector<uint32_t> m_flowing; //!< of these, not blocked; used while m_blockedCount > 0
    std::vector<uint32_t> m_touched; //!< pairs whose connections changed since the last allocation
    std::map<Time, std::vector<Delivery>> m_deliveries;
    Time m_advancedTo; //!< time up to which Pair::served counts
    EventId m_serveEvent;
    bool m_allocationRequested{false};
    bool m_ratesStale{false};                 //!< a fault began or ended since the last allocation
    uint32_t m_blockedCount{0};               //!< pairs
    std::map<LinkId, LinkState> m_linkStates; //!< links that a fault ever touched
    std::map<uint32_t, EndpointState> m_endpointStates;
    std::vector<Carried> m_carried; //!< [link direction] by pairs on their former paths
    uint64_t m_goodputBytes{0};
    uint64_t m_allocationCount{0};
};

} // namespace ns3::gradsync

#endif // GRADSYNC_FLUID_TRANSPORT_H
