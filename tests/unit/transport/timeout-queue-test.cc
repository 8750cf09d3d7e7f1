// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/timeout-queue.h"

#include <algorithm>
#include <cstdint>
#include <gtest/gtest.h>
#include <list>
#include <memory>
#include <random>
#include <vector>

namespace ns3::gradsync
{
namespace
{

/// So many, each with its index, and the queue that they go through.
struct Waiting
{
    explicit Waiting(uint32_t count)
        : queuePairs(std::make_unique<RoceQueuePair[]>(count))
    {
        for (uint32_t i = 0; i < count; ++i)
        {
            queuePairs[i].index = i;
        }
    }

    void Push(uint32_t index)
    {
        queue.Push(queuePairs[index],
                   [this](uint32_t other) -> RoceQueuePair& { return queuePairs[other]; });
    }

    /// What stands in it, the oldest first.
    std::vector<uint32_t> List() const
    {
        std::vector<uint32_t> result;
        queue.ForEach([&result](uint32_t index) { result.push_back(index); });
        return result;
    }

    std::unique_ptr<RoceQueuePair[]> queuePairs;
    TimeoutQueue queue;
};

TEST(TimeoutQueue, KeepsTheOrderInWhichTheyBeganToWait)
{
    // Beside a list, with random ones that come and go: few and many, mostly the oldest, as answers
    // come, but any other too; so that the ring grows, and is cleared of empty places.
    constexpr uint32_t COUNT = 300;
    Waiting waiting(COUNT);
    auto& queue = waiting.queue;
    std::list<uint32_t> list;
    uint32_t newest = TimeoutQueue::NONE; // who came last, in it or not
    std::mt19937 random(7);
    for (uint32_t i = 0; i < 20'000; ++i)
    {
        const auto growing = i / 1000 % 2 == 0;
        const bool takesOldest = !list.empty() && random() % 4 != 0;
        const auto index = takesOldest && !growing ? queue.GetOldest() : random() % COUNT;
        auto& queuePair = waiting.queuePairs[index];
        queue.PrefetchRemoval(queuePair); // changes nothing
        ASSERT_EQ(queue.IsNewest(queuePair), newest == index && queuePair.isTimed);
        if (queuePair.isTimed)
        {
            queue.Remove(queuePair);
            list.remove(index);
        }
        else
        {
            waiting.Push(index);
            list.push_back(index);
            newest = index;
            ASSERT_TRUE(queue.IsNewest(queuePair));
        }
        ASSERT_EQ(queue.IsEmpty(), list.empty());
        ASSERT_EQ(queue.GetOldest(), list.empty() ? TimeoutQueue::NONE : list.front());
        ASSERT_TRUE(std::ranges::equal(waiting.List(), list));
    }
}

TEST(TimeoutQueue, OneThatWaitsLongestDoesNotMakeTheRingGrow)
{
    // The oldest one stays while two others take turns a million times: each time its place is a
    // new one, of which a ring without room for all of them has to be cleared again and again.
    Waiting waiting(3);
    waiting.Push(0);
    for (uint32_t i = 0; i < 1'000'000; ++i)
    {
        const auto index = 1 + i % 2;
        if (waiting.queuePairs[index].isTimed)
        {
            waiting.queue.Remove(waiting.queuePairs[index]);
        }
        waiting.Push(index);
    }
    EXPECT_EQ(waiting.List(), (std::vector<uint32_t>{0, 1, 2}));
    EXPECT_LT(waiting.queuePairs[2].timedPlace, 8U); // counted since eight places were cleared
}

} // namespace
} // namespace ns3::gradsync
