// SPDX-License-Identifier: GPL-2.0-only
/*
 * Several processes that simulate a run together must find out what one finds out alone, to the
 * last byte of every table. What MPI does for the program, sockets between forked processes do
 * here.
 */
#include "scenario/divided-runs.h"
#include "scenario/scenario-runs.h"

#include "ns3/plan-figures.h"
#include "ns3/scenario-error.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace ns3::gradsync
{

namespace
{

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

TEST(DividedRunsTest, ProcessesCountPlansTogether)
{
    // A ring of w = 8 workers in r = 4 racks, of K = 200 kB: 2 (w - 1) rounds, in which each
    // receives 2 (w - 1) / w K, and of w steps of a round r lead to another rack. PS with a server
    // at each: each gets (w - 1) / w K as a server and as much back, 2 rounds; of the w (w - 1)
    // pairs but w are of two racks, both ways.
    for (const auto& [scheme, rounds, peak, crossing] :
         {std::tuple{"ring", 14, 350'000, 1'400'000}, std::tuple{"ps", 2, 350'000, 2'400'000}})
    {
        const auto result = RunScenario(ResolveText(MakeRacks(scheme, R"("iterations": 1)")));
        for (uint32_t processes = 1; processes <= 3; ++processes)
        {
            std::vector<ByteBatch> batches;
            for (uint32_t own = 0; own < processes; ++own)
            {
                batches.push_back(PackFigures(CountPlans(result, own, processes)));
            }
            const auto figures = MergeFigures(batches);
            ASSERT_EQ(figures.size(), 1);
            EXPECT_EQ(figures[0].longestChain, rounds) << scheme;
            EXPECT_EQ(figures[0].peakReceivedBytes, peak) << scheme;
            EXPECT_EQ(figures[0].crossRackBytes, crossing) << scheme;
        }
    }
}

TEST(DividedRunsTest, ARingIsTheSameInAnyNumberOfProcesses)
{
    ExpectSameInAnyNumber(MakeRacks("ring", R"("iterations": 3)"), 4);
}

TEST(DividedRunsTest, IterationsEndEverywhereAtOnceWhateverIsComputedBetween)
{
    // Nothing, less than a window (1 us), and more; the next iteration begins when the slowest
    // process has ended, which the others must not have passed.
    for (const auto* compute : {"0s", "300ns", "40us"})
    {
        for (const auto* scheme : {"ps", "rat"})
        {
            ExpectSameInAnyNumber(
                MakeRacks(scheme, fmt::format(R"("iterations": 3, "compute": "{}")", compute)),
                3);
        }
    }
}

TEST(DividedRunsTest, ReductionsAndProtocolsTakeTheirTimeInTheProcessOfTheReceiver)
{
    ExpectSameInAnyNumber(MakeRacks("rat", R"("iterations": 2, "reduceRate": "20Gbps")"), 4);
    ExpectSameInAnyNumber(MakeRacks("ring", R"("iterations": 2, "protocol": "simple")"), 4);
}

TEST(DividedRunsTest, PausesGoFromProcessToProcess)
{
    // Seven hosts send to one at once through switches of little memory.
    const auto text = MakeRacks(R"({"kind": "ps", "servers": 1})",
                                R"("iterations": 2, "workers": 7)",
                                R"(, "fabric": {"bufferBytes": "120kB"})");
    UsePicoseconds();
    const auto alone = RunScenario(ResolveText(text));
    EXPECT_GT(alone.summary.pfcPausePs, 0);
    ExpectSameInAnyNumber(text, 4);
}

TEST(DividedRunsTest, AProcessMayHaveNoRankOfTheJob)
{
    ExpectSameInAnyNumber(MakeRacks("ring", R"("iterations": 2, "workers": 3)"), 4);
}

TEST(DividedRunsTest, TelemetryCrossesWithItsPackets)
{
    ExpectSameInAnyNumber(
        MakeRacks("rat",
                  R"("iterations": 2)",
                  R"(, "transport": {"kind": "roce", "congestionControl": "hpcc"})"),
        4);
}

TEST(DividedRunsTest, ConnectionsThatWaitForATurnHaveNoQueuePairInAnyProcess)
{
    // Messages of one packet and several, and, as nobody asks when they were sent, reservations;
    // those in the midst of a message too, where no queue pair is kept. An exchange after the other
    // meets connections that served before.
    for (const auto* gradient : {"4kB", "200kB"})
    {
        for (const auto* scheme : {"ps", "rat", "all-to-all"})
        {
            for (const auto* kept : {"131072", "0"})
            {
                auto text = MakeRacks(scheme,
                                      R"("iterations": 3)",
                                      fmt::format(R"(, "transport": {{"kind": "roce", "mtu": "1kB",
                                                              "keptQueuePairs": {}}})",
                                                  kept));
                text.replace(text.find("200kB"), 5, gradient);
                text.replace(text.find(R"("trace": true)"), 13, R"("messages": false)");
                ExpectSameInAnyNumber(text, 4);
            }
        }
    }
}

TEST(DividedRunsTest, ConnectionsThatWaitForATurnRememberMarksInAnyProcess)
{
    // Several messages a connection, some of whose packets are marked; what tells the sender of
    // that comes by several ways.
    for (const auto* balancing : {"hash", "spray"})
    {
        for (const auto* scheme : {"rat", "all-to-all"})
        {
            auto text = MakeRacks(scheme,
                                  R"("iterations": 3)",
                                  fmt::format(R"(, "transport": {{"kind": "roce", "mtu": "1kB",
                                              "congestionControl": "dcqcn", "keptQueuePairs": 0,
                                              "recovery": "selective-repeat",
                                              "reorderTolerance": 4000}},
                                          "fabric": {{"loadBalancing": "{}", "ecnMinBytes": "4kB",
                                              "ecnMaxBytes": "40kB", "ecnMaxProbability": 0.2}})",
                                              balancing));
            text.replace(text.find(R"("trace": true)"), 13, R"("messages": false)");
            UsePicoseconds();
            const auto alone = RunScenario(ResolveText(text), {}, {}, Repeats::Simulate);
            EXPECT_GT(alone.summary.ecnMarkedPackets, 0U);
            ExpectSameInAnyNumber(text, 4);
        }
    }
}

TEST(DividedRunsTest, LossesAreMadeGoodBetweenProcesses)
{
    // By chance, on the way there and back, and at full buffers (seven hosts send to one); more
    // than one iteration, so that late duplicates meet the connections that follow.
    for (const auto* recovery : {"go-back-n", "selective-repeat"})
    {
        for (const auto* fabric :
             {R"({"lossRate": 0.02})", R"({"pfc": false, "bufferBytes": "60kB"})"})
        {
            for (const auto* control : {"none", "dcqcn"})
            {
                const auto text = MakeRacks(
                    R"({"kind": "ps", "servers": 1})",
                    R"("iterations": 2, "workers": 7)",
                    fmt::format(R"(, "fabric": {}, "transport": {{"kind": "roce", "mtu": "1kB",
                                    "timeout": "200us", "retryLimit": 100, "recovery": "{}",
                                    "congestionControl": "{}"}})",
                                fabric,
                                recovery,
                                control));
                UsePicoseconds();
                const auto alone = RunScenario(ResolveText(text), {}, {}, Repeats::Simulate);
                EXPECT_GT(alone.summary.retransmittedPackets, 0U);
                ExpectSameInAnyNumber(text, 3);
            }
        }
    }
}

TEST(DividedRunsTest, MarksByChanceAreThoseOfEachPort)
{
    // Seven hosts send to one, whose queue lies between Kmin and Kmax.
    for (const auto* control : {"dcqcn", "dctcp"})
    {
        const auto text =
            MakeRacks(R"({"kind": "ps", "servers": 1})",
                      R"("iterations": 2, "workers": 7)",
                      fmt::format(R"(, "transport": {{"kind": "roce", "congestionControl": "{}"}},
                                  "fabric": {{"ecnMinBytes": "5kB", "ecnMaxBytes": "2MB",
                                              "ecnMaxProbability": 0.2}})",
                                  control));
        UsePicoseconds();
        const auto alone = RunScenario(ResolveText(text));
        EXPECT_GT(alone.summary.ecnMarkedPackets, 0U);
        EXPECT_LT(alone.summary.ecnMarkedPackets, alone.summary.packetHops / 4); // not a step
        ExpectSameInAnyNumber(text, 4);
    }
}

TEST(DividedRunsTest, CodecsTimeTheNetworkOfAllProcessesTogether)
{
    for (const auto* codec : {R"("fp16")", R"({"kind": "top-k", "density": 0.01})"})
    {
        for (const auto* scheme : {"ring", "ps", "rat"})
        {
            const auto text =
                MakeRacks(scheme,
                          fmt::format(R"("iterations": 3, "compute": "5us", "codec": {},
                                      "profile": "{}/profiles/h100-sxm-estimate-5us.profile.json")",
                                      codec,
                                      GRADSYNC_SOURCE_DIR));
            UsePicoseconds();
            const auto alone = RunScenario(ResolveText(text));
            EXPECT_GT(alone.iterations.back().network, Time(0));
            ExpectSameInAnyNumber(text, 4);
        }
    }
}

TEST(DividedRunsTest, EndsAreKnownAheadInOtherProcesses)
{
    for (const auto* scheme : WAITING_SCHEMES)
    {
        // With a sum that takes time the end is that of the sum.
        for (const auto* more : {"", R"(, "reduceRate": "20Gbps")"})
        {
            ExpectSameInAnyNumber(MakeRacks(scheme, fmt::format(R"("iterations": 3{})", more)), 4);
        }
    }
}

TEST(DividedRunsTest, WhenRanksElsewhereBeginIsKnownToThoseWhoWaitForWhatTheyDoAtOnce)
{
    // A rank of bbtopk keeps its part as it begins, before others may add to it: the slow ones
    // among others. The protocol takes a while, too, before its first message.
    for (const auto* more :
         {"",
          R"(, "compute": "20us")",
          R"(, "compute": ["9us", "1us", "30us", "0s", "2us", "9us", "1ns", "40us"])",
          R"(, "compute": "700ns", "protocol": "simple")",
          R"(, "reduceRate": "20Gbps", "protocol": "simple")"})
    {
        ExpectSameInAnyNumber(MakeRacks("bbtopk", fmt::format(R"("iterations": 3{})", more)), 4);
    }
    // Rank 0 has no group to hear of before the first barrier.
    const auto* const alone = R"({
      "topology": {"kind": "spine-leaf", "spines": 2, "leaves": 3, "hostsOfLeaf": [1, 3, 2],
                   "hostLink": {"rate": "10Gbps", "delay": "1us"}, "oversubscription": 2},
      "job": {"gradient": "60kB", "iterations": 3, "compute": "5us"}, "scheme": "hierarchical"})";
    ExpectSameInAnyNumber(alone, 3);
}

TEST(DividedRunsTest, SendersOfOtherProcessesKnowWhatHasArrived)
{
    for (const auto* scheme : {"ps", "rat", "all-to-all", "broadcast", "k-nomial"})
    {
        for (const auto limit : {1, 3})
        {
            ExpectSameInAnyNumber(
                MakeRacks(scheme,
                          fmt::format(R"("iterations": 2, "maxOutstandingSends": {})", limit)),
                4);
        }
    }
    // Delivered a hop of the protocol later.
    ExpectSameInAnyNumber(
        MakeRacks("ps", R"("iterations": 2, "maxOutstandingSends": 2, "protocol": "simple")"),
        4);
}

/// Four racks of two hosts with several jobs. \param jobs objects of JSON
std::string
MakeJobs(const std::string& jobs, const std::string& more = "")
{
    auto text = MakeRacks("ring", "", more);
    const std::string job = R"("job": {"gradient": "200kB", },)";
    text.replace(text.find(job), job.size(), R"("jobs": [)" + jobs + "],");
    const std::string scheme = R"("scheme": "ring",)";
    text.erase(text.find(scheme), scheme.size());
    return text;
}

TEST(DividedRunsTest, JobsShareHostsAndLinksAndEndEachOnItsOwn)
{
    ExpectSameInAnyNumber(MakeJobs(R"({"gradient": "200kB", "scheme": "ring", "iterations": 3},
                    {"gradient": "50kB", "scheme": "ps", "iterations": 5, "compute": "3us",
                     "endpoints": ["host1", "host2", "host5", "host7"]},
                    {"gradient": "100kB", "scheme": "barrier", "iterations": 4, "start": "20us",
                     "endpoints": ["host0", "host3", "host6"]})"),
                          4);
}

TEST(DividedRunsTest, JobsThatDoNotEndInTimeFailEverywhereAtOnce)
{
    // 200 kB of each host take 160 us on links of 10 Gb/s at least.
    for (const auto* timeout : {"20us", "100us", "150us"})
    {
        for (const auto* scheme : {"ps", "ring", "hierarchical"})
        {
            const auto text =
                MakeRacks(scheme, fmt::format(R"("iterations": 3, "timeout": "{}")", timeout));
            UsePicoseconds();
            EXPECT_THAT(RunScenario(ResolveText(text)).summary.failure, HasSubstr("timed out"));
            ExpectSameInAnyNumber(text, 4);
        }
    }
    ExpectSameInAnyNumber(MakeRacks("ring", R"("iterations": 3, "timeout": "1s")"), 3);
}

TEST(DividedRunsTest, AJobGoesOnWhenAnotherHasFailed)
{
    // The last one to fail ends it all; one that goes on, none.
    for (const auto* iterations : {"1", "4"})
    {
        for (const auto* timeout : {"30us", "80us", "1s"})
        {
            ExpectSameInAnyNumber(
                MakeJobs(fmt::format(R"({{"gradient": "200kB", "scheme": "ps", "timeout": "50us",
                                          "endpoints": ["host0", "host1", "host6"]}},
                                        {{"gradient": "100kB", "scheme": "rat", "iterations": {},
                                          "timeout": "{}", "start": "10us",
                                          "endpoints": ["host2", "host4", "host5", "host1"]}})",
                                     iterations,
                                     timeout)),
                4);
        }
    }
}

TEST(DividedRunsTest, JobsThatAllKnowToFailAtOnceFailEachInItsTime)
{
    // Nothing is left to happen before either time is over, and the run ends with the later one.
    for (const auto& [first, second] : {std::pair("90us", "50us"), std::pair("50us", "90us")})
    {
        ExpectSameInAnyNumber(MakeJobs(fmt::format(R"({{"gradient": "64kB", "scheme": "rat",
                                                       "compute": "1ms", "timeout": "{}"}},
                                                     {{"gradient": "64kB", "scheme": "ps",
                                                       "compute": "1ms", "timeout": "{}"}})",
                                                   first,
                                                   second)),
                              4);
    }
}

TEST(DividedRunsTest, EqualJobsEndAtOnce)
{
    // On the same hosts, and each in another process, in step.
    const auto* const same = R"({"gradient": "64kB", "scheme": "rat", "iterations": 4},
                                {"gradient": "64kB", "scheme": "rat", "iterations": 4})";
    ExpectSameInAnyNumber(MakeJobs(same), 4);
    const auto* const apart = R"({"gradient": "64kB", "scheme": "ps", "iterations": 4,
                                  "endpoints": ["host0", "host1"]},
                                 {"gradient": "64kB", "scheme": "ps", "iterations": 4,
                                  "endpoints": ["host6", "host7"]})";
    ExpectSameInAnyNumber(MakeJobs(apart), 4);
    const auto* const crossed = R"({"gradient": "64kB", "scheme": "ring", "iterations": 9,
                                    "endpoints": ["host0", "host4"]},
                                   {"gradient": "64kB", "scheme": "ring", "iterations": 9,
                                    "endpoints": ["host5", "host1"]})";
    ExpectSameInAnyNumber(MakeJobs(crossed), 4);
}

TEST(DividedRunsTest, WhatCannotBeDividedIsNamed)
{
    const auto expect = [](const std::string& text, const std::string& path) {
        EXPECT_THAT(
            [&] { CheckDivision(ResolveText(text), 2); },
            ThrowsMessage<ScenarioError>(::testing::AllOf(HasSubstr(path), HasSubstr("--ranks"))))
            << text;
    };
    const std::string job = R"("iterations": 1)";
    expect(MakeRacks("ring", job, R"(, "transport": {"kind": "tcp"})"), "transport.kind");
    for (const auto* lossy : {R"(, "fabric": {"lossRate": 0.01})", R"(, "fabric": {"pfc": false})"})
    {
        expect(MakeRacks("hierarchical", job, lossy), "which is not known ahead");
    }
    expect(MakeRacks("ring", job, R"(, "fabric": {"countBlocked": true})"), "CountBlocked");
    expect(MakeRacks("ring", job, R"(, "transport": {"kind": "roce", "ackEvery": 0})"), "AckEvery");
    expect(MakeRacks("bbtopk",
                     job,
                     R"(, "faults": [{"kind": "straggler", "hosts": [1], "slowdown": 2}])"),
           "may be done before that rank begins");
}

TEST(DividedRunsTest, MoreProcessesThanPartsAreRefused)
{
    EXPECT_THAT(
        [] { CheckDivision(ResolveText(MakeRacks("ring", R"("iterations": 1)")), 5); },
        ThrowsMessage<ScenarioError>(HasSubstr("--ranks: found 5: the network has 4 parts")));
}

} // namespace

} // namespace ns3::gradsync
