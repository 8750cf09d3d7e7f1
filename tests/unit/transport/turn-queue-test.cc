// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/turn-queue.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <gtest/gtest.h>
#include <random>

namespace ns3::gradsync
{
namespace
{

TEST(TurnQueue, IsAQueueFromWhichAnyoneMayGo)
{
    // Beside a deque, with random pushes, pops and removals: long and short, around its end, too.
    TurnQueue queue;
    std::deque<uint32_t> list;
    std::mt19937 random(3);
    for (uint32_t i = 0; i < 20'000; ++i)
    {
        const auto growing = i / 2000 % 2 == 0; // up to some hundreds, and down again
        const auto action = list.empty() ? 0 : random() % 8;
        if (action < (growing ? 5U : 3U))
        {
            queue.Push(i);
            list.push_back(i);
        }
        else if (action < 7)
        {
            ASSERT_EQ(queue.Pop(), list.front());
            list.pop_front();
        }
        else
        {
            const auto place = random() % list.size();
            queue.Remove(list[place]);
            list.erase(list.begin() + static_cast<std::ptrdiff_t>(place));
        }
        ASSERT_EQ(queue.IsEmpty(), list.empty());
        ASSERT_EQ(queue.GetSize(), list.size());
        queue.PrefetchPop(); // changes nothing
        for (size_t place = 0; place < list.size(); ++place)
        {
            ASSERT_EQ(queue.Get(place), list[place]);
        }
    }
}

} // namespace
} // namespace ns3::gradsync
