// SPDX-License-Identifier: GPL-2.0-only
// The memory of switches that groups of all protocols share. Part of aggregation-tests.
#include "support/message-collector.h"
#include "unit/aggregation/slot-aggregation-fixture.h"

#include "ns3/switch-memory.h"

#include <gmock/gmock.h>
#include <map>
#include <random>
#include <string>
#include <vector>

namespace ns3::gradsync
{
namespace
{

using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(SwitchMemory, GivesNoMoreThanThereIs)
{
    SwitchMemory memory;
    memory.SetCapacity(100);
    memory.Take(7, "leaf7", {0, 1}, 60);
    memory.Take(8, "leaf8", {0, 1}, 100); // another switch
    memory.Take(7, "leaf7", {1, {}}, 40);
    EXPECT_THAT(
        [&] {
            memory.Take(7, "leaf7", {0, 2}, 1);
        },
        ThrowsMessage<AggregationDenied>("switch leaf7 has 0 bytes left of 100 for one "
                                         "more aggregation, which needs 1 (attribute "
                                         "SwitchMemoryBytes)"));
    memory.Give(7, {0, 1});
    EXPECT_THROW(memory.Take(7, "leaf7", {0, 2}, 61), AggregationDenied);
    EXPECT_THROW(memory.Take(7, "leaf7", {0, 2}, UINT64_MAX), AggregationDenied);
    memory.Take(7, "leaf7", {0, 2}, 60);
    EXPECT_EQ(memory.GetTakenBytes(7), 100U);
}

TEST(SwitchMemory, CountsWhatHoldersHaveTogetherOnce)
{
    SwitchMemory memory;
    memory.SetCapacity(100);
    memory.Take(0, "leaf0", {3, {}}, 100);
    memory.Take(0, "leaf0", {3, {}}, 100);
    memory.Give(0, {3, {}});
    EXPECT_THROW(memory.Take(0, "leaf0", {0, 0}, 1), AggregationDenied);
    memory.Give(0, {3, {}});
    memory.Take(0, "leaf0", {0, 0}, 100);
    EXPECT_EQ(memory.GetTakenBytes(0), 100U);
}

TEST(SwitchMemory, HasWhatItsHoldersHaveWhateverTheOrder)
{
    std::mt19937 random(24);
    for (int run = 0; run < 100; ++run)
    {
        const uint64_t capacity = 1 + random() % 1000;
        SwitchMemory memory;
        memory.SetCapacity(capacity);
        std::map<uint32_t, uint64_t> held; // what it must come to
        uint64_t sum = 0;
        for (int step = 0; step < 200; ++step)
        {
            const uint32_t group = random() % 10;
            if (held.contains(group))
            {
                memory.Give(0, {0, group});
                sum -= held.at(group);
                held.erase(group);
                continue;
            }
            const uint64_t bytes = random() % 400;
            if (sum + bytes > capacity)
            {
                EXPECT_THROW(memory.Take(0, "leaf0", {0, group}, bytes), AggregationDenied);
                continue;
            }
            memory.Take(0, "leaf0", {0, group}, bytes);
            held[group] = bytes;
            sum += bytes;
            EXPECT_EQ(memory.GetTakenBytes(0), sum);
        }
    }
}

class SharedSwitchMemory : public SlotAggregationTest
{
  protected:
    /// Six workers at one switch, and 6 is a parameter server.
    uint32_t Open(const std::string& protocol)
    {
        return m_transport->GetAggregation()->OpenAggregation(
            {.endpoints = {0, 1, 2, 3, 4, 5},
             .server = protocol == "atp" ? std::optional(6U) : std::nullopt,
             .protocol = protocol});
    }

    /// Of protocols that are opened in turn, the last finds no room for its last byte.
    void ExpectBytes(const std::string& protocol, uint64_t bytes)
    {
        Set("SwitchMemoryBytes", UintegerValue(bytes - 1));
        InstallStar(7);
        EXPECT_THAT([&] { Open(protocol); },
                    ThrowsMessage<AggregationDenied>(
                        HasSubstr("which needs " + std::to_string(bytes) + " ")))
            << protocol;
    }
};

// Of 4 bytes a value: 2 sets of 128 slots of 64; 4096 aggregators of 62; 2 windows of 4 messages of
// 64 packets of 4096 bytes.

TEST_F(SharedSwitchMemory, IsTwoSetsOfSlotsForEachJobOfTheSlotProtocol)
{
    ExpectBytes("switchml", 4U * 2 * 128 * 64);
}

TEST_F(SharedSwitchMemory, IsAllAggregatorsOfAtp)
{
    ExpectBytes("atp", 4U * 4096 * 62);
}

TEST_F(SharedSwitchMemory, IsWhatABoxOfNetReduceKeeps)
{
    ExpectBytes("netreduce", 2U * 4 * 64 * 4096);
}

TEST_F(SharedSwitchMemory, IsThePoolWhereSlotsAreSharedOut)
{
    Set("slot.Sharing", StringValue("dynamic"));
    Set("slot.PoolSlots", UintegerValue(500));
    ExpectBytes("switchml", 4U * 2 * 500 * 64);
}

TEST_F(SharedSwitchMemory, HasRoomAgainWhenAGroupCloses)
{
    // Slots 65,536 bytes, aggregators 1,015,808: not both by one byte.
    Set("SwitchMemoryBytes", UintegerValue(65'536 + 1'015'808 - 1));
    InstallStar(7);
    const auto slots = Open("switchml");
    EXPECT_THAT([&] { Open("atp"); },
                ThrowsMessage<AggregationDenied>(HasSubstr("switch leaf0 has 1015807 bytes left")));
    m_transport->GetAggregation()->CloseAggregation(slots);
    const auto atp = Open("atp");
    Open("atp"); // all jobs share all aggregators
    EXPECT_THROW(Open("passing"), AggregationDenied);
    m_transport->GetAggregation()->CloseAggregation(atp);
    EXPECT_THROW(Open("passing"), AggregationDenied);
}

TEST_F(SharedSwitchMemory, IsOfEachProtocolWithoutALimit)
{
    InstallStar(7);
    for (const auto* protocol : {"switchml", "atp", "netreduce", "passing"})
    {
        EXPECT_NO_THROW(Open(protocol)) << protocol;
    }
}

} // namespace
} // namespace ns3::gradsync
