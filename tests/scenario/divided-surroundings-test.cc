// SPDX-License-Identifier: GPL-2.0-only
/*
 * What goes on beside the jobs of a run that several processes simulate together: samples of links
 * and foreign traffic, which must be those of one process.
 */
#include "scenario/divided-runs.h"

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

/// Faults, drawn at random. \param mayLose packets, too
std::string
DrawFaults(Draw& draw, bool mayLose)
{
    std::string faults;
    const auto entries = draw.Between(0, 3);
    for (uint32_t i = 0; i < entries; ++i)
    {
        const auto kind =
            mayLose && draw.IsOneIn(2)
                ? draw.Of({R"("link-down", "detectionDelay": "5us")",
                           R"("link-down", "detectionDelay": "1ms")",
                           R"("switch-down", "detectionDelay": "10us")",
                           R"("host-pause")",
                           R"("link-degraded", "loss": 0.01)",
                           R"("link-degraded", "loss": {"goodToBad": 0.01, "badToGood": 0.3})"})
                : draw.Of(
                      {R"("straggler", "slowdown": 2.5)",
                       R"("straggler", "slowdown": {"distribution": "exponential", "mean": 0.5})",
                       R"("host-pause-send")",
                       R"("link-degraded", "rateShare": 0.2)",
                       R"("link-degraded", "extraDelay": "3us")",
                       R"("flood", "rate": "4Gbps")"});
        faults +=
            fmt::format(R"({}{{"kind": {}, {}}})",
                        faults.empty() ? "" : ", ",
                        kind,
                        draw.Of({R"("random": 1, "every": "50us", "duration": "20us", "count": 4)",
                                 R"("random": 2, "every": "33us", "count": 5, "duration": "33us")",
                                 R"("random": 2, "start": "20us", "duration": "100us")",
                                 R"("mtbf": "2ms", "mttr": "15us")"}));
    }
    return faults;
}

/// What may go on beside a job, drawn at random.
std::string
DrawSurroundings(Draw& draw, bool mayLose)
{
    std::string traffic;
    const auto entries = draw.Between(0, 2);
    for (uint32_t i = 0; i < entries; ++i)
    {
        traffic += traffic.empty() ? "" : ", ";
        traffic += draw.Of({R"({"kind": "poisson", "sizes": "hadoop", "load": 0.4)",
                            R"({"kind": "poisson", "size": "3kB", "load": 0.2)",
                            R"({"kind": "incast", "fanIn": 2, "size": "9kB", "every": "20us")",
                            R"({"kind": "incast", "fanIn": 1, "size": "64KiB", "every": "100us")"});
        // What is lost may be sent again after 67 ms only.
        traffic += mayLose ? R"(, "duration": "150us")"
                           : draw.Of({"", "", R"(, "start": "30us")", R"(, "duration": "150us")"});
        traffic += "}";
    }
    const auto faults = DrawFaults(draw, mayLose);
    return fmt::format(R"({}{}"results": {{"messages": {}{}}})",
                       traffic.empty() ? "" : fmt::format(R"("traffic": [{}], )", traffic),
                       faults.empty() ? "" : fmt::format(R"("faults": [{}], )", faults),
                       draw.Of({"true", "false"}),
                       mayLose ? ""
                               : draw.Of({"", R"(, "every": "3us")", R"(, "every": "800ns")"}));
}

std::string
DrawSurrounded(Draw& draw, bool mayLose)
{
    return fmt::format(
        R"({{
      "topology": {{"kind": "spine-leaf", "spines": {}, "leaves": {}, "hostsPerLeaf": {},
                    "hostLink": {{"rate": "{}", "delay": "{}"}},
                    "fabricLink": {{"rate": "{}", "delay": "{}"}}}},
      "job": {{"gradient": "{}kB", "iterations": {}, "compute": "{}"{}, "timeout": "20ms"}},
      "scheme": "{}",
      "transport": {{"kind": "roce", "congestionControl": "{}", "recovery": "selective-repeat",
                     "reorderTolerance": 4000, "timeout": "500us", "retryLimit": 100}},
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
        draw.Of({"hash", "destination", "spray", "flowlet"}),
        draw.Of({"400kB", "16MB"}),
        draw.Between(1, 1000),
        DrawSurroundings(draw, mayLose));
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
                     "headroom",
                     "a job did not finish"}});
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
    expect(MakeRacks("switchml",
                     R"("iterations": 1)",
                     R"(, "traffic": [{"kind": "poisson", "size": "1kB", "load": 0.1}])"),
           "traffic: cannot go with --ranks: found beside switches that aggregate");
    const auto* training = R"({
      "topology": {"kind": "spine-leaf", "spines": 1, "leaves": 2, "hostsPerLeaf": 4,
                   "hostLink": {"rate": "10Gbps", "delay": "1us"}, "oversubscription": 1},
      "transport": "roce",
      "job": {"iterations": 1,
              "training": {"blocks": [{"count": 4, "forward": "20us", "backward": "30us",
                                       "gradient": "200kB"}]}},
      "faults": [{"kind": "straggler", "random": 1, "slowdown": 2}]})";
    expect(training, "faults: cannot go with --ranks: found beside training");
}

} // namespace

} // namespace ns3::gradsync
