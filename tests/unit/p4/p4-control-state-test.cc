// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/p4-action-members.h"
#include "ns3/p4-error.h"
#include "ns3/p4-meter.h"

#include <array>
#include <gtest/gtest.h>
#include <random>

namespace ns3::gradsync
{

namespace
{

P4MeterArray
MakeArray(uint32_t size, bool countsBytes)
{
    P4MeterArray array;
    array.name = "m";
    array.size = size;
    array.countsBytes = countsBytes;
    return array;
}

TEST(P4Meter, MarksByTwoBuckets)
{
    const auto array = MakeArray(1, false);
    P4MeterArrayState meters(array);
    // Without rates all is green.
    EXPECT_EQ(meters.Execute(0, 100, 0), 0U);
    meters.SetRates(0, {{0.001, 2}, {0.002, 4}});
    // Peak and committed bucket: 4 and 2, 3 and 1, 2 and 0, 1 and 0, 0 and 0.
    for (const uint32_t colour : {0U, 0U, 1U, 1U, 2U})
    {
        EXPECT_EQ(meters.Execute(0, 100, 0), colour);
    }
    // 500 us bring one peak token, and half of a committed one, which is none.
    EXPECT_EQ(meters.Execute(0, 100, 500), 1U);
    EXPECT_EQ(meters.Execute(0, 100, 500), 2U);
    // One of each.
    EXPECT_EQ(meters.Execute(0, 100, 1000), 0U);
    // A bucket holds no more than its burst: 4 and 2 again.
    for (const uint32_t colour : {0U, 0U, 1U, 1U, 2U})
    {
        EXPECT_EQ(meters.Execute(0, 100, 1'000'000), colour);
    }
    meters.ResetRates(0);
    EXPECT_EQ(meters.Execute(0, 100, 1'000'000), 0U);
}

TEST(P4Meter, CountsBytes)
{
    const auto array = MakeArray(2, true);
    P4MeterArrayState meters(array);
    meters.SetAllRates({{0.1, 100}, {0.1, 150}});
    // 150 and 100 bytes; 60 leave 90 and 40; 60 leave 30 of the peak and are too many of 40.
    EXPECT_EQ(meters.Execute(1, 60, 0), 0U);
    EXPECT_EQ(meters.Execute(1, 60, 0), 1U);
    EXPECT_EQ(meters.Execute(1, 60, 0), 2U);
    EXPECT_EQ(meters.Execute(1, 30, 0), 0U);
    // The other meter is another.
    EXPECT_EQ(meters.Execute(0, 100, 0), 0U);
}

TEST(P4Meter, LetsThroughWhatTheRatesAllow)
{
    // More packets than the rates allow: the green ones are burst plus rate times time, and those
    // that are not red are so for the peak rate; one more or less where a token is not whole.
    std::mt19937_64 random(20261123);
    for (int round = 0; round < 20; ++round)
    {
        const auto array = MakeArray(1, false);
        P4MeterArrayState meters(array);
        const double low = static_cast<double>(1 + random() % 100) / 1000.0;
        const double high = low * static_cast<double>(1 + random() % 4);
        const std::array<uint64_t, 2> bursts{1 + random() % 50, 50 + random() % 50};
        meters.SetRates(0, {{low, bursts[0]}, {high, bursts[1]}});
        std::array<uint64_t, 3> colours{};
        constexpr uint64_t END_US = 20'000;
        for (uint64_t us = 0; us <= END_US; ++us)
        {
            ++colours.at(meters.Execute(0, 64, us));
        }
        EXPECT_NEAR(static_cast<double>(colours[0]),
                    static_cast<double>(bursts[0]) + low * END_US,
                    1.0);
        EXPECT_NEAR(static_cast<double>(colours[0] + colours[1]),
                    static_cast<double>(bursts[1]) + high * END_US,
                    1.0);
    }
}

TEST(P4Meter, RefusesWhatDoesNotFit)
{
    const auto array = MakeArray(1, false);
    P4MeterArrayState meters(array);
    EXPECT_THROW(meters.SetRates(1, {{1, 1}, {1, 1}}), P4Error);
    EXPECT_THROW(meters.SetRates(0, {{1, 1}}), P4Error);
    EXPECT_THROW(meters.SetRates(0, {{2, 1}, {1, 1}}), P4Error);
    EXPECT_TRUE(meters.GetRates(0).empty());
}

TEST(P4ActionMembers, HashChoosesAMemberInTheOrderOfHandles)
{
    P4ActionProfile profile;
    profile.hasSelector = true;
    profile.actions = {7};
    profile.limbs = {1};
    P4ActionMembers members(profile);
    for (uint64_t i = 0; i < 4; ++i)
    {
        EXPECT_EQ(members.AddMember({7, {i}}), i);
    }
    EXPECT_THROW(members.AddMember({8, {1}}), P4Error);
    EXPECT_THROW(members.AddMember({7, {1, 2}}), P4Error);
    const uint32_t group = members.AddGroup();
    members.AddToGroup(3, group);
    members.AddToGroup(0, group);
    members.AddToGroup(2, group);
    EXPECT_THROW(members.AddToGroup(2, group), P4Error);
    P4TableEntry entry;
    entry.target = P4EntryTarget::GROUP;
    entry.member = group;
    // The handles 0, 2 and 3: hash modulo 3 is the place.
    EXPECT_EQ(members.Find(entry, 9)->parameters[0], 0U);
    EXPECT_EQ(members.Find(entry, 10)->parameters[0], 2U);
    EXPECT_EQ(members.Find(entry, 11)->parameters[0], 3U);
    EXPECT_THROW(members.DeleteMember(3), P4Error);
    members.RemoveFromGroup(3, group);
    members.DeleteMember(3);
    members.DeleteMember(1);
    // The lowest handle that is free.
    EXPECT_EQ(members.AddMember({7, {9}}), 1U);
    EXPECT_EQ(members.Find(entry, 3)->parameters[0], 2U);
}

TEST(P4ActionMembers, ChecksWhereAnEntryLeads)
{
    P4ActionProfile profile;
    profile.hasSelector = true;
    profile.actions = {7};
    profile.limbs = {0};
    P4ActionMembers members(profile);
    P4TableEntry entry;
    EXPECT_THROW(members.Check(entry), P4Error);
    entry.target = P4EntryTarget::MEMBER;
    EXPECT_THROW(members.Check(entry), P4Error);
    members.AddMember({7, {}});
    EXPECT_NO_THROW(members.Check(entry));
    entry.target = P4EntryTarget::GROUP;
    members.AddGroup();
    EXPECT_THROW(members.Check(entry), P4Error);
    EXPECT_EQ(members.Find(entry, 0), nullptr);
    members.AddToGroup(0, 0);
    EXPECT_NO_THROW(members.Check(entry));
    profile.hasSelector = false;
    EXPECT_THROW(members.AddGroup(), P4Error);
}

} // namespace

} // namespace ns3::gradsync
