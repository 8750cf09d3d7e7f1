// SPDX-License-Identifier: GPL-2.0-only
// Scenarios with NVLS: what it gains, links and switches that fail, and what is refused. Part of
// scenario-runner-test.
#include "scenario/scenario-runs.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace ns3::gradsync
{
namespace
{

/// Two servers of four accelerators; another way between these leads over PCIe.
constexpr const char* SERVERS = R"({
  "topology": {"kind": "star", "hosts": 2, "hostLink": {"rate": "100Gbps", "delay": "500ns"},
    "server": {"accelerators": 4, "nics": 4, "sockets": 1, "pcieSwitches": 4,
               "nvlink": {"rate": "800Gbps", "delay": "100ns"}}},
  "transport": {"kind": "roce", "aggregation": {"values": "real"}},
  "job": {"gradient": "1MB", "iterations": 2, "timeout": "1s"},
  "scheme": {"kind": "nvls", "fallback": "ring"}})";

RunResult
Finish(const std::vector<ScenarioOverride>& settings)
{
    auto result = Simulate(settings, SERVERS);
    EXPECT_TRUE(result.summary.finished) << result.summary.failure;
    EXPECT_EQ(result.summary.aggregation.wrongSums, 0U);
    return result;
}

TEST(NvlsRuns, OneServerIsOneGroup)
{
    const auto result = Finish({{"topology.hosts", "1"}, {"job.gradient", "1024kB"}});
    EXPECT_GT(result.summary.aggregation.checkedSums, 0U);
    EXPECT_EQ(result.summary.fallbacks, 0U);
    // (1 + 1/4) 1,024 kB in each direction of each NVLink, in two iterations.
    for (LinkId link = 0; link < result.topology->GetLinks().size(); ++link)
    {
        const bool isNvlink = result.topology->GetLinks()[link].kind == LinkKind::Nvlink;
        for (const auto direction : {0, 1})
        {
            EXPECT_EQ(result.links[2 * link + direction].payloadBytes, isNvlink ? 2'560'000U : 0U);
        }
    }
}

TEST(NvlsRuns, ManyPiecesTakeLessTimeThanOne)
{
    const auto whole = Finish({{"topology.hosts", "1"}, {"scheme.pipelineChunks", "1"}});
    const auto pieces = Finish({{"topology.hosts", "1"}, {"scheme.pipelineChunks", "16"}});
    EXPECT_LT(pieces.summary.meanIctPs, whole.summary.meanIctPs);
}

TEST(NvlsRuns, WorkersDoWithoutAnNvlinkThatFailsAtAnyTime)
{
    for (const auto* start : {"0us", "1us", "13us", "31us", "47us"})
    {
        const auto result = Finish(
            {{"faults",
              fmt::format(R"([{{"kind": "link-down", "links": [["host0.gpu1", "host0.nvswitch"]],
                               "start": "{}", "detectionDelay": "20us"}}])",
                          start)}});
        EXPECT_GE(result.summary.fallbacks, 1U) << start;
        EXPECT_EQ(result.iterations.size(), 2U);
    }
}

TEST(NvlsRuns, SurvivorsGoOnWithoutOneThatCrashes)
{
    for (const std::string scheme : {"nvls", "sharp"})
    {
        const auto result = Finish(
            {{"scheme.kind", scheme},
             {"job.reaction", R"("replan")"},
             {"faults", R"([{"kind": "host-crash", "hosts": ["host0.gpu1"], "start": "10us"}])"}});
        ASSERT_EQ(result.iterations.size(), 2U) << scheme;
        EXPECT_EQ(result.jobs.at(0).plans[result.iterations[1].plan].ranks.size(), 7U);
        EXPECT_GT(result.summary.aggregation.checkedSums, 0U);
    }
}

TEST(NvlsRuns, AJobWithoutFallbackFailsByName)
{
    const auto result = Simulate(
        {{"scheme.fallback", R"("none")"},
         {"faults",
          R"([{"kind": "link-down", "links": [["host0.gpu1", "host0.nvswitch"]], "start": "10us"}])"}},
        SERVERS);
    EXPECT_FALSE(result.summary.finished);
    EXPECT_THAT(result.summary.failure,
                testing::HasSubstr("no switches aggregate any more: NVLS needs a switch"));
}

TEST(NvlsRuns, RefusesCodecsAndServersWithoutNvSwitches)
{
    UsePicoseconds();
    const auto errorOf = [](const std::vector<ScenarioOverride>& settings) {
        return ErrorOf(
            [&] { CheckRun(ResolveRun(ParseScenario(SERVERS, "x.json", settings), 0), true); });
    };
    EXPECT_THAT(errorOf({{"job.codec", R"("fixed-point")"}}),
                testing::HasSubstr("the codec must be fp32, but it is fixed-point"));
    EXPECT_THAT(errorOf({{"topology.server", R"({"accelerators": 4})"}}),
                testing::HasSubstr("NVLS needs a switch to which all of a group have a link"));
}

} // namespace
} // namespace ns3::gradsync
