// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_PROTOCOL_READER_H
#define GRADSYNC_PROTOCOL_READER_H

#include "ns3/json-value.h"
#include "ns3/message-protocol.h"
#include "ns3/parameter-spec.h"

#include <optional>
#include <span>

namespace ns3::gradsync
{

/// All protocols of messages, and none.
std::span<const KindSpec> GetProtocolKinds();

/// Reads the `protocol` of a job; nothing: none. \throws ScenarioError
std::optional<MessageProtocol> ReadProtocol(const JsonValue& value);

} // namespace ns3::gradsync

#endif // GRADSYNC_PROTOCOL_READER_H
