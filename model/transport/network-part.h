// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_NETWORK_PART_H
#define GRADSYNC_NETWORK_PART_H

#include "ns3/message.h"
#include "ns3/port-counters.h"

#include <cstdint>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace ns3::gradsync
{

/// What the ports of a part of a network carried.
struct PartTraffic
{
    std::vector<PortCounters> ports; //!< ascending by their index in the network
    uint64_t goodputBytes{0};
    uint64_t events{0}; //!< of the simulation
};

/**
 * Ports and switches that some endpoints have to themselves, and by which each reaches each other
 * on one way only. What such a part does from rest on is a matter of its shape and of the messages
 * that it is given, and of nothing else.
 */
class NetworkPart
{
  public:
    virtual ~NetworkPart() = default;

    /// Two parts of equal shape carry equal messages in equal times, in the same order of events.
    virtual const std::vector<uint64_t>& GetShape() const = 0;

    /// The ports that it has to itself, by their index in the network, ascending.
    virtual std::span<const uint32_t> GetPorts() const = 0;

    /// Nothing is under way, and nothing ever happened that is remembered.
    virtual bool IsAtRest() = 0;

    /// Since when it is at rest, in time steps. Only when it is.
    virtual int64_t GetRestTime() const = 0;

    virtual void BeginMeasuring() = 0;
    /// What it has carried since then.
    virtual PartTraffic Measure() = 0;

    /// Counts what was not simulated. \param traffic of a part of equal shape
    virtual void Add(const PartTraffic& traffic) = 0;

    /// The message is delivered after so many time steps without going over the network, among
    /// simultaneous events where its last packet would arrive.
    virtual void DeliverLater(const Message& message, int64_t delay) = 0;
};

/// Parts of equal shape that are given equal messages at equal times: the first one is simulated,
/// the others are not.
using PartTwins = std::vector<const NetworkPart*>;

/// What a transport tells of who touches what in its network.
class TransportParts
{
  public:
    /// Why no part of the network may be left out, in one line; empty: it may. After Install.
    virtual std::string FindObstacle() const = 0;

    /// Adds what messages from an endpoint to another may touch, acknowledgements not counted:
    /// ports and switches, by numbers.
    virtual void AddPlaces(uint32_t src, uint32_t dst, std::set<uint32_t>& places) const = 0;

    /**
     * The part for messages and acknowledgements among endpoints; nullptr where they may take
     * several ways. The caller sees to it that nothing else touches its places.
     * \param pairs places in `endpoints`: who sends, and to whom
     */
    virtual std::unique_ptr<NetworkPart> MakePart(
        std::span<const uint32_t> endpoints,
        const std::set<std::pair<uint32_t, uint32_t>>& pairs) = 0;

    /// Whether what parts do can be counted, and nobody looks on. After Install.
    virtual bool MayHaveTwins() const = 0;

    /**
     * From now on what the first part of each set carries counts for the others, too, which are
     * given nothing. Only where MayHaveTwins, and before the first message.
     */
    virtual void SetTwins(std::span<const PartTwins> sets) = 0;

    /// Whether the others would really have done the same so far. Only when no data is under way.
    virtual bool AreTwins() const = 0;

  protected:
    ~TransportParts() = default;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_NETWORK_PART_H
