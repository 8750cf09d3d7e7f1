// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_P4_MATCH_TABLE_H
#define GRADSYNC_P4_MATCH_TABLE_H

#include "ns3/p4-program.h"

#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

namespace ns3::gradsync
{

/**
 * The entries of a table at run time. Exact and longest-prefix keys are looked up in a hash map per
 * prefix length, longest first; ternary and range keys one entry after the other, lowest priority
 * number first, as BMv2 does.
 */
class P4MatchTable
{
  public:
    /// \param table must outlive this; its constant entries are added
    explicit P4MatchTable(const P4Table& table);

    /**
     * Adds an entry whose keys and parameters have the right number of limbs.
     * \returns its handle as BMv2 numbers them: the lowest number that is free, and above its 24
     * bits how often the number was used before \throws P4Error when the table is full or has such
     * an entry
     */
    uint32_t Add(P4TableEntry entry);
    /// Gives an entry another action and parameters. \throws P4Error when there is no such handle
    void Modify(uint32_t handle, const P4TableEntry& action);
    /// Removes an entry. \throws P4Error when there is no such handle
    void Delete(uint32_t handle);
    /// Has the program's entries and no other.
    void Reset();
    /// Removes all entries. The default stays.
    void Clear();
    /// Replaces the default entry.
    void SetDefault(P4TableEntry entry);
    /// Makes the default entry that of the program again.
    void ResetDefault();
    /// The handles of all entries, in ascending order of their numbers.
    std::vector<uint32_t> ListHandles() const;
    /// \throws P4Error when there is no such handle
    const P4TableEntry& GetEntry(uint32_t handle) const;

    /// A packet that an entry matched.
    void Count(const P4TableEntry& entry, uint64_t bytes)
    {
        ++m_counters[entry.number].packets;
        m_counters[entry.number].bytes += bytes;
    }

    /// What an entry has seen, where the table counts. \throws P4Error when there is no such handle
    P4CounterValue GetCounter(uint32_t handle) const;
    void SetCounter(uint32_t handle, P4CounterValue value);

    /// The entry that matches the fields in the store, or null.
    const P4TableEntry* Find(const uint64_t* store) const;

    /// The default entry, or null.
    const P4TableEntry* GetDefault() const
    {
        return m_hasDefault ? &m_default : nullptr;
    }

    /// Whether an entry or the default leads to a member or group of the action profile.
    bool Refers(P4EntryTarget target, uint32_t member) const;

    const P4Table& GetTable() const
    {
        return m_table;
    }

  private:
    /// Entries of one prefix length.
    struct Group
    {
        uint64_t mask = 0;
        std::vector<uint64_t> wideMask;
        std::unordered_map<uint64_t, const P4TableEntry*> packed;
        std::map<std::vector<uint64_t>, const P4TableEntry*> wide;
    };

    /// Where an entry without ternary and range keys belongs.
    struct GroupKey
    {
        uint32_t length = 0; //!< bits of its prefixes
        uint64_t packed = 0;
        uint64_t packedMask = 0;
        std::vector<uint64_t> wide;
        std::vector<uint64_t> wideMask;
    };

    uint64_t PackFields(const uint64_t* store) const;
    std::vector<uint64_t> CollectFields(const uint64_t* store) const;
    const P4TableEntry* FindByPrefix(const uint64_t* store) const;
    const P4TableEntry* FindByOrder(const uint64_t* store) const;
    bool Matches(const P4TableEntry& entry, const uint64_t* store) const;
    GroupKey MakeGroupKey(const P4TableEntry& entry) const;
    void AddToGroup(const P4TableEntry& entry);
    void DeleteFromGroup(const P4TableEntry& entry);
    void AddInOrder(const P4TableEntry& entry);
    /// \throws P4Error when the table has an entry with its key, and its priority where they count
    void CheckIsNew(const P4TableEntry& entry) const;
    /// The number in a handle. \throws P4Error when no entry has it
    uint32_t GetNumber(uint32_t handle) const;
    uint32_t MakeHandle(uint32_t number) const;
    /// Mask and masked value of an entry's keys, one behind the other.
    std::vector<uint64_t> MakeMask(const P4TableEntry& entry) const;

    const P4Table& m_table;
    /// Addresses of entries stay.
    std::deque<P4TableEntry> m_entries;
    /// How often the number of an entry was used before, modulo 256.
    std::vector<uint8_t> m_versions;
    std::vector<P4CounterValue> m_counters;
    /// Numbers of entries that were deleted.
    std::set<uint32_t> m_free;
    bool m_isOrdered = false;
    bool m_isPacked = false;
    /// By prefix length, longest first.
    std::map<uint32_t, Group, std::greater<>> m_groups;
    std::vector<const P4TableEntry*> m_ordered;
    P4TableEntry m_default;
    bool m_hasDefault = false;
};

/// A mask of limbs for a field of so many bits whose highest `length` are set.
std::vector<uint64_t> MakePrefixMask(uint32_t bits, uint32_t length);

} // namespace ns3::gradsync

#endif // GRADSYNC_P4_MATCH_TABLE_H
