// SPDX-License-Identifier: GPL-2.0-only
// Connections that wait for a turn in a reservation, not in a queue pair.
#include "unit/transport/roce-fixture.h"

#include "ns3/state-words.h"
#include "ns3/wire-format.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <vector>

namespace ns3::gradsync
{
namespace
{

using ::testing::Each;
using ::testing::Pair;

/// `messages` of `bytes` from host 0 to each of the others of a star, in turns, with ascending
/// tags.
class RoceReservationTest : public RoceTransportTest
{
  protected:
    static constexpr uint32_t OTHERS = 200;
    static constexpr uint32_t MESSAGES = 8;

    void SendToAll(uint64_t bytes)
    {
        for (uint32_t message = 0; message < MESSAGES; ++message)
        {
            for (uint32_t other = 1; other <= OTHERS; ++other)
            {
                Send(0, other, bytes + message % 2, message * OTHERS + other);
            }
        }
    }

    void ExpectAll()
    {
        EXPECT_EQ(m_handler.delivered.size(), OTHERS * MESSAGES);
        EXPECT_THAT(m_handler.delivered, Each(Pair(::testing::_, 1)));
        EXPECT_TRUE(m_handler.failures.empty());
    }
};

/// How long a packet is on a link of 1 Gb/s, in picoseconds.
uint64_t
OnLink(uint32_t wireBytes)
{
    return uint64_t{wireBytes} * 8000;
}

TEST_F(RoceReservationTest, ThereAreNoMoreQueuePairsThanConnectionsWithSomethingUnderWay)
{
    // Each message is one packet. A queue pair serves from its first bit until the answer is in:
    // two links of 1 us for the packet, two for the answer, whose last bit is there after 2 * 8.784
    // + 2 * 0.688 + 4 = 22.944 us. A packet leaves every 8.784 us, so at most floor(22.944 / 8.784)
    // + 1 = 3 serve at once. Messages take turns of 201 packets.
    constexpr uint32_t BYTES = 1000;
    const auto data = OnLink(wire::RoceDataBytes(BYTES + 1)); // every other one is a byte shorter
    const auto total = 2 * data + 2 * OnLink(wire::ROCE_ACK_BYTES) + 4'000'000;
    InstallStar(OTHERS + 1);
    SendToAll(BYTES);
    Simulator::Run();
    ExpectAll();
    const auto expected = total / OnLink(wire::RoceDataBytes(BYTES)) + 1;
    EXPECT_EQ(expected, 3U);
    EXPECT_LE(m_transport->CountQueuePairs(), expected);
    EXPECT_EQ(m_transport->GetStatistics().goodputBytes,
              OTHERS * (MESSAGES * BYTES + MESSAGES / 2));
}

TEST_F(RoceReservationTest, LongMessagesKeepTheirQueuePairs)
{
    // 3 packets each, on no more connections than may keep theirs: from first to last.
    Set("KeptQueuePairs", UintegerValue(OTHERS + 1));
    InstallStar(OTHERS + 1);
    SendToAll(3 * 4096 - 100);
    Simulator::Run();
    ExpectAll();
    EXPECT_EQ(m_transport->CountQueuePairs(), OTHERS);
}

TEST_F(RoceReservationTest, LongMessagesGiveTheirQueuePairsBackWhereThereAreMany)
{
    // Likewise, but none is kept. The first two packets of a message serve until they arrive, the
    // third until the answer is in: 2 * 33.424 + 2 * 0.688 + 4 = 72.224 us, while one leaves every
    // 33.424 us: floor(72.224 / 33.424) + 1 = 3 serve at once. The first message of all had its
    // queue pair at once, without a reservation, and keeps it.
    constexpr uint32_t BYTES = 3 * 4096 - 100;
    const auto data = OnLink(wire::RoceDataBytes(4096));
    const auto total = 2 * data + 2 * OnLink(wire::ROCE_ACK_BYTES) + 4'000'000;
    InstallStar(OTHERS + 1);
    SendToAll(BYTES);
    Simulator::Run();
    ExpectAll();
    EXPECT_EQ(total / data + 1, 3U);
    EXPECT_LE(m_transport->CountQueuePairs(), total / data + 2);
    EXPECT_EQ(m_transport->GetStatistics().goodputBytes,
              OTHERS * (MESSAGES * uint64_t{BYTES} + MESSAGES / 2));
}

TEST_F(RoceReservationTest, MessagesOfMorePacketsHaveTheirOwnSeries)
{
    // 2 and 3 packets are no series: connection 0 -> 2 waits with the first one until the other
    // gives it a queue pair. What comes after all is in order.
    InstallStar(4);
    Send(0, 1, 5000, 1); // leaves at once
    Send(0, 2, 8192, 2);
    Send(0, 2, 8193, 3);
    Send(0, 3, 8192, 4);
    Send(0, 3, 8191, 5); // 2 packets as well
    Simulator::Run();
    EXPECT_EQ(m_handler.delivered,
              (std::map<uint64_t, int>{{1, 1}, {2, 1}, {3, 1}, {4, 1}, {5, 1}}));
    EXPECT_LT(m_handler.deliveredAt[2], m_handler.deliveredAt[3]);
    EXPECT_LT(m_handler.deliveredAt[4], m_handler.deliveredAt[5]);
    EXPECT_EQ(m_transport->GetStatistics().goodputBytes, 5000U + 8192 + 8193 + 8192 + 8191);
}

TEST_F(RoceReservationTest, WhatHasTooManyPacketsIsRefusedAmongOthersThatWaitToo)
{
    Set("Mtu", UintegerValue(64));
    InstallStar(4);
    Send(0, 1, 5000, 1); // leaves at once; the others wait
    Send(0, 2, 100, 2);
    Send(0, 3, uint64_t{64} << 32, 3); // 2^32 packets
    Send(0, 2, 100, 4);
    Simulator::Run();
    EXPECT_EQ(m_handler.delivered, (std::map<uint64_t, int>{{1, 1}, {2, 1}, {4, 1}}));
    ASSERT_EQ(m_handler.failures.size(), 1U);
    EXPECT_THAT(m_handler.failures[3], ::testing::HasSubstr("2^32"));
}

TEST_F(RoceReservationTest, OtherSizesAndHandlersHaveTheirOwnMessages)
{
    // No series: the third size and the other handler make the waiting connection a queue pair, in
    // the place where it waits.
    InstallStar(4);
    CountingHandler other;
    Send(0, 1, 5000, 1); // leaves at once
    Send(0, 2, 100, 2);
    Send(0, 2, 200, 3);
    Send(0, 2, 300, 4);
    Send(0, 3, 100, 5);
    m_transport->Send({0, 3, 0, 100, 6, &other});
    Send(0, 3, 100, 7);
    Simulator::Run();
    EXPECT_EQ(m_handler.delivered,
              (std::map<uint64_t, int>{{1, 1}, {2, 1}, {3, 1}, {4, 1}, {5, 1}, {7, 1}}));
    EXPECT_EQ(other.delivered, (std::map<uint64_t, int>{{6, 1}}));
}

TEST_F(RoceReservationTest, WhatReservationsHaveNoRoomForArrivesToo)
{
    // A stream beyond 2^20, and one handler more than can be named: each has its queue pair at
    // once, among others of the same destination that wait. All are one packet: what waits arrives
    // in turns, the messages of one connection in order.
    InstallStar(4);
    std::vector<CountingHandler> others(RoceHandlers::MAX_COUNT + 1);
    Send(0, 1, 4096, 1); // leaves at once; the others wait
    Send(0, 2, 100, 2);
    Send(0, 2, 356, 3);
    m_transport->Send({0, 2, 1U << 20, 100, 4, &m_handler});
    for (size_t i = 0; i < others.size(); ++i)
    {
        m_transport->Send({0, 3, static_cast<uint32_t>(i), 100, 5 + i, &others[i]});
    }
    // The first of these leaves when the packet of 4096 bytes has.
    EXPECT_EQ(m_transport->CountQueuePairs(), 3U); // of tags 1, 4, and the last one
    Simulator::Run();
    EXPECT_EQ(m_handler.delivered, (std::map<uint64_t, int>{{1, 1}, {2, 1}, {3, 1}, {4, 1}}));
    EXPECT_LT(m_handler.deliveredAt[2], m_handler.deliveredAt[3]);
    for (size_t i = 0; i < others.size(); ++i)
    {
        EXPECT_EQ(others[i].delivered, (std::map<uint64_t, int>{{5 + i, 1}}));
    }
}

TEST_F(RoceReservationTest, MoreShapesThanCanBeNamedArriveToo)
{
    // Two messages of one packet on each of 80,000 connections, of sizes in 400 times 200 pairs of
    // first and difference: 400 shapes of the first ones, and 2^16 - 1 - 400 pairs have room. The
    // others have their queue pairs at once, as has the one that leaves.
    constexpr uint32_t FIRSTS = 400;
    constexpr uint32_t STREAMS = FIRSTS * 200;
    InstallStar(2);
    uint64_t bytes = 0;
    for (uint32_t message = 0; message < 2; ++message)
    {
        for (uint32_t stream = 0; stream < STREAMS; ++stream)
        {
            const auto size = 1 + stream % FIRSTS + message * (1 + stream / FIRSTS);
            m_transport->Send({0, 1, stream, size, message * STREAMS + stream, &m_handler});
            bytes += size;
        }
    }
    EXPECT_NEAR(m_transport->CountQueuePairs(), STREAMS - (65535 - FIRSTS), 1);
    Simulator::Run();
    EXPECT_EQ(m_handler.delivered.size(), 2 * STREAMS);
    EXPECT_THAT(m_handler.delivered, Each(Pair(::testing::_, 1)));
    EXPECT_EQ(m_transport->GetStatistics().goodputBytes, bytes);
    // All are forgotten when nothing waits: as many again wait as before.
    const auto queuePairs = m_transport->CountQueuePairs();
    m_handler.delivered.clear();
    for (uint32_t stream = 0; stream < STREAMS; ++stream)
    {
        m_transport->Send({0, 1, stream, 1 + stream, stream, &m_handler});
    }
    Simulator::Run();
    EXPECT_EQ(m_handler.delivered.size(), STREAMS);
    EXPECT_EQ(m_transport->CountQueuePairs(), queuePairs);
}

TEST_F(RoceReservationTest, EachNicKeepsSomeQueuePairs)
{
    // 201 of 201 NICs would be one each: 16 wait with one, behind the one that leaves at once.
    Set("KeptQueuePairs", UintegerValue(OTHERS + 1));
    InstallStar(OTHERS + 1);
    SendToAll(1000);
    EXPECT_EQ(m_transport->CountQueuePairs(), 17U);
    Simulator::Run();
    ExpectAll();
}

TEST_F(RoceReservationTest, KeptQueuePairsAreReservedWhenTheyWaitAmongOthers)
{
    // 201 * 50 are kept, so 50 connections of one of 201 NICs wait with a queue pair for their
    // first turn, behind the one that leaves at once; those behind them wait without. Who has sent
    // goes to the end of a ring of many, and gives its queue pair back when that is answered. So
    // the 51 serve all: of those that have had a turn no more than three have one (see above), in
    // place of as many at the head of the ring. Did they keep theirs, there would be 54.
    constexpr uint32_t KEPT = 50;
    Set("KeptQueuePairs", UintegerValue(KEPT * (OTHERS + 1)));
    InstallStar(OTHERS + 1);
    SendToAll(1000);
    EXPECT_EQ(m_transport->CountQueuePairs(), KEPT + 1); // one has left
    Simulator::Run();
    ExpectAll();
    EXPECT_EQ(m_transport->CountQueuePairs(), KEPT + 1);
}

TEST_F(RoceReservationTest, WhatWaitsCanBeAbandoned)
{
    InstallStar(OTHERS + 1);
    SendToAll(1000);
    CountingHandler other;
    m_transport->Send({0, 7, 0, 1000, 1, &other}); // its connection goes on
    Simulator::Schedule(MicroSeconds(1), [this] {
        m_transport->Abandon([this](uint32_t, uint32_t, const MessageHandler* handler) {
            return handler == &m_handler;
        });
        Send(0, 9, 1000, 1'000'000); // a new one
    });
    Simulator::Run();
    std::map<uint64_t, int> expected{{1'000'000, 1}};
    for (uint32_t message = 0; message < MESSAGES; ++message)
    {
        expected[message * OTHERS + 7] = 1;
    }
    EXPECT_EQ(m_handler.delivered, expected);
    EXPECT_EQ(other.delivered, (std::map<uint64_t, int>{{1, 1}}));
}

TEST_F(RoceReservationTest, WhatWaitsHasNoStateToCompare)
{
    InstallStar(4);
    Send(0, 1, 1000, 1);
    Send(0, 2, 1000, 2);
    StateWords words(0);
    m_transport->AddState(words);
    EXPECT_THAT(words.GetRefusal(), ::testing::HasSubstr("messages under way"));
    Simulator::Run();
    StateWords atRest(0);
    m_transport->AddState(atRest);
    EXPECT_EQ(atRest.GetRefusal(), "");
}

} // namespace
} // namespace ns3::gradsync
