// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/atp-switch-frames.h"

#include "ns3/wire-format.h"

#include <algorithm>
#include <boost/endian/conversion.hpp>

namespace ns3::gradsync
{

namespace
{

constexpr size_t DIFFSERV_AT = wire::ETHERNET_BYTES + 1;
constexpr size_t DESTINATION_AT = wire::ETHERNET_BYTES + 16;
constexpr uint8_t ECN_CONGESTED = 3; // congestion experienced, RFC 3168

/// Of one level. Workers of frames pick the index; no owner is ever over.
AtpSwitch::Config
MakeConfig(uint32_t aggregators)
{
    return {.aggregators = aggregators, .valueCount = ATP_VALUES, .window = UINT32_MAX};
}

} // namespace

AtpSwitchFrames::AtpSwitchFrames(uint32_t aggregators)
    : m_aggregators(aggregators),
      m_levels{AtpSwitch(MakeConfig(aggregators)), AtpSwitch(MakeConfig(aggregators))}
{
}

void
AtpSwitchFrames::AddRoute(uint32_t prefix, uint8_t length, uint16_t port)
{
    m_routes[{length, prefix}] = port;
}

void
AtpSwitchFrames::SetReceivers(uint16_t job, uint8_t level, std::vector<uint16_t> ports)
{
    m_groups[{job, level}] = std::move(ports);
}

void
AtpSwitchFrames::AddAddress(uint16_t job, uint16_t port, const FrameAddress& address)
{
    m_addresses[{job, port}] = address;
}

std::vector<AtpSwitchFrames::PortFrame>
AtpSwitchFrames::Process(std::span<const uint8_t> frame)
{
    switch (CheckFrame(frame, ATP_UDP_PORT))
    {
    case FrameCheck::OtherIpv4:
        return Forward(frame);
    case FrameCheck::Protocol:
        return Aggregate(frame);
    case FrameCheck::BadChecksum:
    case FrameCheck::Malformed:
    case FrameCheck::Other:
        break;
    }
    return {};
}

std::vector<AtpSwitchFrames::PortFrame>
AtpSwitchFrames::Forward(std::span<const uint8_t> frame) const
{
    const auto destination = GetDestination(frame);
    // From the back: the longest prefixes come last.
    const auto route = std::find_if(m_routes.rbegin(), m_routes.rend(), [=](const auto& entry) {
        const auto [length, prefix] = entry.first;
        const uint32_t mask = length == 0 ? 0 : UINT32_MAX << (32 - length);
        return (destination & mask) == (prefix & mask);
    });
    std::vector<uint8_t> bytes(frame.begin(), frame.end());
    if (route == m_routes.rend() || !DecrementTimeToLive(bytes))
    {
        return {};
    }
    return {{route->second, std::move(bytes)}};
}

/// A frame to ATP's port whose checksums are right.
std::vector<AtpSwitchFrames::PortFrame>
AtpSwitchFrames::Aggregate(std::span<const uint8_t> frame)
{
    if (frame.size() != GetAtpFrameBytes(ATP_VALUES) || GetTimeToLive(frame) <= 1)
    {
        return {};
    }
    auto header = ReadAtpHeader(frame);
    const auto level = header.level;
    const auto bitmap = header.bitmaps[level];
    // A fan-in of 5 bits: at most 31 workers.
    const uint32_t all = (1U << header.fanIns[level]) - 1;
    if (header.indices[level] >= m_aggregators || bitmap == 0 || (bitmap & ~all) != 0)
    {
        return {};
    }
    header.ecn |= (frame[DIFFSERV_AT] & ECN_CONGESTED) == ECN_CONGESTED;
    if (header.ack)
    {
        m_levels[level].FreeAt(header.indices[level],
                               {.sequence = header.sequence, .job = header.job});
        return Answer(frame, header);
    }
    auto values = ReadAtpValues(frame, ATP_VALUES);
    if (level == 1 && (header.resend || header.collision))
    {
        return SendUp(frame, header, values); // a part of a rack, though bitmap 1 has its bit
    }
    return Contribute(header, values) ? SendUp(frame, header, values) : std::vector<PortFrame>();
}

/// \returns whether something goes on, with this header and these values
bool
AtpSwitchFrames::Contribute(AtpWireHeader& header, std::vector<int32_t>& values)
{
    const auto level = header.level;
    AtpHeader content{.bitmap = header.bitmaps[level],
                      .sequence = header.sequence,
                      .job = header.job,
                      .isResend = header.resend,
                      .hasCollided = header.collision,
                      .isCongested = header.ecn,
                      .hasOverflowed = header.overflow};
    const uint32_t all = (1U << header.fanIns[level]) - 1;
    const auto verdict = m_levels[level].ContributeAt(header.indices[level], all, content, values);
    header.bitmaps[level] = content.bitmap;
    header.ecn = content.isCongested;
    header.overflow = content.hasOverflowed;
    header.collision |= verdict == AtpVerdict::Forward && content.hasCollided;
    return verdict != AtpVerdict::Held && verdict != AtpVerdict::Dropped;
}

std::vector<AtpSwitchFrames::PortFrame>
AtpSwitchFrames::SendUp(std::span<const uint8_t> frame,
                        AtpWireHeader header,
                        std::span<const int32_t> values) const
{
    header.level = 1;
    auto sent = Forward(frame);
    for (auto& [port, bytes] : sent)
    {
        WriteAtpPayload(bytes, header, values);
        WriteChecksums(bytes);
    }
    return sent;
}

std::vector<AtpSwitchFrames::PortFrame>
AtpSwitchFrames::Answer(std::span<const uint8_t> frame, AtpWireHeader header) const
{
    const auto group = m_groups.find({header.job, header.level});
    if (group == m_groups.end())
    {
        return {};
    }
    header.level = 0;
    std::vector<PortFrame> sent;
    for (const auto port : group->second)
    {
        const auto address = m_addresses.find({header.job, port});
        if (address == m_addresses.end())
        {
            continue;
        }
        std::vector<uint8_t> bytes(frame.begin(), frame.end());
        DecrementTimeToLive(bytes);
        std::ranges::copy(address->second.mac, bytes.begin());
        boost::endian::store_big_u32(&bytes[DESTINATION_AT], address->second.ip);
        WriteAtpPayload(bytes, header, {});
        WriteChecksums(bytes);
        sent.push_back({port, std::move(bytes)});
    }
    return sent;
}

} // namespace ns3::gradsync
