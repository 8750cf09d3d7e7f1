// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/hash.h"
#include "ns3/roce-connection-table.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <gmock/gmock.h>
#include <iterator>
#include <map>
#include <random>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

namespace ns3::gradsync
{

namespace
{

using Key = std::tuple<uint32_t, uint32_t, uint32_t>; // src, dst, stream

/// What is open by a map beside it; indices by what the table gave.
class RoceConnectionTableTest : public ::testing::Test
{
  protected:
    void Open(const Key& key)
    {
        const auto [src, dst, stream] = key;
        const auto [queuePair, isNew] = m_table.Open({src, dst, stream});
        EXPECT_EQ(isNew, m_open.count(key) == 0);
        EXPECT_EQ((Key{queuePair.src, queuePair.dst, queuePair.stream}), key);
        const auto [entry, isAdded] = m_open.emplace(key, queuePair.index);
        EXPECT_EQ(entry->second, queuePair.index);
        EXPECT_EQ(m_table.Find(queuePair.index, queuePair.generation), &queuePair);
    }

    void Close(std::map<Key, uint32_t>::iterator entry)
    {
        const auto [src, dst, stream] = entry->first;
        auto& queuePair = m_table.Open({src, dst, stream}).first;
        const auto generation = queuePair.generation;
        m_table.Close(queuePair);
        EXPECT_EQ(m_table.Find(entry->second, generation), nullptr);
        m_open.erase(entry);
    }

    std::vector<uint32_t> GetIndices() const
    {
        std::vector<uint32_t> indices;
        for (const auto* queuePair : m_table.ListOpen())
        {
            indices.push_back(queuePair->index);
        }
        return indices;
    }

    std::vector<uint32_t> GetExpectedIndices() const
    {
        std::vector<uint32_t> indices;
        for (const auto& [key, index] : m_open)
        {
            indices.push_back(index);
        }
        std::sort(indices.begin(), indices.end());
        return indices;
    }

    RoceConnectionTable m_table;
    std::map<Key, uint32_t> m_open;
};

TEST_F(RoceConnectionTableTest, FindsWhatIsOpenWhateverIsClosedBeside)
{
    // Up and down between none and some hundreds of 32 * 31 * 2 connections, so that the table
    // grows several times and closing has neighbours to move, also around its end.
    std::mt19937 random(1);
    for (int round = 0; round < 20; ++round)
    {
        for (int i = 0; i < 500; ++i)
        {
            const uint32_t src = random() % 32;
            Open({src, (src + 1 + random() % 31) % 32, random() % 2});
        }
        ASSERT_EQ(GetIndices(), GetExpectedIndices());
        const auto kept = round % 4 == 3 ? 0 : m_open.size() / 2;
        while (m_open.size() > kept)
        {
            const auto skipped = static_cast<std::ptrdiff_t>(random() % m_open.size());
            Close(std::next(m_open.begin(), skipped));
        }
        ASSERT_EQ(GetIndices(), GetExpectedIndices());
    }
}

TEST(RoceConnectionTableDivisionTest, TablesOfSeveralProcessesNeverGiveTheSameIndex)
{
    // Three of them open more than a block of 256 each.
    std::set<uint32_t> indices;
    for (uint32_t own = 0; own < 3; ++own)
    {
        RoceConnectionTable table;
        table.Divide(own, 3);
        for (uint32_t dst = 0; dst < 600; ++dst)
        {
            const auto index = table.Open({own, dst, 0}).first.index;
            EXPECT_TRUE(indices.insert(index).second) << index;
            EXPECT_TRUE(table.Has(index));
        }
    }
}

TEST(RoceConnectionTableDivisionTest, AMirrorIsFoundByTheIndexOfItsOtherHalf)
{
    RoceConnectionTable sender;
    RoceConnectionTable receiver;
    sender.Divide(0, 2);
    receiver.Divide(1, 2);
    auto& half = sender.Open({4, 9, 1}).first;
    const auto [mirror, isNew] = receiver.Mirror(half.index, half.generation, {4, 9, 1});
    EXPECT_TRUE(isNew);
    EXPECT_TRUE(mirror.isMirror);
    EXPECT_EQ(mirror.flowHash, half.flowHash);
    EXPECT_EQ(receiver.Find(half.index, half.generation), &mirror);
    EXPECT_FALSE(receiver.Mirror(half.index, half.generation, {4, 9, 1}).second);
    // It is none of the receiver's own connections, and gone with the next life of the other half.
    EXPECT_TRUE(receiver.ListOpen().empty());
    const auto old = half.generation;
    sender.Close(half);
    auto& next = sender.Open({4, 8, 0}).first;
    EXPECT_EQ(next.index, half.index);
    EXPECT_TRUE(receiver.Mirror(next.index, next.generation, {4, 8, 0}).second);
    EXPECT_EQ(receiver.Find(next.index, old), nullptr);
}

TEST_F(RoceConnectionTableTest, QueuePairsOfClosedConnectionsServeAgain)
{
    // 300 one after the other: never more than one queue pair.
    for (uint32_t i = 0; i < 300; ++i)
    {
        Open({i, i + 1, 0});
        EXPECT_EQ(m_open.begin()->second, 0U);
        Close(m_open.begin());
    }
    EXPECT_FALSE(m_table.Has(1));
}

TEST(RoceConnectionTableReservationTest, ReservationsHaveAQueuePairNowAndThenUnderOneNumber)
{
    // Random reservations, queue pairs for them, and ends; the queue pairs are no more than served
    // at once. A closed one that stands in its NIC's ring is given back later, and its number too.
    RoceConnectionTable table;
    std::map<Key, uint32_t> open; // -> number
    std::set<Key> built;
    std::vector<RoceQueuePair*> inRing;
    size_t mostBuilt = 0;
    std::mt19937 random(4);
    for (int i = 0; i < 20'000; ++i)
    {
        const Key key{random() % 8, random() % 32, random() % 2};
        const auto [src, dst, stream] = key;
        const RoceConnection connection{src, dst, stream};
        const auto number = table.FindNumber(connection);
        ASSERT_EQ(number, open.contains(key) ? open[key] : RoceConnectionTable::NONE);
        auto* queuePair =
            number == RoceConnectionTable::NONE ? nullptr : table.FindQueuePair(number);
        ASSERT_EQ(queuePair != nullptr, built.contains(key));
        if (number == RoceConnectionTable::NONE)
        {
            const auto [reserved, isNew] = table.Reserve(connection);
            EXPECT_TRUE(isNew);
            EXPECT_EQ(table.Reserve(connection), std::pair(reserved, false));
            EXPECT_TRUE(table.GetReservation(reserved).GetConnection() == connection);
            open[key] = reserved;
        }
        else if (!queuePair)
        {
            auto& fresh = table.Build(number);
            EXPECT_EQ((Key{fresh.src, fresh.dst, fresh.stream}), key);
            EXPECT_EQ(fresh.number, number);
            built.insert(key);
        }
        else if (const auto generation = queuePair->generation; random() % 2 == 0)
        {
            const uint32_t sent = random() % 100;
            EXPECT_EQ(&table.TakeBack(*queuePair, sent), &table.GetReservation(number));
            EXPECT_TRUE(table.GetReservation(number).IsWaiting());
            EXPECT_EQ(table.GetReservation(number).GetSent(), sent);
            EXPECT_EQ(table.Find(queuePair->index, generation), nullptr);
            built.erase(key);
        }
        else
        {
            queuePair->isReady = random() % 2 == 0;
            table.Close(*queuePair);
            built.erase(key);
            open.erase(key);
            if (queuePair->isReady)
            {
                inRing.push_back(queuePair);
            }
        }
        mostBuilt = std::max(mostBuilt, built.size() + inRing.size());
        if (inRing.size() > 5)
        {
            table.Recycle(*inRing.back());
            inRing.pop_back();
        }
        ASSERT_EQ(table.IsAnyWaiting(), open.size() > built.size());
    }
    EXPECT_EQ(table.ListOpen().size(), built.size());
    EXPECT_EQ(table.CountQueuePairs(), mostBuilt);
    std::set<uint32_t> numbers;
    for (const auto& [key, number] : open)
    {
        EXPECT_TRUE(numbers.insert(number).second);
    }
}

TEST_F(RoceConnectionTableTest, AQueuePairGetsAReservationBesideIt)
{
    // Of 300 that have queue pairs every other one: it stays open under a new number, and can be
    // taken back. Numbers are told apart from indices.
    for (uint32_t i = 0; i < 300; ++i)
    {
        Open({i, i + 1, 0});
    }
    for (uint32_t i = 0; i < 300; i += 2)
    {
        const RoceConnection connection{i, i + 1, 0};
        auto& queuePair = *m_table.FindQueuePair(m_table.FindNumber(connection));
        EXPECT_FALSE(RoceConnectionTable::IsReservation(queuePair.number));
        m_table.AddReservation(queuePair);
        EXPECT_TRUE(RoceConnectionTable::IsReservation(queuePair.number));
        EXPECT_EQ(m_table.FindNumber(connection), queuePair.number);
        EXPECT_EQ(m_table.FindQueuePair(queuePair.number), &queuePair);
        EXPECT_TRUE(m_table.GetReservation(queuePair.number).GetConnection() == connection);
    }
    EXPECT_EQ(GetIndices(), GetExpectedIndices());
    EXPECT_FALSE(m_table.IsAnyWaiting());
    for (uint32_t i = 0; i < 300; i += 2)
    {
        const auto number = m_table.FindNumber({i, i + 1, 0});
        m_table.TakeBack(*m_table.FindQueuePair(number), i);
        EXPECT_EQ(m_table.FindNumber({i, i + 1, 0}), number);
        EXPECT_EQ(m_table.FindQueuePair(number), nullptr);
        EXPECT_EQ(m_table.GetReservation(number).GetSent(), i);
    }
    EXPECT_EQ(m_table.CountUsedQueuePairs(), 150U);
}

constexpr auto ROW = PlaceTable::ROW;

TEST(RoceConnectionPlace, EightDestinationsInARowStandInOneRow)
{
    // Whether all have one stream, or each a stream of its own number as the shards of PS: the row
    // is that of the first, and each has a place of its own there.
    for (const auto isStreamOfDestination : {false, true})
    {
        for (uint32_t first = 0; first < 1024; first += ROW)
        {
            uint32_t taken = 0;
            const auto row = RoceConnection{7, first, isStreamOfDestination ? first : 0}.GetPlace();
            for (uint32_t dst = first; dst < first + ROW; ++dst)
            {
                const RoceConnection connection{7, dst, isStreamOfDestination ? dst : 0};
                EXPECT_EQ(connection.GetPlace() / ROW, row / ROW);
                taken |= 1U << (connection.GetPlace() % ROW);
            }
            EXPECT_EQ(taken, 0xffU) << first;
        }
    }
}

TEST(RoceConnectionPlace, RowsAreSpreadAsDrawnAtRandom)
{
    // n rows of 1,024 hosts fall on m = 2^17 rows of a table; drawn at random they would take
    // m (1 - (1 - 1/m)^n) of them, with a deviation of less than sqrt(m) / 2 = 181.
    constexpr uint32_t HOSTS = 1024;
    constexpr uint32_t ROWS = 1U << 17;
    std::vector<bool> taken(ROWS);
    for (uint32_t src = 0; src < HOSTS; ++src)
    {
        for (uint32_t dst = 0; dst < HOSTS; dst += ROW)
        {
            taken[RoceConnection{src, dst, dst}.GetPlace() / ROW % ROWS] = true;
        }
    }
    constexpr uint32_t DRAWN = HOSTS / ROW * HOSTS;
    EXPECT_NEAR(static_cast<double>(std::count(taken.begin(), taken.end(), true)),
                ROWS * (1.0 - std::pow(1.0 - 1.0 / ROWS, DRAWN)),
                4 * 181.0);
}

TEST(RoceConnectionPlace, NumbersThatAreMultiplesOfEightTakeAllPlacesOfTheirRows)
{
    // As where the first accelerators of servers talk. Drawn at random, each of the eight places
    // would be taken n / 8 times, with a deviation of sqrt(n (1/8) (7/8)).
    constexpr uint32_t HOSTS = 2048;
    std::array<uint32_t, ROW> taken{};
    for (uint32_t src = 0; src < HOSTS; src += ROW)
    {
        for (uint32_t dst = 0; dst < HOSTS; dst += ROW)
        {
            ++taken[RoceConnection{src, dst, 0}.GetPlace() % ROW];
        }
    }
    constexpr uint32_t DRAWN = HOSTS / ROW * (HOSTS / ROW);
    for (const auto count : taken)
    {
        EXPECT_NEAR(count, 1.0 * DRAWN / ROW, 4.0 * std::sqrt(DRAWN * 7.0 / 64.0));
    }
}

TEST(RoceConnection, HashesAsNs3Does)
{
    std::mt19937 random(7);
    for (int round = 0; round < 1000; ++round)
    {
        const auto draw = [&random] { return static_cast<uint32_t>(random() >> random() % 32); };
        const RoceConnection connection{draw(), draw(), draw()};
        const uint32_t key[] = {connection.src, connection.dst, connection.stream};
        EXPECT_EQ(connection.GetHash(), Hash64(reinterpret_cast<const char*>(key), sizeof(key)));
    }
}

} // namespace

} // namespace ns3::gradsync
