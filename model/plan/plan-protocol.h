// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_PLAN_PROTOCOL_H
#define GRADSYNC_PLAN_PROTOCOL_H

#include "ns3/message-protocol.h"
#include "ns3/plan.h"

#include <cstdint>
#include <vector>

namespace ns3::gradsync
{

/**
 * The plan with the messages of a protocol: their bytes are what the protocol sends for their
 * payload, and whoever runs the plan adds the protocol's times.
 *
 * \param serverOf [rank] -> the server that it stands in; equal numbers: one server
 * \throws std::invalid_argument with a text for the user when the network aggregates for the plan,
 * or it has a gate
 */
Plan ApplyProtocol(Plan plan, const MessageProtocol& protocol, std::vector<uint32_t> serverOf);

} // namespace ns3::gradsync

#endif // GRADSYNC_PLAN_PROTOCOL_H
