// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/transport.h"

#include <stdexcept>

namespace ns3::gradsync
{

NS_OBJECT_ENSURE_REGISTERED(Transport);

TypeId
Transport::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::gradsync::Transport").SetParent<Object>().SetGroupName("GradSync");
    return tid;
}

void
Transport::Abandon(const MessageFilter& /* isMeant */)
{
    ThrowNoFaults();
}

void
Transport::SetLinkState(LinkId /* link */, const LinkState& /* state */)
{
    ThrowNoFaults();
}

void
Transport::SetEndpointState(uint32_t /* endpoint */, const EndpointState& /* state */)
{
    ThrowNoFaults();
}

// A transport that can keeps the tables.
void
Transport::SetRoutes(
    std::shared_ptr<
        const RoutingTables> /* routes */) // NOLINT(performance-unnecessary-value-param)
{
    ThrowNoFaults();
}

void
MessageHandler::OnWrongSum(uint64_t tag, const std::string& reason)
{
    OnFailed(tag, reason);
}

uint32_t
Transport::OpenAggregation(const AggregationGroup& /* group */)
{
    ThrowNoAggregation();
}

void
Transport::CloseAggregation(uint32_t /* group */)
{
    ThrowNoAggregation();
}

void
Transport::Aggregate(const AggregationMessage& /* message */)
{
    ThrowNoAggregation();
}

AggregationStatistics
Transport::GetAggregationStatistics() const
{
    return {};
}

void
Transport::SetRebuildHandler(
    RebuildHandler /* handler */) // NOLINT(performance-unnecessary-value-param)
{
}

void
Transport::SetAggregatorState(NodeId /* node */, bool /* adds */)
{
}

void
Transport::AvoidInAggregations(const AggregationOutage& /* outage */)
{
}

void
Transport::ThrowNoAggregation() const
{
    throw std::invalid_argument("switches do not add up under this transport; roce is one under "
                                "which they do");
}

void
Transport::ThrowNoFaults() const
{
    throw std::logic_error(GetInstanceTypeId().GetName() + " cannot simulate this fault");
}

} // namespace ns3::gradsync
