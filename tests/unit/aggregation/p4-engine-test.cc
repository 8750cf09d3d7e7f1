// SPDX-License-Identifier: GPL-2.0-only
// The slot protocol by the P4 program inside the simulation: the same frames at the same times on
// the same links as by the native switch, and so the same results.
#include "support/message-collector.h"
#include "unit/aggregation/p4-engine-fixture.h"

#include "ns3/aggregation-switch.h"
#include "ns3/atp-frame.h"
#include "ns3/slot-frame.h"

#include <algorithm>
#include <array>
#include <gmock/gmock.h>
#include <map>
#include <vector>

namespace ns3::gradsync
{
namespace
{

using testing::HasSubstr;
using testing::ThrowsMessage;

class P4EngineCases : public P4Engine, public testing::WithParamInterface<EngineCase>
{
};

TEST_P(P4EngineCases, SendsTheSameFramesAtTheSameTimesAsTheNativeSwitch)
{
    const auto native = RunCase(GetParam(), "native");
    const auto p4 = RunCase(GetParam(), "p4");
    constexpr uint32_t EVENT_COMPLETED = 8; // of the program
    const auto& root = GetPart<AggregationSwitch>(0, "slot");
    ASSERT_TRUE(root.GetEngine());
    EXPECT_GT(root.GetEngine()->GetEvents(EVENT_COMPLETED), 0U);
    ASSERT_GT(native.frames.size(), 100U);
    ASSERT_EQ(p4.frames.size(), native.frames.size());
    for (size_t i = 0; i < native.frames.size(); ++i)
    {
        ASSERT_EQ(p4.frames[i], native.frames[i]) << "frame " << i;
    }
    EXPECT_EQ(p4.times, native.times);
    EXPECT_EQ(p4.sums.results, native.sums.results);
    EXPECT_EQ(p4.sums.retransmissions, native.sums.retransmissions);
    EXPECT_EQ(p4.sums.repeatedResults, native.sums.repeatedResults);
    EXPECT_EQ(p4.sums.staleDrops, native.sums.staleDrops);
    EXPECT_EQ(p4.sums.overflows, native.sums.overflows);
    EXPECT_EQ(p4.sums.checkedSums, native.sums.checkedSums);
    EXPECT_EQ(native.sums.overflows > 0, GetParam().valueBits > 24);
    EXPECT_EQ(p4.sums.wrongSums, 0U);
    EXPECT_EQ(native.sums.retransmissions > 0, GetParam().lossRate > 0.0);
    EXPECT_EQ(native.sums.repeatedResults > 0, GetParam().lossRate > 0.0);
    EXPECT_EQ(p4.total.goodputBytes, native.total.goodputBytes);
    EXPECT_EQ(p4.total.wireBytes, native.total.wireBytes);
    EXPECT_EQ(p4.total.droppedPackets, native.total.droppedPackets);
    EXPECT_EQ(p4.total.retransmittedBytes, native.total.retransmittedBytes);
    for (size_t i = 0; i < native.links.size(); ++i)
    {
        EXPECT_EQ(p4.links[i].packets, native.links[i].packets);
        EXPECT_EQ(p4.links[i].payloadBytes, native.links[i].payloadBytes);
        EXPECT_EQ(p4.links[i].wireBytes, native.links[i].wireBytes);
        EXPECT_EQ(p4.links[i].maxQueueBytes, native.links[i].maxQueueBytes);
    }
}

const auto P4_STAR = [] { return MakeStar(5, 1); };
const auto SERVERS = [] { return MakeStar(3, 2); };
const auto RACKS = [] { return MakeRacks(3, 2); };

INSTANTIATE_TEST_SUITE_P(
    Networks,
    P4EngineCases,
    testing::Values(
        EngineCase{.name = "Star", .makeTopology = P4_STAR, .jobs = {{0, 1, 2, 3, 4}}},
        EngineCase{.name = "StarSaturating",
                   .makeTopology = P4_STAR,
                   .jobs = {{4, 0, 2}},
                   .lossRate = 0.05,
                   .saturate = true,
                   .valueBits = 31},
        EngineCase{.name = "TwoLevelsWrapping",
                   .makeTopology = RACKS,
                   .jobs = {{0, 1, 2, 3, 4, 5}},
                   .lossRate = 0.05,
                   .valueBits = 31},
        EngineCase{.name = "StarOnlySizes",
                   .makeTopology = P4_STAR,
                   .jobs = {{0, 1, 2}},
                   .values = "sizes"},
        EngineCase{.name = "StarLosing5Percent",
                   .makeTopology = P4_STAR,
                   .jobs = {{0, 1, 2, 3, 4}},
                   .lossRate = 0.05,
                   .iterations = 4},
        EngineCase{.name = "TwoJobsLosing20Percent",
                   .makeTopology = P4_STAR,
                   .jobs = {{0, 1}, {2, 3, 4}},
                   .lossRate = 0.2},
        EngineCase{.name = "AcceleratorsBehindOneNic",
                   .makeTopology = SERVERS,
                   .jobs = {{0, 1, 2, 3, 4, 5}},
                   .lossRate = 0.02},
        EngineCase{.name = "TwoLevels", .makeTopology = RACKS, .jobs = {{0, 1, 2, 3, 4, 5}}},
        EngineCase{.name = "TwoLevelsLosing10Percent",
                   .makeTopology = RACKS,
                   .jobs = {{5, 4, 3, 2, 1, 0}},
                   .lossRate = 0.1,
                   .iterations = 3},
        EngineCase{.name = "ExponentsOverTwoLevels",
                   .makeTopology = RACKS,
                   .jobs = {{0, 1, 2, 3, 4, 5}},
                   .lossRate = 0.1,
                   .values = "float"},
        EngineCase{.name = "JobsThatLendEachOtherSlots",
                   .makeTopology = RACKS,
                   .jobs = {{0, 1, 2}, {3, 4}, {5, 0, 4}},
                   .lossRate = 0.1,
                   .sharing = "dynamic",
                   .poolSlots = 23},
        EngineCase{.name = "TwoLevelsAndAWorkerOfItsOwnRack",
                   .makeTopology = RACKS,
                   .jobs = {{0, 1, 2}, {3, 5}},
                   .lossRate = 0.4}),
    [](const auto& parameter) { return parameter.param.name; });

TEST_F(P4Engine, GivesSlotsOfAJobThatIsOverToTheNext)
{
    // Room for one job at a time: the second one takes over slots, groups and tables.
    Set("Engine", StringValue("p4"));
    Set("Values", StringValue("real"));
    Set("slot.PoolSlots", UintegerValue(16));
    Install(MakeStar(3, 1));
    const std::vector<uint32_t> endpoints{0, 1, 2};
    for (uint32_t round = 0; round < 3; ++round)
    {
        const auto group = m_transport->GetAggregation()->OpenAggregation(
            {.endpoints = endpoints, .protocol = "switchml"});
        EXPECT_THAT(
            [&] {
                m_transport->GetAggregation()->OpenAggregation(
                    {.endpoints = endpoints, .protocol = "switchml"});
            },
            ThrowsMessage<std::invalid_argument>(HasSubstr("no 16 slots left of 16")));

        tests::MessageCollector done;
        for (uint32_t member = 0; member < 3; ++member)
        {
            // An odd number of packets leaves the two sets of slots in different epochs.
            m_transport->GetAggregation()->Aggregate({.group = group,
                                                      .member = member,
                                                      .index = 0,
                                                      .bytes = (16 + 5 + round) * PACKET_BYTES,
                                                      .tag = 0,
                                                      .handler = &done});
        }
        Simulator::Run();
        EXPECT_EQ(done.delivered.size(), 3U);
        EXPECT_TRUE(done.failed.empty()) << done.failed.front().second;
        m_transport->GetAggregation()->CloseAggregation(group);
    }
    EXPECT_EQ(m_transport->GetAggregation()->GetStatistics().checkedSums, 3U * (21 + 22 + 23));
    EXPECT_EQ(m_transport->GetAggregation()->GetStatistics().wrongSums, 0U);
    EXPECT_EQ(m_transport->GetAggregation()->GetStatistics().retransmissions, 0U);
}

TEST_F(P4Engine, RefusesWhatTheProgramWasNotCompiledFor)
{
    Set("Engine", StringValue("p4"));
    Set("slot.ValuesPerPacket", UintegerValue(32));
    EXPECT_THAT([&] { Install(MakeStar(3, 1)); },
                ThrowsMessage<std::invalid_argument>(
                    HasSubstr("attribute ValuesPerPacket is 32, but the P4 program of the engine "
                              "p4 is compiled for 64")));
}

TEST_F(P4Engine, AtpIsWholeOnTheWireAndItsSumsAreThoseOfTheContributions)
{
    Set("Values", StringValue("real"));
    Install(MakeStar(4, 1)); // node 0 is the switch, link i that of worker i, 3 the server
    SchemeRequest request;
    request.workers = 3;
    request.gradientBytes = uint64_t{20} * 4 * ATP_VALUES;
    request.parameters = MakeDefaultParameters(*FindScheme("atp"));
    Job job;
    job.name = "job";
    job.plan = std::make_shared<Plan>(FindScheme("atp")->build(request));
    job.endpointOf = {0, 1, 2, 3};
    m_engine->AddJob(std::move(job));
    const auto frames = Run().frames;
    // Of 20 packets: three contributions, a sum, an answer, three copies.
    ASSERT_EQ(frames.size(), 20U * 8);
    std::map<uint16_t, std::vector<uint32_t>> sums; // modulo 2^32
    uint32_t checked = 0;
    for (const auto& [start, port, bytes] : frames)
    {
        ASSERT_EQ(bytes.size(), 308U); // NSDI 2021, section 3.2
        ASSERT_EQ(CheckFrame(bytes, ATP_UDP_PORT), FrameCheck::Protocol);
        const auto header = ReadAtpHeader(bytes);
        const auto values = ReadAtpValues(bytes, ATP_VALUES);
        EXPECT_EQ(header.fanIns, (std::array<uint8_t, 2>{3, 1}));
        EXPECT_EQ(header.bitmaps[1], 1U); // the only switch
        auto& sum = sums[header.sequence];
        sum.resize(ATP_VALUES);
        const auto& link = m_topology->GetLinks()[port / 2];
        const bool isToSwitch = (port % 2 == 0 ? link.b : link.a) == 0;
        if (isToSwitch && port / 2 < 3)
        {
            EXPECT_EQ(header.bitmaps[0], 1U << port / 2);
            EXPECT_FALSE(header.ack);
            for (size_t i = 0; i < ATP_VALUES; ++i)
            {
                sum[i] += static_cast<uint32_t>(values[i]);
            }
            continue;
        }
        EXPECT_EQ(header.bitmaps[0], 7U);
        EXPECT_EQ(header.ack, isToSwitch || port / 2 < 3);
        EXPECT_TRUE(std::ranges::equal(values, sum, {}, [](int32_t value) {
            return static_cast<uint32_t>(value);
        }));
        ++checked;
    }
    EXPECT_EQ(checked, 20U * 5);
}

} // namespace
} // namespace ns3::gradsync
