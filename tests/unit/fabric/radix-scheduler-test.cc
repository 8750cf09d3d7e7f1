// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/event-impl.h"
#include "ns3/event-order.h"
#include "ns3/map-scheduler.h"
#include "ns3/radix-scheduler.h"
#include "ns3/time-range.h"

#include <algorithm>
#include <deque>
#include <gtest/gtest.h>
#include <map>
#include <random>
#include <set>
#include <span>
#include <utility>
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

TEST_F(RadixSchedulerTest, TellsWhetherAnEventComesBeforeAnyTime)
{
    std::mt19937_64 random(11);
    const auto drawAhead = [&random] {
        const auto range = uint64_t{1} << random() % 24;
        return random() % range;
    };
    std::multiset<uint64_t> pending;
    uint64_t now = 0;
    uint32_t uid = 0;
    for (int step = 0; step < 20'000; ++step)
    {
        if (random() % 2 == 0 || pending.empty())
        {
            const auto at = now + drawAhead();
            m_radix->Insert(MakeEvent(at, ++uid));
            pending.insert(at);
        }
        else
        {
            now = *pending.begin();
            ASSERT_EQ(m_radix->RemoveNextInOrder().key.m_ts, now);
            pending.erase(pending.begin());
        }
        for (const auto ts : {now, now + 1, now + drawAhead()})
        {
            ASSERT_EQ(m_radix->HasBefore(ts), !pending.empty() && *pending.begin() < ts);
        }
    }
}

TEST_F(RadixSchedulerTest, LeavesTheOrderInTheContextForWhoAsks)
{
    auto event = MakeEvent(5, 1);
    event.key.m_context = EventOrder::OfWake(3);
    m_radix->Insert(event);
    event.key.m_uid = 2;
    m_radix->Insert(event);
    EXPECT_EQ(m_radix->RemoveNextInOrder().key.m_context, EventOrder::OfWake(3));
    EXPECT_EQ(m_radix->RemoveNext().key.m_context, EventOrder::GetContext(EventOrder::OfWake(3)));
}

TEST_F(RadixSchedulerTest, EventsOfOneTimeLeaveInOrderWhereUidsBeginAnew)
{
    // ns-3 numbers events by 32 bits: after 2^32 of them comes 0.
    const std::vector<uint32_t> uids{UINT32_MAX - 2, UINT32_MAX - 1, UINT32_MAX, 0, 1, 2};
    std::vector<uint32_t> found;
    for (const auto uid : uids)
    {
        m_radix->Insert(MakeEvent(50, uid));
        EXPECT_EQ(m_radix->PeekNext().key.m_uid, uids.front());
    }
    m_radix->Insert(MakeEvent(7, 3)); // back in time: all of them are dealt out anew
    EXPECT_EQ(m_radix->RemoveNext().key.m_uid, 3u);
    while (!m_radix->IsEmpty())
    {
        EXPECT_EQ(m_radix->PeekNext().key.m_uid, uids[found.size()]);
        found.push_back(m_radix->RemoveNext().key.m_uid);
        if (found.size() == 1)
        {
            m_radix->Insert(MakeEvent(7, 4)); // before the front
            EXPECT_EQ(m_radix->RemoveNext().key.m_uid, 4u);
        }
    }
    EXPECT_EQ(found, uids);
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

class NoEvent : public EventImpl
{
    void Notify() override
    {
    }
};

Scheduler::Event
MakeOrderedEvent(uint64_t ts, uint32_t uid, uint32_t context, EventImpl* impl = nullptr)
{
    auto event = MakeEvent(ts, uid);
    event.key.m_context = context;
    event.impl = impl;
    return event;
}

TEST_F(RadixSchedulerTest, EventsOfOneTimeLeaveByKindThenPlaceThenAge)
{
    // What an event is comes before where it is, and that before when it was inserted; all that
    // has no order of its own, context of a node or not, comes last but for what is sent.
    m_radix->Insert(MakeOrderedEvent(50, 0, EventOrder::OfSending(4)));
    m_radix->Insert(MakeOrderedEvent(50, 1, 7));
    m_radix->Insert(MakeOrderedEvent(50, 2, EventOrder::OfNode(3)));
    m_radix->Insert(MakeOrderedEvent(50, 3, EventOrder::OfTimeout(2)));
    m_radix->Insert(MakeOrderedEvent(50, 4, Simulator::NO_CONTEXT));
    m_radix->Insert(MakeOrderedEvent(50, 5, EventOrder::OfWake(5)));
    m_radix->Insert(MakeOrderedEvent(50, 6, EventOrder::OfArrival(9)));
    m_radix->Insert(MakeOrderedEvent(50, 7, EventOrder::OfDeparture(1)));
    m_radix->Insert(MakeOrderedEvent(50, 8, EventOrder::OfArrival(4)));
    m_radix->Insert(MakeOrderedEvent(50, 9, EventOrder::OfNode(3)));
    m_radix->Insert(MakeOrderedEvent(50, 10, 6));
    m_radix->Insert(MakeOrderedEvent(49, 11, 0));
    for (const uint32_t expected : {11, 5, 8, 6, 7})
    {
        ASSERT_EQ(m_radix->PeekNext().key.m_uid, expected);
        ASSERT_EQ(m_radix->RemoveNext().key.m_uid, expected);
    }
    // One that comes at the instant itself takes its place among those that are left.
    m_radix->Insert(MakeOrderedEvent(50, 12, EventOrder::OfDeparture(0)));
    m_radix->Insert(MakeOrderedEvent(50, 13, EventOrder::OfNode(2)));
    m_radix->Insert(MakeOrderedEvent(50, 14, EventOrder::OfNode(3)));
    m_radix->Insert(MakeOrderedEvent(50, 15, EventOrder::OfSending(3)));
    for (const uint32_t expected : {12, 3, 13, 2, 9, 14, 1, 4, 10, 15, 0})
    {
        ASSERT_EQ(m_radix->PeekNext().key.m_uid, expected);
        ASSERT_EQ(m_radix->RemoveNext().key.m_uid, expected);
    }
    EXPECT_TRUE(m_radix->IsEmpty());
}

TEST_F(RadixSchedulerTest, EventsLeaveWithAContextOfNs3)
{
    const std::vector<std::pair<uint32_t, uint32_t>> contexts{
        {EventOrder::OfArrival(4), Simulator::NO_CONTEXT},
        {EventOrder::OfDeparture(4), Simulator::NO_CONTEXT},
        {EventOrder::OfWake(4), Simulator::NO_CONTEXT},
        {EventOrder::OfTimeout(4), Simulator::NO_CONTEXT},
        {EventOrder::OfNode(4), 4},
        {17, 17},
        {Simulator::NO_CONTEXT, Simulator::NO_CONTEXT}};
    uint32_t uid = 0;
    for (const auto& [inserted, found] : contexts)
    {
        m_radix->Insert(MakeOrderedEvent(50, ++uid, inserted));
        EXPECT_EQ(m_radix->PeekNext().key.m_context, found);
        EXPECT_EQ(m_radix->RemoveNext().key.m_context, found);
    }
}

/// Events that are to be one of a kind at their time and place, in the order in which they leave a
/// scheduler; each time as many as could be there are inserted, in a random order.
class OrderLaw
{
  public:
    using Entry = std::pair<uint64_t, uint32_t>; // time, order

    static std::vector<Entry> Run(uint32_t eventSeed, uint32_t insertionSeed)
    {
        std::mt19937 random(eventSeed);
        std::mt19937 insertion(insertionSeed);
        auto radix = CreateObject<RadixScheduler>();
        std::deque<NoEvent> impls;
        std::map<const EventImpl*, Entry> entryOf;
        std::set<Entry> pending;
        std::vector<Entry> left;
        uint64_t now = 0;
        uint32_t uid = insertion(); // somewhere: it wraps
        for (uint32_t step = 0; step < 200; ++step)
        {
            std::vector<Entry> batch;
            for (auto count = random() % 40; count > 0; --count)
            {
                // Few instants, now among them, and all kinds of places.
                const auto kind = 8 + static_cast<uint32_t>(random() % 5);
                const auto place = static_cast<uint32_t>(random() % 50);
                const Entry entry{now + random() % 4, kind << 28 | place};
                if (pending.insert(entry).second)
                {
                    batch.push_back(entry);
                }
            }
            std::shuffle(batch.begin(), batch.end(), insertion);
            for (const auto& entry : batch)
            {
                auto* impl = &impls.emplace_back();
                entryOf[impl] = entry;
                radix->Insert(MakeOrderedEvent(entry.first, ++uid, entry.second, impl));
            }
            for (auto count = random() % 40; count > 0 && !radix->IsEmpty(); --count)
            {
                const auto next = radix->RemoveNext();
                const auto entry = entryOf.at(next.impl);
                // The least of all that are there.
                EXPECT_EQ(entry, *pending.begin());
                pending.erase(entry);
                left.push_back(entry);
                now = entry.first;
            }
        }
        return left;
    }
};

TEST(RadixSchedulerOrderTest, WhoWasInsertedFirstMakesNoDifference)
{
    for (uint32_t eventSeed = 0; eventSeed < 20; ++eventSeed)
    {
        const auto expected = OrderLaw::Run(eventSeed, 1);
        ASSERT_GT(expected.size(), 1000U);
        for (uint32_t insertionSeed = 2; insertionSeed < 6; ++insertionSeed)
        {
            ASSERT_EQ(OrderLaw::Run(eventSeed, insertionSeed), expected);
        }
    }
}

TEST_F(RadixSchedulerTest, EventsAfterTheEndOfTimeLeaveLastAndCancelled)
{
    // Random times up to the end, soon after it, and sums that have wrapped to negative ones.
    std::mt19937_64 random(7);
    std::deque<NoEvent> impls;
    std::multiset<uint64_t> inTime;
    size_t late = 0;
    uint64_t now = LAST_TIME_STEP - 1'000'000;
    for (uint32_t uid = 1; uid <= 5000; ++uid)
    {
        const auto kind = random() % 8;
        const auto ts = kind == 0   ? LAST_TIME_STEP + 1 + random() % 1000
                        : kind == 1 ? UINT64_MAX - random() % (uint64_t{1} << 62)
                                    : now + random() % (LAST_TIME_STEP + 1 - now);
        auto event = MakeEvent(ts, uid);
        event.impl = &impls.emplace_back();
        m_radix->Insert(event);
        if (random() % 16 == 0)
        {
            m_radix->Remove(event);
        }
        else if (ts <= LAST_TIME_STEP)
        {
            inTime.insert(ts);
        }
        else
        {
            ++late;
        }
        if (random() % 8 == 0 && !inTime.empty())
        {
            const auto next = m_radix->RemoveNext();
            ASSERT_EQ(next.key.m_ts, *inTime.begin());
            ASSERT_FALSE(next.impl->IsCancelled());
            now = next.key.m_ts;
            inTime.erase(inTime.begin());
        }
    }
    EXPECT_GT(inTime.size(), 100U);
    EXPECT_GT(late, 100U);
    for (; !inTime.empty(); inTime.erase(inTime.begin()))
    {
        ASSERT_EQ(m_radix->PeekNext().key.m_ts, *inTime.begin());
        ASSERT_EQ(m_radix->RemoveNext().key.m_ts, *inTime.begin());
    }
    for (; late > 0; --late)
    {
        ASSERT_FALSE(m_radix->IsEmpty());
        const auto peeked = m_radix->PeekNext();
        const auto next = m_radix->RemoveNext();
        ASSERT_EQ(peeked.key.m_uid, next.key.m_uid);
        ASSERT_EQ(next.key.m_ts, uint64_t{LAST_TIME_STEP});
        ASSERT_TRUE(next.impl->IsCancelled());
    }
    EXPECT_TRUE(m_radix->IsEmpty());
}

/// Random events, and what the scheduler foresaw of them.
/// Counts how many of its kind there are.
class CountedEvent : public EventImpl
{
  public:
    CountedEvent()
    {
        ++s_alive;
    }

    ~CountedEvent() override
    {
        --s_alive;
    }

    static inline int s_alive{0};

  protected:
    void Notify() override
    {
    }
};

TEST_F(RadixSchedulerTest, LetsGoOfCancelledEventsButLeavesAsManyTimes)
{
    // A timer a million steps ahead is cancelled and set again at every step, as TCP's is.
    constexpr uint64_t STEPS = 200'000;
    constexpr uint64_t AHEAD = 1'000'000;
    EventImpl* timer = nullptr;
    uint32_t uid = 0;
    uint64_t last = 0;
    int mostAlive = 0;
    const auto insert = [&](uint64_t ts) {
        auto event = MakeEvent(ts, ++uid);
        event.impl = new CountedEvent;
        m_radix->Insert(event);
        return event;
    };
    auto step = insert(1);
    for (uint64_t i = 1; i <= STEPS; ++i)
    {
        const auto next = m_radix->RemoveNext();
        ASSERT_EQ(next.key.m_uid, step.key.m_uid); // timers are far ahead
        next.impl->Unref();
        if (timer && i % 1000 != 0) // one in a thousand stays
        {
            timer->Cancel();
        }
        const auto event = insert(i + AHEAD);
        timer = event.impl;
        last = event.key.m_ts;
        if (i < STEPS)
        {
            step = insert(i + 1);
        }
        mostAlive = std::max(mostAlive, CountedEvent::s_alive);
    }
    // 200 stay, and the vectors' growth decides when the others are looked at.
    EXPECT_LT(mostAlive, 5'000);
    uint64_t removed = 0;
    uint64_t kept = 0;
    uint64_t now = 0;
    uint64_t mostPending = 0;
    while (!m_radix->IsEmpty())
    {
        uint64_t pending = 0;
        if (removed % 100 == 0)
        {
            m_radix->VisitPending([&pending](const Scheduler::Event&) { ++pending; });
        }
        mostPending = std::max(mostPending, pending);
        const auto next = m_radix->RemoveNext();
        EXPECT_GE(next.key.m_ts, now);
        now = next.key.m_ts;
        kept += next.impl->IsCancelled() ? 0 : 1;
        next.impl->Unref();
        ++removed;
    }
    EXPECT_LT(mostPending, 5'000); // nor do they come back when their time has come
    EXPECT_EQ(removed, STEPS);
    EXPECT_EQ(kept, STEPS / 1000 + 1); // and the last one; the first was set at step 1
    EXPECT_EQ(now, last);
    EXPECT_EQ(CountedEvent::s_alive, 0);
}

class RadixSchedulerForesightTest : public RadixSchedulerTest
{
  protected:
    void SetUp() override
    {
        s_foreseen.clear();
        RadixScheduler::SetPrefetch(
            [](std::span<EventImpl* const> next) { s_foreseen.assign(next.begin(), next.end()); });
    }

    void TearDown() override
    {
        RadixScheduler::SetPrefetch(nullptr);
    }

    void Insert(uint64_t ts)
    {
        auto event = MakeEvent(ts, static_cast<uint32_t>(m_impls.size() + 1));
        event.impl = &m_impls.emplace_back();
        m_timeOf[event.impl] = ts;
        // Nobody can be told of what comes too late for it.
        (ts <= m_toldUpTo ? m_late : m_untold).insert(event.impl);
        m_radix->Insert(event);
    }

    /// Removes the next event and checks what was foreseen with it. \return its time
    uint64_t Remove()
    {
        s_foreseen.clear();
        const auto event = m_radix->RemoveNext();
        CheckForeseen(event.impl);
        EXPECT_FALSE(m_untold.contains(event.impl)) << "came untold";
        m_late.erase(event.impl);
        return event.key.m_ts;
    }

    std::deque<NoEvent> m_impls;
    std::set<EventImpl*> m_untold; //!< pending
    std::set<EventImpl*> m_late;   //!< likewise
    int m_removed{0};

  private:
    void CheckForeseen(EventImpl* first)
    {
        EXPECT_LE(s_foreseen.size(), RadixScheduler::PREFETCH_COUNT);
        uint64_t last = 0;
        for (auto* impl : s_foreseen)
        {
            const bool isNew = m_untold.erase(impl) + m_late.erase(impl) > 0;
            EXPECT_TRUE(isNew) << "not pending, or told of twice";
            last = std::max(last, m_timeOf.at(impl));
        }
        EXPECT_TRUE(s_foreseen.empty() || s_foreseen[0] == first);
        for (auto* impl : m_untold)
        {
            EXPECT_GE(m_timeOf.at(impl), last) << "left out";
        }
        m_toldUpTo = std::max(m_toldUpTo, last);
    }

    std::map<EventImpl*, uint64_t> m_timeOf;
    uint64_t m_toldUpTo{0};
    static inline std::vector<EventImpl*> s_foreseen;
};

TEST_F(RadixSchedulerForesightTest, TellsOfEveryEventOnceAndOfNoneBeforeAnEarlierOne)
{
    std::mt19937_64 random(5);
    uint64_t now = 1;
    for (int step = 0; step < 20000; ++step)
    {
        // From 1 to 2,000 pending, so that batches end within buckets, and within one time.
        const auto wanted = 1 + (step / 1000 % 4) * 600;
        const auto pending = m_radix->IsEmpty() ? 0 : static_cast<int>(m_impls.size()) - m_removed;
        if (pending < wanted)
        {
            Insert(now + 1 + (random() % 4 == 0 ? random() % 100000 : 500));
            continue;
        }
        now = Remove();
        ++m_removed;
    }
}

TEST_F(RadixSchedulerForesightTest, TellsOfAllAtOneTimeInBatches)
{
    constexpr size_t COUNT = 3 * RadixScheduler::PREFETCH_COUNT + 1;
    for (size_t i = 0; i < COUNT; ++i)
    {
        Insert(1000);
    }
    for (size_t i = 0; i < COUNT; ++i)
    {
        EXPECT_EQ(Remove(), 1000u);
        const auto batches = i / RadixScheduler::PREFETCH_COUNT + 1;
        EXPECT_EQ(m_untold.size(),
                  COUNT - std::min(COUNT, batches * RadixScheduler::PREFETCH_COUNT));
    }
}

} // namespace
} // namespace ns3::gradsync
