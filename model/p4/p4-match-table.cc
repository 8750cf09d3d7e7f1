// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/p4-match-table.h"

#include "ns3/p4-error.h"
#include "ns3/p4-limbs.h"

#include <algorithm>
#include <fmt/format.h>

namespace ns3::gradsync
{

namespace
{

/// Of a handle, the bits that number its entry.
constexpr uint32_t NUMBER_BITS = 24;

} // namespace

std::vector<uint64_t>
MakePrefixMask(uint32_t bits, uint32_t length)
{
    std::vector<uint64_t> mask(limbs::CountFor(bits));
    for (uint32_t bit = bits - length; bit < bits; ++bit)
    {
        mask[bit / 64] |= uint64_t{1} << (bit % 64);
    }
    return mask;
}

P4MatchTable::P4MatchTable(const P4Table& table)
    : m_table(table)
{
    uint32_t bits = 0;
    for (const auto& key : table.keys)
    {
        bits += key.bits;
        m_isOrdered =
            m_isOrdered || key.kind == P4MatchKind::TERNARY || key.kind == P4MatchKind::RANGE;
    }
    m_isPacked = bits <= 64;
    Reset();
}

void
P4MatchTable::Reset()
{
    Clear();
    ResetDefault();
    for (const auto& entry : m_table.entries)
    {
        Add(entry);
    }
}

uint32_t
P4MatchTable::Add(P4TableEntry entry)
{
    const size_t size = std::min(m_table.maxSize, 1U << NUMBER_BITS);
    if (m_entries.size() - m_free.size() >= size)
    {
        throw P4Error(m_table.name, fmt::format("the table holds {} entries", size));
    }
    const bool isReused = !m_free.empty();
    entry.number = isReused ? *m_free.begin() : static_cast<uint32_t>(m_entries.size());
    const uint32_t number = entry.number;
    if (m_isOrdered)
    {
        // A prefix beside a ternary key is a mask like any other.
        for (size_t k = 0; k < m_table.keys.size(); ++k)
        {
            if (m_table.keys[k].kind == P4MatchKind::LPM)
            {
                entry.keys[k].other =
                    MakePrefixMask(m_table.keys[k].bits, entry.keys[k].prefixLength);
            }
        }
    }
    CheckIsNew(entry);
    if (isReused)
    {
        m_free.erase(m_free.begin());
        m_entries[number] = std::move(entry);
    }
    else
    {
        m_entries.push_back(std::move(entry));
        m_versions.push_back(0);
        m_counters.emplace_back();
    }
    m_counters[number] = {};
    if (m_isOrdered)
    {
        AddInOrder(m_entries[number]);
    }
    else
    {
        AddToGroup(m_entries[number]);
    }
    return MakeHandle(number);
}

void
P4MatchTable::CheckIsNew(const P4TableEntry& entry) const
{
    bool isNew = true;
    if (m_isOrdered)
    {
        const auto [first, last] = std::equal_range(
            m_ordered.begin(),
            m_ordered.end(),
            &entry,
            [](const auto* a, const auto* b) { return a->priority < b->priority; });
        isNew = std::none_of(first, last, [&entry](const auto* other) {
            return other->keys == entry.keys;
        });
    }
    else
    {
        const auto key = MakeGroupKey(entry);
        const auto group = m_groups.find(key.length);
        isNew = group == m_groups.end() || (m_isPacked ? !group->second.packed.contains(key.packed)
                                                       : !group->second.wide.contains(key.wide));
    }
    if (!isNew)
    {
        throw P4Error(m_table.name, "the table has an entry with this key");
    }
}

uint32_t
P4MatchTable::MakeHandle(uint32_t number) const
{
    return uint32_t{m_versions[number]} << NUMBER_BITS | number;
}

uint32_t
P4MatchTable::GetNumber(uint32_t handle) const
{
    const uint32_t number = handle & ((1U << NUMBER_BITS) - 1);
    if (number >= m_entries.size() || m_free.contains(number) || MakeHandle(number) != handle)
    {
        throw P4Error(m_table.name, fmt::format("the table has no entry with handle {}", handle));
    }
    return number;
}

const P4TableEntry&
P4MatchTable::GetEntry(uint32_t handle) const
{
    return m_entries[GetNumber(handle)];
}

std::vector<uint32_t>
P4MatchTable::ListHandles() const
{
    std::vector<uint32_t> handles;
    for (uint32_t number = 0; number < m_entries.size(); ++number)
    {
        if (!m_free.contains(number))
        {
            handles.push_back(MakeHandle(number));
        }
    }
    return handles;
}

void
P4MatchTable::Modify(uint32_t handle, const P4TableEntry& action)
{
    auto& entry = m_entries[GetNumber(handle)];
    auto changed = action;
    changed.keys = std::move(entry.keys);
    changed.priority = entry.priority;
    changed.number = entry.number;
    entry = std::move(changed);
}

void
P4MatchTable::Delete(uint32_t handle)
{
    const uint32_t number = GetNumber(handle);
    const auto& entry = m_entries[number];
    if (m_isOrdered)
    {
        std::erase(m_ordered, &entry);
    }
    else
    {
        DeleteFromGroup(entry);
    }
    // Nothing leads to members or groups by it any more.
    m_entries[number] = {};
    ++m_versions[number];
    m_free.insert(number);
}

void
P4MatchTable::Clear()
{
    m_groups.clear();
    m_ordered.clear();
    m_entries.clear();
    m_versions.clear();
    m_counters.clear();
    m_free.clear();
}

P4CounterValue
P4MatchTable::GetCounter(uint32_t handle) const
{
    return m_counters[GetNumber(handle)];
}

void
P4MatchTable::SetCounter(uint32_t handle, P4CounterValue value)
{
    m_counters[GetNumber(handle)] = value;
}

void
P4MatchTable::SetDefault(P4TableEntry entry)
{
    m_default = std::move(entry);
    m_hasDefault = true;
}

bool
P4MatchTable::Refers(P4EntryTarget target, uint32_t member) const
{
    const auto refers = [target, member](const P4TableEntry& entry) {
        return entry.target == target && entry.member == member;
    };
    return (m_hasDefault && refers(m_default)) ||
           std::any_of(m_entries.begin(), m_entries.end(), refers);
}

void
P4MatchTable::ResetDefault()
{
    m_default = m_table.defaultEntry;
    m_hasDefault = m_table.hasDefault;
}

const P4TableEntry*
P4MatchTable::Find(const uint64_t* store) const
{
    if (m_entries.empty())
    {
        return nullptr;
    }
    return m_isOrdered ? FindByOrder(store) : FindByPrefix(store);
}

uint64_t
P4MatchTable::PackFields(const uint64_t* store) const
{
    uint64_t packed = 0;
    for (const auto& key : m_table.keys)
    {
        const uint64_t value = key.mask == 0 ? store[key.slot] : store[key.slot] & store[key.mask];
        packed = key.bits == 64 ? value : (packed << key.bits) | value;
    }
    return packed;
}

std::vector<uint64_t>
P4MatchTable::CollectFields(const uint64_t* store) const
{
    std::vector<uint64_t> fields;
    for (const auto& key : m_table.keys)
    {
        for (uint32_t i = 0; i < key.limbs; ++i)
        {
            const uint64_t mask = key.mask == 0 ? ~uint64_t{0} : store[key.mask + i];
            fields.push_back(store[key.slot + i] & mask);
        }
    }
    return fields;
}

const P4TableEntry*
P4MatchTable::FindByPrefix(const uint64_t* store) const
{
    if (m_isPacked)
    {
        const uint64_t fields = PackFields(store);
        for (const auto& [length, group] : m_groups)
        {
            if (const auto found = group.packed.find(fields & group.mask);
                found != group.packed.end())
            {
                return found->second;
            }
        }
        return nullptr;
    }
    const auto fields = CollectFields(store);
    for (const auto& [length, group] : m_groups)
    {
        auto masked = fields;
        for (size_t i = 0; i < masked.size(); ++i)
        {
            masked[i] &= group.wideMask[i];
        }
        if (const auto found = group.wide.find(masked); found != group.wide.end())
        {
            return found->second;
        }
    }
    return nullptr;
}

const P4TableEntry*
P4MatchTable::FindByOrder(const uint64_t* store) const
{
    for (const auto* entry : m_ordered)
    {
        if (Matches(*entry, store))
        {
            return entry;
        }
    }
    return nullptr;
}

bool
P4MatchTable::Matches(const P4TableEntry& entry, const uint64_t* store) const
{
    for (size_t k = 0; k < m_table.keys.size(); ++k)
    {
        const auto& key = m_table.keys[k];
        const auto& wanted = entry.keys[k];
        const uint64_t* field = store + key.slot;
        if (key.kind == P4MatchKind::RANGE)
        {
            if (limbs::Compare(field, wanted.value.data(), key.limbs) < 0 ||
                limbs::Compare(field, wanted.other.data(), key.limbs) > 0)
            {
                return false;
            }
            continue;
        }
        for (uint32_t i = 0; i < key.limbs; ++i)
        {
            uint64_t mask = key.kind == P4MatchKind::EXACT ? ~uint64_t{0} : wanted.other[i];
            mask &= key.mask == 0 ? ~uint64_t{0} : store[key.mask + i];
            if (((field[i] ^ wanted.value[i]) & mask) != 0)
            {
                return false;
            }
        }
    }
    return true;
}

std::vector<uint64_t>
P4MatchTable::MakeMask(const P4TableEntry& entry) const
{
    std::vector<uint64_t> mask;
    for (size_t k = 0; k < m_table.keys.size(); ++k)
    {
        const auto& key = m_table.keys[k];
        const uint32_t length =
            key.kind == P4MatchKind::LPM ? entry.keys[k].prefixLength : key.bits;
        const auto part = MakePrefixMask(key.bits, length);
        mask.insert(mask.end(), part.begin(), part.end());
    }
    return mask;
}

P4MatchTable::GroupKey
P4MatchTable::MakeGroupKey(const P4TableEntry& entry) const
{
    GroupKey group;
    group.wideMask = MakeMask(entry);
    size_t limb = 0;
    for (size_t k = 0; k < m_table.keys.size(); ++k)
    {
        const auto& key = m_table.keys[k];
        const auto& value = entry.keys[k].value;
        group.length += key.kind == P4MatchKind::LPM ? entry.keys[k].prefixLength : 0;
        if (m_isPacked)
        {
            const bool isAll = key.bits == 64;
            const uint64_t mask = group.wideMask[limb];
            group.packed = isAll ? value[0] : (group.packed << key.bits) | value[0];
            group.packedMask = isAll ? mask : (group.packedMask << key.bits) | mask;
        }
        group.wide.insert(group.wide.end(), value.begin(), value.end());
        limb += key.limbs;
    }
    group.packed &= group.packedMask;
    for (size_t i = 0; i < group.wide.size(); ++i)
    {
        group.wide[i] &= group.wideMask[i];
    }
    return group;
}

void
P4MatchTable::AddToGroup(const P4TableEntry& entry)
{
    auto key = MakeGroupKey(entry);
    auto& group = m_groups[key.length];
    group.mask = key.packedMask;
    group.wideMask = std::move(key.wideMask);
    if (m_isPacked)
    {
        group.packed.emplace(key.packed, &entry);
    }
    else
    {
        group.wide.emplace(std::move(key.wide), &entry);
    }
}

void
P4MatchTable::DeleteFromGroup(const P4TableEntry& entry)
{
    const auto key = MakeGroupKey(entry);
    const auto group = m_groups.find(key.length);
    group->second.packed.erase(key.packed);
    group->second.wide.erase(key.wide);
    if (group->second.packed.empty() && group->second.wide.empty())
    {
        m_groups.erase(group);
    }
}

void
P4MatchTable::AddInOrder(const P4TableEntry& entry)
{
    const auto behind = std::upper_bound(m_ordered.begin(),
                                         m_ordered.end(),
                                         &entry,
                                         [](const P4TableEntry* a, const P4TableEntry* b) {
                                             return std::pair(a->priority, a->number) <
                                                    std::pair(b->priority, b->number);
                                         });
    m_ordered.insert(behind, &entry);
}

} // namespace ns3::gradsync
