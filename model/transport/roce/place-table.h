// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_PLACE_TABLE_H
#define GRADSYNC_PLACE_TABLE_H

#include "ns3/prefetch.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace ns3::gradsync
{

/**
 * Numbers by hashes, of which several may be equal: a hash table with linear probing that tells
 * most entries apart without a look at what they stand for, which is not in any cache.
 *
 * Eight places in a row, that is hashes that differ in their lowest three bits only, stand in one
 * line of the cache. What finds its place taken goes to the same place of the next row: those of a
 * row come together, and would lead each other through all of the rows that are full. At most two
 * thirds of the table are taken.
 */
class PlaceTable
{
  public:
    static constexpr uint32_t NONE = UINT32_MAX;
    static constexpr uint32_t ROW = 8;

    /// \param isMeant tells by its number whether an entry of the place is the one \return its
    /// number; NONE when there is none
    template <typename IS_MEANT>
    uint32_t Find(uint32_t place, const IS_MEANT& isMeant) const
    {
        return m_rows.empty() ? NONE : At(FindSlot(place, isMeant)).number;
    }

    /// Likewise, but where there is none the number may be set, and must be.
    template <typename IS_MEANT>
    uint32_t& Provide(uint32_t place, const IS_MEANT& isMeant)
    {
        MakeRoom();
        auto& slot = At(FindSlot(place, isMeant));
        if (slot.number == NONE)
        {
            slot.place = place;
            ++m_count;
        }
        return slot.number;
    }

    /// \param number in it
    void Remove(uint32_t place, uint32_t number)
    {
        Empty(FindNumber(place, number));
        --m_count;
    }

    /// Gives an entry another number. \param number in it
    void Renumber(uint32_t place, uint32_t number, uint32_t newNumber)
    {
        At(FindNumber(place, number)).number = newNumber;
    }

    /// How many there are.
    size_t GetSize() const
    {
        return m_count;
    }

    /// Fetches what a search for the place looks at first, or writes: nearly always that is all.
    void PrefetchPlace(uint32_t place) const
    {
        if (!m_rows.empty())
        {
            Prefetch(&m_rows[GetHomeRow(place)]);
        }
    }

    /// Likewise what a removal looks at.
    void PrefetchRemoval(uint32_t place) const
    {
        if (!m_rows.empty())
        {
            const auto row = GetHomeRow(place);
            Prefetch(&m_rows[row]);
            Prefetch(&m_rows[(row + 1) & (m_rows.size() - 1)]);
            Prefetch(&m_rows[(row + 2) & (m_rows.size() - 1)]);
        }
    }

    /// Calls with every number in it, in no order that means anything.
    template <typename VISIT>
    void ForEach(const VISIT& visit) const
    {
        for (const auto& row : m_rows)
        {
            for (const auto& slot : row.slots)
            {
                if (slot.number != NONE)
                {
                    visit(slot.number);
                }
            }
        }
    }

  private:
    struct Slot
    {
        uint32_t place{0};
        uint32_t number{NONE};
    };

    struct alignas(ROW * sizeof(Slot)) Row
    {
        std::array<Slot, ROW> slots{};
    };

    size_t GetMask() const
    {
        return m_rows.size() * ROW - 1;
    }

    /// \param slot counted along the first places of all rows, then along the second ones, ...
    Slot& At(size_t slot)
    {
        return m_rows[slot & (m_rows.size() - 1)].slots[slot >> m_rowBits];
    }

    const Slot& At(size_t slot) const
    {
        return m_rows[slot & (m_rows.size() - 1)].slots[slot >> m_rowBits];
    }

    size_t GetNext(size_t slot) const
    {
        return (slot + 1) & GetMask();
    }

    size_t GetHomeRow(uint32_t place) const
    {
        return place / ROW & (m_rows.size() - 1);
    }

    /// Where the search for a place begins.
    size_t GetHome(uint32_t place) const
    {
        return size_t{place % ROW} << m_rowBits | GetHomeRow(place);
    }

    /// That of an entry, or the free one that it would take.
    template <typename IS_MEANT>
    size_t FindSlot(uint32_t place, const IS_MEANT& isMeant) const
    {
        auto slot = GetHome(place);
        while (At(slot).number != NONE && (At(slot).place != place || !isMeant(At(slot).number)))
        {
            slot = GetNext(slot);
        }
        return slot;
    }

    /// That of a number that is in it.
    size_t FindNumber(uint32_t place, uint32_t number) const
    {
        auto slot = GetHome(place);
        while (At(slot).number != number)
        {
            slot = GetNext(slot);
        }
        return slot;
    }

    void Put(const Slot& entry)
    {
        auto slot = GetHome(entry.place);
        while (At(slot).number != NONE)
        {
            slot = GetNext(slot);
        }
        At(slot) = entry;
    }

    /// For one more.
    void MakeRoom()
    {
        if (3 * (m_count + 1) <= 2 * ROW * m_rows.size())
        {
            return;
        }
        const auto old =
            std::exchange(m_rows, std::vector<Row>(std::max<size_t>(8, 2 * m_rows.size())));
        m_rowBits = static_cast<uint32_t>(std::countr_zero(m_rows.size()));
        for (const auto& row : old)
        {
            for (const auto& slot : row.slots)
            {
                if (slot.number != NONE)
                {
                    Put(slot);
                }
            }
        }
    }

    /// Those after it move up, each no farther than its home, so that searches need no gaps.
    void Empty(size_t free)
    {
        for (auto i = GetNext(free); At(i).number != NONE; i = GetNext(i))
        {
            if (((i - GetHome(At(i).place)) & GetMask()) >= ((i - free) & GetMask()))
            {
                At(free) = At(i);
                free = i;
            }
        }
        At(free).number = NONE;
    }

    std::vector<Row> m_rows; //!< as many as a power of two, or none
    uint32_t m_rowBits{0};   //!< which power
    size_t m_count{0};
};

} // namespace ns3::gradsync

#endif // GRADSYNC_PLACE_TABLE_H
