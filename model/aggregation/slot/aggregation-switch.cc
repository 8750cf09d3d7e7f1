// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/aggregation-switch.h"

#include "ns3/packet-copy.h"

#include <algorithm>
#include <fmt/format.h>
#include <stdexcept>
#include <utility>

namespace ns3::gradsync
{

AggregationSwitch::AggregationSwitch(std::string name,
                                     FabricSwitch& forwarder,
                                     PacketPool& pool,
                                     AggregationContents& contents,
                                     const SlotWire& wire,
                                     const SlotSwitch::Config& config)
    : m_name(std::move(name)),
      m_forwarder(forwarder),
      m_pool(pool),
      m_contents(contents),
      m_wire(wire),
      m_slots(config)
{
}

void
AggregationSwitch::AddJob(uint16_t job, const Role& role)
{
    Job entry{role, 0};
    if (role.aggregates)
    {
        const auto base = FindRoom(role.slots);
        if (!base)
        {
            throw std::invalid_argument(
                fmt::format("switch {} has no {} slots left of {} for one more job (attributes "
                            "Slots, PoolSlots and Sharing)",
                            m_name,
                            role.slots,
                            m_slots.GetConfig().poolSize));
        }
        entry.base = *base;
        if (m_engine)
        {
            m_engine->AddJob(job, role, entry.base);
        }
        else
        {
            m_slots.Reset(entry.base, role.slots);
            AddChildren(job, entry);
        }
    }
    m_jobs.emplace(job, std::move(entry));
}

/// The first slot of a free range.
std::optional<uint32_t>
AggregationSwitch::FindRoom(uint32_t slots) const
{
    std::vector<std::pair<uint32_t, uint32_t>> taken; // [first, last)
    for (const auto& [number, job] : m_jobs)
    {
        if (job.role.aggregates)
        {
            taken.emplace_back(job.base, job.base + job.role.slots);
        }
    }
    std::ranges::sort(taken);
    uint32_t base = 0;
    for (const auto& [first, last] : taken)
    {
        if (first - base >= slots)
        {
            break;
        }
        base = last;
    }
    return uint64_t{base} + slots > m_slots.GetConfig().poolSize ? std::nullopt
                                                                 : std::optional(base);
}

void
AggregationSwitch::AddChildren(uint16_t job, const Job& entry)
{
    const auto& children = entry.role.children;
    const auto all = SlotSwitch::MakeBitmap(children.size());
    for (size_t i = 0; i < children.size(); ++i)
    {
        m_slots.AddWorker({job, children[i].worker, children[i].port},
                          {.bit = SlotSwitch::Bitmap().set(i),
                           .all = all,
                           .base = entry.base,
                           .slots = entry.role.slots,
                           .isRoot = !entry.role.up,
                           .isSwitch = children[i].endpoint == NO_ENDPOINT});
    }
}

void
AggregationSwitch::RemoveJob(uint16_t job)
{
    if (m_engine)
    {
        m_engine->RemoveJob(job);
    }
    m_slots.RemoveJob(job);
    m_jobs.erase(job);
}

std::optional<uint32_t>
AggregationSwitch::FindPlace(const AggregationPacket& packet) const
{
    const auto& header = packet.As<SlotHeader>();
    const auto found = m_jobs.find(header.job);
    // A message of several packets stays in one pipeline, as they must keep their order.
    return found != m_jobs.end() && found->second.role.aggregates
               ? std::optional(found->second.base + m_wire.GetQueuePair(header.slot))
               : std::nullopt;
}

bool
AggregationSwitch::Concerns(const AggregationPacket& packet) const
{
    return FindPlace(packet).has_value();
}

void
AggregationSwitch::AddStatistics(AggregationStatistics& total) const
{
    const bool isNative = !m_engine;
    total.repeatedResults += isNative ? m_slots.GetCount(SlotVerdict::Unicast)
                                      : m_engine->GetEvents(P4SlotSwitch::EVENT_RESENT);
    total.staleDrops += isNative ? m_slots.GetCount(SlotVerdict::Stale)
                                 : m_engine->GetEvents(P4SlotSwitch::EVENT_STALE);
    total.overflows +=
        isNative ? m_slots.GetOverflows() : m_engine->GetEvents(P4SlotSwitch::EVENT_OVERFLOW);
}

void
AggregationSwitch::LoseJobs()
{
    std::vector<uint16_t> lost;
    for (const auto& [number, job] : m_jobs)
    {
        if (job.role.aggregates)
        {
            lost.push_back(number);
        }
    }
    for (const auto number : lost)
    {
        RemoveJob(number);
    }
}

bool
AggregationSwitch::Process(FabricPacket* packet, uint16_t port, TimeStepCount now)
{
    const auto& header = m_contents.Get(*packet).As<SlotHeader>();
    const auto found = m_jobs.find(header.job);
    const bool isContribution =
        header.messageType == static_cast<uint8_t>(SlotMessage::Contribution);
    if (found == m_jobs.end())
    {
        if (!isContribution && packet->destination != NO_ENDPOINT)
        {
            return false;
        }
        m_pool.Give(packet); // of a job that is over
        return true;
    }
    auto& job = found->second;
    if (!job.role.aggregates)
    {
        if (!isContribution && packet->destination != NO_ENDPOINT)
        {
            return false;
        }
        if (isContribution)
        {
            m_forwarder.Emit(packet, port, *job.role.up, now);
            return true;
        }
        const auto below = job.role.down.find(header.worker);
        if (below == job.role.down.end())
        {
            m_pool.Give(packet); // of a tree that is gone
            return true;
        }
        m_forwarder.Emit(packet, port, below->second, now);
    }
    else if (m_engine)
    {
        m_engine->Process(packet, port, now);
    }
    else if (isContribution)
    {
        OnContribution(packet, port, job, now);
    }
    else
    {
        OnResult(packet, port, job, now);
    }
    return true;
}

void
AggregationSwitch::OnContribution(FabricPacket* packet, uint16_t port, Job& job, TimeStepCount now)
{
    auto& content = m_contents.Get(*packet);
    auto& header = content.As<SlotHeader>();
    if (!FindSlot(header, job))
    {
        m_pool.Give(packet);
        return;
    }
    const auto verdict = m_slots.Contribute(header, port, content.values);
    if (verdict == SlotVerdict::Multicast)
    {
        Multicast(packet, port, job, now);
    }
    else if (verdict == SlotVerdict::Unicast)
    {
        const auto sender = header.worker;
        const auto child = std::ranges::find(job.role.children, sender, &Child::worker);
        FillResult(content, sender, job);
        packet->destination = child->endpoint;
        m_forwarder.Emit(packet, port, port, now);
    }
    else if (verdict == SlotVerdict::ForwardUp)
    {
        Fill(content, SlotMessage::Contribution, job.role.worker, job.base);
        m_forwarder.Emit(packet, port, *job.role.up, now);
    }
    else
    {
        m_pool.Give(packet);
    }
}

void
AggregationSwitch::OnResult(FabricPacket* packet, uint16_t port, Job& job, TimeStepCount now)
{
    const auto& content = m_contents.Get(*packet);
    if (m_slots.AcceptResult(content.As<SlotHeader>(), content.values) == SlotVerdict::Multicast)
    {
        Multicast(packet, port, job, now);
    }
    else
    {
        m_pool.Give(packet);
    }
}

/// The packet becomes the last of the copies.
void
AggregationSwitch::Multicast(FabricPacket* packet, uint16_t port, Job& job, TimeStepCount now)
{
    const auto children = job.role.children.size();
    for (size_t i = 0; i < children; ++i)
    {
        const auto& child = job.role.children[i];
        auto* copy =
            i + 1 < children ? CopyPacket<SlotHeader>(m_pool, m_contents, *packet) : packet;
        FillResult(m_contents.Get(*copy), child.worker, job);
        copy->destination = child.endpoint;
        m_forwarder.Emit(copy, port, child.port, now);
    }
}

/// Finds the slot of a packet, which with queue pairs follows from those before it.
/// \returns false for one that is dropped
bool
AggregationSwitch::FindSlot(SlotHeader& header, Job& job) const
{
    if (!m_wire.HasQueuePairs())
    {
        return true;
    }
    const auto pool = job.queuePairs.Receive({.worker = header.worker,
                                              .queuePair = m_wire.GetQueuePair(header.slot),
                                              .sequence = header.sequence,
                                              .isFirst = m_wire.IsFirst(header.slot),
                                              .pool = 2 * uint32_t{header.slot} + header.GetSet()});
    if (!pool)
    {
        return false;
    }
    header.slot = static_cast<uint16_t>(*pool / 2);
    header.epoch = *pool & 1;
    return true;
}

void
AggregationSwitch::FillResult(AggregationPacket& packet, uint16_t worker, Job& job) const
{
    Fill(packet, SlotMessage::Result, worker, job.base);
    if (m_wire.HasQueuePairs())
    {
        auto& header = packet.As<SlotHeader>();
        header.sequence = job.queuePairs.TakeSequence(worker, m_wire.GetQueuePair(header.slot));
    }
}

/// Puts what the slot of a packet holds into it.
void
AggregationSwitch::Fill(AggregationPacket& packet,
                        SlotMessage type,
                        uint16_t worker,
                        uint32_t base) const
{
    auto& header = packet.As<SlotHeader>();
    const auto& slot = m_slots.GetSlot(header, base);
    const auto values = m_slots.GetValues(header, base);
    header.messageType = static_cast<uint8_t>(type);
    header.flags = slot.flags;
    header.worker = worker;
    header.offset = slot.offset;
    header.exponentA = slot.exponentA;
    header.exponentB = slot.exponentB;
    header.reserved = 0;
    packet.values.assign(values.begin(), values.end());
    packet.frame.clear();
}

} // namespace ns3::gradsync
