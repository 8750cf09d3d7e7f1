// SPDX-License-Identifier: GPL-2.0-only
// Jobs that train with compressed gradients, from scenario to result.
#include "scenario/scenario-runs.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <random>
#include <string>
#include <vector>

namespace ns3::gradsync
{
namespace
{

using testing::HasSubstr;

/// Both kernels take 3 us and 1 ns for each element of 4 bytes.
constexpr const char* KERNEL = R"({"bytesPerElement": 4, "fixedSeconds": 3e-6,
                                   "bytesPerSecond": 4e9})";
constexpr double FIXED_US = 3.0;

std::string
MakeProfile(const std::string& origin = "measurement")
{
    std::string kernels;
    for (const auto* codec :
         {"fp16", "int8", "two-bit", "qsgd", "terngrad", "signsgd", "top-k", "dgc", "bbtopk"})
    {
        for (const auto* part : {"encode", "decode"})
        {
            kernels +=
                fmt::format(R"({}"{}-{}": {})", kernels.empty() ? "" : ", ", codec, part, KERNEL);
        }
    }
    for (const auto* part : {"encode-p", "encode-q", "decode"})
    {
        kernels += fmt::format(R"(, "powersgd-{}": {})", part, KERNEL);
    }
    return fmt::format(R"({{"format": 1, "origin": "{}", "device": "a test",
                            "kernels": {{{}}}}})",
                       origin,
                       kernels);
}

/// The overrides of a job that trains.
std::vector<ScenarioOverride>
MakeCodecJob(const std::string& training, const std::string& more)
{
    return {{"job", fmt::format(R"({{"training": {}, {}}})", training, more)}};
}

/// Bytes that all ranks send in all iterations.
uint64_t
CountTrainingBytes(const std::string& training,
                   const std::string& more,
                   const std::string& text = STAR)
{
    UsePicoseconds();
    const auto scenario = ParseScenario(text, "x.json", MakeCodecJob(training, more));
    return CheckRun(ResolveRun(scenario, 0), true).bytes;
}

std::string
ErrorOfCodecs(const std::string& training, const std::string& more)
{
    return ErrorOf([&] { CountTrainingBytes(training, more); });
}

TEST(TrainingCodecRuns, OneBlockTakesWhatAJobTakes)
{
    // As without a codec: what a job does after its computation, a block does after its backward
    // pass; the codec works on the same processor as both.
    std::mt19937_64 random(11);
    for (const auto* codec : {R"({"kind": "fp16"})",
                              R"({"kind": "int8"})",
                              R"({"kind": "two-bit"})",
                              R"({"kind": "qsgd", "levels": 1})",
                              R"({"kind": "terngrad"})",
                              R"({"kind": "signsgd"})",
                              R"({"kind": "powersgd", "rank": 2})",
                              R"({"kind": "top-k", "density": 0.02})",
                              R"({"kind": "dgc", "density": 0.01})",
                              R"({"kind": "bbtopk"})"})
    {
        for (const auto* transport : {"fluid", "roce"})
        {
            for (const auto* scheme : {"ring", "halving-doubling", "double-binary-tree"})
            {
                const auto bytes = 4 * (1 + random() % 300'000);
                const auto us = 1 + random() % 5000;
                const auto common = fmt::format(R"("iterations": 2, "codec": {}, "profile": {})",
                                                codec,
                                                MakeProfile());
                const std::vector<ScenarioOverride> both{{"transport", transport},
                                                         {"scheme", scheme}};
                auto exchange = both;
                exchange.push_back({"job",
                                    fmt::format(R"({{"gradient": "{}B", "compute": "{}us", {}}})",
                                                bytes,
                                                us,
                                                common)});
                auto training = both;
                training.push_back({"job",
                                    fmt::format(R"({{"training": {{"blocks": [{{"backward": "{}us",
                                     "gradient": "{}B"}}], "bucket": "1GB", "firstBucket": "1GB"}},
                                     {}}})",
                                                us,
                                                bytes,
                                                common)});
                const auto expected = Simulate(exchange);
                const auto found = Simulate(training);
                EXPECT_TRUE(found.summary.finished);
                EXPECT_EQ(found.summary.meanIctPs, expected.summary.meanIctPs)
                    << transport << ' ' << scheme << ' ' << codec;
                EXPECT_EQ(found.summary.wireBytes, expected.summary.wireBytes);
                EXPECT_EQ(found.summary.goodputBytes, expected.summary.goodputBytes);
                ASSERT_EQ(found.iterations.size(), 2U);
                EXPECT_EQ(found.iterations[1].compress, expected.iterations[1].compress);
                EXPECT_EQ(found.iterations[1].decompress, expected.iterations[1].decompress);
                EXPECT_GT(found.iterations[1].compress, Time(0));
            }
        }
    }
}

TEST(TrainingCodecRuns, BucketsOneAfterAnotherTakeTheirSum)
{
    // A ring of 2: each rank encodes its half of D elements, sends it, adds what it decodes, and
    // does all three once more with the sum: 2 (e + c + d) with e = d = 3 us + D/2 ns and, by fp16,
    // c = D/2 * 2 bytes at 1 Gb/s = 8 D ns. Buckets of L blocks that do not overlap with anything
    // follow one another.
    std::mt19937_64 random(12);
    for (int round = 0; round < 8; ++round)
    {
        const auto elements = 4 * (1 + random() % 50'000);
        const auto layers = 1 + random() % 5;
        const auto us = 1 + random() % 2000;
        const auto result = Simulate(MakeCodecJob(
            fmt::format(R"({{"data": 2, "overlap": false, "bucket": "1B", "firstBucket": "1B",
                    "blocks": [{{"count": {}, "forward": "{}us", "backward": "{}us",
                                 "gradient": "{}B"}}]}})",
                        layers,
                        us,
                        2 * us,
                        4 * elements),
            fmt::format(R"("codec": "fp16", "profile": {})", MakeProfile())));
        const auto codecNs = FIXED_US * 1e3 + static_cast<double>(elements) / 2.0;
        const auto exchangeNs = 2.0 * (2.0 * codecNs + 8.0 * static_cast<double>(elements));
        const auto expectedNs =
            static_cast<double>(layers) * (3e3 * static_cast<double>(us) + exchangeNs);
        EXPECT_NEAR(static_cast<double>(result.summary.meanIctPs) / 1e3, expectedNs, 0.1);
    }
}

TEST(TrainingCodecRuns, TheSummarySaysWhereTheirTimesComeFrom)
{
    const auto find = [](const std::string& codec, const std::string& profile) {
        const auto more =
            fmt::format(R"("codec": "{}"{})",
                        codec,
                        profile.empty() ? "" : ", \"profile\": " + MakeProfile(profile));
        const auto exchange =
            Simulate({{"job", fmt::format(R"({{"gradient": "4kB", {}}})", more)}}).summary;
        const auto tensors =
            Simulate({{"job", fmt::format(R"({{"tensors": [{{"size": "4kB"}}], {}}})", more)}})
                .summary;
        const auto training =
            Simulate(MakeCodecJob(R"({"blocks": [{"backward": "1us", "gradient": "4kB"}]})", more))
                .summary;
        EXPECT_EQ(exchange.codecTimes, training.codecTimes) << codec << ' ' << profile;
        EXPECT_EQ(exchange.codecTimes, tensors.codecTimes) << codec << ' ' << profile;
        return exchange.codecTimes;
    };
    EXPECT_EQ(find("fp16", "measurement"), "measurement");
    EXPECT_EQ(find("fp16", "roofline-estimate"), "roofline-estimate");
    EXPECT_EQ(find("fp16", ""), "");
    EXPECT_EQ(find("fp32", "roofline-estimate"), ""); // takes no time
    // Two jobs, a profile each.
    const auto job = [](const std::string& endpoints, const std::string& origin) {
        return fmt::format(R"({{"gradient": "4kB", "endpoints": {}, "codec": "int8",
                                "profile": {}}})",
                           endpoints,
                           MakeProfile(origin));
    };
    EXPECT_EQ(Simulate({{"jobs",
                         fmt::format("[{}, {}]",
                                     job("[0, 1]", "roofline-estimate"),
                                     job("[2, 3]", "measurement"))}},
                       R"({"topology": {"kind": "star", "hosts": 4, "hostLink": {"rate": "1Gbps"}},
                            "scheme": "ring"})")
                  .summary.codecTimes,
              "measurement; roofline-estimate");
}

TEST(TrainingCodecRuns, PassesAndCodecShareTheAccelerator)
{
    // With overlap the accelerator rests only while it waits for messages after the last pass: of W
    // = L (b + 2 (e + d)) of work, W <= T <= W + 2 L c. A selection of 1 of 10^5 elements takes c =
    // 8 bytes at 1 Gb/s = 64 ns, its union of two 128 ns; e = d = 3 + 50 us for half of them.
    for (const uint64_t layers : {1U, 3U, 8U})
    {
        const auto result = Simulate(
            MakeCodecJob(fmt::format(R"({{"data": 2, "bucket": "1B", "firstBucket": "1B", "blocks":
                [{{"count": {}, "backward": "500us", "gradient": "400kB"}}]}})",
                                     layers),
                         fmt::format(R"("codec": {{"kind": "dgc", "density": 1e-9}},
                                            "profile": {})",
                                     MakeProfile())));
        // A sparse codec selects once at each rank, of both halves, and decodes both.
        const auto work = static_cast<int64_t>(layers) * (500'000 + 4 * 53'000);
        const auto found = result.summary.meanIctPs / 1000;
        EXPECT_GE(found, work);
        EXPECT_LE(found, work + 2 * static_cast<int64_t>(layers) * 128);
    }
}

TEST(TrainingCodecRuns, GradientsHaveTheCodecOfTheFirstRuleThatTheyMeet)
{
    // A ring of n = 4 sends each of D elements 2 (n - 1) = 6 times, by fp16 in 2 bytes, by int8 in
    // 1 and one scale of 4 bytes for each message of up to 8192 elements, of which there are 6 n.
    const std::string blocks = R"("blocks": [
        {"name": "conv1", "gradient": "16kB"}, {"name": "conv2", "gradient": "160kB"},
        {"name": "fc1", "gradient": "16kB"}, {"name": "fc2", "gradient": "96kB"}],
        "bucket": "1B", "firstBucket": "1B")";
    const auto count = [&blocks](const std::string& rules, const std::string& more) {
        return CountTrainingBytes(fmt::format("{{{}, \"codecs\": {}}}", blocks, rules), more);
    };
    const std::string none = R"("iterations": 1)";
    // Elements: 4000, 40000, 4000, 24000.
    EXPECT_EQ(count("[]", none), 6U * 4 * 72'000);
    EXPECT_EQ(count("[]", R"("codec": "fp16")"), 6U * 2 * 72'000);
    EXPECT_EQ(count("[]", R"("codec": "fp32")"), 6U * 4 * 72'000);
    EXPECT_EQ(count(R"([{"above": 4000, "codec": "fp16"}])", none), 6U * (4 * 8000 + 2 * 64'000));
    EXPECT_EQ(count(R"([{"above": 3999, "codec": "fp16"}])", none), 6U * 2 * 72'000);
    EXPECT_EQ(count(R"([{"blocks": ["conv*"], "codec": "fp16"}])", none),
              6U * (2 * 44'000 + 4 * 28'000));
    EXPECT_EQ(
        count(R"([{"blocks": ["*1"], "codec": "fp32"}, {"blocks": ["fc*"], "codec": "fp16"}])",
              R"("codec": "int8")"),
        6U * (4 * 8000 + 2 * 24'000 + 40'000) + 24 * 2 * 4); // 10000 elements: 2 scales
}

TEST(TrainingCodecRuns, GradientsOfACodecHaveBucketsOfTheirOwn)
{
    // Blocks a, b, a, b, ... of 10 kB each, of which b has a codec: buckets of 20 kB are two of a,
    // or two of b. A ring of 4 takes 1.5 tau for 20 kB, tau = 160 us, and half of that by fp16;
    // nothing is computed.
    const auto result =
        Simulate(MakeCodecJob(R"({"bucket": "20kB", "firstBucket": "20kB", "blocks": [
        {"name": "a0", "gradient": "10kB"}, {"name": "b0", "gradient": "10kB"},
        {"name": "a1", "gradient": "10kB"}, {"name": "b1", "gradient": "10kB"}],
        "codecs": [{"blocks": ["b*"], "codec": "fp16"}]})",
                              R"("iterations": 1)"));
    EXPECT_EQ(result.summary.meanIctPs / 1000, 240'000 + 120'000);
    ASSERT_EQ(result.trainings.size(), 1U);
    const auto& workload = *result.trainings[0].workload;
    std::vector<std::string> labels;
    for (const auto& communication : workload.GetCommunications())
    {
        labels.push_back(workload.GetLabel(communication.label));
    }
    EXPECT_THAT(labels, testing::UnorderedElementsAre("gradients", "gradients (fp16)"));
}

TEST(TrainingCodecRuns, HalvesOfAnExchangeTakeWhatItTakes)
{
    // A ring encodes the sum of a chunk when it is there, and passes it on as it came: so do a
    // reduce-scatter and an all-gather after it.
    for (const auto* codec : {"fp16", "int8"})
    {
        const auto run = [codec](const char* exchange) {
            return Simulate(
                       MakeCodecJob(
                           fmt::format(R"({{"exchange": "{}", "blocks":
                [{{"backward": "1ms", "gradient": "1MB"}}]}})",
                                       exchange),
                           fmt::format(R"("codec": "{}", "profile": {})", codec, MakeProfile())))
                .summary;
        };
        EXPECT_EQ(run("scatter-gather").meanIctPs, run("all-reduce").meanIctPs) << codec;
        EXPECT_EQ(run("scatter-gather").goodputBytes, run("all-reduce").goodputBytes) << codec;
    }
    // What is scattered are gradients; ZeRO gathers parameters, which have no codec: a
    // reduce-scatter of 4 sends D elements 3 times, an all-gather likewise.
    for (const auto& [zero, gathers] : {std::pair(1, 1), std::pair(2, 1), std::pair(3, 2)})
    {
        EXPECT_EQ(CountTrainingBytes(
                      fmt::format(R"({{"zero": {}, "blocks": [{{"gradient": "16kB"}}]}})", zero),
                      R"("codec": "fp16")"),
                  uint64_t{3} * 2 * 4000 + static_cast<uint64_t>(gathers) * 3 * 4 * 4000);
    }
}

TEST(TrainingCodecRuns, CodecsMayWorkBetweenGroupsAlone)
{
    // 2 racks of 4; data-parallel groups {0, 2 | 4, 6} and {1, 3 | 5, 7} of 4 ranks have rings of
    // which 2 of 4 links leave a rack. Each link has 6 messages of a quarter of the D = 4000
    // elements.
    const std::string racks = R"({"topology": {"kind": "spine-leaf", "spines": 1, "leaves": 2,
        "hostsPerLeaf": 4, "hostLink": {"rate": "1Gbps", "delay": "0s"},
        "fabricLink": {"rate": "1Gbps", "delay": "0s"}}, "transport": "fluid", "scheme": "ring"})";
    const auto count = [&racks](const std::string& training, const std::string& codec) {
        return CountTrainingBytes(training, "\"codec\": " + codec, racks);
    };
    const std::string block = R"("tensor": 2, "blocks": [{"gradient": "16kB"}])";
    EXPECT_EQ(count("{" + block + "}", R"({"kind": "fp16", "between": "rack"})"),
              2U * (2 * 6 * 1000 * 2 + 2 * 6 * 1000 * 4));
    EXPECT_EQ(
        count("{" + block + "}", R"({"kind": "fp16", "between": "rack", "elsewhere": "bf16"})"),
        2U * 4 * 6 * 1000 * 2);
    // In two levels with a sparse codec among racks: it selects from the sums of a rack. Within,
    // two ranks scatter and gather 4000 elements, 2 x 2 x 2000 x 4 bytes a rack; among the two
    // racks each shard of 2000 elements has a ring of 2 with halves of 1000: a selection of 10,
    // then a union of 1 - 0.99^2 = 1.99 % of 1000, 20 elements, of 8 bytes each, each way.
    EXPECT_EQ(count("{" + block + R"(, "exchange": "hierarchical", "innerRanks": 2})",
                    R"({"kind": "dgc", "density": 0.01, "between": "rack"})"),
              2U * (2 * 2 * 2 * 2000 * 4 + 2 * 2 * (10 + 20) * 8));
    EXPECT_THAT(
        ErrorOf([&] { count("{" + block + "}", R"({"kind": "fp16", "between": "pod"})"); }),
        HasSubstr("job0: codec.between: found \"pod\", but here it can be: all, servers, rack"));
}

TEST(TrainingCodecRuns, WhatCannotBeIsNamed)
{
    const std::string block = R"("blocks": [{"name": "fc", "gradient": "1MB"}])";
    const auto error = [&block](const std::string& training, const std::string& more) {
        return ErrorOfCodecs("{" + block + training + "}", more);
    };
    const std::string none = R"("iterations": 1)";
    EXPECT_THAT(error(R"(, "zero": 1)", R"("codec": "dgc")"),
                HasSubstr("job0: training: the codec dgc sends what it selects of gradients, which "
                          "goes with all-reduces alone: here is a reduce-scatter"));
    EXPECT_THAT(error(R"(, "zero": 3)", R"("codec": "top-k")"), HasSubstr("a reduce-scatter"));
    EXPECT_THAT(error(R"(, "exchange": "scatter-gather")", R"("codec": "dgc")"),
                HasSubstr("needs a codec of all elements, such as int8"));
    EXPECT_THAT(error("", R"("codec": {"kind": "dgc", "warmUp": 9})"),
                HasSubstr("training iterations are all alike: a codec has no \"warmUp\" in them"));
    EXPECT_THAT(error("", R"("codec": {"kind": "dgc", "between": "servers"})"),
                HasSubstr("training has no dedicated servers"));
    EXPECT_THAT(error("", R"("codec": "fp16", "profile": 3)"), HasSubstr("job.profile"));
    EXPECT_THAT(error(R"(, "codecs": [{"blocks": ["fd"], "codec": "fp16"}])", none),
                HasSubstr("job.training.codecs.0.blocks.0: no block is called \"fd\"; did you mean "
                          "\"fc\"?"));
    EXPECT_THAT(error(R"(, "codecs": [{"above": -1, "codec": "fp16"}])", none),
                HasSubstr("job.training.codecs.0.above"));
    EXPECT_THAT(error(R"(, "codecs": [{"above": 1}])", none),
                HasSubstr("job.training.codecs.0: \"codec\" is missing"));
    EXPECT_THAT(error(R"(, "codecs": [{"codec": "fp17"}])", none),
                HasSubstr("did you mean \"fp16\"?"));
    EXPECT_THAT(error("",
                      R"("codec": "int8", "profile": {"format": 1, "origin": "measurement",
                         "device": "a", "kernels": {}})"),
                HasSubstr("job0: profile: the profile x.json has no times of int8-encode"));
}

} // namespace
} // namespace ns3::gradsync
