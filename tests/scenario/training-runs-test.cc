// SPDX-License-Identifier: GPL-2.0-only
// Jobs that train, from scenario to result.
#include "scenario/scenario-runs.h"

#include "ns3/training-rows.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <random>
#include <sstream>
#include <string>
#include <vector>

namespace ns3::gradsync
{
namespace
{

using testing::HasSubstr;

/// The error of checking a run whose job has this in `training`.
std::string
ErrorOfTraining(const std::string& training, std::vector<ScenarioOverride> more = {})
{
    UsePicoseconds();
    more.insert(more.begin(), {"job", fmt::format("{{\"training\": {}}}", training)});
    return ErrorOf([&] {
        const auto scenario = ParseScenario(STAR, "x.json", more);
        CheckRun(ResolveRun(scenario, 0), true);
    });
}

RunResult
Train(const std::string& training, const std::string& more = "")
{
    return Simulate({{"job", fmt::format("{{\"training\": {}{}}}", training, more)}});
}

TEST(TrainingRuns, OneBlockTakesWhatAJobTakes)
{
    // A job computes and then exchanges its gradient: so does a block that has a backward pass
    // alone, by each scheme and on packets too.
    std::mt19937_64 random(7);
    for (const auto* transport : {"fluid", "roce"})
    {
        for (const auto* scheme : {"ring", "halving-doubling", "double-binary-tree", "byteps"})
        {
            const auto bytes = 4 * (1 + random() % 500'000);
            const auto us = 1 + random() % 5000;
            const std::vector<ScenarioOverride> both{{"transport", transport}, {"scheme", scheme}};
            auto exchange = both;
            exchange.push_back(
                {"job",
                 fmt::format(R"({{"gradient": "{}B", "compute": "{}us", "iterations": 2}})",
                             bytes,
                             us)});
            auto training = both;
            training.push_back({"job",
                                fmt::format(R"({{"training": {{"blocks": [{{"backward": "{}us",
                                 "gradient": "{}B"}}], "bucket": "1GB", "firstBucket": "1GB"}},
                                 "iterations": 2}})",
                                            us,
                                            bytes)});
            const auto expected = Simulate(exchange).summary;
            const auto found = Simulate(training).summary;
            EXPECT_TRUE(found.finished);
            EXPECT_EQ(found.meanIctPs, expected.meanIctPs) << transport << ' ' << scheme;
            EXPECT_EQ(found.wireBytes, expected.wireBytes) << transport << ' ' << scheme;
            EXPECT_EQ(found.crossRackBytes, expected.crossRackBytes);
            EXPECT_EQ(found.workers, 4U);
        }
    }
}

TEST(TrainingRuns, PipelineTakesItsClosedForm)
{
    // 1F1B of p equal stages and m microbatches: (m + p - 1)(F + B), with messages that take no
    // time; 4 hosts are 2 stages x 2 data-parallel ranks without gradients.
    for (const uint32_t m : {1U, 2U, 5U, 8U})
    {
        const auto result = Train(fmt::format(
            R"({{"blocks": [{{"count": 6, "forward": "1ms", "backward": "2ms"}}],
                 "pipeline": 2, "microbatches": {}}})",
            m));
        EXPECT_EQ(result.summary.meanIctPs, int64_t{m + 1} * 3 * 3 * 1'000'000'000) << m;
        ASSERT_EQ(result.trainings.size(), 1U);
        const auto& last = result.trainings[0].iterations.back().span;
        EXPECT_EQ((last.end - last.start).GetPicoSeconds(), result.summary.meanIctPs);
    }
}

// DAPPLE (PPoPP'21): two stages, four microbatches: [2, 1] in flight, with GPipe [4, 4]; two
// data-parallel ranks each.
TEST(TrainingRuns, RowsSayWhatIsInFlight)
{
    const auto count = [](const std::string& schedule) {
        const auto result = Train(fmt::format(
            R"({{"blocks": [{{"count": 2, "forward": "1ms", "backward": "2ms"}}],
                 "pipeline": 2, "microbatches": 4, "schedule": "{}"}})",
            schedule));
        return result.trainings.at(0).figures.inFlight;
    };
    EXPECT_EQ(count("1f1b"), (std::vector<uint32_t>{2, 2, 1, 1}));
    EXPECT_EQ(count("gpipe"), (std::vector<uint32_t>{4, 4, 4, 4}));
}

TEST(TrainingRuns, ZeroStagesTakeTheirTimes)
{
    // 4 ranks, tau = 8 ms for 1 MB; one block of 1 MB, forward 1 ms, backward 2 ms.
    //   DDP             1 + 2 + 1.5 tau               = 15 ms
    //   ZeRO-1          the same: scatter and gather of 0.75 tau each
    //   parameters half 1 + 2 + 0.75 tau + 0.375 tau  = 12 ms
    //   ZeRO-3          gather, forward, gather, backward, scatter: 3 + 3 * 6 ms = 21 ms
    const std::string block =
        R"("blocks": [{"forward": "1ms", "backward": "2ms", "gradient": "1MB"}])";
    const auto take = [&block](const std::string& more) {
        return Train(fmt::format("{{{}{}}}", block, more)).summary.meanIctPs / 1'000'000;
    };
    EXPECT_EQ(take(""), 15'000);
    EXPECT_EQ(take(R"(, "zero": 1)"), 15'000);
    EXPECT_EQ(take(R"(, "zero": 2, "parameterShare": 0.5)"), 12'000);
    EXPECT_EQ(take(R"(, "zero": 3)"), 21'000);
    // Two stages of such a block and two ranks, 4 ms to gather: once, and with two microbatches
    // 4 + (2 + 1)(1 + 2) + 4; for each pass of one, 18
    // (ShardedParametersTest.StagesGatherWhile...).
    const auto stages = [](const std::string& more) {
        return Train(R"({"blocks": [{"count": 2, "forward": "1ms", "backward": "2ms",
                         "gradient": "1MB"}], "zero": 3, "pipeline": 2)" +
                     more + "}")
                   .summary.meanIctPs /
               1'000'000;
    };
    EXPECT_EQ(stages(R"(, "microbatches": 2)"), 17'000);
    EXPECT_EQ(stages(R"(, "parameterGather": "pass")"), 18'000);
}

TEST(TrainingRuns, PoliciesAndWaitsOfTheNextForwardPassTakeTheirTimes)
{
    // 4 ranks, 8 ms for 1 MB: c = 1.5 x 9.6 = 14.4 ms for each of L = 3 blocks of 1.2 MB with
    // f = 4, b = 6 ms.
    const std::string blocks = R"("firstBucket": "1B", "bucket": "1B", "blocks": [{"count": 3,
        "forward": "4ms", "backward": "6ms", "gradient": "1.2MB"}])";
    const auto run = [&blocks](const std::string& more) {
        return Train(fmt::format("{{{}{}}}", blocks, more), R"(, "iterations": 3)").iterations;
    };
    for (const auto* more : {"", R"(, "barrier": false)", R"(, "streamPolicy": "fifo")"})
    {
        const auto iterations = run(more);
        ASSERT_EQ(iterations.size(), 3U);
        for (const auto& record : iterations)
        {
            // L f + max(L b + c, b + L c) = 12 + max(18 + 14.4, 6 + 43.2) = 61.2 ms.
            EXPECT_EQ((record.end - record.start).GetMicroSeconds(), 61'200) << more;
        }
    }
    const auto iterations =
        run(R"(, "barrier": false, "streamPolicy": "priority", "piece": "100kB")");
    // The second ends one period after the first: max(L (f + b) + c, b + f + L c) = max(30 + 14.4,
    // 10 + 43.2) = 53.2 ms, and at most L pieces of 1.2 ms more.
    const auto period = (iterations[1].end - iterations[0].end).GetMicroSeconds();
    EXPECT_GE(period, 53'200);
    EXPECT_LE(period, 53'200 + 3 * 1'200);
}

TEST(TrainingRuns, PartitionsTakeTheirTimes)
{
    // Centauri's example: a collective of 8 ms before a computation of 8 ms, in 4 slices: 10 ms. An
    // all-reduce of 1 MB among 2 of the hosts takes tau = 8 ms.
    const std::string pair = R"({"tensor": 2, "data": 1, "slices": %, "blocks":
        [{"backward": "8ms", "tensorForward": "1MB"}]})";
    const auto slice = [&pair](const std::string& slices) {
        auto text = pair;
        return Train(text.replace(text.find('%'), 1, slices)).summary.meanIctPs / 1'000'000;
    };
    EXPECT_EQ(slice("1"), 16'000);
    EXPECT_EQ(slice("4"), 10'000);
    // In two levels, 1 MB among 2 x 2 ranks: tau (1/2 + 1/2 + 1/2) = 12 ms after 1 ms.
    EXPECT_EQ(Train(R"({"exchange": "hierarchical", "innerRanks": 2, "blocks":
                        [{"backward": "1ms", "gradient": "1MB"}]})")
                      .summary.meanIctPs /
                  1'000'000,
              13'000);
    // In halves of 3/4 tau = 6 ms each.
    EXPECT_EQ(Train(R"({"exchange": "scatter-gather", "blocks":
                        [{"backward": "1ms", "gradient": "1MB"}]})")
                      .summary.meanIctPs /
                  1'000'000,
              13'000);
}

TEST(TrainingRuns, WhatIsLeftOpenIsChosenByEstimates)
{
    // One stream and ranks that are all alike: nothing shares the links with a collective, and the
    // fluid network takes what was estimated.
    const auto result =
        Simulate({{"scheme", "auto"},
                  {"job", R"({"iterations": 2, "training": {"auto": true, "barrier": false,
            "blocks": [{"count": 3, "forward": "9ms", "backward": "20ms", "gradient": "4MB"}]}})"}});
    EXPECT_TRUE(result.summary.finished);
    EXPECT_THAT(result.summary.autoChoice, testing::StartsWith("gradientScheme="));
    EXPECT_THAT(result.summary.autoChoice, HasSubstr(" exchange="));
    EXPECT_THAT(result.summary.autoChoice, HasSubstr(" bucket="));
    EXPECT_THAT(result.summary.autoChoice, HasSubstr(" slices="));
    EXPECT_NEAR(result.summary.autoEstimateSeconds,
                static_cast<double>(result.summary.meanIctPs) * 1e-12,
                1e-6);
    const auto plain =
        Simulate({{"scheme", "ring"}, {"job", R"({"iterations": 2, "training": {"barrier": false,
            "blocks": [{"count": 3, "forward": "9ms", "backward": "20ms", "gradient": "4MB"}]}})"}});
    EXPECT_LE(result.summary.meanIctPs, plain.summary.meanIctPs);
    EXPECT_EQ(plain.summary.autoChoice, "");
}

TEST(TrainingRuns, TwoKindsOfJobsShareANetwork)
{
    // Each by its own name and number; the one that trains on two hosts is alone on them.
    const auto result = Simulate(
        {{"jobs", R"([{"name": "one", "endpoints": [0, 1], "training":
                        {"blocks": [{"backward": "1ms", "gradient": "1MB"}]}},
                      {"name": "two", "endpoints": [2, 3], "gradient": "1MB", "compute": "1ms"}])"}},
        R"({"topology": {"kind": "star", "hosts": 4, "hostLink": {"rate": "1Gbps", "delay": "0s"}},
            "transport": "fluid", "scheme": "ring"})");
    ASSERT_EQ(result.jobs.size(), 2U);
    EXPECT_EQ(result.jobs[0].name, "two");
    EXPECT_EQ(result.jobs[1].name, "one");
    ASSERT_EQ(result.iterations.size(), 2U);
    for (const auto& record : result.iterations)
    {
        EXPECT_EQ((record.end - record.start).GetPicoSeconds(), 9'000'000'000);
    }
}

TEST(TrainingRuns, ALostRankEndsTheRunByName)
{
    const auto result =
        Simulate({{"job", R"({"training": {"blocks": [{"backward": "1ms", "gradient": "1MB"}]},
                     "timeout": "100ms"})"},
                  {"transport", "roce"},
                  {"faults", R"([{"kind": "host-crash", "hosts": ["host2"], "start": "2ms"}])"}});
    EXPECT_FALSE(result.summary.finished);
    EXPECT_THAT(result.summary.failure, HasSubstr("job \"job0\", iteration 0: "));
    EXPECT_THAT(result.summary.failure, HasSubstr("rank 2"));
}

/// What ranks 0, 1 and 3 did after rank 2 was lost: what is known of it is whole, and the rest is
/// lost time.
void
CheckSurvivors(const RunResult& result)
{
    ASSERT_EQ(result.trainings.size(), 2U);
    const auto& before = result.trainings[0];
    const auto& after = result.trainings[1];
    EXPECT_EQ(after.job, before.job);
    EXPECT_EQ(after.ranks, (std::vector<uint32_t>{0, 1, 3}));
    // All iterations are there, once each.
    ASSERT_EQ(before.iterations.size() + after.iterations.size(), 3U);
    ASSERT_FALSE(after.iterations.empty());
    EXPECT_EQ(after.iterations.front().iteration, before.iterations.size());
    for (const auto* training : {&before, &after})
    {
        for (const auto& iteration : training->iterations)
        {
            for (const auto& rank : iteration.ranks)
            {
                EXPECT_EQ(iteration.lost + rank.computation + rank.exposed + rank.bubble,
                          iteration.span.end - iteration.span.start);
                // Two blocks of 1 ms, of the run that was not given up.
                EXPECT_EQ(rank.computation, MilliSeconds(2));
            }
        }
    }
    // The first one began with four ranks: at the earliest 20 ms after the start it was given up.
    const auto& first = after.iterations.front();
    EXPECT_GE(first.span.start + first.lost, MilliSeconds(20));
    EXPECT_GT(first.lost, Time());
    EXPECT_EQ(after.iterations.back().lost, Time());
    EXPECT_EQ(after.runs.front().path.front().begin, first.span.start + first.lost);
    EXPECT_EQ(after.runs.front().path.back().end, first.span.end);
    // Gradients of 2 x 1 MB in buckets of theirs, summed by three ranks.
    ASSERT_FALSE(after.collectives.Get().empty());
    for (const auto& [shape, times] : after.collectives.Get())
    {
        EXPECT_EQ(shape.groupSize, 3U);
    }
    std::ostringstream rows;
    WriteTraining(result, rows);
    EXPECT_THAT(rows.str(), HasSubstr(",3,host3,"));
    EXPECT_EQ(result.summary.training.iterations, 3U);
}

TEST(TrainingRuns, SurvivorsGoOnWhereEachHasAllOfTheModel)
{
    const auto run = [](const std::string& training) {
        return Simulate(
            {{"job",
              fmt::format(R"({{"reaction": "replan", "iterations": 3, "training": {{{},
                  "blocks": [{{"count": 2, "backward": "1ms", "gradient": "1MB"}}]}}}})",
                          training)},
             {"transport", "roce"},
             {"faults", R"([{"kind": "host-crash", "hosts": ["host2"], "start": "20ms"}])"}});
    };
    const auto result = run(R"("tensor": 1)");
    EXPECT_TRUE(result.summary.finished) << result.summary.failure;
    ASSERT_EQ(result.reactions.size(), 1U);
    EXPECT_EQ(result.reactions[0].rank, 2U);
    EXPECT_EQ(result.reactions[0].survivors, 3U);
    CheckSurvivors(result);
    for (const auto* other : {R"("tensor": 2)", R"("pipeline": 2)", R"("zero": 1)", R"("zero": 3)"})
    {
        const auto lost = run(other);
        EXPECT_FALSE(lost.summary.finished) << other;
        EXPECT_THAT(lost.summary.failure,
                    HasSubstr("rank 2 has crashed, and the others cannot go on: "))
            << other;
    }
}

TEST(TrainingRuns, WhatCannotBeIsNamed)
{
    const std::string block = R"("blocks": [{"backward": "1ms", "gradient": "1MB"}])";
    EXPECT_THAT(ErrorOfTraining("{" + block + R"(, "tensor": 3})"),
                HasSubstr("job.training: 4 endpoints are no multiple of 3 tensor-parallel ranks x "
                          "1 stages; give \"data\" to leave some out"));
    EXPECT_THAT(ErrorOfTraining("{" + block + R"(, "tensor": 2, "data": 3})"),
                HasSubstr("job.training: 2 tensor-parallel x 1 stages x 3 data-parallel ranks are "
                          "6, but there are 4 endpoints"));
    EXPECT_THAT(ErrorOfTraining("{" + block + R"(, "pipeline": 2})"),
                HasSubstr("a pipeline of 2 stages with 1 chunks each needs at least as many "
                          "blocks; the model has 1"));
    EXPECT_THAT(ErrorOfTraining("{" + block + R"(, "bucket": "0B"})"),
                HasSubstr("job.training.bucket: found \"0B\""));
    EXPECT_THAT(ErrorOfTraining("{" + block + R"(, "zero": 2, "parameterGather": "pass"})"),
                HasSubstr("job.training.parameterGather: \"parameterGather\" goes with \"zero\": 3 "
                          "only"));
    EXPECT_THAT(ErrorOfTraining("{" + block + R"(, "zero": 1, "gradientScheme": "ring"})"),
                HasSubstr("the scheme ring makes an all-reduce, expected one of reduce-scatter"));
    EXPECT_THAT(ErrorOfTraining("{" + block + R"(, "gradientScheme": "all-gather"})"),
                HasSubstr("the scheme all-gather makes an all-gather, expected one of all-reduce"));
    EXPECT_THAT(ErrorOfTraining("{" + block + R"(, "zero": 1, "exchange": "hierarchical"})"),
                HasSubstr("job.training.exchange: \"hierarchical\" does not go with \"zero\""));
    EXPECT_THAT(ErrorOfTraining("{" + block + R"(, "zero": 3, "slices": 2})"),
                HasSubstr("job.training.slices: \"slices\" does not go with \"zero\": 3"));
    EXPECT_THAT(ErrorOfTraining("{" + block + R"(, "zero": 3, "bucket": "1MB"})"),
                HasSubstr("job.training.bucket: \"bucket\" does not go with \"zero\": 3"));
    EXPECT_THAT(ErrorOfTraining("{" + block + R"(, "zero": 3, "overlap": false})"),
                HasSubstr("job.training.overlap: \"overlap\" does not go with \"zero\": 3"));
    EXPECT_THAT(ErrorOfTraining("{" + block + R"(, "exchange": "hierarchical", "innerRanks": 3})"),
                HasSubstr("an exchange in two levels needs inner groups of one size; of 4 "
                          "data-parallel ranks one has 3, another 1"));
    EXPECT_THAT(ErrorOfTraining("{" + block + R"(, "zero": 3, "auto": true})"),
                HasSubstr("job.training.auto: \"auto\" does not go with \"zero\": 3"));
    EXPECT_THAT(ErrorOfTraining("{" + block + R"(, "streamPolicy": "prio"})"),
                HasSubstr("job.training.streamPolicy"));
    EXPECT_THAT(ErrorOfTraining("{}"), HasSubstr("\"blocks\" is missing"));
    EXPECT_THAT(ErrorOfTraining(R"({"blocks": []})"), HasSubstr("a list of at least one block"));
    EXPECT_THAT(ErrorOfTraining(R"({"blocks": [{"forwards": "1ms"}]})"),
                HasSubstr("did you mean \"forward\"?"));
    EXPECT_THAT(ErrorOfTraining("{" + block + "}", {{"job.compute", "1ms"}}),
                HasSubstr("\"compute\" and \"training\" are both given, expected one of them"));
    EXPECT_THAT(ErrorOfTraining(R"({"blocks": [{"count": 2, "backward": "2000h"}]})"),
                HasSubstr("simulated time"));
}

} // namespace
} // namespace ns3::gradsync
