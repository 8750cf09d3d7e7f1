// SPDX-License-Identifier: GPL-2.0-only
// Differential gradient transmission, from scenario to result.
#include "scenario/scenario-runs.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <random>
#include <string>

namespace ns3::gradsync
{
namespace
{

using testing::HasSubstr;

/// Eight workers push to one server and fetch from it.
std::string
MakeIncast(double hostGbps,
           double lossRate,
           const std::string& transport = "roce",
           uint64_t droppableBytes = 100'000)
{
    return fmt::format(R"({{
      "topology": {{"kind": "star", "hosts": 9,
                    "hostLink": {{"rate": "{}Gbps", "delay": "1us"}}}},
      "transport": {{"kind": "{}"{}}},
      "fabric": {{"pfc": false, "lossRate": {}, "droppableBytes": "{}B"}},
      "scheme": {{"kind": "ps", "servers": 1}}, "job": {{"workers": 8}}}})",
                       hostGbps,
                       transport,
                       transport == "roce" ? R"(, "timeout": "200us", "retryLimit": 1000)" : "",
                       lossRate,
                       droppableBytes);
}

RunSummary
RunShare(const std::string& text, uint64_t bytes, double share, const std::string& more = "")
{
    return Simulate({{"job",
                      fmt::format(R"({{"workers": 8, "gradient": "{}B", "iterations": 2,
                                       "dgt": {{"reliableShare": {}}}{}}})",
                                  bytes,
                                  share,
                                  more)}},
                    text)
        .summary;
}

TEST(DgtRuns, AnIncastLosesWhatItMayAndTakesLess)
{
    // 8 D up, of which at most 8 (1 - share) D may be lost, and 8 D down, of which nothing may. The
    // server's link carries what is left of both one after the other.
    std::mt19937_64 random(41);
    double last = 1e18;
    const auto bytes = 4 * (200'000 + random() % 100'000);
    for (const double share : {1.0, 0.8, 0.5, 0.2})
    {
        const auto summary = RunShare(MakeIncast(10, 0.0), bytes, share);
        EXPECT_TRUE(summary.finished);
        EXPECT_EQ(summary.goodputBytes + summary.lostBytes, 2 * 16 * bytes);
        const auto mayBeLost = 2.0 * 8.0 * (1.0 - share) * static_cast<double>(bytes);
        EXPECT_LE(static_cast<double>(summary.lostBytes), mayBeLost + 2 * 8 * 16'384);
        EXPECT_EQ(summary.lostBytes == 0, share == 1.0);
        const auto left = static_cast<double>(summary.goodputBytes) / 2.0;
        EXPECT_GT(static_cast<double>(summary.meanIctPs) * 1e-12, left * 8.0 / 10e9);
        EXPECT_LT(static_cast<double>(summary.meanIctPs), last);
        last = static_cast<double>(summary.meanIctPs);
    }
}

TEST(DgtRuns, WithoutCongestionNothingChanges)
{
    // A ring of equal links has no queue of 100 kB.
    const std::string ring = R"({"topology": {"kind": "star", "hosts": 8,
        "hostLink": {"rate": "10Gbps", "delay": "1us"}}, "scheme": "ring"})";
    const auto with = RunShare(ring, 4'000'000, 0.2);
    const auto without = Simulate({{"job", R"({"gradient": "4MB", "iterations": 2})"}}, ring);
    EXPECT_EQ(with.lostBytes, 0U);
    EXPECT_EQ(with.meanIctPs, without.summary.meanIctPs);
    EXPECT_EQ(with.packetHops, without.summary.packetHops);
}

TEST(DgtRuns, ResultsAreNotLost)
{
    // No queue drops. All of it may be lost but the last block, each packet with probability 0.2 on
    // each of two links; the sums that come back are whole: at least half of all bytes arrives.
    const auto bytes = 400'000;
    const auto summary = RunShare(MakeIncast(10, 0.2, "roce", 1'000'000'000), bytes, 0.0);
    EXPECT_TRUE(summary.finished);
    EXPECT_EQ(summary.goodputBytes + summary.lostBytes, 2 * 16 * bytes);
    // 24 of 25 blocks of 4 packets: n = 2 x 8 x 96 packets that may be lost, with p = 1 - 0.8^2 =
    // 0.36: np = 553, and a standard deviation of sqrt(n p (1 - p)) = 18.8.
    EXPECT_EQ(summary.lostBytes % 4096, 0U);
    EXPECT_NEAR(static_cast<double>(summary.lostBytes) / 4096.0, 553.0, 5 * 18.8);
}

TEST(DgtRuns, OtherTransportsDeliverAll)
{
    for (const auto* transport : {"fluid", "tcp"})
    {
        const auto text = fmt::format(R"({{"topology": {{"kind": "star", "hosts": 9,
              "hostLink": {{"rate": "1Gbps", "delay": "1us"}}}},
              "transport": "{}", "scheme": {{"kind": "ps", "servers": 1}}, "job": {{}}}})",
                                      transport);
        const auto summary = RunShare(text, 100'000, 0.2);
        EXPECT_TRUE(summary.finished);
        EXPECT_EQ(summary.lostBytes, 0U) << transport;
    }
}

TEST(DgtRuns, TrainingAndCodecsGoWithIt)
{
    const auto text = MakeIncast(10, 0.3);
    const auto coded = RunShare(text, 400'000, 0.5, R"(, "codec": "fp16")");
    EXPECT_TRUE(coded.finished);
    EXPECT_EQ(coded.goodputBytes + coded.lostBytes, 2 * 16 * 200'000U);
    EXPECT_GT(coded.lostBytes, 0U);
    const auto training =
        Simulate({{"job", R"({"dgt": {"block": "1kB", "reliableShare": 0.5}, "training":
                              {"data": 8, "blocks": [{"backward": "1us", "gradient": "400kB"}]}})"}},
                 R"({"topology": {"kind": "star", "hosts": 8,
                     "hostLink": {"rate": "10Gbps", "delay": "1us"}},
                     "fabric": {"lossRate": 0.1}, "scheme": "ring",
                     "transport": {"kind": "roce", "timeout": "200us", "retryLimit": 1000}})");
    EXPECT_TRUE(training.summary.finished);
    // A ring: 2 x 7 messages of D / 8 for each of 8 ranks.
    EXPECT_EQ(training.summary.goodputBytes + training.summary.lostBytes, 2 * 7 * 400'000U);
    EXPECT_GT(training.summary.lostBytes, 0U);
}

TEST(DgtRuns, WhatCannotBeIsSaid)
{
    const auto fails = [](const std::string& dgt) {
        return ErrorOf([&] {
            Simulate({{"job", fmt::format(R"({{"gradient": "1MB", "dgt": {}}})", dgt)}});
        });
    };
    EXPECT_THAT(fails(R"({"reliableShare": 1.5})"), HasSubstr("job.dgt.reliableShare"));
    EXPECT_THAT(ErrorOf([] {
                    Simulate({{"scheme", "switchml"},
                              {"transport", "roce"},
                              {"job", R"({"gradient": "1MB", "dgt": {}})"}});
                }),
                HasSubstr("job0: dgt: switches that aggregate wait"));
    EXPECT_THAT(fails(R"({"block": "0B"})"), HasSubstr("job.dgt.block"));
    EXPECT_THAT(fails(R"({"reliable": 0.5})"), HasSubstr("reliableShare"));
    EXPECT_THAT(
        ErrorOf([] {
            Simulate(
                {{"job", R"({"gradient": "1MB", "dgt": {}, "asynchronous": {"servers": 1}})"}});
        }),
        HasSubstr("\"dgt\" and \"asynchronous\" are both given"));
}

} // namespace
} // namespace ns3::gradsync
