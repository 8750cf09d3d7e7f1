// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/object-pool.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <gtest/gtest.h>
#include <iterator>
#include <random>
#include <set>
#include <vector>

namespace ns3::gradsync
{
namespace
{

/// Of some words: a shelf has room for one place less.
template <size_t WORDS>
struct Words
{
    std::array<uint64_t, WORDS> words;
};

template <typename T>
class ObjectPoolTest : public ::testing::Test
{
  protected:
    using Object = T;

    /// One more in use, with its own address in all of it.
    void Take()
    {
        auto* object = m_pool.Take();
        object->words.fill(reinterpret_cast<uintptr_t>(object));
        ASSERT_TRUE(m_used.insert(object).second);
    }

    void Give(typename std::set<T*>::iterator entry)
    {
        auto* object = *entry;
        const auto own = reinterpret_cast<uintptr_t>(object);
        ASSERT_TRUE(std::ranges::all_of(object->words, [own](auto word) { return word == own; }));
        m_used.erase(entry);
        m_pool.Give(object);
    }

    ObjectPool<T> m_pool;
    std::set<T*> m_used;
};

using ObjectTypes = ::testing::Types<Words<1>, Words<2>, Words<3>, Words<6>, Words<8>>;
TYPED_TEST_SUITE(ObjectPoolTest, ObjectTypes);

TYPED_TEST(ObjectPoolTest, GivesNothingTwiceAndTouchesNothingInUse)
{
    // Up and down at random, beyond two blocks of 256 and down to none.
    std::mt19937 random(2);
    for (const size_t size : {700U, 300U, 1000U, 0U, 50U, 0U})
    {
        while (this->m_used.size() != size)
        {
            if (this->m_used.size() < size ? random() % 4 != 0 || this->m_used.empty()
                                           : random() % 4 == 0)
            {
                this->Take();
                continue;
            }
            auto entry = this->m_used.begin();
            std::advance(entry, random() % std::min<size_t>(this->m_used.size(), 20));
            this->Give(entry);
        }
    }
    // There are blocks for the most that were in use (on the way down from 1,000 some more may have
    // been taken, 25 with odds of 3^-25), and all of them come again.
    const auto capacity = this->m_pool.GetCapacity();
    EXPECT_EQ(capacity, 4 * 256U);
    while (this->m_used.size() < capacity)
    {
        this->Take();
    }
    EXPECT_EQ(this->m_pool.GetCapacity(), capacity);
}

TYPED_TEST(ObjectPoolTest, TakesWhatWasGivenLast)
{
    std::vector<typename TestFixture::Object*> given;
    for (int i = 0; i < 600; ++i)
    {
        given.push_back(this->m_pool.Take());
    }
    std::mt19937 random(3);
    std::ranges::shuffle(given, random);
    for (auto* object : given)
    {
        this->m_pool.Give(object);
    }
    for (; !given.empty(); given.pop_back())
    {
        ASSERT_EQ(this->m_pool.Take(), given.back());
    }
}

TEST(ObjectPool, TellsWhenItHasGrown)
{
    ObjectPool<Words<4>> pool;
    int growths = 0;
    pool.SetGrowthCallback([&growths] { ++growths; });
    for (int i = 0; i < 257; ++i)
    {
        pool.Take();
    }
    EXPECT_EQ(growths, 2);
    EXPECT_EQ(pool.GetCapacity(), 512U);
}

} // namespace
} // namespace ns3::gradsync
