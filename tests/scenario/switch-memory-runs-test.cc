// SPDX-License-Identifier: GPL-2.0-only
// Jobs with different protocols on one switch, whose memory they share. Part of
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

/// 16 slots are 2 * 16 * 64 * 4 = 8,192 bytes, 64 aggregators 64 * 62 * 4 = 15,872.
constexpr uint64_t SLOT_BYTES = 8'192;
constexpr uint64_t ATP_BYTES = 15'872;

/// Four workers each, no link of which is the other's; host8 is the parameter server.
constexpr const char* TWO_PROTOCOLS = R"({
  "topology": {"kind": "star", "hosts": 9, "hostLink": {"rate": "10Gbps", "delay": "1us"}},
  "transport": {"kind": "roce", "aggregation": {"values": "real", "slot": {"slots": 16},
                                                "atp": {"aggregators": 64, "window": 32}}},
  "jobs": [
    {"name": "slots", "gradient": "1MB", "scheme": "switchml",
     "endpoints": ["host0", "host1", "host2", "host3"]},
    {"name": "late", "gradient": "1MB", "iterations": 3, "scheme": {"kind": "atp"},
     "endpoints": ["host4", "host5", "host6", "host7", "host8"]}
  ]})";

RunResult
Share(uint64_t bytes, std::vector<ScenarioOverride> others = {})
{
    others.push_back({"transport.aggregation.switchMemoryBytes", fmt::format("{}B", bytes)});
    auto result = Simulate(others, TWO_PROTOCOLS);
    EXPECT_TRUE(result.summary.finished) << result.summary.failure;
    EXPECT_EQ(result.summary.aggregation.wrongSums, 0U);
    return result;
}

TEST(SwitchMemoryRuns, TwoProtocolsRunOnOneSwitchThatHasMemoryForBoth)
{
    const auto own = Share(0);
    const auto shared = Share(SLOT_BYTES + ATP_BYTES);
    EXPECT_EQ(shared.summary.fallbacks, 0U);
    // 1 MB are 3,907 packets of 256 bytes and 4,033 of 248.
    EXPECT_EQ(shared.summary.aggregation.checkedSums, 4U * (3'907 + 3 * 4'033));
    for (const uint32_t job : {0, 1})
    {
        EXPECT_EQ(GetTimes(shared, job), GetTimes(own, job));
    }
}

TEST(SwitchMemoryRuns, AJobForWhichThereIsNoMemoryDoesWithoutUntilThereIs)
{
    const auto own = Share(0);
    const auto denied = Share(SLOT_BYTES + ATP_BYTES - 1);
    const auto servers = Share(0,
                               {{"jobs.1.scheme", R"("ps")"},
                                {"jobs.1.endpoints", R"(["host4", "host5", "host6", "host7"])"}});
    // The first job ends before an iteration of the second does, which asks again with the next.
    ASSERT_LT(GetTimes(own, 0).at(0), GetTimes(servers, 1).at(0));
    EXPECT_EQ(denied.summary.fallbacks, 1U);
    EXPECT_EQ(GetTimes(denied, 0), GetTimes(own, 0));
    EXPECT_EQ(GetTimes(denied, 1).at(0), GetTimes(servers, 1).at(0));
    EXPECT_EQ(denied.summary.aggregation.checkedSums, 4U * (3'907 + 2 * 4'033));
}

TEST(SwitchMemoryRuns, WhatWillBeDeniedIsSaidBeforeTheRun)
{
    UsePicoseconds();
    std::vector<ScenarioOverride> settings{{"transport.aggregation.switchMemoryBytes",
                                            fmt::format("{}B", SLOT_BYTES + ATP_BYTES - 1)}};
    const auto check = [&settings] {
        return CheckRun(ResolveRun(ParseScenario(TWO_PROTOCOLS, "x.json", settings), 0), true);
    };
    EXPECT_THAT(check().denials,
                testing::ElementsAre("late begins without switches that aggregate: switch leaf0 "
                                     "has 15871 bytes left of 24063 for one more aggregation, "
                                     "which needs 15872 (attribute SwitchMemoryBytes)"));
    settings.push_back({"jobs.1.scheme.fallback", R"("none")"});
    EXPECT_THAT(check,
                testing::ThrowsMessage<ScenarioError>(testing::HasSubstr(
                    "late: scheme atp: switch leaf0 has 15871 bytes left of 24063")));
}

TEST(SwitchMemoryRuns, ATrainingJobDoesWithoutLikewise)
{
    const std::vector<ScenarioOverride> settings{
        {"jobs",
         R"([{"name": "slots", "gradient": "1MB", "iterations": 9, "scheme": "switchml",
              "endpoints": ["host0", "host1", "host2", "host3"]},
             {"name": "late", "iterations": 2, "scheme": "switchml",
              "endpoints": ["host4", "host5", "host6", "host7"],
              "training": {"blocks": [{"backward": "1ms", "gradient": "1MB"}]}}])"}};
    const auto denied = Share(2 * SLOT_BYTES - 1, settings);
    EXPECT_EQ(denied.summary.fallbacks, 2U); // the other job outlasts both iterations
    const auto both = Share(2 * SLOT_BYTES, settings);
    EXPECT_EQ(both.summary.fallbacks, 0U);
    EXPECT_EQ(denied.summary.aggregation.checkedSums, 4U * 9 * 3'907);
    EXPECT_EQ(both.summary.aggregation.checkedSums, 4U * (9 + 2) * 3'907);
}

} // namespace
} // namespace ns3::gradsync
