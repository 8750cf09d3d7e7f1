// SPDX-License-Identifier: GPL-2.0-only
#include "unit/scenario-test-support.h"

#include "ns3/result-rows.h"
#include "ns3/run-timeline.h"
#include "ns3/scenario-reader.h"
#include "ns3/scenario-runner.h"
#include "ns3/time-resolution.h"
#include "ns3/trace-writer.h"

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

/// Four hosts on one switch, 1 Gb/s, no delay: 1 MB take tau = 8 ms.
constexpr const char* STAR = R"({
  "topology": {"kind": "star", "hosts": 4, "hostLink": {"rate": "1Gbps", "delay": "0s"}},
  "transport": "fluid", "job": {"gradient": "1MB"}, "scheme": "ring"})";

RunResult
Simulate(const std::vector<ScenarioOverride>& overrides, const std::string& text = STAR)
{
    UsePicoseconds();
    return RunScenario(ResolveRun(ParseScenario(text, "x.json", overrides), 0));
}

TEST(ScenarioRunner, GivesTheTimeOfTheRing)
{
    const auto result = Simulate({{"job.iterations", "3"}});
    EXPECT_TRUE(result.summary.finished);
    EXPECT_EQ(result.summary.iterations, 3U);
    // 2 (w-1)/w tau = 1.5 * 8 ms; a fluid completion may round up by a few ps per step.
    EXPECT_NEAR(static_cast<double>(result.summary.meanIctPs), 12e9, 20.0);
    // Each of 4 hosts sends 1.5 MB in each of 3 iterations.
    EXPECT_EQ(result.summary.goodputBytes, 18'000'000U);
    EXPECT_EQ(result.summary.crossRackBytes, 0U);
    EXPECT_EQ(result.transfers.size(), 3U * 4 * 6);
    EXPECT_EQ(result.links.size(), 8U);
}

TEST(ScenarioRunner, RunsThePartiesOfAMixedSyncEachAtItsOwnPace)
{
    // Two parties of two workers and a server, 1 Gb/s inside; the links to the global server's site
    // have 1 Gb/s and 250 Mb/s, that server 10 Gb/s. With tau = 8 ms a party takes
    // 2 (2 tau + tau / 1) = 6 tau or 2 (2 tau + 4 tau) = 12 tau; full-sync is the slower one's.
    const std::string text = R"({
      "topology": {"kind": "graph",
        "nodes": [{"name": "a", "kind": "switch", "tier": 1}, {"name": "b", "kind": "switch", "tier": 1},
                  {"name": "core", "kind": "switch", "tier": 2},
                  {"name": "a0", "kind": "host"}, {"name": "a1", "kind": "host"}, {"name": "as", "kind": "host"}, {"name": "b0", "kind": "host"}, {"name": "b1", "kind": "host"},
                  {"name": "bs", "kind": "host"}, {"name": "global", "kind": "host"}],
        "links": [{"a": "a", "b": "core", "rate": "1Gbps"}, {"a": "b", "b": "core", "rate": "250Mbps"},
                  {"a": "global", "b": "core", "rate": "10Gbps"},
                  {"a": "a0", "b": "a", "rate": "1Gbps"}, {"a": "a1", "b": "a", "rate": "1Gbps"},
                  {"a": "as", "b": "a", "rate": "1Gbps"}, {"a": "b0", "b": "b", "rate": "1Gbps"},
                  {"a": "b1", "b": "b", "rate": "1Gbps"}, {"a": "bs", "b": "b", "rate": "1Gbps"}]},
      "transport": "fluid",
      "job": {"gradient": "1MB", "iterations": 3,
              "endpoints": ["a0", "a1", "b0", "b1", "as", "bs", "global"]},
      "scheme": {"kind": "geo-hips", "sync": "full"}})";
    const auto full = Simulate({}, text);
    ASSERT_EQ(full.iterations.size(), 3U);
    EXPECT_NEAR(full.duration.GetSeconds(), 3 * 12 * 8e-3, 1e-4);
    const auto mixed = Simulate({{"scheme.sync", "mixed"}}, text);
    ASSERT_EQ(mixed.iterations.size(), 6U);
    ASSERT_EQ(mixed.jobs.size(), 2U);
    EXPECT_EQ(mixed.jobs[1].name, "job0.1");
    EXPECT_NEAR(mixed.duration.GetSeconds(), 3 * 12 * 8e-3, 1e-4);
    for (const auto& record : mixed.iterations)
    {
        EXPECT_NEAR((record.end - record.start).GetSeconds(),
                    (record.job == 0 ? 6 : 12) * 8e-3,
                    1e-4);
    }
}

TEST(ScenarioRunner, CountsBytesBetweenRacks)
{
    const auto result =
        Simulate({{"topology",
                   R"({"kind": "spine-leaf", "spines": 1, "leaves": 2, "hostsPerLeaf": 2,
                                  "hostLink": {"rate": "1Gbps"}, "fabricLink": {"rate": "1Gbps"}})"}});
    // Ring, 2 racks: 2 r (1 - 1/w) K = 3 MB; the rack's two hosts share one uplink of their rate.
    EXPECT_EQ(result.summary.crossRackBytes, 3'000'000U);
    EXPECT_DOUBLE_EQ(result.summary.oversubscription, 2.0);
}

TEST(ScenarioRunner, AddsComputeAndStartTimes)
{
    const auto result = Simulate({{"job.compute", "2ms"}, {"job.start", "1ms"}});
    ASSERT_EQ(result.iterations.size(), 1U);
    EXPECT_EQ(result.iterations[0].start, MilliSeconds(1));
    EXPECT_EQ(result.iterations[0].exchangeStart, MilliSeconds(3));
    // 2 ms to compute, 12 ms to exchange
    EXPECT_NEAR(static_cast<double>(result.summary.meanIctPs), 14e9, 20.0);
    std::ostringstream rows;
    WriteIterations(result, rows);
    EXPECT_THAT(rows.str(), testing::HasSubstr("job0,0,0.001000000000,0.014"));
    EXPECT_THAT(rows.str(), testing::HasSubstr(",0.002000000000,"));
}

TEST(ScenarioRunner, ReceiversTakeTimeToAdd)
{
    // Each of the 3 reduce steps adds 250 kB at 1 Gb/s: 2 ms more each.
    const auto result = Simulate({{"job.reduceRate", "1Gbps"}});
    EXPECT_NEAR(static_cast<double>(result.summary.meanIctPs), 18e9, 20.0);
}

TEST(ScenarioRunner, StragglersComputeLonger)
{
    const auto ictUs = [](const std::string& slowdown) {
        const auto result = Simulate(
            {{"job.compute", "2ms"},
             {"job.iterations", "3"},
             {"faults", R"([{"kind": "straggler", "hosts": [1], "slowdown": )" + slowdown + "}]"}});
        std::vector<double> times;
        for (const auto& record : result.iterations)
        {
            times.push_back((record.end - record.start).ToDouble(Time::US));
        }
        return times;
    };
    // 12 ms for the ring; the compute time of 2 ms becomes 5 ms, and nobody is done without it.
    const auto constant = ictUs("2.5");
    ASSERT_EQ(constant.size(), 3U);
    EXPECT_NEAR(constant[0], 17e3, 0.1);
    EXPECT_NEAR(constant[2], 17e3, 0.1);
    // One value for each computation, and again from the first.
    const auto trace = ictUs(R"({"distribution": "trace", "values": [1, 3]})");
    EXPECT_NEAR(trace[0], 14e3, 0.1);
    EXPECT_NEAR(trace[1], 18e3, 0.1);
    EXPECT_NEAR(trace[2], 14e3, 0.1);
    const auto drawn = ictUs(R"({"distribution": "exponential", "mean": 1})");
    EXPECT_GT(drawn[0], 14e3);
    EXPECT_NE(drawn[0], drawn[1]);
}

TEST(ScenarioRunner, AFloodWithoutEndDoesNotOutliveTheExchange)
{
    const std::vector<ScenarioOverride> flooded{
        {"faults", R"([{"kind": "flood", "at": "host1", "rate": "500Mbps"}])"}};
    // Half of host 1's link is gone: the ring is twice as slow, 24 ms.
    const auto fluid = Simulate(flooded);
    EXPECT_NEAR(static_cast<double>(fluid.summary.meanIctPs), 24e9, 20.0);
    auto packets = flooded;
    packets.push_back({"transport", "roce"});
    const auto flood = Simulate(packets);
    EXPECT_TRUE(flood.summary.finished);
    packets[0].value = "[]";
    const auto calm = Simulate(packets);
    // Steps of 2.2 ms become twice as long, but for the second hop of the last packet, 0.03 ms, and
    // one packet of the flood more or less, 0.01 ms.
    const auto ratio =
        static_cast<double>(flood.summary.meanIctPs) / static_cast<double>(calm.summary.meanIctPs);
    EXPECT_GT(ratio, 1.96);
    EXPECT_LT(ratio, 2.02);
    EXPECT_EQ(flood.summary.droppedPackets, 0U);
}

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
    EXPECT_EQ(count["M process_name"], 5U); // the network and four hosts
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

TEST(ScenarioRunner, LeavesRowsOutOnRequest)
{
    const auto result = Simulate({{"results", R"({"messages": false, "links": false})"}});
    EXPECT_TRUE(result.transfers.empty());
    EXPECT_TRUE(result.links.empty());
    EXPECT_TRUE(result.summary.finished);
}

TEST(ScenarioRunner, RunsPacketByPacketTheSameEveryTime)
{
    const std::vector<ScenarioOverride> lossy{{"transport", "roce"},
                                              {"job.gradient", "100kB"},
                                              {"fabric.lossRate", "0.01"},
                                              {"transport.timeout", "100us"}};
    const auto rows = [](const RunResult& result) {
        std::ostringstream text;
        WriteMessages(result, text);
        WriteLinks(result, text);
        return text.str();
    };
    const auto first = Simulate(lossy);
    const auto second = Simulate(lossy);
    EXPECT_GT(first.summary.packetHops, 0U);
    EXPECT_GT(first.summary.droppedPackets, 0U);
    EXPECT_EQ(rows(first), rows(second));
    auto other = lossy;
    other.push_back({"seed", "2"});
    EXPECT_NE(rows(first), rows(Simulate(other)));
}

TEST(ScenarioRunner, ReportsAnExchangeThatCannotFinish)
{
    const auto result =
        Simulate({{"transport", "roce"}, {"job.gradient", "100kB"}, {"fabric.lossRate", "1"}});
    EXPECT_FALSE(result.summary.finished);
    EXPECT_THAT(result.summary.failure, testing::HasSubstr("job0"));
    EXPECT_EQ(result.summary.iterations, 0U);
    EXPECT_THAT(FormatSummary(result.summary, false), testing::EndsWith("unfinished"));
}

TEST(ScenarioRunner, RefusesWhatTheTransportCannotBuild)
{
    UsePicoseconds();
    const auto run = ResolveRun(
        ParseScenario(STAR, "x.json", {{"transport", "roce"}, {"fabric.bufferBytes", "1kB"}}),
        0);
    EXPECT_THAT(ErrorOf([&run] { CheckRun(run, false); }), testing::HasSubstr("transport roce"));
}

TEST(ResultRows, QuoteFieldsAsCsvWantsIt)
{
    EXPECT_EQ(QuoteCsv("plain"), "plain");
    EXPECT_EQ(QuoteCsv("a,b"), "\"a,b\"");
    EXPECT_EQ(QuoteCsv(R"({"kind":"ps"})"), R"("{""kind"":""ps""}")");
}

TEST(ResultRows, SummariesSurviveTheirJson)
{
    const auto summary = Simulate({}).summary;
    EXPECT_EQ(FormatSummary(ToSummary(ToJson(summary)), false), FormatSummary(summary, false));
}

/// Three clients that train for 2, 5 and 20 s, and a controller. 4 B take 32 ns at 1 Gb/s.
constexpr const char* ROUNDS = R"({
  "topology": {"kind": "star", "hosts": 4, "hostLink": {"rate": "1Gbps", "delay": "0s"}},
  "transport": "fluid",
  "job": {"gradient": "4B", "compute": ["2s", "5s", "20s"], "timeout": "100s"},
  "scheme": {"kind": "federated", "roundTimeout": "10s"}})";

/// How long the iterations took, in seconds, to the microsecond that commands and models take.
std::vector<double>
GetSeconds(const RunResult& result)
{
    std::vector<double> seconds;
    for (const auto& record : result.iterations)
    {
        seconds.push_back(std::round((record.end - record.start).GetSeconds() * 1e5) / 1e5);
    }
    return seconds;
}

/// The endpoints of those with which an iteration ended.
const std::vector<uint32_t>&
GetRanks(const RunResult& result, size_t iteration)
{
    return result.jobs[0].plans[result.iterations.at(iteration).plan].ranks;
}

TEST(FederatedRounds, CloseWhenAllHaveAnsweredOrAtTheTimeout)
{
    // The oracle of the reference: replies at 2, 5 and 20 s, timeout 10 s.
    const auto all = Simulate({}, ROUNDS);
    EXPECT_THAT(GetSeconds(all), testing::ElementsAre(10.0));
    EXPECT_EQ(all.iterations[0].replies, 2U);
    EXPECT_THAT(GetRanks(all, 0), testing::ElementsAre(0, 1, 3));
    const auto patient = Simulate({{"scheme.roundTimeout", "30s"}}, ROUNDS);
    EXPECT_THAT(GetSeconds(patient), testing::ElementsAre(20.0));
    EXPECT_EQ(patient.iterations[0].replies, 3U);
}

TEST(FederatedRounds, CloseWithTheMinimumOfAnswers)
{
    const auto one = Simulate({{"scheme.closing", "minimum"}}, ROUNDS);
    EXPECT_THAT(GetSeconds(one), testing::ElementsAre(2.0));
    EXPECT_THAT(GetRanks(one, 0), testing::ElementsAre(0, 3));
    const auto two =
        Simulate({{"scheme.closing", "minimum"}, {"scheme.minimumReplies", "2"}}, ROUNDS);
    EXPECT_THAT(GetSeconds(two), testing::ElementsAre(5.0));
    EXPECT_EQ(two.iterations[0].replies, 2U);
    // A limit of transfers under way counts only those that are waited for.
    const auto limited = Simulate(
        {{"scheme.closing", "minimum"}, {"job.maxOutstandingSends", "1"}, {"job.iterations", "4"}},
        ROUNDS);
    EXPECT_THAT(GetSeconds(limited), testing::ElementsAre(2.0, 2.0, 2.0, 2.0));
}

TEST(FederatedRounds, DropAnswersThatComeLate)
{
    // Rounds take 10 s and the 96 ns of three models: the second ends at 20 s + 192 ns. Client 2
    // has its first command after 672 ns (three of 28 B), trains for 20 s and answers in 32 ns: at
    // 20 s + 704 ns, in the third round. It then trains for the newest command that it has, the
    // second, until 40 s + 672 ns, after the fourth round's end at 40 s + 384 ns.
    const auto result = Simulate({{"job.iterations", "5"}}, ROUNDS);
    EXPECT_THAT(GetSeconds(result), testing::ElementsAre(10.0, 10.0, 10.0, 10.0, 10.0));
    std::vector<uint32_t> late;
    for (const auto& record : result.iterations)
    {
        EXPECT_EQ(record.replies, 2U);
        late.push_back(record.late);
    }
    EXPECT_THAT(late, testing::ElementsAre(0, 0, 1, 0, 1));
    std::ostringstream rows;
    WriteIterations(result, rows);
    EXPECT_THAT(rows.str(), testing::HasSubstr(",2,1\n"));
}

TEST(FederatedRounds, AreSkippedByClientsThatAreBusyWhileANewerOneBegins)
{
    // Client 2 trains for 20 s, rounds take 3 s: it trains for the first, then for the one of which
    // it heard last before 20 s, which began at 18 s, and would end after the run with the next.
    const auto result = Simulate(
        {{"job.iterations", "15"}, {"scheme.roundTimeout", "3s"}, {"results.messages", "true"}},
        ROUNDS);
    std::vector<uint32_t> answered;
    for (const auto& record : result.transfers)
    {
        const auto& operation =
            result.jobs[0].plans[record.plan].plan->GetOperations()[record.operation];
        if (operation.kind == OperationKind::TransferReduce && operation.src == 2)
        {
            answered.push_back(record.iteration);
        }
    }
    EXPECT_THAT(answered, testing::ElementsAre(0, 6));
}

TEST(FederatedRounds, EndInANamedErrorWhenNobodyAnswers)
{
    const auto result = Simulate({{"scheme.roundTimeout", "1s"}}, ROUNDS);
    EXPECT_FALSE(result.summary.finished);
    EXPECT_THAT(result.summary.failure,
                testing::HasSubstr("job \"job0\", iteration 0: nobody answered within 1 s"));
}

TEST(FederatedRounds, WaitForStragglersAsLongAsTheirFaultSays)
{
    // Twice as slow: 4 instead of 2 s, and now all answer.
    const auto result = Simulate({{"faults", R"([{"kind": "straggler", "hosts": [0], "slowdown": 2,
                                                  "duration": "1s"}])"},
                                  {"job.compute", "2s"},
                                  {"job.iterations", "2"}},
                                 ROUNDS);
    EXPECT_THAT(GetSeconds(result), testing::ElementsAre(4.0, 2.0));
    EXPECT_EQ(result.iterations[0].training, Seconds(4));
}

TEST(FederatedRounds, GoOnWithoutAClientThatCrashed)
{
    // It is gone from 1 to 12 s. Nobody replans: the controller waits for it until the timeout,
    // in the second round in vain again, and has it back in the third.
    const std::vector<ScenarioOverride> crash{
        {"faults", R"([{"kind": "host-crash", "hosts": [1], "start": "1s", "duration": "11s"}])"},
        {"job.compute", "2s"},
        {"job.iterations", "3"}};
    const auto waiting = Simulate(crash, ROUNDS);
    EXPECT_TRUE(waiting.summary.finished) << waiting.summary.failure;
    EXPECT_THAT(GetSeconds(waiting), testing::ElementsAre(10.0, 10.0, 2.0));
    EXPECT_THAT(GetRanks(waiting, 0), testing::ElementsAre(0, 2, 3));
    EXPECT_EQ(waiting.iterations[2].replies, 3U);
    // With a reaction the first round ends with those that are known to live, and the next ones do
    // not even ask it.
    auto reaction = crash;
    reaction.push_back({"job.reaction", "replan"});
    const auto replanned = Simulate(reaction, ROUNDS);
    EXPECT_TRUE(replanned.summary.finished) << replanned.summary.failure;
    EXPECT_THAT(GetSeconds(replanned), testing::ElementsAre(2.0, 2.0, 2.0));
    EXPECT_EQ(replanned.reactions.size(), 1U);
    EXPECT_THAT(GetRanks(replanned, 2), testing::ElementsAre(0, 2, 3));
}

TEST(FederatedRounds, DoNotWaitForAClientThatCrashesAfterItsAnswer)
{
    // Host 0 answers at 2 s and crashes at 3 s: the sum has its part, the model goes to the others.
    const auto result =
        Simulate({{"faults", R"([{"kind": "host-crash", "hosts": [0], "start": "3s"}])"}}, ROUNDS);
    EXPECT_TRUE(result.summary.finished) << result.summary.failure;
    EXPECT_EQ(result.iterations[0].replies, 2U);
    EXPECT_THAT(GetRanks(result, 0), testing::ElementsAre(1, 3));
}

TEST(FederatedRounds, CloseByTimeoutWhenAClientIsCutOff)
{
    for (const auto* transport : {"fluid", "roce"})
    {
        const auto result = Simulate({{"faults", R"([{"kind": "link-down", "at": "host1"}])"},
                                      {"transport", transport},
                                      {"job.compute", "2s"},
                                      {"job.iterations", "2"}},
                                     ROUNDS);
        EXPECT_TRUE(result.summary.finished) << transport << ": " << result.summary.failure;
        EXPECT_THAT(GetSeconds(result), testing::ElementsAre(10.0, 10.0));
        EXPECT_THAT(GetRanks(result, 1), testing::ElementsAre(0, 2, 3));
    }
}

TEST(FederatedRounds, FailWithoutTheirController)
{
    const auto result =
        Simulate({{"faults", R"([{"kind": "host-crash", "hosts": [3], "start": "1s"}])"}}, ROUNDS);
    EXPECT_THAT(result.summary.failure, testing::HasSubstr("rank 3 has crashed"));
}

TEST(FederatedRounds, RejectMoreRepliesThanClients)
{
    EXPECT_THAT(
        ErrorOf([] {
            Simulate({{"scheme.closing", "minimum"}, {"scheme.minimumReplies", "4"}}, ROUNDS);
        }),
        testing::HasSubstr("\"minimumReplies\" is 4, but there are only 3 clients"));
    EXPECT_THAT(ErrorOf([] {
                    Simulate({{"job.compute", R"(["1s", "2s"])"}}, ROUNDS);
                }),
                testing::HasSubstr("found 2 times, expected one for each of the 3 workers"));
}

/// Four hosts on each of two leaves; one spine has 3.5 Gb/s to each leaf, the other 500 Mb/s.
constexpr const char* UNEQUAL = R"({
  "topology": {"kind": "graph", "pathWeights": "even",
    "nodes": [{"name": "a", "kind": "switch", "tier": 1}, {"name": "b", "kind": "switch", "tier": 1},
              {"name": "s", "kind": "switch", "tier": 2}, {"name": "t", "kind": "switch", "tier": 2},
              {"name": "a0", "kind": "host"}, {"name": "a1", "kind": "host"},
              {"name": "a2", "kind": "host"}, {"name": "a3", "kind": "host"},
              {"name": "b0", "kind": "host"}, {"name": "b1", "kind": "host"},
              {"name": "b2", "kind": "host"}, {"name": "b3", "kind": "host"}],
    "links": [{"a": "a", "b": "s", "rate": "3500Mbps"}, {"a": "a", "b": "t", "rate": "500Mbps"},
              {"a": "b", "b": "s", "rate": "3500Mbps"}, {"a": "b", "b": "t", "rate": "500Mbps"},
              {"a": "a0", "b": "a", "rate": "1Gbps"}, {"a": "a1", "b": "a", "rate": "1Gbps"},
              {"a": "a2", "b": "a", "rate": "1Gbps"}, {"a": "a3", "b": "a", "rate": "1Gbps"},
              {"a": "b0", "b": "b", "rate": "1Gbps"}, {"a": "b1", "b": "b", "rate": "1Gbps"},
              {"a": "b2", "b": "b", "rate": "1Gbps"}, {"a": "b3", "b": "b", "rate": "1Gbps"}]},
  "transport": "fluid", "job": {"gradient": "1MB"}, "scheme": {"kind": "ps", "barrier": true}})";

TEST(ScenarioRunner, WeightedPathsUseAllOfAnAsymmetricNetwork)
{
    // 16 K/8 = 2 K cross between the leaves in each phase. Evenly, half of it goes over 500 Mb/s:
    // 2 tau with tau = 8 ms at 1 Gb/s. By capacity, 7 : 1, the hosts' 7/8 tau is what takes
    // longest.
    const auto even = Simulate({}, UNEQUAL);
    EXPECT_NEAR(static_cast<double>(even.summary.meanIctPs), 2 * (2 * 8e9 + 4e6), 1e3);
    const auto weighted = Simulate({{"topology.pathWeights", "capacity"}}, UNEQUAL);
    EXPECT_NEAR(static_cast<double>(weighted.summary.meanIctPs), 2 * (0.875 * 8e9 + 4e6), 1e3);
    // Packet by packet, sprayed: the headers' 1.02 and what queues meet.
    const auto sprayed =
        Simulate({{"topology.pathWeights", "capacity"},
                  {"transport",
                   R"({"kind": "roce", "mtu": "4096B", "recovery": "selective-repeat",
                       "reorderTolerance": 64})"},
                  {"fabric", R"({"loadBalancing": "spray"})"}},
                 UNEQUAL);
    EXPECT_LT(static_cast<double>(sprayed.summary.meanIctPs), 1.25 * 2 * 0.875 * 8e9);
}

/// Of the links, the direction from one node to another.
const LinkStatistics&
FindLink(const RunResult& result, const std::string& from, const std::string& to)
{
    const auto links = result.topology->GetLinks();
    const auto nodes = result.topology->GetNodes();
    for (size_t i = 0; i < result.links.size(); ++i)
    {
        const auto& link = links[i / 2];
        if (nodes[i % 2 == 0 ? link.a : link.b].name == from &&
            nodes[i % 2 == 0 ? link.b : link.a].name == to)
        {
            return result.links[i];
        }
    }
    throw std::invalid_argument("no such link");
}

TEST(ScenarioRunner, CountsPausesAndWhatTheyBlockForNothing)
{
    // x0 and y0, y1 push to hot behind y: y pauses x's port. The job of x1 and cold meets nothing
    // but that pause.
    const std::string text = R"({
      "topology": {"kind": "graph",
        "nodes": [{"name": "x", "kind": "switch", "tier": 1}, {"name": "y", "kind": "switch", "tier": 1},
                  {"name": "x0", "kind": "host"}, {"name": "x1", "kind": "host"},
                  {"name": "y0", "kind": "host"}, {"name": "y1", "kind": "host"},
                  {"name": "hot", "kind": "host"}, {"name": "cold", "kind": "host"}],
        "links": [{"a": "x", "b": "y", "rate": "10Gbps"}, {"a": "x0", "b": "x", "rate": "10Gbps"},
                  {"a": "x1", "b": "x", "rate": "1Gbps"}, {"a": "y0", "b": "y", "rate": "10Gbps"},
                  {"a": "y1", "b": "y", "rate": "10Gbps"}, {"a": "hot", "b": "y", "rate": "10Gbps"},
                  {"a": "cold", "b": "y", "rate": "10Gbps"}]},
      "fabric": {"bufferBytes": "200kB", "countBlocked": true},
      "scheme": {"kind": "ps", "servers": 1},
      "jobs": [{"gradient": "2MB", "endpoints": ["x0", "y0", "y1", "hot"]},
               {"gradient": "200kB", "endpoints": ["x1", "cold"], "scheme": "ring"}]})";
    const auto both = Simulate({}, text);
    const auto& port = FindLink(both, "x", "y");
    EXPECT_GT(port.pfcPauses, 0U);
    EXPECT_TRUE(port.pfcPause.IsStrictlyPositive());
    EXPECT_GT(port.blockedBytes, 0U);
    // Not counted unless asked for, and all else is the same.
    const auto plain = Simulate({{"fabric.countBlocked", "false"}}, text);
    EXPECT_EQ(FindLink(plain, "x", "y").blockedBytes, 0U);
    EXPECT_EQ(FindLink(plain, "x", "y").pfcPauses, port.pfcPauses);
    EXPECT_EQ(plain.duration, both.duration);
    // Alone, the first job only waits for itself.
    const auto alone =
        Simulate({{"jobs", R"([{"gradient": "2MB", "endpoints": ["x0", "y0", "y1", "hot"]}])"}},
                 text);
    EXPECT_GT(FindLink(alone, "x", "y").pfcPauses, 0U);
    EXPECT_EQ(FindLink(alone, "x", "y").blockedBytes, 0U);
}

TEST(ScenarioRunner, TracesHowMuchOfItsRateALinkUses)
{
    const auto result =
        Simulate({{"transport", "roce"}, {"results.trace", "true"}, {"results.every", "1ms"}});
    std::ostringstream stream;
    WriteTrace(result, stream);
    const auto trace = Json::parse(stream.str());
    double sum = 0.0; // percent times milliseconds of one link
    double last = -1.0;
    for (const auto& event : trace.at("traceEvents"))
    {
        if (event.at("ph") == "C" && event.at("name") == "link host0 -> leaf0")
        {
            EXPECT_GT(event.at("ts").get<double>(), last);
            last = event.at("ts").get<double>();
            sum += event.at("args").at("utilisation_percent").get<double>();
        }
    }
    // The ring sends 1.5 MB: 12 ms at 1 Gb/s, and the wire has 1024 B of every 1024 B + headers.
    const auto wire = FindLink(result, "host0", "leaf0").wireBytes;
    EXPECT_NEAR(sum / 100.0, static_cast<double>(wire) * 8 / 1e9 * 1e3, 0.01);
    EXPECT_GT(sum / 100.0, 12.0);
}

} // namespace

} // namespace ns3::gradsync
