// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_TRANSPORT_H
#define GRADSYNC_TRANSPORT_H

#include "ns3/message.h"
#include "ns3/object.h"
#include "ns3/routing-tables.h"
#include "ns3/state-words.h"
#include "ns3/topology.h"
#include "ns3/transport-aggregation.h"
#include "ns3/transport-capabilities.h"
#include "ns3/transport-faults.h"
#include "ns3/transport-statistics.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace ns3::gradsync
{

class TransportParts;

/**
 * Moves messages between endpoints. The one interface between the exchange engine and all networks.
 *
 * A transport is an ns-3 Object; its tunables are Attributes, so that a scenario key `mtu` sets the
 * Attribute `Mtu` of whatever transport is chosen. What not every transport can is in interfaces
 * that it hands out, or not.
 */
class Transport : public Object
{
  public:
    static TypeId GetTypeId();

    /// Builds the network. Called once, after the Attributes are set and before the first Send.
    virtual void Install(std::shared_ptr<const Topology> topology,
                         std::shared_ptr<const RoutingTables> routes) = 0;

    virtual void Send(const Message& message) = 0;

    /// Fetches what Send will look for, some messages ahead; by default nothing.
    virtual void PrefetchSend(uint32_t /* src */, uint32_t /* dst */, uint32_t /* stream */) const
    {
    }

    /// Whether a message is meant, by its ends and by who is told of it.
    using MessageFilter =
        std::function<bool(uint32_t src, uint32_t dst, const MessageHandler* handler)>;

    /**
     * Closes every connection all of whose messages are meant. What they have not delivered is
     * forgotten, and nobody is told. A connection with other messages too goes on.
     */
    virtual void Abandon(const MessageFilter& isMeant) = 0;

    /// Index: 2 * link + (0: from end a to end b, 1: from b to a).
    virtual std::vector<LinkStatistics> GetLinkStatistics() const = 0;
    virtual TransportStatistics GetStatistics() const = 0;

    /// What decides how it goes on from now, counters aside; by default it refuses.
    virtual void AddState(StateWords& words);

    /// Null: nothing may be set or seen in it.
    virtual TransportCapabilities* GetCapabilities();
    /// Somebody changes the network while it runs, or wants to know its state at any time: no part
    /// of it may be simulated ahead of the simulator. After Install, before the first message.
    void KeepInStep();
    /// Null: nothing goes wrong in its network.
    virtual TransportFaults* GetFaults();
    /// Null: it does not tell who touches what.
    virtual TransportParts* GetParts();
    /// Null: its switches do not aggregate.
    virtual TransportAggregation* GetAggregation() const;

    /// \throws std::logic_error when it has none
    TransportFaults& RequireFaults();
    /// \throws std::invalid_argument with a text for the user when it has none
    TransportAggregation& RequireAggregation() const;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_TRANSPORT_H
