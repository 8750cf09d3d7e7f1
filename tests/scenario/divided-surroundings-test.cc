// SPDX-License-Identifier: GPL-2.0-only
/*
 * What goes on beside the jobs of a run that several processes simulate together: samples of links
 * and foreign traffic, which must be those of one process.
 */
#include "scenario/divided-runs.h"
#include "scenario/drawn-surroundings.h"
#include "support/in-order.h"

#include "ns3/scenario-error.h"

#include <cstdint>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <initializer_list>
#include <string>
#include <utility>

namespace ns3::gradsync
{

namespace
{

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

TEST(DividedSurroundingsTest, SamplesOfAllProcessesAreInTheOrderOfOne)
{
    // 1 us is less than a window, and 0.5 us and a few more fall together with ends of packets of
    // 1,250 bytes, which take 1 us at 10 Gb/s.
    for (const auto* every : {"500ns", "1us", "37us"})
    {
        for (const auto* scheme : {"ring", "ps", "hierarchical"})
        {
            auto text = MakeRacks(scheme, R"("iterations": 2)");
            text.insert(text.find(R"("trace")"), fmt::format(R"("every": "{}", )", every));
            const auto alone = RunScenario(ResolveText(text));
            EXPECT_GT(alone.samples.size(), 20U);
            ExpectSameInAnyNumber(text, 4);
        }
    }
}

TEST(DividedSurroundingsTest, ForeignFlowsAreThoseOfOneProcess)
{
    for (const auto* traffic :
         {R"({"kind": "poisson", "size": "30kB", "load": 0.2})",
          R"({"kind": "incast", "fanIn": 5, "size": "20kB", "every": "50us"})",
          R"({"kind": "poisson", "size": "1kB", "load": 0.1, "start": "100us",
              "duration": "90us"})"})
    {
        for (const auto* scheme : {"ring", "ps", "k-nomial"})
        {
            const auto text = MakeRacks(scheme,
                                        R"("iterations": 3, "compute": "10us")",
                                        fmt::format(R"(, "traffic": [{}])", traffic));
            const auto alone = RunScenario(ResolveText(text));
            EXPECT_GT(alone.flows.size(), 3U);
            ExpectSameInAnyNumber(text, 4);
        }
    }
}

TEST(DividedSurroundingsTest, FlowsBeginUntilTheLastPartHasEnded)
{
    // The job of three ranks in two racks; all others belong to processes without a part.
    ExpectSameInAnyNumber(
        MakeRacks("ring",
                  R"("iterations": 4, "workers": 3, "compute": "5us")",
                  R"(, "traffic": [{"kind": "incast", "fanIn": 3, "size": "5kB", "every": "60us"},
                                   {"kind": "poisson", "size": "700B", "load": 0.01}])"),
        4);
}

TEST(DividedSurroundingsTest, FaultsHappenInAllProcessesAtOnce)
{
    // At 30 us all are in the midst of the exchange, which takes some 500 us.
    for (const auto* fault :
         {R"({"kind": "straggler", "hosts": [1, 6],
              "slowdown": {"distribution": "lognormal", "median": 1.3, "sigma": 0.4}})",
          R"({"kind": "host-pause-send", "random": 2, "every": "40us", "start": "10us"})",
          R"({"kind": "link-degraded", "random": 3, "every": "50us", "duration": "20us",
              "rateShare": 0.3, "extraDelay": "7us"})",
          R"({"kind": "flood", "random": 2, "every": "60us", "rate": "3Gbps", "start": "30us"})",
          R"({"kind": "link-degraded", "mtbf": "100us", "mttr": "30us", "extraDelay": "1us"})"})
    {
        for (const auto* scheme : {"ring", "ps", "hierarchical"})
        {
            const auto text = MakeRacks(scheme,
                                        R"("iterations": 3, "compute": "20us")",
                                        fmt::format(R"(, "faults": [{}])", fault));
            const auto alone = RunScenario(ResolveText(text));
            EXPECT_GT(alone.faults.size(), 1U);
            ExpectSameInAnyNumber(text, 4);
        }
    }
}

std::string
DrawSurrounded(Draw& draw, bool mayLose)
{
    const bool endsSoon = mayLose; // what is lost may be sent again after 67 ms only
    return InOrder{
        R"({{
      "topology": {{"kind": "spine-leaf", "spines": {}, "leaves": {}, "hostsPerLeaf": {},
                    "hostLink": {{"rate": "{}", "delay": "{}"}},
                    "fabricLink": {{"rate": "{}", "delay": "{}"}}}},
      "job": {{"gradient": "{}kB", "iterations": {}, "compute": "{}"{}, "timeout": "20ms"}},
      "scheme": "{}",
      "transport": {{"kind": "roce", "congestionControl": "{}", "recovery": "selective-repeat",
                     "reorderTolerance": 4000, "timeout": "500us", "retryLimit": 100,
                     "keptQueuePairs": {}}},
      "fabric": {{"loadBalancing": "{}", "bufferBytes": "{}"}}, "seed": {}, {}}})",
        draw.Between(1, 3),
        draw.Between(2, 4),
        draw.Between(2, 4),
        draw.Of({"10Gbps", "25Gbps"}),
        draw.Of({"0s", "100ns", "1us"}),
        draw.Of({"10Gbps", "40Gbps"}),
        draw.Of({"200ns", "1us", "1.5us", "10us"}),
        draw.Between(1, 200),
        draw.Between(1, 3),
        draw.Of({"0s", "700ns", "20us"}),
        draw.Of({"", R"(, "reduceRate": "20Gbps")"}),
        draw.Of({"ring", "ps", "rat", "all-to-all", "hierarchical", "multi-ring"}),
        draw.Of({"none", "timely", "dcqcn", "hpcc"}),
        draw.Of({"131072", "0"}),
        draw.Of({"hash", "destination", "spray", "flowlet"}),
        draw.Of({"400kB", "16MB"}),
        draw.Between(1, 1000),
        DrawSurroundings(draw, mayLose, endsSoon)}
        .text;
}

/// Runs drawn at random with one process and several. \returns how many could be divided
uint32_t
CompareRandomRuns(uint32_t seed, uint32_t rounds, bool mayLose)
{
    return CompareDrawnRuns(
        {.count = tests::CountDrawn(rounds),
         .seed = seed,
         .drawText = [mayLose](Draw& draw) { return DrawSurrounded(draw, mayLose); },
         .excuses = {"at most that many ranks",
                     "were sent again",
                     "may be done before that rank begins",
                     "ahead could be lost",
                     "headroom"}});
}

TEST(DividedSurroundingsTest, RandomSurroundingsAreTheSameInAnyNumberOfProcesses)
{
    EXPECT_GE(CompareRandomRuns(29, 40, false), tests::CountDrawn(20));
}

TEST(DividedSurroundingsTest, RandomLossesAreTheSameInAnyNumberOfProcesses)
{
    EXPECT_GE(CompareRandomRuns(31, 20, true), tests::CountDrawn(4));
}

TEST(DividedSurroundingsTest, FaultsThatAllWouldHaveToDecideOnAreNamed)
{
    const auto expect = [](const std::string& scheme, const std::string& fault, const char* text) {
        const auto scenario =
            MakeRacks(scheme, R"("iterations": 1)", fmt::format(R"(, "faults": [{}])", fault));
        EXPECT_THAT(
            [&] { CheckDivision(ResolveText(scenario), 2); },
            ThrowsMessage<ScenarioError>(
                ::testing::AllOf(HasSubstr("faults: cannot go with --ranks"), HasSubstr(text))))
            << scenario;
    };
    expect("ring", R"({"kind": "host-crash", "hosts": [1], "start": "1ms"})", "host-crash");
    expect("ring", R"({"kind": "aggregator-down", "switches": ["leaf0"]})", "aggregator-down");
    for (const auto* lossy : {R"({"kind": "link-down", "random": 1})",
                              R"({"kind": "switch-down", "random": 1})",
                              R"({"kind": "host-pause", "random": 1})",
                              R"({"kind": "link-degraded", "random": 1, "loss": 0.01})"})
    {
        expect("hierarchical", lossy, "ahead could be lost");
    }
}

TEST(DividedSurroundingsTest, JobsBesideWhichNothingMayGoOnAreNamed)
{
    const auto expect = [](const std::string& text, const char* what) {
        EXPECT_THAT([&] { CheckDivision(ResolveText(text), 2); },
                    ThrowsMessage<ScenarioError>(HasSubstr(what)))
            << text;
    };
    for (const auto* lossy : {R"({"kind": "link-down", "random": 1})",
                              R"({"kind": "link-degraded", "random": 1, "loss": 0.01})"})
    {
        expect(
            MakeRacks("switchml", R"("iterations": 1)", fmt::format(R"(, "faults": [{}])", lossy)),
            "where something fails other switches aggregate");
    }
    for (const auto* beside : {R"("faults": [{"kind": "straggler", "random": 1, "slowdown": 2}])",
                               R"("traffic": [{"kind": "poisson", "size": "1kB", "load": 0.1}])",
                               R"("results": {"every": "1us"})"})
    {
        expect(fmt::format(R"({{
          "topology": {{"kind": "spine-leaf", "spines": 1, "leaves": 2, "hostsPerLeaf": 2,
                        "hostLink": {{"rate": "10Gbps", "delay": "1us"}},
                        "oversubscription": 1,
                        "server": {{"accelerators": 2,
                                    "nvlink": {{"rate": "100Gbps", "delay": "100ns"}}}}}},
          "fidelity": {{"server": "fluid"}}, "job": {{"gradient": "1kB"}}, "scheme": "ring", {}}})",
                           beside),
               "cannot go with --ranks: found beside servers that are fluid");
    }
}

} // namespace

} // namespace ns3::gradsync
