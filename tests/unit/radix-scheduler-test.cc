// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/map-scheduler.h"
#include "ns3/radix-scheduler.h"

#include <gtest/gtest.h>
#include <random>
#include <vector>

namespace ns3::gradsync
{
namespace
{

Scheduler::Event
MakeEvent(uint64_t ts, uint32_t uid)
{
    Scheduler::Event event{};
    event.key.m_ts = ts;
    event.key.m_uid = uid;
    return event;
}

class RadixSchedulerTest : public ::testing::Test
{
  protected:
    Ptr<RadixScheduler> m_radix = CreateObject<RadixScheduler>();
};

TEST_F(RadixSchedulerTest, EventsOfOneTimeLeaveInTheOrderOfTheirUid)
{
    m_radix->Insert(MakeEvent(50, 1));
    m_radix->Insert(MakeEvent(10, 2));
    m_radix->Insert(MakeEvent(50, 3));
    EXPECT_EQ(m_radix->RemoveNext().key.m_uid, 2u);
    m_radix->Insert(MakeEvent(50, 4));
    EXPECT_EQ(m_radix->RemoveNext().key.m_uid, 1u);
    m_radix->Insert(MakeEvent(50, 5));
    EXPECT_EQ(m_radix->RemoveNext().key.m_uid, 3u);
    EXPECT_EQ(m_radix->RemoveNext().key.m_uid, 4u);
    EXPECT_EQ(m_radix->RemoveNext().key.m_uid, 5u);
    EXPECT_TRUE(m_radix->IsEmpty());
}

TEST_F(RadixSchedulerTest, PeekingDoesNotForbidEarlierEvents)
{
    m_radix->Insert(MakeEvent(1000, 1));
    EXPECT_EQ(m_radix->PeekNext().key.m_uid, 1u);
    m_radix->Insert(MakeEvent(5, 2));
    EXPECT_EQ(m_radix->PeekNext().key.m_uid, 2u);
    EXPECT_EQ(m_radix->RemoveNext().key.m_uid, 2u);
}

TEST_F(RadixSchedulerTest, TakesEventsBeforeTheOneRemovedLast)
{
    m_radix->Insert(MakeEvent(1000, 1));
    m_radix->Insert(MakeEvent(1000, 2));
    m_radix->Insert(MakeEvent(2000, 3));
    EXPECT_EQ(m_radix->RemoveNext().key.m_uid, 1u);
    m_radix->Insert(MakeEvent(7, 4));
    EXPECT_EQ(m_radix->RemoveNext().key.m_uid, 4u);
    EXPECT_EQ(m_radix->RemoveNext().key.m_uid, 2u);
    EXPECT_EQ(m_radix->RemoveNext().key.m_uid, 3u);
}

TEST_F(RadixSchedulerTest, EqualsTheMapSchedulerOnRandomInsertsAndRemovals)
{
    auto map = CreateObject<MapScheduler>();
    std::mt19937_64 random(3);
    std::vector<Scheduler::Event> pending;
    uint64_t now = 0;
    uint32_t uid = 0;
    for (int step = 0; step < 200000; ++step)
    {
        const auto action = random() % 16;
        if (action < 7 || map->IsEmpty())
        {
            // Delays of all magnitudes, 0 among them.
            const auto event =
                MakeEvent(now + (random() >> (24 + random() % 40) & 0xffffffffff), ++uid);
            map->Insert(event);
            m_radix->Insert(event);
            pending.push_back(event);
        }
        else if (action < 14)
        {
            ASSERT_EQ(m_radix->PeekNext().key.m_uid, map->PeekNext().key.m_uid);
            const auto expected = map->RemoveNext();
            const auto found = m_radix->RemoveNext();
            ASSERT_EQ(found.key.m_ts, expected.key.m_ts);
            ASSERT_EQ(found.key.m_uid, expected.key.m_uid);
            now = expected.key.m_ts;
            std::erase_if(pending,
                          [&](const auto& e) { return e.key.m_uid == expected.key.m_uid; });
        }
        else
        {
            const auto victim = pending.begin() + static_cast<long>(random() % pending.size());
            map->Remove(*victim);
            m_radix->Remove(*victim);
            pending.erase(victim);
        }
        ASSERT_EQ(m_radix->IsEmpty(), map->IsEmpty());
    }
}

} // namespace
} // namespace ns3::gradsync
