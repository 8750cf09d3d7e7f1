// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_P4_MATCH_TABLE_H
#define GRADSYNC_P4_MATCH_TABLE_H

#include "ns3/p4-program.h"

#include <cstdint>
#include <deque>
#include <map>
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
     * \throws P4Error when the table is full or has such an entry
     */
    void Add(P4TableEntry entry);
    /// Removes all entries. The default stays.
    void Clear();
    /// Replaces the default entry.
    void SetDefault(P4TableEntry entry);

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

    uint64_t PackFields(const uint64_t* store) const;
    std::vector<uint64_t> CollectFields(const uint64_t* store) const;
    const P4TableEntry* FindByPrefix(const uint64_t* store) const;
    const P4TableEntry* FindByOrder(const uint64_t* store) const;
    bool Matches(const P4TableEntry& entry, const uint64_t* store) const;
    void AddToGroup(const P4TableEntry& entry);
    void AddInOrder(const P4TableEntry& entry);
    /// Mask and masked value of an entry's keys, one behind the other.
    std::vector<uint64_t> MakeMask(const P4TableEntry& entry) const;

    const P4Table& m_table;
    /// Addresses of entries stay.
    std::deque<P4TableEntry> m_entries;
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
