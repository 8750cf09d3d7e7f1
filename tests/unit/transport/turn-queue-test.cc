// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/turn-queue.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <gtest/gtest.h>
#include <random>
#include <utility>
#include <vector>

namespace ns3::gradsync
{
namespace
{

TEST(TurnQueue, IsAListThatRemembersPlaces)
{
    // Beside a list of turns and numbers, with random pushes, pops, replacements and removals.
    TurnQueue queue;
    std::vector<std::pair<uint32_t, uint32_t>> list;
    std::mt19937 random(3);
    for (uint32_t i = 0; i < 20'000; ++i)
    {
        const auto place = list.empty() ? 0 : random() % list.size();
        const auto action = list.empty() ? 0 : random() % 8;
        if (action < 4 && list.size() < 500)
        {
            list.emplace_back(queue.Push(i), i);
        }
        else if (action < 6)
        {
            queue.Pop();
            list.erase(list.begin());
        }
        else if (action == 6)
        {
            list[place].second = i;
            queue.Replace(list[place].first, i);
        }
        else
        {
            queue.Remove(list[place].first);
            list.erase(list.begin() + static_cast<std::ptrdiff_t>(place));
        }
        ASSERT_EQ(queue.IsEmpty(), list.empty());
        std::vector<uint32_t> expected;
        std::vector<uint32_t> found;
        for (const auto& [turn, number] : list)
        {
            expected.push_back(number);
        }
        queue.ForEach([&found](uint32_t number) { found.push_back(number); });
        ASSERT_EQ(found, expected);
        if (!list.empty())
        {
            ASSERT_EQ(queue.GetFront(), expected.front());
        }
    }
}

} // namespace
} // namespace ns3::gradsync
