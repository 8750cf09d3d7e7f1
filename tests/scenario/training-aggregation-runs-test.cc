// SPDX-License-Identifier: GPL-2.0-only
// Jobs that train while switches sum their gradients, from scenario to result.
#include "scenario/scenario-runs.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace ns3::gradsync
{
namespace
{

using testing::HasSubstr;

/// Four hosts on one switch whose every sum is checked.
constexpr const char* SUMMING_STAR = R"({
  "topology": {"kind": "star", "hosts": 4, "hostLink": {"rate": "10Gbps", "delay": "1us"}},
  "transport": {"kind": "roce", "aggregation": {"values": "real"}}, "scheme": "switchml"})";

/// Two racks of two, with two spines.
constexpr const char* SUMMING_RACKS = R"({
  "topology": {"kind": "spine-leaf", "spines": 2, "leaves": 2, "hostsPerLeaf": 2,
               "hostLink": {"rate": "10Gbps", "delay": "1us"},
               "fabricLink": {"rate": "10Gbps", "delay": "1us"}},
  "transport": {"kind": "roce", "aggregation": {"values": "real"}},
  "fabric": {"loadBalancing": "destination"}, "scheme": "switchml"})";

constexpr uint64_t RANKS = 4;
constexpr int64_t PACKET_PS = 273'600; // 342 bytes on the wire at 10 Gb/s
constexpr int64_t DELAY_PS = 1'000'000;

RunResult
TrainBySwitches(const std::string& training,
                const std::string& more = R"("iterations": 1)",
                std::vector<ScenarioOverride> others = {},
                const char* text = SUMMING_STAR)
{
    others.push_back({"job", fmt::format(R"({{"training": {}, {}}})", training, more)});
    auto result = Simulate(others, text);
    EXPECT_EQ(result.summary.aggregation.wrongSums, 0U);
    return result;
}

std::string
ErrorOfSwitches(const std::string& training,
                std::vector<ScenarioOverride> others = {},
                const std::string& more = R"("iterations": 1)")
{
    UsePicoseconds();
    others.push_back({"job", fmt::format(R"({{"training": {}, {}}})", training, more)});
    return ErrorOf([&] {
        const auto scenario = ParseScenario(SUMMING_STAR, "x.json", others);
        CheckRun(ResolveRun(scenario, 0), true);
    });
}

/// Packets of 64 integers of 4 bytes.
uint64_t
CountPackets(uint64_t bytes)
{
    return (bytes + 255) / 256;
}

TEST(TrainingAggregationRuns, OneBlockTakesWhatAJobTakes)
{
    std::mt19937_64 random(13);
    const std::string profile = R"("profile": {"format": 1, "origin": "measurement", "device": "a",
        "kernels": {"int8-switch-encode": {"bytesPerElement": 5, "fixedSeconds": 3e-6, "bytesPerSecond": 1e10},
                    "int8-switch-decode": {"bytesPerElement": 5, "fixedSeconds": 2e-6, "bytesPerSecond": 1e10}}})";
    for (const auto& [scheme, codec] : {std::pair("switchml", "fp32"),
                                        std::pair("switchml", "int8"),
                                        std::pair("passing", "fp32"),
                                        std::pair("passing", "int8"),
                                        std::pair("netreduce", "fp32")})
    {
        for (const auto* text : {SUMMING_STAR, SUMMING_RACKS})
        {
            const auto bytes = 4 * (1 + random() % 300'000);
            const auto us = 1 + random() % 5000;
            const auto common =
                fmt::format(R"("iterations": 2, "codec": "{}", {})", codec, profile);
            const auto expected =
                Simulate({{"scheme", scheme},
                          {"job",
                           fmt::format(R"({{"gradient": "{}B", "compute": "{}us", {}}})",
                                       bytes,
                                       us,
                                       common)}},
                         text);
            const auto found = TrainBySwitches(
                fmt::format(R"({{"blocks": [{{"backward": "{}us", "gradient": "{}B"}}],
                                      "bucket": "1GB", "firstBucket": "1GB"}})",
                            us,
                            bytes),
                common,
                {{"scheme", scheme}},
                text);
            EXPECT_TRUE(found.summary.finished) << found.summary.failure;
            EXPECT_EQ(found.summary.meanIctPs, expected.summary.meanIctPs)
                << scheme << ' ' << codec;
            EXPECT_EQ(found.summary.wireBytes, expected.summary.wireBytes);
            EXPECT_EQ(found.summary.goodputBytes, expected.summary.goodputBytes);
            EXPECT_EQ(found.summary.aggregation.results, expected.summary.aggregation.results);
            EXPECT_EQ(found.summary.aggregation.checkedSums,
                      expected.summary.aggregation.checkedSums);
            EXPECT_GT(found.summary.aggregation.results, 0U);
        }
    }
}

TEST(TrainingAggregationRuns, BucketsOneAfterAnotherTakeTheirSum)
{
    // 128 slots bind nothing here: M packets take (M + 1) t + 2 d (doc/aggregation.rst), and all
    // ranks end at once. Each bucket is a communication of its own, of one group that stays open.
    std::mt19937_64 random(14);
    for (int round = 0; round < 6; ++round)
    {
        std::string blocks;
        int64_t picoseconds = 0;
        uint64_t packets = 0;
        uint64_t bytes = 0;
        const auto us = 1 + random() % 900;
        for (auto left = 1 + random() % 5; left > 0; --left)
        {
            const auto own = 4 * (1 + random() % 60'000);
            blocks += fmt::format(R"({}{{"backward": "{}us", "gradient": "{}B"}})",
                                  blocks.empty() ? "" : ", ",
                                  us,
                                  own);
            packets += CountPackets(own);
            bytes += own;
            picoseconds += static_cast<int64_t>(us) * 1'000'000 + 2 * DELAY_PS +
                           static_cast<int64_t>(CountPackets(own) + 1) * PACKET_PS;
        }
        const auto result = TrainBySwitches(
            fmt::format(
                R"({{"overlap": false, "bucket": "1B", "firstBucket": "1B", "blocks": [{}]}})",
                blocks),
            R"("iterations": 2)");
        EXPECT_EQ(result.summary.meanIctPs, picoseconds);
        // Each rank takes each packet of each sum once.
        EXPECT_EQ(result.summary.aggregation.results, 2 * RANKS * packets);
        EXPECT_EQ(result.summary.aggregation.checkedSums, 2 * RANKS * packets);
        EXPECT_EQ(result.summary.goodputBytes, 2 * RANKS * bytes);
    }
}

TEST(TrainingAggregationRuns, BucketsAtOnceFollowEachOtherWithoutAGap)
{
    // With credit for all of them, buckets that are ready at once are under way at once, in turns
    // of one group: their packets follow each other as those of one.
    const auto result = TrainBySwitches(R"({"overlap": false, "bucket": "1B", "firstBucket": "1B",
        "streamPolicy": "fifo", "credit": "1GB",
        "blocks": [{"count": 5, "backward": "100us", "gradient": "100kB"}]})");
    const auto packets = 5 * CountPackets(100'000);
    EXPECT_EQ(result.summary.meanIctPs,
              500'000'000 + static_cast<int64_t>(packets + 1) * PACKET_PS + 2 * DELAY_PS);
    EXPECT_EQ(result.summary.aggregation.results, RANKS * packets);
}

TEST(TrainingAggregationRuns, GroupsAndStreamsHaveRoomOfTheirOwn)
{
    // Data-parallel groups {0, 2} and {1, 3} share no link.
    const std::string blocks = R"("bucket": "1B", "firstBucket": "1B",
        "blocks": [{"backward": "100us", "gradient": "100kB"}])";
    const auto packets = CountPackets(100'000);
    const auto take = [](uint64_t count) {
        return 100'000'000 + static_cast<int64_t>(count + 1) * PACKET_PS + 2 * DELAY_PS;
    };
    const auto groups = TrainBySwitches("{\"tensor\": 2, " + blocks + "}");
    EXPECT_EQ(groups.summary.meanIctPs, take(packets));
    EXPECT_EQ(groups.summary.aggregation.results, RANKS * packets);
    // Two streams of all ranks do: pieces of 50 kB each take their turns in the host's port.
    const auto pieces = 2 * CountPackets(50'000);
    const auto streams = TrainBySwitches("{\"streams\": 2, \"piece\": \"50kB\", " + blocks + "}");
    EXPECT_EQ(streams.summary.meanIctPs, take(pieces));
    EXPECT_EQ(streams.summary.aggregation.results, RANKS * pieces);
    // Tensor-parallel groups, too: {0, 1} and {2, 3}, with the data-parallel ones through the same
    // ports. Hosts begin with the one or the other, so that the last may wait for a window.
    const auto both = TrainBySwitches(R"({"tensor": 2, "overlap": false, "blocks":
        [{"backward": "100us", "tensorBackward": "100kB", "gradient": "100kB"}]})");
    EXPECT_GE(both.summary.meanIctPs, take(2 * packets));
    EXPECT_LE(both.summary.meanIctPs, take(2 * packets + 128));
    EXPECT_EQ(both.summary.aggregation.results, 2 * RANKS * packets);
}

TEST(TrainingAggregationRuns, SumsAreExactWhateverIsLost)
{
    for (const auto* scheme : {"switchml", "passing"})
    {
        for (const auto* sharing : {"static", "dynamic"})
        {
            const auto result = TrainBySwitches(
                R"({"tensor": 2, "streams": 2, "piece": "30kB", "bucket": "1B", "firstBucket": "1B",
                    "barrier": false, "streamPolicy": "priority", "credit": "60kB", "blocks":
                    [{"count": 4, "backward": "20us", "forward": "10us", "gradient": "90kB"}]})",
                R"("iterations": 3)",
                {{"scheme", scheme},
                 {"transport.aggregation",
                  fmt::format(R"({{"values": "real", "slot": {{"timeout": "100us", "slots": 32,
                                   "poolSlots": 128, "sharing": "{}"}}}})",
                              sharing)},
                 {"fabric.lossRate", "0.02"}});
            EXPECT_TRUE(result.summary.finished) << result.summary.failure;
            EXPECT_EQ(result.summary.aggregation.results, 3 * RANKS * 4 * 3 * CountPackets(30'000));
            EXPECT_GT(result.summary.aggregation.retransmissions, 0U);
        }
    }
}

TEST(TrainingAggregationRuns, OtherSwitchesAggregateAndSurvivorsGoOn)
{
    const std::string training = R"({"bucket": "1B", "firstBucket": "1B",
        "blocks": [{"count": 4, "backward": "100us", "gradient": "200kB"}]})";
    const auto rebuilt = TrainBySwitches(
        training,
        R"("timeout": "1s")",
        {{"faults", R"([{"kind": "aggregator-down", "switches": ["spine0"], "start": "200us"}])"}},
        SUMMING_RACKS);
    EXPECT_TRUE(rebuilt.summary.finished) << rebuilt.summary.failure;
    EXPECT_EQ(rebuilt.summary.aggregation.rebuilds, 1U);
    ASSERT_EQ(rebuilt.reactions.size(), 1U);
    EXPECT_EQ(rebuilt.reactions[0].kind, ReactionKind::Rebuild);
    const auto survivors = TrainBySwitches(
        training,
        R"("reaction": "replan", "iterations": 2, "timeout": "1s")",
        {{"faults", R"([{"kind": "host-crash", "hosts": ["host3"], "start": "500us"}])"}},
        SUMMING_RACKS);
    EXPECT_TRUE(survivors.summary.finished) << survivors.summary.failure;
    ASSERT_FALSE(survivors.reactions.empty());
    EXPECT_EQ(survivors.reactions[0].survivors, 3U);
}

TEST(TrainingAggregationRuns, RanksDoItThemselvesWhereNoSwitchDoes)
{
    const std::string training = R"({"overlap": false, "blocks":
        [{"backward": "1ms", "gradient": "200kB"}]})";
    const auto run = [&training](const char* scheme, const char* duration) {
        return TrainBySwitches(training,
                               R"("iterations": 2, "timeout": "1s")",
                               {{"scheme", scheme},
                                {"faults",
                                 fmt::format(R"([{{"kind": "aggregator-down", "start": "1050us",
                           "detectionDelay": "1ms"{},
                           "switches": ["spine0", "spine1", "leaf0", "leaf1"]}}])",
                                             duration)}},
                               SUMMING_RACKS);
    };
    const auto calm = TrainBySwitches(training, R"("iterations": 1)", {}, SUMMING_RACKS);
    const auto ring =
        TrainBySwitches(training, R"("iterations": 1)", {{"scheme", "ring"}}, SUMMING_RACKS);
    // From 1.05 ms on no switch adds; that is known at 2.05 ms, from when on all of the iteration
    // is done anew by a ring.
    const auto known = MicroSeconds(2050).GetPicoSeconds();
    const auto lasting = run(R"({"kind": "switchml", "fallback": "ring"})", "");
    EXPECT_TRUE(lasting.summary.finished) << lasting.summary.failure;
    ASSERT_EQ(lasting.iterations.size(), 2U);
    EXPECT_EQ((lasting.iterations[0].end - lasting.iterations[0].start).GetPicoSeconds(),
              known + ring.summary.meanIctPs);
    EXPECT_EQ((lasting.iterations[1].end - lasting.iterations[1].start).GetPicoSeconds(),
              ring.summary.meanIctPs);
    EXPECT_EQ(lasting.summary.fallbacks, 2U);
    // The next iteration, from 2.05 ms + 1.3 ms on, asks for switches again: that they add again is
    // known at 3.15 ms.
    const auto passing =
        run(R"({"kind": "switchml", "fallback": "ring"})", R"(, "duration": "1100us")");
    EXPECT_TRUE(passing.summary.finished) << passing.summary.failure;
    ASSERT_EQ(passing.iterations.size(), 2U);
    EXPECT_EQ((passing.iterations[1].end - passing.iterations[1].start).GetPicoSeconds(),
              calm.summary.meanIctPs);
    EXPECT_EQ(passing.summary.fallbacks, 1U);
    const auto none = run(R"({"kind": "switchml", "fallback": "none"})", "");
    EXPECT_FALSE(none.summary.finished);
    EXPECT_THAT(none.summary.failure,
                HasSubstr("no switches aggregate, and there is no other way: "));
}

TEST(TrainingAggregationRuns, WhatCannotBeIsNamed)
{
    const std::string block = R"("blocks": [{"backward": "1ms", "gradient": "1MB"}])";
    EXPECT_THAT(ErrorOfSwitches("{" + block + "}", {{"transport", "fluid"}}),
                HasSubstr("job0: training: gradients: "));
    // Two groups of 128 slots each.
    EXPECT_THAT(ErrorOfSwitches("{\"tensor\": 2, " + block + "}",
                                {{"transport.aggregation.slot", R"({"poolSlots": 200})"}}),
                HasSubstr("job0: training: gradients: "));
    EXPECT_THAT(ErrorOfSwitches("{" + block + "}", {{"scheme", "federated"}}),
                HasSubstr("federated with dedicated servers is no collective among ranks"));
    EXPECT_THAT(ErrorOfSwitches("{" + block + "}", {{"scheme", "atp"}}),
                HasSubstr("atp with dedicated servers is no collective among ranks"));
    EXPECT_THAT(ErrorOfSwitches("{\"auto\": true, " + block + "}"),
                HasSubstr("\"auto\" does not go with a scheme by which switches do"));
    EXPECT_THAT(ErrorOfSwitches("{\"zero\": 1, \"gradientScheme\": \"switchml\", " + block + "}"),
                HasSubstr("the scheme switchml makes an all-reduce, expected one of "
                          "reduce-scatter"));
    EXPECT_THAT(ErrorOfSwitches("{" + block + "}", {}, R"("codec": "fp16")"),
                HasSubstr("a switch aggregates integers: the codec must be fixed-point"));
}

} // namespace
} // namespace ns3::gradsync
