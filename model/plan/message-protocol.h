// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_MESSAGE_PROTOCOL_H
#define GRADSYNC_MESSAGE_PROTOCOL_H

#include <compare>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace ns3::gradsync
{

/**
 * How a communication library hands over messages, and what that costs beside their bytes: a kernel
 * that is launched once, flags or fences that a receiver waits for. doc/nccl.rst.
 */
struct MessageProtocol
{
    uint64_t basePicoseconds{0}; //!< at each rank, before it does anything of an exchange
    uint64_t hopPicoseconds{0};  //!< after the last byte of a message between ranks of one server
    uint64_t networkHopPicoseconds{0}; //!< likewise, between servers
    double efficiency{1.0};            //!< share of payload in what is sent, above 0, at most 1

    auto operator<=>(const MessageProtocol&) const = default;
};

/// What is sent for so many bytes of payload: payload / efficiency, rounded up.
uint64_t GetProtocolBytes(const MessageProtocol& protocol, uint64_t payload);

/// A protocol of a library, by name.
struct ProtocolInfo
{
    std::string name; //!< as in scenarios: "ll128"
    std::string summary;
    MessageProtocol defaults;
    std::string source;
};

/// All that there are. Figures are those that NCCL counts with for its rings.
std::span<const ProtocolInfo> GetProtocols();

/// Null where there is none of that name.
const ProtocolInfo* FindProtocol(std::string_view name);

/// As messages have it: "14 us before the first message, ...".
std::string DescribeProtocol(const MessageProtocol& protocol);

} // namespace ns3::gradsync

#endif // GRADSYNC_MESSAGE_PROTOCOL_H
