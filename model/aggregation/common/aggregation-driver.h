// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_AGGREGATION_DRIVER_H
#define GRADSYNC_AGGREGATION_DRIVER_H

#include "ns3/aggregation-host.h"
#include "ns3/aggregation-node.h"
#include "ns3/aggregation-session.h"
#include "ns3/object.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace ns3::gradsync
{

/// What an Attribute of a driver may be with the engine p4, whose program is compiled for it.
struct CompiledLimit
{
    std::string attribute;
    uint64_t least;
    uint64_t most;
};

/// As CompiledLimit, of an Attribute that is a choice.
struct CompiledChoice
{
    std::string attribute;
    std::string value;
};

/**
 * A protocol by which switches aggregate, or several that differ in the values alone. Its tunables
 * are Attributes of its own, which scenarios set at `transport.aggregation.NAME`.
 *
 * The service (AggregationService) keeps the groups and hands on what comes; all else is here: what
 * endpoints do is in the session of a group, what switches do in the node.
 */
class AggregationDriver : public Object
{
  public:
    static TypeId GetTypeId();

    /// Called once, after the Attributes are set. \param number by which packets name the driver
    /// \throws std::invalid_argument with a text for the user, for Attributes that do not go
    void Install(AggregationHost& host, uint8_t number);

    AggregationHost& GetHost() const
    {
        return *m_host;
    }

    AggregationNetwork& GetNetwork() const
    {
        return m_host->GetNetwork();
    }

    uint8_t GetNumber() const
    {
        return m_number;
    }

    /// Whether it has aggregations of this kind; most have sums for all, and nothing else.
    virtual bool HasFlow(AggregationFlow flow) const;
    /// \throws std::invalid_argument with a text for the user when the group or the settings of the
    /// network are not for this protocol
    virtual void Check(const AggregationGroup& group) const = 0;
    /// As TransportAggregation::FindShared.
    virtual std::string FindShared() const;
    /// A session that is not open yet. \param id of the group
    virtual std::unique_ptr<AggregationSession> MakeSession(const AggregationGroup& group,
                                                            uint32_t id) = 0;
    virtual std::unique_ptr<AggregationNode> MakeNode(NodeId node) = 0;

    /// A packet is at an endpoint, and belongs to the driver from now on.
    virtual void Receive(FabricPacket* packet, uint32_t endpoint, TimeStepCount now) = 0;

    /// Integers that switches add when they aggregate a packet.
    virtual uint32_t CountValues(const AggregationPacket& content) const = 0;

    /// The bytes of a packet on a link between two nodes, without FCS; of messages of the transport
    /// the payload.
    virtual std::vector<uint8_t> MakeFrame(const FabricPacket& packet,
                                           NodeId sender,
                                           NodeId receiver) = 0;
    /// Whether P4 programs of users may take its packets, as what they send can be read back.
    virtual bool ReadsFrames() const;
    /// \returns false for a frame that is none of this protocol
    virtual bool ReadFrame(std::span<const uint8_t> frame, AggregationPacket& content) const;

  protected:
    /// Checks the Attributes.
    virtual void DoInstall();

    /// The session of a number, if it is one of this driver.
    template <typename Session>
    Session* FindSession(uint16_t number) const
    {
        auto* session = m_host->FindSession(number);
        return session && &session->GetDriver() == this ? static_cast<Session*>(session) : nullptr;
    }

  private:
    AggregationHost* m_host{nullptr};
    uint8_t m_number{AggregationPacket::NO_DRIVER};
};

} // namespace ns3::gradsync

#endif // GRADSYNC_AGGREGATION_DRIVER_H
