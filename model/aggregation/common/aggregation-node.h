// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_AGGREGATION_NODE_H
#define GRADSYNC_AGGREGATION_NODE_H

#include "ns3/aggregation-contents.h"
#include "ns3/switch-program.h"
#include "ns3/transport.h"

#include <cstdint>
#include <optional>

namespace ns3::gradsync
{

/// A protocol at a node of the fabric: gets all packets of its driver that come there.
class AggregationNode : public SwitchProgram
{
  public:
    AggregationNode() = default;
    virtual ~AggregationNode() = default;
    AggregationNode(const AggregationNode&) = delete;
    AggregationNode& operator=(const AggregationNode&) = delete;

    /// A job has no part here any more, if it had one.
    virtual void RemoveJob(uint16_t job) = 0;
    /// Forgets all that it aggregates, and goes on handing on.
    virtual void LoseJobs() = 0;

    /// Whether it aggregates what is in a packet, which then passes the pipelines of the switch.
    virtual bool Concerns(const AggregationPacket& packet) const = 0;
    /// Where in its registers; none: it needs no other pipeline than that of its port.
    virtual std::optional<uint32_t> FindPlace(const AggregationPacket& packet) const = 0;

    /// Adds what it has counted.
    virtual void AddStatistics(AggregationStatistics& total) const = 0;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_AGGREGATION_NODE_H
