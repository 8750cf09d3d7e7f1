// SPDX-License-Identifier: GPL-2.0-only
// Asynchronous jobs, from scenario to result.
#include "scenario/scenario-runs.h"
#include "support/in-order.h"

#include <algorithm>
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

/// Four hosts on a switch, 1 Gb/s each way: a byte takes 8 ns.
constexpr int64_t PS_A_BYTE = 8'000;

class AsynchronousRuns : public testing::Test
{
  protected:
    uint64_t Draw(uint64_t least, uint64_t most)
    {
        return std::uniform_int_distribution<uint64_t>(least, most)(m_random);
    }

    /// A star of so many hosts.
    static RunResult Run(uint32_t hosts,
                         const std::string& job,
                         std::vector<ScenarioOverride> more = {})
    {
        more.insert(more.begin(), {{"topology.hosts", std::to_string(hosts)}, {"job", job}});
        return Simulate(more);
    }

    std::mt19937_64 m_random{6};
};

std::vector<Time>
GetEnds(const RunResult& result)
{
    std::vector<Time> ends;
    for (const auto& record : result.iterations)
    {
        ends.push_back(record.end);
    }
    return ends;
}

/// Of a job with this, checked.
std::string
ErrorOfAsynchronous(const std::string& job)
{
    UsePicoseconds();
    return ErrorOf([&] {
        CheckRun(ResolveRun(ParseScenario(STAR, "x.json", {{"job", job}}), 0), true);
    });
}

// A push and a fetch every step and nobody ahead of anybody are synchronous parameter servers:
// dedicated ones, and those at the workers.
TEST_F(AsynchronousRuns, BoundZeroIsTheSchemePs)
{
    for (int round = 0; round < 20; ++round)
    {
        const auto hosts = static_cast<uint32_t>(Draw(4, 10));
        const auto servers = static_cast<uint32_t>(Draw(0, hosts - 2));
        const auto workers = hosts - servers;
        const auto bytes = uint64_t{4} * (servers == 0 ? workers : servers) * Draw(1, 20'000);
        const auto common = fmt::format(R"("gradient": "{}B", "compute": "{}us", "iterations": 3)",
                                        bytes,
                                        Draw(0, 2000));
        const auto found =
            Run(hosts,
                fmt::format(R"({{{}, "asynchronous": {{"bound": 0, "servers": {}}}}})",
                            common,
                            servers));
        const auto expected =
            Run(hosts,
                fmt::format("{{{}}}", common),
                {{"scheme", fmt::format(R"({{"kind": "ps", "servers": {}}})", servers)}});
        EXPECT_EQ(GetEnds(found), GetEnds(expected)) << workers << " + " << servers;
        EXPECT_EQ(found.summary.meanIctPs, expected.summary.meanIctPs);
        EXPECT_EQ(found.summary.crossRackBytes, expected.summary.crossRackBytes);
        EXPECT_EQ(found.summary.goodputBytes, expected.summary.goodputBytes);
        EXPECT_EQ(found.summary.workers, workers);
        EXPECT_EQ(found.summary.asynchronous.updates, uint64_t{3} * workers);
        EXPECT_LT(found.summary.asynchronous.mostStaleness, workers);
        EXPECT_LE(found.summary.asynchronous.mostAhead, 1U);
    }
}

// One worker and one server: c a step, K a push and a fetch, r a request.
TEST_F(AsynchronousRuns, OneWorkerTakesItsClosedForms)
{
    for (int round = 0; round < 10; ++round)
    {
        const auto k = Draw(1000, 50'000);
        const auto r = Draw(1, 300);
        const auto c = Draw(1, 500) * 1'000'000;
        const auto n = Draw(1, 4);
        const auto take = [&](uint64_t pushEvery, uint64_t fetchEvery, uint64_t steps) {
            const auto result = Run(2,
                                    fmt::format(R"({{"gradient": "{}B", "compute": "{}ps",
                                        "iterations": {}, "asynchronous": {{"pushEvery": {},
                                        "fetchEvery": {}, "servers": 1, "requestSize": "{}B"}}}})",
                                                k,
                                                c,
                                                steps,
                                                pushEvery,
                                                fetchEvery,
                                                r));
            EXPECT_EQ(result.summary.asynchronous.mostStaleness, 0U); // nobody else updates
            EXPECT_EQ(result.summary.workers, 1U);
            return result.iterations.back().end.GetPicoSeconds();
        };
        const auto push = static_cast<int64_t>(k) * PS_A_BYTE;
        const auto request = static_cast<int64_t>(r) * PS_A_BYTE;
        const auto step = static_cast<int64_t>(c);
        const auto count = static_cast<int64_t>(n);
        EXPECT_EQ(take(1, 1, n), count * (step + 2 * push));
        EXPECT_EQ(take(n, n, 3 * n), 3 * (count * step + 2 * push));
        // Every second fetch is asked for by a push, the others by a request.
        EXPECT_EQ(take(2, 1, 2 * n), 2 * count * step + count * (request + 3 * push));
        // A push without a fetch hides behind the next step, or delays the next push.
        EXPECT_EQ(take(1, 2, 2), step + std::max(step, push) + 2 * push);
    }
}

// n steps, a push and a fetch beside the next n: m rounds take n c + (m - 1) max(n c, 2 r + K) +
// 2 r + K, see AsynchronousExecutionTest.FetchesBesideComputations; those that wait for their
// fetches m (n c + 2 K).
TEST_F(AsynchronousRuns, FetchesGoOnBesideComputations)
{
    for (int round = 0; round < 10; ++round)
    {
        const auto n = static_cast<int64_t>(Draw(1, 3));
        const auto m = static_cast<int64_t>(Draw(2, 5));
        const auto r = static_cast<int64_t>(Draw(1, 100));
        const auto k = r + static_cast<int64_t>(Draw(0, 20'000));
        const auto c = 3 * r + static_cast<int64_t>(Draw(0, 20'000));
        const auto take = [&](bool overlaps) {
            return Run(2,
                       fmt::format(R"({{"gradient": "{}B", "compute": "{}ps", "iterations": {},
                           "asynchronous": {{"pushEvery": {}, "fetchEvery": {}, "servers": 1,
                           "requestSize": "{}B", "overlapFetch": {}}}}})",
                                   k,
                                   c * PS_A_BYTE,
                                   n * m,
                                   n,
                                   n,
                                   r,
                                   overlaps))
                .iterations.back()
                .end.GetPicoSeconds();
        };
        EXPECT_EQ(take(false), PS_A_BYTE * m * (n * c + 2 * k));
        const auto once = 2 * r + k;
        const auto expected = PS_A_BYTE * (n * c + (m - 1) * std::max(n * c, once) + once);
        EXPECT_NEAR(static_cast<double>(take(true)), static_cast<double>(expected), 10.0);
    }
}

TEST_F(AsynchronousRuns, StragglersAreNoFurtherBehindThanTheBound)
{
    uint32_t furthest = 0;
    for (int round = 0; round < 24; ++round)
    {
        const auto pushEvery = Draw(1, 3);
        const auto bound = pushEvery - 1 + Draw(0, 3);
        const bool isBound = round % 3 != 0;
        const auto job = InOrder{R"({{"gradient": "{}B", "compute": "1ms", "iterations": 15,
                    "asynchronous": {{"pushEvery": {}, "fetchEvery": {}, "bound": {},
                    "servers": {}, "overlapFetch": {}}}}})",
                                 Draw(1, 50'000),
                                 pushEvery,
                                 Draw(1, 4),
                                 isBound ? std::to_string(bound) : "\"none\"",
                                 Draw(0, 2),
                                 round % 2 == 0}
                             .text;
        const auto result = Run(6,
                                job,
                                {{"seed", std::to_string(round + 1)},
                                 {"faults",
                                  R"([{"kind": "straggler", "hosts": [0], "slowdown":
                       {"distribution": "lognormal", "median": 4, "sigma": 0.5}},
                      {"kind": "straggler", "hosts": [1, 2, 3], "slowdown":
                       {"distribution": "lognormal", "median": 1, "sigma": 0.5}}])"}});
        ASSERT_TRUE(result.summary.finished) << result.summary.failure;
        if (isBound)
        {
            EXPECT_LE(result.summary.asynchronous.mostAhead, bound + 1);
        }
        else
        {
            furthest = std::max(furthest, result.summary.asynchronous.mostAhead);
        }
    }
    EXPECT_GT(furthest, 6U); // without a bound they are
}

// Three workers with 1 ms a step and one with 4, and messages of next to nothing. As long as all
// are at work: with s = 0 all take 4 ms a step, 4 steps in 4 ms. Without a bound 3 in each ms and
// one in 4, and the fast ones end after 1 ms x steps. With s = 3 they soon go as fast as the slow
// one.
TEST_F(AsynchronousRuns, RatesAreThoseOfAllWorkersAtWork)
{
    const auto rate = [](const std::string& bound) {
        const auto result = Run(4,
                                fmt::format(R"({{"gradient": "16B", "iterations": 40,
                                    "compute": ["4ms", "1ms", "1ms", "1ms"],
                                    "asynchronous": {{"bound": {}, "requestSize": "1B"}}}})",
                                            bound));
        return result.summary.asynchronous;
    };
    const auto synchronous = rate("0");
    EXPECT_NEAR(synchronous.stepsPerSecond, 1000.0, 10.0);
    // Each of 40 steps holds three of four workers for 3 ms.
    EXPECT_NEAR(static_cast<double>(synchronous.heldPs) / 1e9, 40 * 3 * 3 / 4.0, 0.1);
    const auto free = rate("\"none\"");
    EXPECT_NEAR(free.stepsPerSecond, 3250.0, 5.0);
    EXPECT_EQ(free.heldPs, 0);
    EXPECT_EQ(free.mostAhead, 40U - 10U);
    // The last fetch of the fast ones is held until 37 steps of the slow one are applied: 148 ms.
    EXPECT_NEAR(rate("3").stepsPerSecond, (3 * 40 + 37) / 0.148, 5.0);
}

TEST_F(AsynchronousRuns, CrashesEndInCompletionOrAName)
{
    for (int round = 0; round < 20; ++round)
    {
        const auto host = Draw(0, 5); // 4 workers, 2 servers
        const auto start = Draw(0, 12);
        const auto result = Run(6,
                                fmt::format(R"({{"gradient": "40kB", "compute": "1ms",
                                    "iterations": 8, "asynchronous": {{"bound": {}, "servers": 2,
                                    "overlapFetch": {}}}}})",
                                            Draw(0, 2),
                                            round % 2 == 0),
                                {{"seed", std::to_string(round + 1)},
                                 {"faults",
                                  fmt::format(R"([{{"kind": "host-crash", "hosts": [{}],
                                      "start": "{}ms", "detectionDelay": "500us"}}])",
                                              host,
                                              start)}});
        if (host < 4 || result.summary.finished)
        {
            EXPECT_TRUE(result.summary.finished) << result.summary.failure;
            EXPECT_EQ(result.iterations.size(), 8U);
        }
        else
        {
            EXPECT_THAT(
                result.summary.failure,
                HasSubstr(
                    fmt::format("rank {}, the server of shard {}, has crashed", host, host - 4)));
        }
    }
}

TEST_F(AsynchronousRuns, RolesOfFaultsKnowItsServers)
{
    const auto result = Run(
        4,
        R"({"gradient": "40kB", "compute": "1ms", "iterations": 8, "asynchronous": {"servers": 1}})",
        {{"faults", R"([{"kind": "host-crash", "role": "server", "start": "2ms"}])"}});
    EXPECT_THAT(result.summary.failure, HasSubstr("rank 3, the server of shard 0, has crashed"));
}

// Two stages: S = 1, three workers c + 6 K a step, then one r + K and c + 2 K.
TEST_F(AsynchronousRuns, StagesHaveWorkersOfTheirOwn)
{
    const auto result = Run(4, R"({"gradient": "1000B", "compute": "10us", "asynchronous": {
        "servers": 1, "bound": 0, "requestSize": "100B",
        "stages": [{"steps": 2}, {"workers": 1, "steps": 3, "compute": "20us"}]}})");
    ASSERT_EQ(result.iterations.size(), 5U);
    EXPECT_EQ(result.iterations[1].end, MicroSeconds(2 * (10 + 48)));
    EXPECT_EQ(result.iterations[4].end,
              MicroSeconds(2 * (10 + 48) + 3 * (20 + 16)) + NanoSeconds(8800));
    ASSERT_EQ(result.asynchronous.size(), 1U);
    const auto& workers = result.asynchronous[0].workers;
    EXPECT_EQ(workers[0].steps, 5U);
    EXPECT_EQ(workers[1].steps, 2U);
    EXPECT_EQ(workers[0].fetches, 6U); // with the one at the beginning of the second stage
    EXPECT_EQ(workers[0].requests, 1U);
}

TEST_F(AsynchronousRuns, RefusesWhatDoesNotFit)
{
    EXPECT_EQ(ErrorOfAsynchronous(R"({"asynchronous": {"bound": 1, "pushEvery": 4}})"),
              "x.json: job.asynchronous.bound: found 1, expected at least 3: with a push every 4 "
              "steps all would wait for what nobody has pushed");
    EXPECT_THAT(ErrorOfAsynchronous(R"({"asynchronous": {"bounds": 1}})"), HasSubstr("\"bound\""));
    EXPECT_THAT(ErrorOfAsynchronous(R"({"asynchronous": {"bound": "never"}})"), HasSubstr("none"));
    EXPECT_THAT(ErrorOfAsynchronous(R"({"asynchronous": {"pushEvery": 0}})"),
                HasSubstr("job.asynchronous.pushEvery: found 0, expected"));
    EXPECT_THAT(
        ErrorOfAsynchronous(R"({"asynchronous": {"servers": 4}})"),
        HasSubstr("4 endpoints are too few: an asynchronous job needs at least 1 worker and "
                  "4 dedicated servers"));
    EXPECT_THAT(ErrorOfAsynchronous(R"({"asynchronous": {}, "workers": 1})"),
                HasSubstr("job.workers: found 1, expected"));
    EXPECT_THAT(ErrorOfAsynchronous(R"({"asynchronous": {}, "scheme": "ring"})"),
                HasSubstr("\"scheme\" and \"asynchronous\" are both given"));
    EXPECT_THAT(ErrorOfAsynchronous(R"({"asynchronous": {}, "codec": "fp16"})"),
                HasSubstr("\"codec\" and \"asynchronous\" are both given"));
    EXPECT_THAT(ErrorOfAsynchronous(R"({"asynchronous": {"stages": []}})"),
                HasSubstr("job.asynchronous.stages: found [], expected a list of at least one"));
    EXPECT_THAT(
        ErrorOfAsynchronous(R"({"asynchronous": {"stages": [{"steps": 1, "workers": 5}]}})"),
        HasSubstr("job.asynchronous.stages.0.workers: found 5, expected"));
    EXPECT_THAT(
        ErrorOfAsynchronous(R"({"iterations": 2, "asynchronous": {"stages": [{"steps": 1}]}})"),
        HasSubstr("job.iterations: \"iterations\" and \"asynchronous.stages\" are both"));
    EXPECT_THAT(ErrorOfAsynchronous(R"({"compute": ["1ms"], "asynchronous": {}})"),
                HasSubstr("found 1 times, expected one for each of the 4 workers"));
    EXPECT_THAT(
        ErrorOfAsynchronous(R"({"compute": "1000h", "iterations": 1000000, "asynchronous": {}})"),
        HasSubstr("days at least"));
}

// A worker and its updates are kept one by one up to the limit, then evenly fewer.
TEST_F(AsynchronousRuns, UpdatesAreKeptInBoundedMemory)
{
    UpdateSample sample(8);
    for (uint32_t i = 0; i < 100; ++i)
    {
        sample.Add({0, 0, 0, i, 0, 0, Time(0)});
        EXPECT_LE(sample.Get().size(), 8U);
    }
    // 100 in steps of 16: 0, 16, ..., 96.
    EXPECT_EQ(sample.GetStep(), 16U);
    ASSERT_EQ(sample.Get().size(), 7U);
    for (uint32_t i = 0; i < 7; ++i)
    {
        EXPECT_EQ(sample.Get()[i].clock, 16 * i);
    }
}

} // namespace
} // namespace ns3::gradsync
