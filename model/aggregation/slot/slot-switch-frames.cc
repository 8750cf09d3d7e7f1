// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/slot-switch-frames.h"

#include <algorithm>

namespace ns3::gradsync
{

SlotSwitchFrames::SlotSwitchFrames(const SlotSwitch::Config& config)
    : m_switch(config)
{
}

void
SlotSwitchFrames::AddWorker(const SlotSwitch::WorkerKey& key,
                            const SlotSwitch::WorkerEntry& entry,
                            uint16_t group)
{
    m_switch.AddWorker(key, entry);
    m_groupOf[key] = group;
}

void
SlotSwitchFrames::SetSource(uint16_t job, const FrameAddress& address)
{
    m_sources[job] = address;
}

void
SlotSwitchFrames::SetGroup(uint16_t group, std::vector<Receiver> receivers)
{
    m_groups[group] = std::move(receivers);
}

void
SlotSwitchFrames::AddAddress(uint16_t job, uint16_t worker, const FrameAddress& address)
{
    m_addresses[{job, worker}] = address;
}

void
SlotSwitchFrames::SetParent(uint16_t job, const Parent& parent)
{
    m_parents[job] = parent;
}

void
SlotSwitchFrames::AddRoute(uint32_t prefix, uint8_t length, uint16_t port)
{
    m_routes[{length, prefix}] = port;
}

void
SlotSwitchFrames::ResetJob(uint16_t job)
{
    const auto key = m_groupOf.lower_bound({job, 0, 0});
    if (key != m_groupOf.end() && key->first.job == job)
    {
        const auto* entry = m_switch.FindWorker(key->first);
        m_switch.Reset(entry->base, entry->slots);
    }
}

std::vector<SlotSwitchFrames::PortFrame>
SlotSwitchFrames::Process(uint16_t port, std::span<const uint8_t> frame)
{
    switch (CheckFrame(frame, SLOT_UDP_PORT))
    {
    case FrameCheck::BadChecksum:
        ++m_checksumDrops;
        return {};
    case FrameCheck::Other:
        ++m_routeDrops;
        return {};
    case FrameCheck::Malformed:
        return Aggregate(port, SlotFrame());
    case FrameCheck::OtherIpv4:
        return Forward(frame);
    case FrameCheck::Protocol:
        break;
    }
    const auto parsed = ParseSlotFrame(frame);
    // One with other values than it says is as malformed as one of no values.
    return Aggregate(port, parsed.value_or(SlotFrame()));
}

std::vector<SlotSwitchFrames::PortFrame>
SlotSwitchFrames::Forward(std::span<const uint8_t> frame)
{
    const auto destination = GetDestination(frame);
    const auto matches = [destination](const auto& route) {
        const auto [length, prefix] = route.first;
        const uint32_t mask = length == 0 ? 0 : UINT32_MAX << (32 - length);
        return (destination & mask) == (prefix & mask);
    };
    // From the back: the longest prefixes come last.
    const auto route = std::find_if(m_routes.rbegin(), m_routes.rend(), matches);
    if (route != m_routes.rend())
    {
        std::vector<uint8_t> bytes(frame.begin(), frame.end());
        if (DecrementTimeToLive(bytes))
        {
            return {{route->second, std::move(bytes)}};
        }
    }
    ++m_routeDrops;
    return {};
}

std::vector<SlotSwitchFrames::PortFrame>
SlotSwitchFrames::Aggregate(uint16_t port, const SlotFrame& frame)
{
    const auto& header = frame.header;
    const auto parent = m_parents.find(header.job);
    if (parent != m_parents.end() && parent->second.port == port &&
        parent->second.number == header.worker)
    {
        return Accept(frame);
    }
    const auto verdict = m_switch.Contribute(header, port, frame.values);
    const SlotSwitch::WorkerKey key{header.job, header.worker, port};
    switch (verdict)
    {
    case SlotVerdict::Multicast:
        return Multicast(header, m_groupOf[key], m_switch.FindWorker(key)->base);
    case SlotVerdict::ForwardUp:
        return {MakePartial(header, m_switch.FindWorker(key)->base)};
    case SlotVerdict::Unicast:
        if (m_addresses.contains({header.job, header.worker}))
        {
            const auto base = m_switch.FindWorker(key)->base;
            return {MakeResult(header, base, {header.worker, port})};
        }
        ++m_receiverDrops;
        break;
    case SlotVerdict::Held:
    case SlotVerdict::Malformed:
    case SlotVerdict::UnknownWorker:
    case SlotVerdict::OutOfRange:
    case SlotVerdict::Stale:
    case SlotVerdict::Duplicate:
        break;
    }
    return {};
}

/// A packet of the switch above.
std::vector<SlotSwitchFrames::PortFrame>
SlotSwitchFrames::Accept(const SlotFrame& frame)
{
    const auto& header = frame.header;
    if (header.messageType != static_cast<uint8_t>(SlotMessage::Result) ||
        m_switch.AcceptResult(header, frame.values) != SlotVerdict::Multicast)
    {
        return {};
    }
    const auto key = m_groupOf.lower_bound({header.job, 0, 0});
    return Multicast(header, key->second, m_switch.FindWorker(key->first)->base);
}

std::vector<SlotSwitchFrames::PortFrame>
SlotSwitchFrames::Multicast(const SlotHeader& header, uint16_t group, uint32_t base)
{
    std::vector<PortFrame> results;
    for (const auto& to : m_groups[group])
    {
        if (m_addresses.contains({header.job, to.worker}))
        {
            results.push_back(MakeResult(header, base, to));
        }
        else
        {
            ++m_receiverDrops;
        }
    }
    return results;
}

/// What a slot holds, without addresses.
SlotFrame
SlotSwitchFrames::MakeFrame(const SlotHeader& header, uint32_t base) const
{
    const auto& slot = m_switch.GetSlot(header, base);
    const auto values = m_switch.GetValues(header, base);
    SlotFrame frame;
    frame.source = m_sources.at(header.job);
    frame.header = {.flags = slot.flags,
                    .job = header.job,
                    .count = header.count,
                    .slot = header.slot,
                    .epoch = header.epoch,
                    .offset = slot.offset,
                    .exponentA = slot.exponentA,
                    .exponentB = slot.exponentB};
    frame.values.assign(values.begin(), values.end());
    return frame;
}

SlotSwitchFrames::PortFrame
SlotSwitchFrames::MakeResult(const SlotHeader& header, uint32_t base, const Receiver& to) const
{
    auto result = MakeFrame(header, base);
    result.destination = m_addresses.at({header.job, to.worker});
    result.header.messageType = static_cast<uint8_t>(SlotMessage::Result);
    result.header.worker = to.worker;
    return {to.port, SerialiseSlotFrame(result)};
}

SlotSwitchFrames::PortFrame
SlotSwitchFrames::MakePartial(const SlotHeader& header, uint32_t base) const
{
    const auto& parent = m_parents.at(header.job);
    auto partial = MakeFrame(header, base);
    partial.source.ip = parent.ownIp;
    partial.destination = parent.address;
    partial.header.worker = parent.number;
    return {parent.port, SerialiseSlotFrame(partial)};
}

} // namespace ns3::gradsync
