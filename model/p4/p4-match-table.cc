// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/p4-match-table.h"

#include "ns3/p4-error.h"
#include "ns3/p4-limbs.h"

#include <algorithm>
#include <fmt/format.h>

namespace ns3::gradsync
{

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
    : m_table(table),
      m_default(table.defaultEntry),
      m_hasDefault(table.hasDefault)
{
    uint32_t bits = 0;
    for (const auto& key : table.keys)
    {
        bits += key.bits;
        m_isOrdered =
            m_isOrdered || key.kind == P4MatchKind::TERNARY || key.kind == P4MatchKind::RANGE;
    }
    m_isPacked = bits <= 64;
    for (const auto& entry : table.entries)
    {
        Add(entry);
    }
}

void
P4MatchTable::Add(P4TableEntry entry)
{
    if (m_entries.size() >= m_table.maxSize)
    {
        throw P4Error(m_table.name, fmt::format("the table holds {} entries", m_table.maxSize));
    }
    entry.number = static_cast<uint32_t>(m_entries.size());
    m_entries.push_back(std::move(entry));
    if (m_isOrdered)
    {
        AddInOrder(m_entries.back());
    }
    else
    {
        AddToGroup(m_entries.back());
    }
}

void
P4MatchTable::Clear()
{
    m_groups.clear();
    m_ordered.clear();
    m_entries.clear();
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

void
P4MatchTable::AddToGroup(const P4TableEntry& entry)
{
    uint32_t length = 0;
    uint64_t packed = 0;
    uint64_t packedMask = 0;
    std::vector<uint64_t> wide;
    auto mask = MakeMask(entry);
    size_t limb = 0;
    for (size_t k = 0; k < m_table.keys.size(); ++k)
    {
        const auto& key = m_table.keys[k];
        length += key.kind == P4MatchKind::LPM ? entry.keys[k].prefixLength : 0;
        if (m_isPacked)
        {
            const bool isAll = key.bits == 64;
            packed = isAll ? entry.keys[k].value[0] : (packed << key.bits) | entry.keys[k].value[0];
            packedMask = isAll ? mask[limb] : (packedMask << key.bits) | mask[limb];
        }
        wide.insert(wide.end(), entry.keys[k].value.begin(), entry.keys[k].value.end());
        limb += key.limbs;
    }
    auto& group = m_groups[length];
    group.mask = packedMask;
    for (size_t i = 0; i < wide.size(); ++i)
    {
        wide[i] &= mask[i];
    }
    group.wideMask = std::move(mask);
    const bool isNew = m_isPacked ? group.packed.emplace(packed & packedMask, &entry).second
                                  : group.wide.emplace(std::move(wide), &entry).second;
    if (!isNew)
    {
        m_entries.pop_back();
        throw P4Error(m_table.name, "the table has an entry with this key");
    }
}

void
P4MatchTable::AddInOrder(const P4TableEntry& entry)
{
    // A prefix beside a ternary key is a mask like any other.
    auto& stored = m_entries.back();
    for (size_t k = 0; k < m_table.keys.size(); ++k)
    {
        if (m_table.keys[k].kind == P4MatchKind::LPM)
        {
            stored.keys[k].other = MakePrefixMask(m_table.keys[k].bits, entry.keys[k].prefixLength);
        }
    }
    const auto behind = std::upper_bound(
        m_ordered.begin(),
        m_ordered.end(),
        &entry,
        [](const P4TableEntry* a, const P4TableEntry* b) { return a->priority < b->priority; });
    m_ordered.insert(behind, &entry);
}

} // namespace ns3::gradsync
