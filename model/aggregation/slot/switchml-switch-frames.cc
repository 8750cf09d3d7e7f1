// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/switchml-switch-frames.h"

#include "ns3/switchml-frame.h"

#include <algorithm>
#include <utility>

namespace ns3::gradsync
{

namespace
{

/// The program knows one job, and workers by their addresses, whatever their port.
constexpr uint16_t SML_JOB = 0;
constexpr uint16_t SML_ANY_PORT = 0;

} // namespace

SwitchMlSwitchFrames::SwitchMlSwitchFrames(const SlotWire& wire,
                                           uint32_t poolSize,
                                           const FrameAddress& address,
                                           std::vector<Worker> workers)
    : m_wire(wire),
      m_address(address),
      m_workers(std::move(workers)),
      m_switch({.poolSize = poolSize, .valueCount = wire.valueCount, .versionBit = true})
{
    const auto all = SlotSwitch::MakeBitmap(m_workers.size());
    for (size_t worker = 0; worker < m_workers.size(); ++worker)
    {
        m_switch.AddWorker(
            {SML_JOB, static_cast<uint16_t>(worker), SML_ANY_PORT},
            {.bit = SlotSwitch::Bitmap().set(worker), .all = all, .base = 0, .slots = poolSize});
    }
}

std::vector<SwitchMlSwitchFrames::PortFrame>
SwitchMlSwitchFrames::Process(uint16_t port, std::span<const uint8_t> frame)
{
    auto contribution = m_wire.HasQueuePairs() ? ReadWrite(frame) : Read(frame);
    if (!contribution || contribution->frame.destination.ip != m_address.ip ||
        !FindSlot(*contribution))
    {
        return {};
    }
    const auto& header = contribution->frame.header;
    const auto verdict = m_switch.Contribute(header, SML_ANY_PORT, contribution->frame.values);
    std::vector<PortFrame> results;
    if (verdict == SlotVerdict::Unicast)
    {
        results.push_back({port, MakeResult(*contribution, header.worker)});
    }
    for (size_t worker = 0; verdict == SlotVerdict::Multicast && worker < m_workers.size();
         ++worker)
    {
        results.push_back(
            {m_workers[worker].port, MakeResult(*contribution, static_cast<uint16_t>(worker))});
    }
    return results;
}

/// Over UDP a worker is known by its IP address.
std::optional<SwitchMlSwitchFrames::Contribution>
SwitchMlSwitchFrames::Read(std::span<const uint8_t> frame) const
{
    auto parsed = ParseSwitchMlFrame(frame, SWITCHML_UDP_PORT, SWITCHML_UDP_MASK);
    if (!parsed)
    {
        return std::nullopt;
    }
    const auto worker = std::ranges::find(m_workers, parsed->source.ip, [](const Worker& known) {
        return known.address.ip;
    });
    parsed->header.worker = static_cast<uint16_t>(worker - m_workers.begin());
    return Contribution{std::move(*parsed), std::nullopt};
}

/// In RoCEv2 by its address and the upper bits of the queue pair. The slot is not known yet.
std::optional<SwitchMlSwitchFrames::Contribution>
SwitchMlSwitchFrames::ReadWrite(std::span<const uint8_t> frame) const
{
    auto write = ParseSwitchMlRoceFrame(frame);
    const auto worker = write ? write->queuePair >> 16 & 0x7F : 0;
    if (!write || worker >= m_workers.size() || write->source.ip != m_workers[worker].address.ip ||
        write->queuePair >> 23 == 0)
    {
        return std::nullopt;
    }
    SlotFrame made;
    made.source = write->source;
    made.destination = write->destination;
    made.header.worker = static_cast<uint16_t>(worker);
    made.header.count = static_cast<uint16_t>(write->values.size());
    made.header.offset = write->messageId;
    made.header.exponentA = write->exponentA;
    made.header.exponentB = write->exponentB;
    made.header.sequence = write->sequence;
    made.values = write->values;
    return Contribution{std::move(made), std::move(write)};
}

/// \returns false for a packet that does not follow those before it
bool
SwitchMlSwitchFrames::FindSlot(Contribution& contribution)
{
    if (!contribution.write)
    {
        return true;
    }
    const auto& write = *contribution.write;
    auto& header = contribution.frame.header;
    const auto pool =
        m_queuePairs.Receive({.worker = header.worker,
                              .queuePair = write.queuePair % SwitchMlLimit::QUEUE_PAIRS,
                              .sequence = write.sequence,
                              .isFirst = write.HasAddress(),
                              .pool = write.key});
    if (pool)
    {
        header.slot = static_cast<uint16_t>(*pool / 2);
        header.epoch = *pool & 1;
    }
    return pool.has_value();
}

std::vector<uint8_t>
SwitchMlSwitchFrames::MakeResult(const Contribution& contribution, uint16_t worker)
{
    const auto& slot = m_switch.GetSlot(contribution.frame.header, 0);
    const auto values = m_switch.GetValues(contribution.frame.header, 0);
    SlotFrame result;
    result.source = m_address;
    result.destination = m_workers[worker].address;
    result.sourcePort = contribution.frame.destinationPort;
    result.destinationPort = contribution.frame.sourcePort;
    result.header = contribution.frame.header;
    result.header.messageType = static_cast<uint8_t>(SlotMessage::Result);
    result.header.worker = worker;
    result.header.exponentA = slot.exponentA;
    result.header.exponentB = slot.exponentB;
    result.values.assign(values.begin(), values.end());
    if (!contribution.write)
    {
        return SerialiseSwitchMlFrame(result);
    }
    result.header.sequence =
        m_queuePairs.TakeSequence(worker, m_wire.GetQueuePair(result.header.slot));
    auto write = MakeSwitchMlRoceFrame(result, m_wire);
    write.address = contribution.write->address; // all have their buffers at the same place
    write.length = contribution.write->length;
    return SerialiseSwitchMlRoceFrame(write);
}

} // namespace ns3::gradsync
