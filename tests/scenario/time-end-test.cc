// SPDX-License-Identifier: GPL-2.0-only
// Simulated time ends after 106 days: runs that reach it, that just do not, and what is refused.
#include "scenario/scenario-runs.h"
#include "unit/transport/roce-fixture.h"

#include "ns3/time-range.h"
#include "ns3/uinteger.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace ns3::gradsync
{
namespace
{

using testing::HasSubstr;

__extension__ using Wide = __int128;

constexpr int64_t HOUR = int64_t{3600} * 1'000'000'000'000;

/// Two hosts on a switch, 10 Gb/s and 1 us a link: a ring of 1 MB on the fluid transport takes two
/// steps of 500 kB, 400 us and twice the delay each.
constexpr const char* PAIR = R"({
    "topology": {"kind": "star", "hosts": 2, "hostLink": {"rate": "10Gbps"}},
    "transport": "fluid", "job": {"gradient": "1MB"}, "scheme": "ring"})";
constexpr int64_t EXCHANGE = 2 * 402'000'000;

std::string
ErrorOfTimes(const std::vector<ScenarioOverride>& overrides, const std::string& text = PAIR)
{
    UsePicoseconds();
    return ErrorOf(
        [&] { CheckRun(ResolveRun(ParseScenario(text, "x.json", overrides), 0), true); });
}

/// No time is negative or before the one that it follows.
void
ExpectForward(const RunResult& result)
{
    int64_t last = 0;
    for (const auto& record : result.iterations)
    {
        EXPECT_GE(record.start.GetTimeStep(), last);
        EXPECT_GE(record.exchangeStart, record.start);
        EXPECT_GE(record.end, record.exchangeStart);
        last = record.end.GetTimeStep();
    }
    for (const auto& record : result.transfers)
    {
        EXPECT_GE(record.end, record.start);
    }
    EXPECT_LE(last, LAST_TIME_STEP);
}

TEST(TimeRange, SumsAndRoundsUpToNever)
{
    std::mt19937_64 random(1);
    for (int i = 0; i < 10'000; ++i)
    {
        const auto a = static_cast<int64_t>(random() % NEVER) >> (random() % 63);
        const auto b = static_cast<int64_t>(random() % NEVER) >> (random() % 63);
        const auto sum = std::min(Wide{a} + b, Wide{NEVER});
        ASSERT_EQ(AddTimeSteps(a, b), static_cast<int64_t>(sum)) << a << " + " << b;
    }
    EXPECT_EQ(AddTimeSteps(NEVER, NEVER), NEVER);
    EXPECT_EQ(AddTimeSteps(LAST_TIME_STEP, 0), LAST_TIME_STEP);
    EXPECT_EQ(AddTimeSteps(LAST_TIME_STEP, 1), NEVER);
    EXPECT_EQ(ToTimeSteps(0.5), 1);
    EXPECT_EQ(ToTimeSteps(1e18), 1'000'000'000'000'000'000);
    EXPECT_EQ(ToTimeSteps(1e19), NEVER);
    EXPECT_EQ(ToTimeSteps(std::numeric_limits<double>::infinity()), NEVER);
    EXPECT_EQ(ToTimeSteps(std::numeric_limits<double>::quiet_NaN()), NEVER);
}

/// Iterations of so many hours of computation up to the end of time, on every transport.
class LongTraining : public testing::TestWithParam<const char*>
{
};

TEST_P(LongTraining, IsRightToTheEndOfTime)
{
    // 53 times 48 hours are 106 days: the 53rd exchange would be after the end. 52 are right.
    const std::vector<ScenarioOverride> common{{"transport", GetParam()},
                                               {"job.gradient", "10kB"},
                                               {"job.compute", "48h"}};
    auto overrides = common;
    overrides.push_back({"job.iterations", "52"});
    const auto result = Simulate(overrides, PAIR);
    ASSERT_TRUE(result.summary.finished) << result.summary.failure;
    EXPECT_EQ(result.iterations.size(), 52U);
    ExpectForward(result);
    for (const auto& record : result.iterations)
    {
        EXPECT_EQ((record.exchangeStart - record.start).GetTimeStep(), 48 * HOUR);
        // 2 steps of 5 kB at 10 Gb/s, 4 us each, and some headers.
        EXPECT_GT((record.end - record.exchangeStart), MicroSeconds(8));
        EXPECT_LT((record.end - record.exchangeStart), MicroSeconds(40));
    }
    overrides = common;
    overrides.push_back({"job.iterations", "53"});
    EXPECT_THAT(ErrorOfTimes(overrides, PAIR), HasSubstr("it takes 106 days at least"));
    // A timeout that does not come before the end of time is no promise to end before.
    overrides.push_back({"job.timeout", "2000h"});
    const auto ended = Simulate(overrides, PAIR);
    EXPECT_THAT(ended.summary.failure, HasSubstr("simulated time ended after 106 days"));
    EXPECT_EQ(ended.iterations.size(), 52U);
    ExpectForward(ended);
    EXPECT_LE(ended.duration.GetTimeStep(), LAST_TIME_STEP);
}

INSTANTIATE_TEST_SUITE_P(Transports, LongTraining, testing::Values("fluid", "roce", "tcp"));

TEST(TimeEnd, LawOfRandomTrainingsAroundIt)
{
    std::mt19937_64 random(2);
    uint32_t finished = 0;
    for (int i = 0; i < 60; ++i)
    {
        const auto compute = static_cast<int64_t>(1 + random() % (200 * HOUR));
        const auto each = compute + EXCHANGE;
        // From half to one and a half times as many as fit.
        const auto fit = LAST_TIME_STEP / each;
        const auto iterations = static_cast<int64_t>(
            fit / 2 + static_cast<int64_t>(random() % static_cast<uint64_t>(fit + 2)));
        const std::vector<ScenarioOverride> overrides{
            {"job.compute", fmt::format("{}ps", compute)},
            {"job.iterations", std::to_string(std::max<int64_t>(iterations, 1))},
            {"job.timeout", "2560h"}}; // or else those that do not fit would be refused
        if (iterations > 3000)
        {
            continue; // an hour of simulation
        }
        const auto result = Simulate(overrides, PAIR);
        SCOPED_TRACE(fmt::format("{} iterations of {} ps, {} fit", iterations, compute, fit));
        const auto done = std::min(std::max<int64_t>(iterations, 1), fit);
        ASSERT_EQ(std::ssize(result.iterations), done);
        EXPECT_EQ(result.summary.finished, std::max<int64_t>(iterations, 1) <= fit);
        finished += result.summary.finished ? 1 : 0;
        for (const auto& record : result.iterations)
        {
            ASSERT_EQ(record.start.GetTimeStep(), record.iteration * each);
            ASSERT_EQ(record.end.GetTimeStep(), (record.iteration + 1) * each);
        }
    }
    EXPECT_GT(finished, 10U);
    EXPECT_LT(finished, 50U);
}

TEST(TimeEnd, LawOfRandomGradientsAroundIt)
{
    // 16 hosts at 1 Mb/s: a ring sends 30/16 of the gradient, 15 s a megabyte and 60 us of delay.
    // 106 days are 9,158,400 s: 610,560 MB. Without a timeout what does not fit is refused.
    constexpr const char* SLOW = R"({
        "topology": {"kind": "star", "hosts": 16, "hostLink": {"rate": "1Mbps"}},
        "transport": "fluid", "scheme": "ring"})";
    std::mt19937_64 random(3);
    for (int i = 0; i < 40; ++i)
    {
        const auto megabytes = 600'000 + random() % 20'000;
        const bool fits = megabytes < 610'560;
        const std::vector<ScenarioOverride> overrides{
            {"job.gradient", fmt::format("{}MB", megabytes)}};
        if (!fits)
        {
            EXPECT_THAT(ErrorOfTimes(overrides, SLOW), HasSubstr("simulated time"));
            continue;
        }
        EXPECT_EQ(ErrorOfTimes(overrides, SLOW), "no error");
        const auto result = Simulate(overrides, SLOW);
        ASSERT_TRUE(result.summary.finished) << megabytes;
        const auto expected = 15e12 * static_cast<double>(megabytes) + 60e6;
        EXPECT_NEAR(static_cast<double>(result.summary.meanIctPs), expected, 1e-9 * expected);
    }
}

TEST(TimeEnd, GradientsOfTheIssueAreRefused)
{
    for (const auto* gradient : {"1TB", "16TiB"})
    {
        for (const auto* transport : {"fluid", "roce", "tcp"})
        {
            const auto error = ErrorOfTimes({{"topology.hosts", "16"},
                                             {"topology.hostLink.rate", "1Mbps"},
                                             {"job.gradient", gradient},
                                             {"transport", transport}});
            EXPECT_THAT(error, HasSubstr("job0: it takes"));
            EXPECT_THAT(error, HasSubstr("simulated time"));
        }
    }
}

TEST(TimeEnd, IsReachedByWhatStretchesOrQueuesUp)
{
    const std::vector<std::vector<ScenarioOverride>> cases{
        // 1,000 h at a millionth of the speed.
        {{"job.compute", "1000h"},
         {"faults", R"([{"kind": "straggler", "random": 1, "slowdown": 1e6}])"}},
        // The addition of 1.5 MB at 1 bit/s takes 139 days.
        {{"job.reduceRate", "1bps"}, {"job.gradient", "3MB"}},
        // Four in a row at one server, 46 days each: only their sum is too long.
        {{"topology.hosts", "5"},
         {"scheme", R"({"kind": "ps", "servers": 1})"},
         {"job.reduceRate", "1bps"},
         {"job.gradient", "500kB"}},
        // The first Poisson gap, repair or recurrence is far after the end.
        {{"job.compute", "2543h"},
         {"job.iterations", "2"},
         {"faults",
          R"([{"kind": "host-pause", "hosts": ["host0"], "mtbf": "2560h", "mttr": "2560h"},
              {"kind": "link-down", "at": "host0", "start": "2543h", "every": "2560h",
               "duration": "2560h", "detectionDelay": "2560h"}])"}}};
    for (const auto& overrides : cases)
    {
        auto all = overrides;
        all.push_back({"job.timeout", "2560h"});
        const auto result = Simulate(all, PAIR);
        SCOPED_TRACE(overrides[0].path + " " + overrides[0].value);
        EXPECT_FALSE(result.summary.finished);
        EXPECT_THAT(result.summary.failure, HasSubstr("simulated time ended after 106 days"));
        ExpectForward(result);
    }
}

TEST(TimeEnd, ComesWhilePacketsAreOnTheWire)
{
    // From 3.6 s before the end on, 100 kB at 60 kb/s take 13 s.
    for (const auto* transport : {R"({"kind": "roce", "timeout": "1h"})", "tcp", "fluid"})
    {
        const auto result = Simulate({{"transport", transport},
                                      {"topology.hostLink", R"({"rate": "60kbps"})"},
                                      {"job.gradient", "100kB"},
                                      {"job.start", "2543.999h"},
                                      {"job.timeout", "1h"}},
                                     PAIR);
        EXPECT_THAT(result.summary.failure, HasSubstr("simulated time ended after 106 days"));
        EXPECT_LE(result.duration.GetTimeStep(), LAST_TIME_STEP);
        ExpectForward(result);
    }
}

TEST(TimeEnd, OverlappingDegradationsLeaveALinkWhatEveryLinkHas)
{
    // Ten faults of a hundredth each, and ten of an hour: 60 kb/s and one hour are left. The ring's
    // two steps of 500 kB take 66.7 s and 1 h + 1 us and the other link's 1 us each.
    Json faults = Json::array();
    for (int i = 0; i < 10; ++i)
    {
        faults.push_back({{"kind", "link-degraded"},
                          {"at", "host0"},
                          {"rateShare", 0.01},
                          {"extraDelay", "1h"}});
    }
    const auto result =
        Simulate({{"faults", faults.dump()}, {"job.timeout", "100h"}, {"job.compute", "1s"}}, PAIR);
    ASSERT_TRUE(result.summary.finished) << result.summary.failure;
    const auto expected = 1.0 + 2 * (500e3 * 8 / 60e3 + 3600.0 + 2e-6);
    EXPECT_NEAR(static_cast<double>(result.summary.meanIctPs), expected * 1e12, 1e3);
}

TEST(TimeEnd, WhatTheClockCannotCountIsRefusedWhenRead)
{
    EXPECT_THAT(ErrorOfTimes({{"topology.hostLink.rate", "59999bps"}}),
                HasSubstr("topology.hostLink.rate: found \"59999bps\", expected a rate of 60kbps "
                          "at least"));
    EXPECT_EQ(ErrorOfTimes({{"topology.hostLink.rate", "60kbps"}}), "no error");
    EXPECT_THAT(ErrorOfTimes({{"topology.hostLink.delay", "3601s"}}),
                HasSubstr("topology.hostLink.delay: found \"3601s\", expected a time of 1h at "
                          "most"));
    EXPECT_EQ(ErrorOfTimes({{"topology.hostLink.delay", "1h"}}), "no error");
    EXPECT_THAT(ErrorOfTimes({{"topology", R"({"kind": "spine-leaf", "spines": 1, "leaves": 2,
                                               "hostsPerLeaf": 2, "hostLink": {"rate": "60kbps"},
                                               "oversubscription": 8})"}}),
                HasSubstr("topology: the link leaf0-spine0 would have 15kbps, expected 60kbps at "
                          "least"));
    EXPECT_THAT(ErrorOfTimes({{"transport", R"({"kind": "roce", "timeout": "10801s"})"}}),
                HasSubstr("transport.timeout: found \"10801s\", expected a time of 3h at most"));
    const auto degrade = [](double share, const char* delay) {
        return std::vector<ScenarioOverride>{
            {"faults",
             fmt::format(R"([{{"kind": "link-degraded", "at": "host0", "rateShare": {},
                               "extraDelay": "{}"}}])",
                         share,
                         delay)}};
    };
    // 10 Gb/s: 6 millionths are 60 kb/s.
    EXPECT_THAT(ErrorOfTimes(degrade(1e-6, "0s")),
                HasSubstr("faults.0.rateShare: of the 10Gbps of link host0-leaf0 it leaves 10000 "
                          "b/s, expected 60kbps at least"));
    EXPECT_EQ(ErrorOfTimes(degrade(6e-6, "1h")), "no error");
    EXPECT_THAT(ErrorOfTimes(degrade(1.0, "3601s")), HasSubstr("faults.0.extraDelay: found"));
}

class MessageTooLong : public RoceTransportTest
{
};

TEST_F(MessageTooLong, FailsByName)
{
    // 2^32 packets of 64 bytes and more; what is within the limit still arrives.
    Set("Mtu", UintegerValue(64));
    InstallStar(2);
    Send(0, 1, (uint64_t{1} << 32) * 64, 1);
    Send(0, 1, 64, 2);
    Simulator::Run();
    EXPECT_THAT(m_handler.failures,
                testing::ElementsAre(testing::Pair(
                    1,
                    HasSubstr("connection host0 -> host1 would have more than 2^32 packets"))));
    EXPECT_THAT(m_handler.delivered, testing::ElementsAre(testing::Pair(2, 1)));
}

} // namespace
} // namespace ns3::gradsync
