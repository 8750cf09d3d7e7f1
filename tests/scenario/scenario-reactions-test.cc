// SPDX-License-Identifier: GPL-2.0-only
#include "scenario/scenario-runs.h"

#include "ns3/result-rows.h"
#include "ns3/run-timeline.h"
#include "ns3/trace-writer.h"

#include <algorithm>
#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

namespace ns3::gradsync
{

namespace
{

/// Host 1 crashes after half a millisecond; its job knows a millisecond later.
ScenarioOverride
Crash(const std::string& more = "")
{
    return {"faults", R"([{"kind": "host-crash", "hosts": [1], "start": "500us")" + more + "}]"};
}

double
GetIctUs(const RunResult& result, size_t iteration)
{
    const auto& record = result.iterations.at(iteration);
    return (record.end - record.start).ToDouble(Time::US);
}

TEST(ScenarioRunner, ACrashEndsAJobThatDoesNotReact)
{
    for (const auto* transport : {"fluid", "roce"})
    {
        const auto result = Simulate({Crash(), {"transport", transport}});
        EXPECT_FALSE(result.summary.finished);
        EXPECT_THAT(result.summary.failure, testing::HasSubstr("rank 1 has crashed"));
        EXPECT_THAT(result.summary.failure, testing::HasSubstr("host-crash host1"));
        EXPECT_EQ(result.duration, MicroSeconds(1500));
    }
}

TEST(ScenarioRunner, SurvivorsOfACrashFormANewRing)
{
    const auto result = Simulate({Crash(), {"job.reaction", "replan"}});
    EXPECT_TRUE(result.summary.finished);
    // Nothing was done by 1.5 ms, so that a ring of three does it all: 2 * 2/3 * 8 ms.
    EXPECT_NEAR(GetIctUs(result, 0), 1500 + 32e3 / 3, 0.1);
    ASSERT_EQ(result.reactions.size(), 1U);
    EXPECT_EQ(result.reactions[0].time, MicroSeconds(1500));
    EXPECT_EQ(result.reactions[0].rank, 1U);
    EXPECT_EQ(result.reactions[0].survivors, 3U);
    EXPECT_EQ(result.reactions[0].bytes, 1'000'000U);
    EXPECT_EQ(result.jobs[0].plans.at(1).ranks, (std::vector<uint32_t>{0, 2, 3}));
    // Four transfers were under way and are not delivered; then 3 * 4.
    EXPECT_EQ(result.transfers.size(), 12U);
    std::ostringstream rows;
    WriteMessages(result, rows);
    EXPECT_THAT(rows.str(), testing::Not(testing::HasSubstr("host1")));
    EXPECT_THAT(rows.str(), testing::HasSubstr("host0,host2"));
}

/// Times of a ring of two with 1 MB and DGC, at the densities of its warm-up. Half of 250,000
/// elements go each way, d * 125,000 of them at 8 bytes, and come back as the union of two
/// selections, 1 - (1 - d)^2 of them: at 0.25 these are 250,000 + 437,504 bytes, at 0.063 63,000 +
/// 122,032, then 15,000 + 29,776, 4,000 + 7,984 and at 0.001 1,000 + 2,000; 8 ns each.
const std::vector<Time> WARM_UP{NanoSeconds(5'500'032),
                                NanoSeconds(1'480'256),
                                NanoSeconds(358'208),
                                NanoSeconds(95'872),
                                NanoSeconds(24'000)};

TEST(ScenarioRunner, DgcSendsFewerElementsFromStepToStepOfItsWarmUp)
{
    const auto result = Simulate({{"job.workers", "2"},
                                  {"job.iterations", "11"},
                                  {"job.codec", R"({"kind": "dgc", "warmUp": 2})"}});
    ASSERT_EQ(result.iterations.size(), 11U);
    for (size_t i = 0; i < 11; ++i)
    {
        const auto& record = result.iterations[i];
        EXPECT_EQ(record.end - record.start, WARM_UP[std::min<size_t>(i / 2, 4)]) << i;
        EXPECT_EQ(record.plan, std::min<size_t>(i / 2, 4)) << i;
    }
    EXPECT_TRUE(result.reactions.empty());
}

TEST(ScenarioRunner, SurvivorsKeepToTheStepOfTheWarmUp)
{
    const auto result = Simulate({{"job.workers", "3"},
                                  {"job.iterations", "5"},
                                  {"job.reaction", "replan"},
                                  {"job.codec", R"({"kind": "dgc", "warmUp": 2})"},
                                  Crash()});
    ASSERT_EQ(result.iterations.size(), 5U) << result.summary.failure;
    // The first message of a third of the gradient would take 1.3 ms, but to and from the dead
    // host nothing arrives: no chunk is whole by 1.5 ms, when the other two begin anew.
    EXPECT_EQ(result.iterations[0].end, MicroSeconds(1500) + WARM_UP[0]);
    for (size_t i = 1; i < 5; ++i)
    {
        const auto& record = result.iterations[i];
        EXPECT_EQ(record.end - record.start, WARM_UP[i / 2]) << i;
    }
}

TEST(ScenarioRunner, ReactsPacketByPacketToo)
{
    const auto result = Simulate({Crash(),
                                  {"job.reaction", "replan"},
                                  {"transport", R"({"kind": "roce", "timeout": "200us"})"}});
    EXPECT_TRUE(result.summary.finished);
    // As on the fluid, and headers, 2 %, and the second hop of a packet, 0.03 ms, in four steps.
    EXPECT_GT(GetIctUs(result, 0), 1500 + 32e3 / 3);
    EXPECT_LT(GetIctUs(result, 0), 1500 + 1.025 * 32e3 / 3 + 4 * 34);
}

TEST(ScenarioRunner, AHostThatIsBackJoinsTheNextIteration)
{
    const auto result = Simulate(
        {Crash(R"(, "duration": "4ms")"), {"job.reaction", "replan"}, {"job.iterations", "3"}});
    ASSERT_EQ(result.iterations.size(), 3U);
    EXPECT_NEAR(GetIctUs(result, 0), 1500 + 32e3 / 3, 0.1);
    EXPECT_NEAR(GetIctUs(result, 1), 12e3, 0.1);
    EXPECT_EQ(result.iterations[0].plan, 1U);
    EXPECT_EQ(result.iterations[1].plan, 0U);
    // One that stays away is left out from the start: no wait to notice, 10.7 ms.
    const auto alone = Simulate({Crash(), {"job.reaction", "replan"}, {"job.iterations", "3"}});
    ASSERT_EQ(alone.iterations.size(), 3U);
    EXPECT_NEAR(GetIctUs(alone, 1), 32e3 / 3, 0.1);
    EXPECT_NEAR(GetIctUs(alone, 2), 32e3 / 3, 0.1);
    EXPECT_EQ(alone.reactions.size(), 1U);
    EXPECT_EQ(alone.jobs[0].plans.size(), 2U);
}

TEST(ScenarioRunner, AHostThatWasBackBeforeAnyoneNoticedHasStillLostItsState)
{
    const auto result = Simulate({Crash(R"(, "duration": "100us")"), {"job.reaction", "replan"}});
    EXPECT_TRUE(result.summary.finished);
    EXPECT_NEAR(GetIctUs(result, 0), 1500 + 32e3 / 3, 0.1);
}

TEST(ScenarioRunner, OnlyWhatSurvivorsDoNotHoldIsExchangedAnew)
{
    // Four workers, one server, 1 MB in four chunks. A chunk of all four takes 8 ms to the server
    // and 8 ms back while the next comes: at 16 ms the first is everywhere. Without host 1, which
    // is missed from 18 ms on, 750 kB in four chunks of 4.5 ms: five times 4.5 ms.
    const auto result =
        Simulate({{"topology.hosts", "5"},
                  {"scheme", R"({"kind": "ps", "servers": 1, "pipelineChunks": 4})"},
                  {"job.reaction", "replan"},
                  {"faults", R"([{"kind": "host-crash", "hosts": [1], "start": "17ms"}])"}});
    EXPECT_TRUE(result.summary.finished);
    ASSERT_EQ(result.reactions.size(), 1U);
    EXPECT_EQ(result.reactions[0].bytes, 750'000U);
    EXPECT_NEAR(GetIctUs(result, 0), 18e3 + 5 * 4.5e3, 0.1);
}

TEST(ScenarioRunner, TheShareOfALostServerMovesToTheOthers)
{
    const auto result = Simulate(
        {{"topology.hosts", "6"},
         {"scheme", R"({"kind": "ps", "servers": 2, "pipelineChunks": 1})"},
         {"job.reaction", "replan"},
         {"faults", R"([{"kind": "host-crash", "role": "server", "random": 1, "start": "1ms"}])"}});
    EXPECT_TRUE(result.summary.finished);
    // Four workers and the server that is left, with a barrier: 2 * 4 * 8 ms.
    EXPECT_NEAR(GetIctUs(result, 0), 2e3 + 64e3, 0.1);
    EXPECT_EQ(result.jobs[0].plans.at(1).plan->GetWorkerCount(), 4U);
    EXPECT_EQ(result.jobs[0].plans.at(1).plan->GetRankCount(), 5U);
}

TEST(ScenarioRunner, TellsHowLongAFaultTookToGetOver)
{
    // The ring's first step of 2 ms is under way when host 1 falls silent for 3 ms: it ends 4 ms
    // after that, and 15 ms after the start all is done. What is not in the network waits.
    const auto result = Simulate(
        {{"faults",
          R"([{"kind": "host-pause-send", "hosts": [1], "start": "1ms", "duration": "3ms"}])"}});
    std::ostringstream rows;
    WriteFaults(result, rows);
    EXPECT_EQ(rows.str(),
              "0.001000000000,0,host-pause-send,host1,begin,0.004000000000\n"
              "0.004000000000,0,host-pause-send,host1,end,\n");
    // From 0.5 to 1.5 ms, and four steps of the largest third in whole elements, 333336 bytes.
    const auto crash = Simulate({Crash(), {"job.reaction", "replan"}});
    std::ostringstream reacted;
    WriteFaults(crash, reacted);
    EXPECT_THAT(reacted.str(),
                testing::StartsWith("0.000500000000,0,host-crash,host1,begin,0.011666752000"));
    EXPECT_THAT(reacted.str(),
                testing::HasSubstr("0.001500000000,,reaction,job0 without host1,replan,\n"));
    EXPECT_THAT(FindRecoveryTimes(Simulate({Crash()})), testing::Each(std::nullopt));
}

TEST(ScenarioRunner, CountsWorkersThatWaitForOthers)
{
    // Steps of 2 ms; host 1 is silent for the second. Host 2 has nothing to send from 4 to 6 ms;
    // the gap goes round the ring, a host a step: hosts 3, 0 and 1 have it in steps 4, 5 and 6,
    // that is until 12 ms, when the last step begins and host 1 itself has one left to send.
    const auto result = Simulate(
        {{"faults",
          R"([{"kind": "host-pause-send", "hosts": [1], "start": "2ms", "duration": "2ms"}])"}});
    std::vector<std::tuple<uint32_t, double, double>> spans;
    for (const auto& span : FindBlockedSpans(result))
    {
        if (span.end - span.start > MicroSeconds(1)) // rounding of the fluid is some ps
        {
            spans.emplace_back(span.rank,
                               std::round(span.start.ToDouble(Time::MS)),
                               std::round(span.end.ToDouble(Time::MS)));
        }
    }
    EXPECT_THAT(spans, testing::Contains(std::make_tuple(2U, 4.0, 6.0)));
    EXPECT_THAT(spans, testing::Contains(std::make_tuple(3U, 6.0, 8.0)));
    EXPECT_THAT(spans, testing::Contains(std::make_tuple(0U, 8.0, 10.0)));
    std::ostringstream rows;
    WriteBlocked(result, rows);
    EXPECT_THAT(rows.str(), testing::HasSubstr(",job0,1\n"));
}

TEST(ScenarioRunner, WritesATimelineThatPerfettoOpens)
{
    const auto result = Simulate({Crash(), {"job.reaction", "replan"}, {"job.compute", "200us"}});
    std::ostringstream text;
    WriteTrace(result, text);
    const auto trace = Json::parse(text.str());
    std::map<std::string, uint32_t> count; // of events by phase and name
    for (const auto& event : trace["traceEvents"])
    {
        const auto name = event["name"].get<std::string>();
        ++count[event["ph"].get<std::string>() + " " + name];
        if (name == "host-crash host1")
        {
            EXPECT_DOUBLE_EQ(event["ts"].get<double>(), 500.0);
        }
    }
    // The network, four hosts, and the critical path of the job.
    EXPECT_EQ(count["M process_name"], 6U);
    EXPECT_EQ(count["X compute"], 4U);
    EXPECT_EQ(count["X to host2"], 4U); // a ring of three: 4 steps from host 0
    EXPECT_EQ(count["X host-crash host1"], 1U);
    EXPECT_EQ(count["i job0 goes on without host1"], 1U);
    EXPECT_GT(count["C blocked workers of job0"], 0U);
}

TEST(ScenarioRunner, ConnectionsMoveToAnotherNicWhenTheirsIsCutOff)
{
    uint32_t hit = 0;
    for (const auto* seed : {"1", "2", "3", "4"})
    {
        const auto result = Simulate(
            {{"transport", R"({"kind": "roce", "timeout": "1ms", "retryLimit": 3})"},
             {"topology.server", R"({"nics": 2})"},
             {"faults", R"([{"kind": "link-down", "at": "host0", "random": 1, "start": "1ms"}])"},
             {"seed", seed}});
        EXPECT_TRUE(result.summary.finished) << result.summary.failure;
        hit += result.summary.retransmittedBytes > 0 ? 1 : 0;
        // 12 ms, 1 ms until the routes change, and a timeout of 1 ms for data and acknowledgements.
        EXPECT_LT(GetIctUs(result, 0), 16e3);
    }
    EXPECT_GT(hit, 0U);
}

TEST(ScenarioRunner, SaysWhenSurvivorsCannotGoOn)
{
    const auto result = Simulate(
        {Crash(), {"job.reaction", "replan"}, {"scheme", R"({"kind": "mesh-2d", "width": 2})"}});
    EXPECT_FALSE(result.summary.finished);
    EXPECT_THAT(result.summary.failure,
                testing::HasSubstr("rank 1 has crashed, and the others cannot go on"));
}

} // namespace

} // namespace ns3::gradsync
