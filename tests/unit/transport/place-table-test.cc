// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/place-table.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <gtest/gtest.h>
#include <iterator>
#include <map>
#include <random>
#include <vector>

namespace ns3::gradsync
{
namespace
{

/// What is in it by a map beside it: places by numbers.
class PlaceTableTest : public ::testing::Test
{
  protected:
    void Insert(uint32_t place, uint32_t number)
    {
        m_table.Provide(place, [](uint32_t /* number */) { return false; }) = number;
        m_places[number] = place;
    }

    void Remove(std::map<uint32_t, uint32_t>::iterator entry)
    {
        m_table.Remove(entry->second, entry->first);
        m_places.erase(entry);
    }

    uint32_t Find(uint32_t place, uint32_t number) const
    {
        return m_table.Find(place, [number](uint32_t other) { return other == number; });
    }

    void ExpectAll() const
    {
        for (const auto& [number, place] : m_places)
        {
            ASSERT_EQ(Find(place, number), number);
        }
        std::vector<uint32_t> numbers;
        m_table.ForEach([&numbers](uint32_t number) { numbers.push_back(number); });
        std::sort(numbers.begin(), numbers.end());
        ASSERT_EQ(numbers.size(), m_places.size());
        ASSERT_EQ(m_table.GetSize(), m_places.size());
        ASSERT_TRUE(
            std::equal(numbers.begin(),
                       numbers.end(),
                       m_places.begin(),
                       [](auto number, const auto& entry) { return number == entry.first; }));
    }

    PlaceTable m_table;
    std::map<uint32_t, uint32_t> m_places; //!< by numbers
};

TEST_F(PlaceTableTest, AnEmptyOneHasNothing)
{
    EXPECT_EQ(Find(0, 0), PlaceTable::NONE);
    EXPECT_EQ(Find(UINT32_MAX, 0), PlaceTable::NONE);
    m_table.PrefetchPlace(7);
    m_table.PrefetchRemoval(7);
}

TEST_F(PlaceTableTest, FindsWhatIsInItWhateverIsRemovedBeside)
{
    // Up and down between none and thousands, in three kinds of places: spread over all; a few that
    // are all equal or neighbours at the end, where searches go around; rows of eight.
    std::mt19937 random(1);
    uint32_t next = 0;
    for (int round = 0; round < 12; ++round)
    {
        for (int i = 0; i < 2000; ++i)
        {
            const auto draw = static_cast<uint32_t>(random());
            const auto kind = random() % 3;
            const auto place = kind == 0   ? draw
                               : kind == 1 ? UINT32_MAX - draw % 20
                                           : draw % 50 * 0x4000000 + draw / 64 % 8;
            Insert(place, next++);
        }
        ExpectAll();
        const auto kept = round % 4 == 3 ? 0 : m_places.size() / 2;
        while (m_places.size() > kept)
        {
            const auto [number, place] =
                *std::next(m_places.begin(),
                           static_cast<std::ptrdiff_t>(random() % 10) %
                               static_cast<std::ptrdiff_t>(m_places.size()));
            Remove(m_places.find(number));
            ASSERT_EQ(Find(place, number), PlaceTable::NONE);
        }
        ExpectAll();
    }
}

TEST_F(PlaceTableTest, ProvidesWhatIsThereOrRoomForIt)
{
    const auto isFive = [](uint32_t number) { return number == 5; };
    auto& number = m_table.Provide(77, isFive);
    EXPECT_EQ(number, PlaceTable::NONE);
    number = 5;
    EXPECT_EQ(m_table.Provide(77, isFive), 5U);
    EXPECT_EQ(m_table.GetSize(), 1U);
    EXPECT_EQ(Find(77, 5), 5U);
}

TEST_F(PlaceTableTest, ANumberIsReplacedWhereItStands)
{
    // Among others of equal places and neighbours; the others, and what is removed later, are found
    // as before.
    for (uint32_t number = 0; number < 200; ++number)
    {
        Insert(UINT32_MAX - number % 5, number);
    }
    for (uint32_t number = 0; number < 200; number += 3)
    {
        const auto place = m_places[number];
        m_table.Renumber(place, number, number + 1000);
        m_places.erase(number);
        m_places[number + 1000] = place;
        ASSERT_EQ(Find(place, number), PlaceTable::NONE);
    }
    ExpectAll();
    while (m_places.size() > 50)
    {
        Remove(m_places.begin());
    }
    ExpectAll();
}

TEST_F(PlaceTableTest, EqualPlacesAreToldApartByWhatTheyStandFor)
{
    // Many of one place: each is found, the others are told apart by what they stand for.
    for (uint32_t number = 0; number < 300; ++number)
    {
        Insert(12345, number);
    }
    ExpectAll();
    EXPECT_EQ(Find(12345, 300), PlaceTable::NONE);
    EXPECT_EQ(Find(12346, 3), PlaceTable::NONE);
}

} // namespace
} // namespace ns3::gradsync
