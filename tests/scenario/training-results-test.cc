// SPDX-License-Identifier: GPL-2.0-only
// What the results of training iterations say, and that it is what the iterations did.
#include "scenario/scenario-runs.h"

#include "ns3/json-document.h"
#include "ns3/result-columns.h"
#include "ns3/trace-writer.h"
#include "ns3/training-rows.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

namespace ns3::gradsync
{
namespace
{

constexpr int64_t MILLISECOND = 1'000'000'000; // in picoseconds

using Rows = std::vector<std::vector<std::string>>;

/// Cells of a table without text that needs quotes.
Rows
Read(void (*write)(const RunResult&, std::ostream&), const RunResult& result)
{
    std::stringstream stream;
    write(result, stream);
    Rows rows;
    for (std::string line; std::getline(stream, line);)
    {
        std::stringstream cells(line + ",");
        rows.emplace_back();
        for (std::string cell; std::getline(cells, cell, ',');)
        {
            rows.back().push_back(cell);
        }
    }
    return rows;
}

/// Seconds with twelve digits behind the point.
int64_t
ToPicoseconds(const std::string& cell)
{
    const auto point = cell.find('.');
    EXPECT_EQ(cell.size() - point, 13U) << cell;
    return std::stoll(cell.substr(0, point)) * 1000 * MILLISECOND +
           std::stoll(cell.substr(point + 1));
}

RunResult
TrainOn(const std::string& training, const std::vector<ScenarioOverride>& more = {})
{
    std::vector<ScenarioOverride> overrides{
        {"job", fmt::format("{{\"iterations\": 2, \"training\": {{{}}}}}", training)}};
    overrides.insert(overrides.end(), more.begin(), more.end());
    return Simulate(overrides);
}

/// Two stages of two ranks with everything that takes time.
RunResult
TrainHybrid(const std::vector<ScenarioOverride>& more = {})
{
    return TrainOn(R"("blocks": [{"name": "layer", "count": 4, "forward": "1ms", "backward": "2ms",
                                  "gradient": "1MB", "tensorForward": "200kB"}],
                      "activation": "100kB", "tensor": 2, "pipeline": 2, "microbatches": 3)",
                   more);
}

TEST(TrainingResults, MeansAreThoseOfThePipelinesClosedForm)
{
    // 1F1B on p = 2 stages, m = 3: (m + p - 1)(F + B) with F + B = 2 x 3 ms; bubble (p - 1)(F + B).
    const auto training = TrainOn(R"("blocks": [{"count": 4, "forward": "1ms", "backward": "2ms"}],
                   "pipeline": 2, "microbatches": 3)")
                              .summary.training;
    EXPECT_EQ(training.iterations, 2U);
    EXPECT_EQ(training.iterationPs, 24 * MILLISECOND);
    EXPECT_EQ(training.computationPs, 18 * MILLISECOND);
    EXPECT_EQ(training.bubblePs, 6 * MILLISECOND);
    EXPECT_EQ(training.exposedPs, 0);
    EXPECT_EQ(training.hiddenPs, 0);
    ASSERT_EQ(training.criticalPath.size(), 2U);
    // Back from the last end: all passes of a microbatch, and the stage that is never idle between.
    EXPECT_NEAR(training.criticalPath[0].share + training.criticalPath[1].share, 1.0, 1e-12);
    EXPECT_EQ(training.criticalPath[0].label, "backward block*");
}

TEST(TrainingResults, WhatIsExposedAndHiddenOfBuckets)
{
    // DDP of L = 3 equal layers of 1 MB on 4 ranks, c = 12 ms, f = 1, b = 2: L f + max(L b + c,
    // b + L c) = 3 + 38; computation 9, exposed 32, hidden 3 c - 32 = 4.
    const auto result = TrainOn(R"("blocks": [{"count": 3, "forward": "1ms", "backward": "2ms",
                                               "gradient": "1MB"}],
                                   "bucket": "1B", "firstBucket": "1B")");
    const auto& training = result.summary.training;
    EXPECT_EQ(training.iterationPs, 41 * MILLISECOND);
    EXPECT_EQ(training.computationPs, 9 * MILLISECOND);
    EXPECT_EQ(training.exposedPs, 32 * MILLISECOND);
    EXPECT_EQ(training.hiddenPs, 4 * MILLISECOND);
    EXPECT_EQ(training.bubblePs, 0);
    // Forward passes, the first backward pass, then one bucket after the other.
    EXPECT_THAT(DescribeTraining(training),
                testing::ElementsAre(
                    "computation 22.0 %, exposed communication 78.0 %, bubble 0.0 %; hidden "
                    "communication 9.8 %",
                    "critical path: gradients (data) 87.8 %, forward block* (compute) 7.3 %, "
                    "backward block* (compute) 4.9 %"));
    // 1.5 tau for 1 MB at 125 MB/s: busbw is the link's.
    const auto rows = Read(WriteCollectives, result);
    ASSERT_EQ(rows.size(), 1U);
    EXPECT_THAT(rows[0],
                testing::ElementsAre("job0",
                                     "data",
                                     "gradients",
                                     "all-reduce",
                                     "4",
                                     "1000000",
                                     "6",
                                     "0.012000000000",
                                     "0.012000000000",
                                     "0.012000000000",
                                     "0.012000000000",
                                     "0.010666666666", // 32 of 36 ms
                                     "83333333.3",
                                     "125000000"));
}

TEST(TrainingResults, RowsOfRanksAddUpToTheIteration)
{
    const auto result = TrainHybrid();
    const auto rows = Read(WriteTraining, result);
    ASSERT_EQ(rows.size(), 2U * 4);
    for (size_t i = 0; i < rows.size(); ++i)
    {
        const auto& row = rows[i];
        ASSERT_EQ(row.size(), TRAINING_COLUMNS.size());
        EXPECT_EQ(row[1], std::to_string(i / 4)); // iteration
        EXPECT_EQ(row[2], std::to_string(i % 4)); // rank
        EXPECT_EQ(row[3], fmt::format("host{}", i % 4));
        EXPECT_EQ(ToPicoseconds(row[6]) + ToPicoseconds(row[8]) + ToPicoseconds(row[10]),
                  ToPicoseconds(row[5]));
        EXPECT_EQ(ToPicoseconds(row[11]), 0);      // nothing was lost
        EXPECT_EQ(row[12], i % 4 < 2 ? "2" : "1"); // in flight, 1F1B of two stages
        EXPECT_EQ(row[13], "");                    // memory is not known
        // Of 4 layers a stage has 2, for 3 microbatches each: 2 x 3 x 3 ms.
        EXPECT_EQ(ToPicoseconds(row[6]), 18 * MILLISECOND);
    }
    // A stage sends one way and receives the other; it has no context and no experts.
    std::set<std::string> streams;
    for (const auto& row : Read(WriteStreams, result))
    {
        EXPECT_EQ(ToPicoseconds(row[5]) + ToPicoseconds(row[6]), ToPicoseconds(row[4]));
        streams.insert(row[2] + " " + row[3]);
    }
    EXPECT_THAT(streams,
                testing::UnorderedElementsAre("0 tensor",
                                              "1 tensor",
                                              "2 tensor",
                                              "3 tensor",
                                              "0 send forward",
                                              "1 send forward",
                                              "0 receive backward",
                                              "1 receive backward",
                                              "2 receive forward",
                                              "3 receive forward",
                                              "2 send backward",
                                              "3 send backward"));
}

TEST(TrainingResults, IterationsAreThoseOfIterationsCsvWithAndWithoutABarrier)
{
    for (const auto* barrier : {"true", "false"})
    {
        const auto result =
            TrainOn(fmt::format(R"("blocks": [{{"name": "layer", "count": 4, "forward": "1ms",
                                               "backward": "2ms", "gradient": "1MB"}}],
                                   "bucket": "1B", "firstBucket": "1B", "barrier": {})",
                                barrier));
        const auto& iterations = result.trainings[0].iterations;
        ASSERT_EQ(iterations.size(), 2U);
        ASSERT_EQ(result.iterations.size(), 2U);
        for (size_t i = 0; i < 2; ++i)
        {
            EXPECT_EQ(iterations[i].iteration, result.iterations[i].iteration);
            EXPECT_EQ(iterations[i].span.start, result.iterations[i].start);
            EXPECT_EQ(iterations[i].span.end, result.iterations[i].end);
        }
        EXPECT_EQ(result.summary.training.iterationPs, result.summary.meanIctPs);
        EXPECT_EQ(result.summary.training.iterations, 2U);
        // Of every iteration the same 4 communications, whatever they overlap with.
        EXPECT_EQ(Read(WriteCollectives, result)[0][6], "8");
        std::set<std::string> named;
        for (const auto& row : Read(WriteCriticalPaths, result))
        {
            named.insert(row[1]);
        }
        EXPECT_THAT(named, testing::ElementsAre("0", "1"));
    }
}

TEST(TrainingResults, StepsOfTheCriticalPathLeaveNoGap)
{
    const auto result = TrainHybrid();
    std::map<std::string, int64_t> ends; // by iteration
    for (const auto& row : Read(WriteCriticalPaths, result))
    {
        const auto at = ends.find(row[1]);
        const auto& iteration = result.trainings[0].iterations[std::stoul(row[1])];
        EXPECT_EQ(ToPicoseconds(row[8]),
                  at == ends.end() ? iteration.span.start.GetPicoSeconds() : at->second);
        ends[row[1]] = ToPicoseconds(row[9]);
    }
    ASSERT_EQ(ends.size(), 2U);
    for (const auto& iteration : result.trainings[0].iterations)
    {
        EXPECT_EQ(ends[std::to_string(iteration.iteration)], iteration.span.end.GetPicoSeconds());
    }
}

TEST(TrainingResults, ACommunicationIsBoundByTheBusiestLinkOnItsWay)
{
    // Tensor-parallel ranks are in one rack each, on links of their own; data-parallel ones share
    // a tenth of that between racks.
    const auto result =
        Simulate({},
                 R"({"topology": {"kind": "spine-leaf", "spines": 1, "leaves": 2, "hostsPerLeaf": 2,
                         "hostLink": {"rate": "10Gbps", "delay": "0s"},
                         "fabricLink": {"rate": "1Gbps", "delay": "0s"}},
            "transport": "fluid", "scheme": "ring",
            "job": {"training": {"blocks": [{"forward": "1ms", "backward": "2ms",
                                             "gradient": "1MB", "tensorForward": "1MB"}],
                                 "tensor": 2}}})");
    std::map<std::string, std::set<std::string>> links;
    for (const auto& row : Read(WriteCriticalPaths, result))
    {
        links[row[5]].insert(row[11].substr(0, 4) + ">" + row[12].substr(0, 4));
    }
    EXPECT_EQ(links.size(), 3U);
    EXPECT_THAT(links["compute"], testing::ElementsAre(">"));
    EXPECT_THAT(links["tensor"], testing::ElementsAre(testing::AnyOf("host>leaf", "leaf>host")));
    EXPECT_THAT(links["data"], testing::ElementsAre(testing::AnyOf("leaf>spin", "spin>leaf")));
    // Where links are not recorded nothing is said of them.
    for (const auto& row : Read(WriteCriticalPaths, TrainHybrid({{"results.links", "false"}})))
    {
        EXPECT_EQ(row[11] + row[12], "");
    }
}

TEST(TrainingResults, FiguresOfModelAndDeviceAreRates)
{
    auto result = TrainHybrid();
    EXPECT_EQ(result.summary.training.mfu, 0.0);
    auto& training = result.trainings[0];
    // 2 iterations of the same length T: 10 PFLOP on devices of 1 PFLOP/s together, 12 samples.
    const auto seconds = static_cast<double>(result.summary.training.iterationPs) * 1e-12;
    training.figures = {1e16 * seconds, 4e16, 12, 12288, {5, 9, 7, 6}, {}};
    const auto summary = SummariseTraining(result);
    EXPECT_NEAR(summary.mfu, 0.25, 1e-12);
    EXPECT_NEAR(summary.samplesPerSecond, 12 / seconds, 1e-6);
    EXPECT_NEAR(summary.tokensPerSecond, 12 * 1024 / seconds, 1e-3);
    EXPECT_EQ(summary.memoryBytes, 9U);
    EXPECT_EQ(Read(WriteTraining, result)[5][13], "9");
    // A second job at the same time: rates add up, and shares are of all devices.
    result.trainings.push_back(training);
    ++result.trainings.back().job;
    EXPECT_NEAR(SummariseTraining(result).mfu, 0.25, 1e-12);
    EXPECT_NEAR(SummariseTraining(result).samplesPerSecond, 24 / seconds, 1e-6);
}

TEST(TrainingResults, RunsThatDoNotTrainHaveNone)
{
    const auto result = Simulate({});
    EXPECT_EQ(result.summary.training.iterations, 0U);
    EXPECT_THAT(DescribeTraining(result.summary.training), testing::IsEmpty());
    for (auto* write : {WriteTraining, WriteStreams, WriteCollectives, WriteCriticalPaths})
    {
        EXPECT_THAT(Read(write, result), testing::IsEmpty());
    }
}

TEST(TrainingResults, LabelsOfLayersAreOneFamily)
{
    EXPECT_EQ(GetLabelFamily("forward layer 17"), "forward layer *");
    EXPECT_EQ(GetLabelFamily("h.3.mlp.12"), "h.*.mlp.*");
    EXPECT_EQ(GetLabelFamily("gradients"), "gradients");
}

/// Events of trace.json.
Json
Trace(const RunResult& result)
{
    std::stringstream stream;
    WriteTrace(result, stream);
    return Json::parse(stream.str())["traceEvents"];
}

TEST(TrainingTrace, SpansOfAThreadFollowEachOtherAndArrowsBeginAndEndInThem)
{
    const auto events = Trace(TrainHybrid({{"results.trace", "true"}}));
    std::map<std::pair<int, int>, std::vector<std::pair<double, double>>> spans;
    std::map<int, std::string> processes;
    for (const auto& event : events)
    {
        const std::pair<int, int> thread{event["pid"], event["tid"]};
        if (event["ph"] == "X")
        {
            const double begin = event["ts"];
            spans[thread].emplace_back(begin, begin + event["dur"].get<double>());
        }
        if (event["name"] == "process_name")
        {
            processes[thread.first] = event["args"]["name"];
        }
    }
    EXPECT_THAT(processes,
                testing::ElementsAre(testing::Pair(0, "network and faults"),
                                     testing::Pair(5, "critical path of job0"),
                                     testing::Pair(6, "job0 rank 0 (host0)"),
                                     testing::Pair(7, "job0 rank 1 (host1)"),
                                     testing::Pair(8, "job0 rank 2 (host2)"),
                                     testing::Pair(9, "job0 rank 3 (host3)")));
    for (auto& [thread, own] : spans)
    {
        std::ranges::sort(own);
        for (size_t i = 1; i < own.size(); ++i)
        {
            EXPECT_LE(own[i - 1].second, own[i].first + 1e-6);
        }
    }
    std::map<int, Json> starts;
    int arrows = 0;
    for (const auto& event : events)
    {
        if (event["ph"] != "s" && event["ph"] != "f")
        {
            continue;
        }
        const double at = event["ts"];
        const auto& own = spans[{event["pid"], event["tid"]}];
        EXPECT_TRUE(std::ranges::any_of(own, [at](const auto& span) {
            return span.first <= at && at < span.second;
        }));
        if (event["ph"] == "s")
        {
            starts[event["id"]] = event;
            continue;
        }
        ++arrows;
        const auto& start = starts[event["id"]];
        EXPECT_LE(start["ts"].get<double>(), at);
        EXPECT_EQ(std::abs(start["pid"].get<int>() - event["pid"].get<int>()), 2); // next stage
    }
    // 3 microbatches there and back, of two pairs of ranks, in two iterations.
    EXPECT_EQ(arrows, 3 * 2 * 2 * 2);
}

TEST(TrainingTrace, HasTheCriticalPathOfEveryIteration)
{
    const auto result = TrainHybrid({{"results.trace", "true"}});
    double path = 0.0;
    double computing = 0.0;
    for (const auto& event : Trace(result))
    {
        if (event["ph"] == "X" && event["pid"] == 5)
        {
            path += event["dur"].get<double>();
        }
        if (event["ph"] == "X" && event["pid"] == 6 && event["tid"] == 1)
        {
            computing += event["dur"].get<double>();
        }
    }
    EXPECT_NEAR(path, 2e-6 * static_cast<double>(result.summary.training.iterationPs), 1e-3);
    EXPECT_NEAR(computing, 2 * 18'000.0, 1e-3); // microseconds
}

} // namespace
} // namespace ns3::gradsync
