// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/slot-switch.h"

#include <algorithm>
#include <limits>
#include <stdexcept>

namespace ns3::gradsync
{

namespace
{

constexpr int64_t LOWEST_VALUE = std::numeric_limits<int32_t>::min();
constexpr int64_t HIGHEST_VALUE = std::numeric_limits<int32_t>::max();

} // namespace

SlotSwitch::SlotSwitch(const Config& config)
    : m_config(config),
      m_slots(size_t{2} * config.poolSize),
      m_values(config.computesSums ? m_slots.size() * config.valueCount : 0)
{
}

void
SlotSwitch::AddWorker(const WorkerKey& key, const WorkerEntry& entry)
{
    if (!m_workers.emplace(key, entry).second)
    {
        throw std::logic_error("slot switch: a worker is added twice");
    }
}

void
SlotSwitch::Reset(uint32_t base, uint32_t slots)
{
    const auto end =
        static_cast<uint32_t>(std::min<uint64_t>(uint64_t{base} + slots, m_config.poolSize));
    for (uint32_t slot = base; slot < end; ++slot)
    {
        ClearCell(slot);
        ClearCell(m_config.poolSize + slot);
    }
}

void
SlotSwitch::RemoveJob(uint16_t job)
{
    std::erase_if(m_workers, [job](const auto& worker) { return worker.first.job == job; });
}

const SlotSwitch::WorkerEntry*
SlotSwitch::FindWorker(const WorkerKey& key) const
{
    const auto found = m_workers.find(key);
    return found == m_workers.end() ? nullptr : &found->second;
}

SlotVerdict
SlotSwitch::Count(SlotVerdict verdict)
{
    ++m_counts[static_cast<size_t>(verdict)];
    return verdict;
}

SlotVerdict
SlotSwitch::Contribute(const SlotHeader& header, uint16_t port, std::span<const int32_t> values)
{
    if (header.messageType != static_cast<uint8_t>(SlotMessage::Contribution) ||
        header.count != m_config.valueCount)
    {
        return Count(SlotVerdict::Malformed);
    }
    const auto* entry = FindWorker({header.job, header.worker, port});
    if (!entry)
    {
        return Count(SlotVerdict::UnknownWorker);
    }
    // Before any register is touched: a real switch has no memory beyond its arrays.
    if (!IsInRange(header, *entry))
    {
        return Count(SlotVerdict::OutOfRange);
    }
    return Count(m_config.versionBit ? ClassifyByVersion(header, *entry, values)
                                     : Classify(header, *entry, values));
}

bool
SlotSwitch::IsInRange(const SlotHeader& header, const WorkerEntry& entry) const
{
    return header.slot < entry.slots && uint64_t{entry.base} + header.slot < m_config.poolSize;
}

/// SwitchML's own rules.
SlotVerdict
SlotSwitch::ClassifyByVersion(const SlotHeader& header,
                              const WorkerEntry& entry,
                              std::span<const int32_t> values)
{
    const auto index = GetIndex(header, entry.base);
    auto& slot = m_slots[index];
    const bool isRepeated = (slot.bitmap & entry.bit).any();
    slot.bitmap |= entry.bit;
    m_slots[GetIndex(1 - header.GetSet(), entry.base, header)].bitmap &= ~entry.bit;
    if (isRepeated)
    {
        return slot.missing == 0 ? Answer(entry, slot, SlotVerdict::Unicast)
                                 : SlotVerdict::Duplicate;
    }
    if (slot.missing == 0)
    {
        slot.missing = static_cast<uint16_t>(entry.all.count());
        Overwrite(index, header, values);
        slot.flags = entry.isSwitch ? header.flags : 0;
    }
    else
    {
        Add(index, header, values);
        slot.flags |= entry.isSwitch ? header.flags : 0;
    }
    return --slot.missing == 0 ? Answer(entry, slot, SlotVerdict::Multicast) : SlotVerdict::Held;
}

SlotVerdict
SlotSwitch::Classify(const SlotHeader& header,
                     const WorkerEntry& entry,
                     std::span<const int32_t> values)
{
    const auto index = GetIndex(header, entry.base);
    auto& slot = m_slots[index];
    // Serial number arithmetic (RFC 1982): the epoch is a 16-bit counter that goes round.
    const auto ahead = static_cast<int16_t>(static_cast<uint16_t>(header.epoch - slot.epoch));
    if (slot.bitmap.none() || ahead > 0)
    {
        slot.bitmap = entry.bit;
        Overwrite(index, header, values);
        slot.flags = entry.isSwitch ? header.flags : 0;
    }
    else if (ahead < 0)
    {
        return SlotVerdict::Stale;
    }
    else if ((slot.bitmap & entry.bit).any())
    {
        return slot.bitmap == entry.all ? Answer(entry, slot, SlotVerdict::Unicast)
                                        : SlotVerdict::Duplicate;
    }
    else
    {
        slot.bitmap |= entry.bit;
        Add(index, header, values);
        slot.flags |= entry.isSwitch ? header.flags : 0;
    }
    return slot.bitmap == entry.all ? Answer(entry, slot, SlotVerdict::Multicast)
                                    : SlotVerdict::Held;
}

/// What leaves when all have contributed.
SlotVerdict
SlotSwitch::Answer(const WorkerEntry& entry, const Slot& slot, SlotVerdict whenKnown) const
{
    return entry.isRoot || slot.hasResult ? whenKnown : SlotVerdict::ForwardUp;
}

void
SlotSwitch::Overwrite(size_t index, const SlotHeader& header, std::span<const int32_t> values)
{
    auto& slot = m_slots[index];
    slot.epoch = header.epoch;
    slot.offset = header.offset;
    slot.exponentA = header.exponentA;
    slot.exponentB = header.exponentB;
    slot.hasResult = false;
    if (m_config.computesSums)
    {
        std::ranges::copy(values.first(m_config.valueCount),
                          m_values.begin() + static_cast<ptrdiff_t>(index * m_config.valueCount));
    }
}

void
SlotSwitch::Add(size_t index, const SlotHeader& header, std::span<const int32_t> values)
{
    auto& slot = m_slots[index];
    slot.exponentA = std::max(slot.exponentA, header.exponentA);
    slot.exponentB = std::max(slot.exponentB, header.exponentB);
    if (m_config.computesSums && AddValues(index, values))
    {
        slot.flags |= SlotFlag::OVERFLOWED;
        ++m_overflows;
    }
}

/// \returns whether a sum left the range of int32
bool
SlotSwitch::AddValues(size_t index, std::span<const int32_t> values)
{
    bool overflows = false;
    auto* sums = &m_values[index * m_config.valueCount];
    for (size_t i = 0; i < m_config.valueCount; ++i)
    {
        const int64_t sum = int64_t{sums[i]} + values[i];
        overflows |= sum < LOWEST_VALUE || sum > HIGHEST_VALUE;
        // Out of range, C++20 converts modulo 2^32.
        sums[i] = static_cast<int32_t>(
            m_config.saturate ? std::clamp(sum, LOWEST_VALUE, HIGHEST_VALUE) : sum);
    }
    return overflows;
}

/// All have contributed to this epoch, and an answer to it may come.
bool
SlotSwitch::AwaitsResult(const Slot& slot, const SlotHeader& header, const WorkerEntry& entry) const
{
    if (m_config.versionBit)
    {
        // Who left it for the other set has its result.
        return slot.missing == 0 && (slot.hasResult || slot.bitmap.any());
    }
    return slot.epoch == header.epoch && slot.bitmap == entry.all;
}

SlotVerdict
SlotSwitch::AcceptResult(const SlotHeader& header, std::span<const int32_t> values)
{
    const auto found = m_workers.lower_bound({header.job, 0, 0});
    if (found == m_workers.end() || found->first.job != header.job || found->second.isRoot)
    {
        return Count(SlotVerdict::UnknownWorker);
    }
    const auto& entry = found->second;
    if (!IsInRange(header, entry))
    {
        return Count(SlotVerdict::OutOfRange);
    }
    const auto index = GetIndex(header, entry.base);
    auto& slot = m_slots[index];
    if (!AwaitsResult(slot, header, entry))
    {
        return Count(SlotVerdict::Stale);
    }
    if (slot.hasResult)
    {
        return Count(SlotVerdict::Duplicate);
    }
    Overwrite(index, header, values);
    slot.flags = header.flags;
    slot.hasResult = true;
    return Count(SlotVerdict::Multicast);
}

std::span<const int32_t>
SlotSwitch::GetValues(const SlotHeader& header, uint32_t base) const
{
    if (!m_config.computesSums)
    {
        return {};
    }
    return {&m_values[GetIndex(header, base) * m_config.valueCount], m_config.valueCount};
}

} // namespace ns3::gradsync
