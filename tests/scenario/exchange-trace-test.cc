// SPDX-License-Identifier: GPL-2.0-only
// trace.json of exchanges: that viewers can draw it, and that it tells what the end waited for.
#include "scenario/scenario-runs.h"

#include "ns3/exchange-paths.h"
#include "ns3/json-document.h"
#include "ns3/trace-writer.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace ns3::gradsync
{
namespace
{

const std::filesystem::path SCENARIOS = std::filesystem::path(GRADSYNC_SOURCE_DIR) / "scenarios";

using Thread = std::pair<uint32_t, uint32_t>;

/// Times of trace.json in picoseconds: six digits behind the point.
int64_t
ReadPicoseconds(const Json& microseconds)
{
    return std::llround(microseconds.get<double>() * 1e6);
}

/// What spans and arrows of a trace say.
struct DrawnTrace
{
    struct Span
    {
        int64_t begin;
        int64_t end;
        Json event;
    };

    explicit DrawnTrace(const RunResult& result)
    {
        std::stringstream stream;
        WriteTrace(result, stream);
        const auto document = Json::parse(stream.str());
        for (const auto& event : document["traceEvents"])
        {
            const Thread thread{event["pid"], event["tid"]};
            const std::string phase = event["ph"];
            if (phase == "X")
            {
                const auto begin = ReadPicoseconds(event["ts"]);
                spans[thread].push_back({begin, begin + ReadPicoseconds(event["dur"]), event});
            }
            else if (phase == "s" || phase == "f")
            {
                arrows[event["id"].get<uint64_t>()].emplace_back(event, spans[thread].back());
            }
            else if (event["name"] == "process_name")
            {
                processes[thread.first] = event["args"]["name"];
            }
            else if (event["name"] == "thread_name")
            {
                threads[thread] = event["args"]["name"];
            }
        }
    }

    /// Of one process, names and lengths in picoseconds.
    std::vector<std::pair<std::string, int64_t>> GetSpans(const std::string& process,
                                                          const std::string& thread) const
    {
        std::vector<std::pair<std::string, int64_t>> found;
        for (const auto& [key, own] : spans)
        {
            if (processes.at(key.first) == process && threads.at(key) == thread)
            {
                for (const auto& span : own)
                {
                    found.emplace_back(span.event["name"], span.end - span.begin);
                }
            }
        }
        return found;
    }

    std::map<uint32_t, std::string> processes;
    std::map<Thread, std::string> threads;
    std::map<Thread, std::vector<Span>> spans; //!< in the order of the file
    /// By number: ends of arrows, each with the span of its thread that was written last.
    std::map<uint64_t, std::vector<std::pair<Json, Span>>> arrows;
};

/// What Chrome's format and Perfetto's reader of it ask for.
void
ExpectDrawable(const DrawnTrace& trace)
{
    for (const auto& [thread, own] : trace.spans)
    {
        EXPECT_TRUE(trace.processes.contains(thread.first));
        EXPECT_TRUE(trace.threads.contains(thread)) << thread.first << " " << thread.second;
        for (size_t i = 1; i < own.size(); ++i)
        {
            EXPECT_LE(own[i - 1].begin, own[i].begin);
            EXPECT_LE(own[i - 1].end, own[i].begin) << trace.threads.at(thread);
        }
    }
    for (const auto& [id, ends] : trace.arrows)
    {
        ASSERT_EQ(ends.size(), 2U) << id;
        const auto& [begin, from] = ends[0];
        const auto& [end, to] = ends[1];
        EXPECT_EQ(begin["ph"], "s");
        EXPECT_EQ(end["ph"], "f");
        EXPECT_EQ(end["bp"], "e"); // to the span around it, not to the next one
        EXPECT_EQ(begin["cat"], end["cat"]);
        EXPECT_EQ(begin["name"], end["name"]);
        EXPECT_EQ(ReadPicoseconds(begin["ts"]), from.begin);
        EXPECT_EQ(ReadPicoseconds(end["ts"]), to.begin);
        EXPECT_EQ(from.end, to.begin); // received when it is delivered
        EXPECT_EQ(from.event.contains("cat"), begin["cat"] == "critical");
        EXPECT_EQ(to.event.contains("cat"), begin["cat"] == "critical");
    }
}

/// From the beginning of each iteration to its end, without a gap.
void
ExpectWholePaths(const RunResult& result, size_t iterations)
{
    const auto paths = FindExchangePaths(result);
    EXPECT_EQ(paths.size(), iterations);
    for (const auto& path : paths)
    {
        const auto found = std::ranges::find_if(result.iterations, [&path](const auto& record) {
            return record.job == path.job && record.iteration == path.iteration;
        });
        auto now = found->start;
        for (const auto& step : path.steps)
        {
            EXPECT_EQ(step.span.begin, now);
            EXPECT_LT(step.span.begin, step.span.end);
            now = step.span.end;
        }
        EXPECT_EQ(now, found->end);
    }
}

/// Kinds and milliseconds of the only path.
std::vector<std::pair<ExchangeStepKind, double>>
GetSteps(const RunResult& result)
{
    std::vector<std::pair<ExchangeStepKind, double>> steps;
    const auto paths = FindExchangePaths(result);
    for (const auto& step : paths.at(0).steps)
    {
        const auto length = step.span.end - step.span.begin;
        steps.emplace_back(step.kind, static_cast<double>(length.GetPicoSeconds()) / 1e9);
    }
    return steps;
}

std::vector<ScenarioOverride>
WithTrace(std::vector<ScenarioOverride> overrides)
{
    overrides.push_back({"results.trace", "true"});
    return overrides;
}

TEST(ExchangePath, OfARingIsOneStepAfterTheOther)
{
    using enum ExchangeStepKind;
    // tau / 4 = 2 ms a step, 2 (4 - 1) steps; adding 250 kB at 1 Gb/s takes as long, and is done in
    // the first half of them.
    const auto plain = Simulate(WithTrace({{"job.compute", "1ms"}}));
    EXPECT_THAT(GetSteps(plain),
                testing::ElementsAre(std::pair{Computation, 1.0},
                                     std::pair{Transfer, 2.0},
                                     std::pair{Transfer, 2.0},
                                     std::pair{Transfer, 2.0},
                                     std::pair{Transfer, 2.0},
                                     std::pair{Transfer, 2.0},
                                     std::pair{Transfer, 2.0}));
    const auto adding = Simulate(WithTrace({{"job.reduceRate", "1Gbps"}}));
    EXPECT_THAT(GetSteps(adding),
                testing::ElementsAre(std::pair{Transfer, 2.0},
                                     std::pair{Work, 2.0},
                                     std::pair{Transfer, 2.0},
                                     std::pair{Work, 2.0},
                                     std::pair{Transfer, 2.0},
                                     std::pair{Work, 2.0},
                                     std::pair{Transfer, 2.0},
                                     std::pair{Transfer, 2.0},
                                     std::pair{Transfer, 2.0}));
}

TEST(ExchangePath, GoesThroughWhatARankHadInHand)
{
    using enum ExchangeStepKind;
    // Three workers push 1 MB each to one server at once: all are there after 3 tau = 24 ms. It
    // adds one after the other, 8 ms each, and sends the sum to the three, 24 ms.
    const auto result = Simulate(
        WithTrace({{"scheme", R"({"kind": "ps", "servers": 1})"}, {"job.reduceRate", "1Gbps"}}));
    EXPECT_THAT(GetSteps(result),
                testing::ElementsAre(std::pair{Transfer, 24.0},
                                     std::pair{Work, 8.0},
                                     std::pair{Work, 8.0},
                                     std::pair{Work, 8.0},
                                     std::pair{Transfer, 24.0}));
}

TEST(ExchangePath, SaysWhatIsNoneOfTheExchangesDoing)
{
    using enum ExchangeStepKind;
    // A protocol takes 10 us before the first message and 5 us after each.
    const auto result = Simulate(WithTrace({{"job.protocol",
                                             R"({"kind": "simple", "baseLatency": "10us",
                                                 "hopLatency": "5us", "networkHopLatency": "5us",
                                                 "efficiency": 1.0})"}}));
    const auto steps = GetSteps(result);
    ASSERT_EQ(steps.size(), 7U);
    EXPECT_EQ(steps[0], (std::pair{Wait, 0.01}));
    EXPECT_EQ(steps[1], (std::pair{Transfer, 2.005}));
    ExpectWholePaths(result, 1);
}

TEST(ExchangeTrace, HasComputationsOfImportedPlans)
{
    // Each rank: twice 20 us of its inner part on one processor, and 4 us of its edges on another.
    const auto scenario = ReadScenario(
        SCENARIOS / "imported.json",
        WithTrace({{"scheme", R"({"kind": "import", "file": "algorithms/halo-4.goal"})"}}));
    const auto result = RunScenario(ResolveRun(scenario, 0));
    const DrawnTrace trace(result);
    ExpectDrawable(trace);
    ExpectWholePaths(result, 1);
    for (const auto* host : {"host0", "host1", "host2", "host3"})
    {
        EXPECT_THAT(trace.GetSpans(host, "compute"),
                    testing::UnorderedElementsAre(std::pair{"compute", 20'000'000},
                                                  std::pair{"compute", 4'000'000},
                                                  std::pair{"compute", 20'000'000},
                                                  std::pair{"compute", 4'000'000}));
    }
    // The edges' computation is the end of both halves; the inner part bounds neither.
    const auto path = trace.GetSpans("critical path of job0", "critical path");
    ASSERT_EQ(path.size(), 4U);
    EXPECT_EQ(path[1].second, 4'000'000);
    EXPECT_EQ(path[3].second, 4'000'000);
}

TEST(ExchangeTrace, IsDrawableWhateverIsExchanged)
{
    const std::vector<std::vector<ScenarioOverride>> variants{
        {{"job.compute", "1ms"}, {"job.iterations", "3"}},
        {{"scheme", R"("ps")"}, {"job.reduceRate", "10Gbps"}},
        {{"scheme", R"("halving-doubling")"}, {"job.reduceRate", "10Gbps"}},
        {{"scheme", R"("double-binary-tree")"}, {"job.maxOutstandingSends", "1"}},
        {{"scheme", R"("all-to-all")"}, {"job.maxOutstandingSends", "1"}},
        {{"transport", R"("roce")"}, {"scheme", R"("switchml")"}},
        {{"transport", R"("roce")"},
         {"faults",
          R"([{"kind": "host-pause-send", "hosts": [2], "start": "3ms", "duration": "4ms"}])"}}};
    for (const auto& variant : variants)
    {
        SCOPED_TRACE(variant.back().path + " " + variant.back().value);
        const auto result = Simulate(WithTrace(variant));
        ASSERT_TRUE(result.summary.finished) << result.summary.failure;
        ExpectDrawable(DrawnTrace(result));
        ExpectWholePaths(result, result.iterations.size());
    }
}

TEST(ExchangeTrace, HasAnArrowForEveryMessageAndAPathForEveryJob)
{
    const auto scenario = ReadScenario(SCENARIOS / "two-jobs.json", WithTrace({}));
    const auto result = RunScenario(ResolveRun(scenario, 0));
    const DrawnTrace trace(result);
    ExpectDrawable(trace);
    EXPECT_EQ(trace.arrows.size(), result.transfers.size());
    ExpectWholePaths(result, 4 + 2);
    // 4 iterations without computing: 2 (8 - 1) steps each.
    EXPECT_EQ(trace.GetSpans("critical path of vision", "critical path").size(), 4U * 14);
    // 2 ms before each of 2 exchanges.
    const auto steps = trace.GetSpans("critical path of language", "critical path");
    EXPECT_EQ(std::ranges::count_if(steps,
                                    [](const auto& step) {
                                        return step.first.ends_with(": compute") &&
                                               step.second == 2'000'000'000;
                                    }),
              2);
}

TEST(ExchangeTrace, MarksWhatIsOnThePath)
{
    const auto result = Simulate(WithTrace({{"job.compute", "1ms"}, {"job.reduceRate", "1Gbps"}}));
    const DrawnTrace trace(result);
    int64_t marked = 0;
    for (const auto& [thread, own] : trace.spans)
    {
        const auto& name = trace.threads.at(thread);
        for (const auto& span : own)
        {
            const bool isReceived = name == "receive"; // beside "add" on the track of computing
            marked += span.event.contains("cat") && !isReceived && name != "critical path"
                          ? span.end - span.begin
                          : 0;
        }
    }
    // Nothing but computing, adding and sending is on it: 1 + 3 (2 + 2) + 3 * 2 = 19 ms.
    EXPECT_EQ(marked, 19'000'000'000);
    EXPECT_EQ(result.iterations[0].end, MilliSeconds(19));
}

TEST(ExchangeTrace, OfRoundsWithAGateGoesThroughIt)
{
    const auto scenario =
        ReadScenario(SCENARIOS / "federated.json",
                     WithTrace({{"scheme.closing", "minimum"}, {"transport", R"("fluid")"}}));
    const auto result = RunScenario(ResolveRun(scenario, 0));
    ASSERT_TRUE(result.summary.finished) << result.summary.failure;
    ExpectDrawable(DrawnTrace(result));
    ExpectWholePaths(result, 3);
    // Two of three are enough: rounds wait for the one that computes for 5 s, not for 20 s.
    for (const auto& path : FindExchangePaths(result))
    {
        const auto computed =
            std::ranges::find(path.steps, ExchangeStepKind::Computation, &ExchangeStep::kind);
        ASSERT_NE(computed, path.steps.end());
        EXPECT_EQ(computed->span.end - computed->span.begin, Seconds(5));
    }
}

} // namespace
} // namespace ns3::gradsync
