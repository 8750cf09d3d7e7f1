// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/message-protocol.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <vector>

namespace ns3::gradsync
{

namespace
{

/// An efficiency is a decimal number, rounded to a double: a quotient this near to a whole number
/// is that number.
constexpr double ROUNDING = 4e-16;

constexpr uint64_t NANOSECOND = 1'000; //!< in picoseconds

double
ToMicroseconds(uint64_t picoseconds)
{
    return static_cast<double>(picoseconds) * 1e-6;
}

} // namespace

uint64_t
GetProtocolBytes(const MessageProtocol& protocol, uint64_t payload)
{
    if (protocol.efficiency == 1.0)
    {
        return payload;
    }
    const auto quotient = static_cast<double>(payload) / protocol.efficiency;
    const auto nearest = std::round(quotient);
    const bool isWhole = std::abs(quotient - nearest) <= ROUNDING * quotient;
    return static_cast<uint64_t>(isWhole ? nearest : std::ceil(quotient));
}

std::span<const ProtocolInfo>
GetProtocols()
{
    // NCCL's src/graph/tuning.cc (ncclTunerConstantsDefaults): base latencies, and those of a hop
    // of the ring over NVLink and over the network. Shares of payload are those of the formats: a
    // flag of 4 bytes for 4 of data, and one of 8 bytes for 120.
    static const std::string source = "NCCL, src/graph/tuning.cc; Hu et al. 2025, section III";
    static const std::vector<ProtocolInfo> protocols{
        {"simple",
         "whole slices, and a fence before each is announced",
         {8'400 * NANOSECOND, 3'400 * NANOSECOND, 14'000 * NANOSECOND, 1.0},
         source},
        {"ll",
         "four bytes of data and a flag of four, which the receiver polls",
         {6'600 * NANOSECOND, 600 * NANOSECOND, 2'700 * NANOSECOND, 0.5},
         source},
        {"ll128",
         "lines of 120 bytes and a flag of eight, which NVLink keeps whole",
         {14'000 * NANOSECOND, 1'900 * NANOSECOND, 4'000 * NANOSECOND, 0.9375},
         source}};
    return protocols;
}

const ProtocolInfo*
FindProtocol(std::string_view name)
{
    const auto protocols = GetProtocols();
    const auto found = std::ranges::find(protocols, name, &ProtocolInfo::name);
    return found == protocols.end() ? nullptr : &*found;
}

std::string
DescribeProtocol(const MessageProtocol& protocol)
{
    return fmt::format("{:g} us before the first message, {:g} us after each in a server and {:g} "
                       "us between servers, {:g} of what is sent is payload",
                       ToMicroseconds(protocol.basePicoseconds),
                       ToMicroseconds(protocol.hopPicoseconds),
                       ToMicroseconds(protocol.networkHopPicoseconds),
                       protocol.efficiency);
}

} // namespace ns3::gradsync
