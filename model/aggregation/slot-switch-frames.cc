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
SlotSwitchFrames::SetGroup(uint16_t group, std::vector<uint16_t> ports)
{
    std::ranges::sort(ports);
    m_groups[group] = std::move(ports);
}

void
SlotSwitchFrames::AddReceiver(uint16_t job, uint16_t port, const Receiver& receiver)
{
    m_receivers[{job, port}] = receiver;
}

void
SlotSwitchFrames::AddRoute(uint32_t prefix, uint8_t length, uint16_t port)
{
    m_routes[{length, prefix}] = port;
}

std::vector<SlotSwitchFrames::PortFrame>
SlotSwitchFrames::Process(uint16_t port, std::span<const uint8_t> frame)
{
    switch (CheckFrame(frame))
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
    case FrameCheck::Slot:
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
    const auto verdict = m_switch.Contribute(header, port, frame.values);
    if (verdict != SlotVerdict::Multicast && verdict != SlotVerdict::Unicast)
    {
        return {};
    }
    const SlotSwitch::WorkerKey key{header.job, header.worker, port};
    const auto base = m_switch.FindWorker(key)->base;
    const bool isUnicast = verdict == SlotVerdict::Unicast;
    std::vector<PortFrame> results;
    for (const auto to : isUnicast ? std::vector<uint16_t>{port} : m_groups[m_groupOf[key]])
    {
        if (m_receivers.contains({header.job, to}))
        {
            results.push_back(MakeResult(header, base, to));
        }
    }
    return results;
}

SlotSwitchFrames::PortFrame
SlotSwitchFrames::MakeResult(const SlotHeader& header, uint32_t base, uint16_t port) const
{
    const auto& slot = m_switch.GetSlot(header, base);
    const auto values = m_switch.GetValues(header, base);
    const auto& receiver = m_receivers.at({header.job, port});
    SlotFrame result;
    result.source = m_sources.at(header.job);
    result.destination = receiver.address;
    result.header = {.messageType = static_cast<uint8_t>(SlotMessage::Result),
                     .flags = slot.flags,
                     .job = header.job,
                     .worker = receiver.worker,
                     .count = header.count,
                     .slot = header.slot,
                     .epoch = header.epoch,
                     .offset = slot.offset,
                     .exponentA = slot.exponentA,
                     .exponentB = slot.exponentB};
    result.values.assign(values.begin(), values.end());
    return {port, SerialiseSlotFrame(result)};
}

} // namespace ns3::gradsync
