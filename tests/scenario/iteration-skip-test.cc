// SPDX-License-Identifier: GPL-2.0-only
/*
 * Leaving out iterations that repeat must change no byte of a result. Whole results are compared
 * with those of the same runs simulated whole.
 */
#include "scenario/repeated-runs.h"
#include "support/in-order.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace ns3::gradsync
{

namespace
{

/// \returns how many iterations were left out
uint32_t
CompareWithWhole(const std::string& text)
{
    return CompareRepeats(text).skippedIterations;
}

/// \param more keys of the scenario, without braces
std::string
MakeRing(uint32_t iterations, const std::string& compute, const std::string& more)
{
    return fmt::format(R"({{
      "topology": {{"kind": "spine-leaf", "spines": 2, "leaves": 2, "hostsPerLeaf": 4,
                    "hostLink": {{"rate": "10Gbps", "delay": "1us"}}, "oversubscription": 2}},
      "job": {{"gradient": "200kB", "iterations": {}, "compute": "{}"}},
      "scheme": "ring", "results": {{"trace": true}}{}}})",
                       iterations,
                       compute,
                       more);
}

TEST(IterationSkip, HundredIterationsOfARingAreAFewThatAreSimulated)
{
    // With a computation that is longer than an acknowledgement takes every iteration begins with
    // an idle network: the end of the second is the end of the first again, and the 98 that are
    // left are periods of one.
    const auto text = MakeRing(100, "1ms", R"(, "transport": "roce")");
    EXPECT_EQ(CompareWithWhole(text), 98U);
    // Without, iterations begin among acknowledgements of the one before, but for the first.
    EXPECT_GE(CompareWithWhole(MakeRing(100, "0s", R"(, "transport": "roce")")), 90U);
}

TEST(IterationSkip, TimeoutsOfManyIterationsAgoAreNoDifference)
{
    // Iterations of some 0.4 ms, timers of 67 ms and of 1 ms: they come at another time in each
    // iteration, and once in 200 or in 3.
    for (const auto* timeout : {"67ms", "1ms"})
    {
        const auto transport =
            fmt::format(R"(, "transport": {{"kind": "roce", "timeout": "{}"}})", timeout);
        EXPECT_GE(CompareWithWhole(MakeRing(400, "0s", transport)), 300U);
    }
}

TEST(IterationSkip, WhatDrawsOrLosesIsSimulatedWhole)
{
    // Spraying switches draw a path for each packet of each iteration, lossy links a number: their
    // generators never stand where they stood.
    for (const auto* fabric :
         {R"({"loadBalancing": "spray"})", R"({"lossRate": 0.001, "pfc": false})"})
    {
        const auto more = fmt::format(R"(, "fabric": {}, "transport": {{"kind": "roce",
            "recovery": "selective-repeat", "timeout": "500us"}})",
                                      fabric);
        EXPECT_EQ(CompareWithWhole(MakeRing(8, "0s", more)), 0U);
    }
}

TEST(IterationSkip, WhatNobodyKnowsOfIsSimulatedWhole)
{
    // TCP does not tell its state, HPCC's flows neither; faults, flows and samples are events of
    // others.
    for (const auto* more :
         {R"(, "transport": "tcp")",
          R"(, "transport": {"kind": "roce", "congestionControl": "hpcc"})",
          R"(, "transport": "roce", "faults": [{"kind": "straggler", "hosts": [3],
               "slowdown": 1.5}])",
          R"(, "transport": "roce", "traffic": [{"kind": "incast", "fanIn": 2, "size": "64KiB",
               "every": "1ms", "start": "1ms", "duration": "2ms"}])"})
    {
        SCOPED_TRACE(more);
        EXPECT_EQ(CompareWithWhole(MakeRing(6, "100us", more)), 0U);
    }
}

TEST(IterationSkip, WhatDoesNotFillAPeriodIsSimulated)
{
    // Every number of iterations, so that each remainder of every period comes.
    for (uint32_t iterations = 1; iterations <= 12; ++iterations)
    {
        SCOPED_TRACE(iterations);
        const auto text = MakeRing(iterations, "0s", R"(, "transport": "roce")");
        EXPECT_LE(CompareWithWhole(text), iterations > 2 ? iterations - 2 : 0);
    }
}

std::string
MakeRepeatingTraining(uint32_t iterations, const std::string& training)
{
    return fmt::format(R"({{
      "topology": {{"kind": "spine-leaf", "spines": 2, "leaves": 2, "hostsPerLeaf": 4,
                    "hostLink": {{"rate": "10Gbps", "delay": "1us"}}, "oversubscription": 2}},
      "transport": "roce", "job": {{"iterations": {}, "training": {}}}, "scheme": "ring",
      "results": {{"trace": true}}}})",
                       iterations,
                       training);
}

TEST(IterationSkip, TrainingIterationsRepeatWithAllThatIsSaidOfThem)
{
    // Blocks whose gradients overlap with the backward pass, in buckets, and in pipelines: what an
    // iteration is made of, its collectives and its critical path are those of a whole simulation.
    constexpr const char* BLOCKS = R"({"blocks": [{"forward": "50us", "backward": "100us",
        "gradient": "300kB", "count": 4}], "bucket": "500kB"})";
    for (uint32_t iterations = 1; iterations <= 7; ++iterations)
    {
        EXPECT_EQ(CompareWithWhole(MakeRepeatingTraining(iterations, BLOCKS)),
                  iterations > 2 ? iterations - 2 : 0)
            << iterations;
    }
    EXPECT_EQ(CompareWithWhole(MakeRepeatingTraining(60, BLOCKS)), 58U);
}

std::string
DrawIterations(uint32_t seed)
{
    Draw draw(seed);
    const auto spines = draw.Between(1, 3);
    const auto leaves = draw.Between(2, 3);
    const auto hosts = draw.Between(2, 4);
    const auto* rate = draw.Of({"10Gbps", "40Gbps", "7Gbps"});
    const auto delayNs = draw.Between(0, 3000);
    const auto oversubscription = draw.Between(1, 4);
    const auto* balancing = draw.Of({"hash", "destination", "flowlet", "adaptive"});
    const auto pfc = draw.Between(0, 3) > 0;
    const auto* control = draw.Of({"none", "none", "dcqcn", "dctcp", "timely", "swift"});
    const auto mtu = draw.Between(500, 4096);
    const auto ackEvery = draw.Between(1, 20);
    const auto windows = draw.Between(0, 2);
    const auto window = windows * draw.Between(1, 60);
    const auto gradient = 4 * draw.Between(1, 60'000);
    const auto computeNs = draw.IsOneIn(2) ? 0 : draw.Between(0, 60'000);
    const auto* scheme =
        draw.Of({"ring", "rat", "ps", "halving-doubling", "double-binary-tree", "hierarchical"});
    const auto keepsRates = draw.Between(0, 1) == 1;
    const auto order = std::string(balancing) == "adaptive" || std::string(balancing) == "flowlet";
    return fmt::format(
        R"({{"topology": {{"kind": "spine-leaf", "spines": {}, "leaves": {}, "hostsPerLeaf": {},
             "hostLink": {{"rate": "{}", "delay": "{}ns"}}, "oversubscription": {}}},
             "fabric": {{"loadBalancing": "{}", "pfc": {}, "ecnMinBytes": "20kB",
                         "ecnMaxBytes": "20kB"}},
             "transport": {{"kind": "roce", "congestionControl": "{}", "mtu": "{}B",
                            "ackEvery": {}, "windowPackets": {}, "recovery": "{}",
                            "keepRates": {}}},
             "job": {{"gradient": "{}B", "iterations": 8, "compute": "{}ns"}},
             "scheme": "{}"}})",
        spines,
        leaves,
        hosts,
        rate,
        delayNs,
        oversubscription,
        balancing,
        pfc,
        control,
        mtu,
        ackEvery,
        window,
        order ? "selective-repeat" : "go-back-n",
        keepsRates,
        gradient,
        computeNs,
        scheme);
}

TEST(IterationSkip, RandomScenariosAreTheSameWithAndWithout)
{
    uint32_t skipping = 0;
    constexpr uint32_t SEEDS = 150;
    for (uint32_t seed = 0; seed < SEEDS && !HasFailure(); ++seed)
    {
        const auto text = DrawIterations(seed);
        SCOPED_TRACE(fmt::format("seed {}: {}", seed, text));
        skipping += CompareWithWhole(text) > 0 ? 1 : 0;
    }
    // Else it would show nothing: about a third control nothing and draw nothing.
    EXPECT_GT(skipping, SEEDS / 5);
}

/// Incasts, after each of which the network is idle for long: what differs is kept in flows alone.
std::string
DrawCongestion(uint32_t seed)
{
    Draw draw(seed);
    const auto hosts = draw.Between(3, 8);
    const auto* control = draw.Of({"dcqcn", "dctcp", "timely"});
    const auto threshold = draw.Between(2'000, 40'000);
    const auto gradient = 4 * draw.Between(5'000, 80'000);
    const auto computeUs = draw.Between(50, 800);
    const auto* scheme = draw.Of({"ps", "ps", "rat", "ring"});
    return fmt::format(
        R"({{"topology": {{"kind": "spine-leaf", "spines": 1, "leaves": 2, "hostsPerLeaf": {},
             "hostLink": {{"rate": "10Gbps", "delay": "1us"}}, "oversubscription": {}}},
             "fabric": {{"ecnMinBytes": "{}B", "ecnMaxBytes": "{}B"}},
             "transport": {{"kind": "roce", "congestionControl": "{}"}},
             "job": {{"gradient": "{}B", "iterations": 30, "compute": "{}us"}},
             "scheme": "{}"}})",
        hosts,
        draw.Between(1, 3),
        threshold,
        threshold,
        control,
        gradient,
        computeUs,
        scheme);
}

TEST(IterationSkip, WhatFlowsRememberOfCongestionIsCompared)
{
    constexpr uint32_t SEEDS = 60;
    for (uint32_t seed = 0; seed < SEEDS && !HasFailure(); ++seed)
    {
        const auto text = DrawCongestion(seed);
        SCOPED_TRACE(fmt::format("seed {}: {}", seed, text));
        CompareWithWhole(text);
    }
}

TEST(IterationSkip, FluidsThatAreAtRestRepeat)
{
    // Alone and inside servers. Two spines split every message, and what each carries is rounded.
    uint32_t skipped = 0;
    for (uint32_t seed = 0; seed < 40 && !HasFailure(); ++seed)
    {
        Draw draw(seed);
        const auto spines = draw.Between(1, 2);
        const auto* scheme = draw.Of({"ring", "ps", "halving-doubling", "all-to-all"});
        const bool isInside = draw.Between(0, 1) == 1;
        const auto text =
            InOrder{
                R"({{"topology": {{"kind": "spine-leaf", "spines": {}, "leaves": 2, "hostsPerLeaf": 2,
                 "hostLink": {{"rate": "{}Gbps", "delay": "{}ns"}},
                 "fabricLink": {{"rate": "10Gbps", "delay": "1us"}},
                 "server": {{"accelerators": 2, "nvlink": {{"rate": "300Gbps", "delay": "{}ns"}}}}}},
                 {}, "job": {{"gradient": "{}B", "iterations": 20, "compute": "{}us"}},
                 "scheme": "{}"}})",
                spines,
                draw.Between(1, 9),
                draw.Between(0, 999),
                draw.Between(0, 99),
                isInside ? R"("transport": "roce", "fidelity": {"server": "fluid"})"
                         : R"("transport": {"kind": "fluid", "efficiency": 0.97})",
                draw.Between(100, 3'000'000),
                draw.Between(0, 200),
                scheme}
                .text;
        SCOPED_TRACE(fmt::format("seed {}: {}", seed, text));
        const auto own = CompareWithWhole(text);
        skipped += own > 0 ? 1 : 0;
        EXPECT_TRUE(own == 0 || isInside || spines == 1);
    }
    EXPECT_GE(skipped, 10U);
}

} // namespace

} // namespace ns3::gradsync
