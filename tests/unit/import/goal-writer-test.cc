// SPDX-License-Identifier: GPL-2.0-only
#include "unit/scheme/scheme-test-support.h"

#include "ns3/goal-writer.h"
#include "ns3/import-scheme.h"
#include "ns3/plan-builder.h"
#include "ns3/plan-compressor.h"

#include <deque>
#include <map>
#include <regex>
#include <sstream>

namespace ns3::gradsync
{

namespace
{

std::string
WriteGoal(const Plan& plan)
{
    std::ostringstream stream;
    GoalWriter(plan).Write(stream);
    return stream.str();
}

/// The schedule without its comments: what others' schedules say.
std::string
DropComments(const std::string& text)
{
    std::string plain;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);)
    {
        plain += line.starts_with("//") ? "" : line + '\n';
    }
    return plain;
}

/// Nine workers in three racks.
Plan
BuildNine(const Scheme& scheme, const Parameters& parameters = {})
{
    return scheme.build(MakeRequest(scheme.name,
                                    9,
                                    9 * SHARD_BYTES,
                                    parameters,
                                    {MakeLevel("rack", {3, 3, 3}, 2.0)}));
}

/// Executes a GOAL schedule without time, as its language is defined.
class GoalRun
{
  public:
    explicit GoalRun(const std::string& text)
    {
        static const std::regex header(R"(num_ranks (\d+))");
        static const std::regex rank(R"(rank (\d+) \{)");
        static const std::regex message(R"((\w+): (send|recv) (\d+)b (?:to|from) (\d+) tag (\d+))");
        static const std::regex calc(R"((\w+): calc 0)");
        static const std::regex dependency(R"((\w+) requires (\w+))");
        std::istringstream stream(text);
        std::smatch match;
        uint32_t current = 0;
        for (std::string line; std::getline(stream, line);)
        {
            const auto name = [&current](const std::string& label) {
                return fmt::format("{}/{}", current, label);
            };
            if (std::regex_match(line, match, rank))
            {
                current = static_cast<uint32_t>(std::stoul(match[1]));
            }
            else if (std::regex_match(line, match, message))
            {
                const bool isSend = match[2] == "send";
                const auto peer = static_cast<uint32_t>(std::stoul(match[4]));
                const auto pair = fmt::format("{} {} {} {}",
                                              isSend ? current : peer,
                                              isSend ? peer : current,
                                              match[5].str(),
                                              match[3].str());
                m_waits.try_emplace(name(match[1]), 0);
                (isSend ? m_sends : m_receives)[pair] = name(match[1]);
                m_bytes += isSend ? std::stoull(match[3]) : 0;
            }
            else if (std::regex_match(line, match, calc))
            {
                m_waits.try_emplace(name(match[1]), 0);
            }
            else if (std::regex_match(line, match, dependency))
            {
                m_isKnown = m_isKnown && m_waits.contains(name(match[1])) &&
                            m_waits.contains(name(match[2]));
                m_after[name(match[2])].push_back(name(match[1]));
                ++m_waits[name(match[1])];
            }
            else
            {
                m_isKnown = m_isKnown && (line.empty() || line == "}" || line.starts_with("//") ||
                                          std::regex_match(line, header));
            }
        }
        Match();
    }

    /// Whether every line was understood, every message has two ends, and every step was reached.
    bool Completes()
    {
        std::deque<std::string> ready;
        for (const auto& [step, waits] : m_waits)
        {
            if (waits == 0)
            {
                ready.push_back(step);
            }
        }
        size_t done = 0;
        for (; !ready.empty(); ready.pop_front(), ++done)
        {
            for (const auto& later : m_after[ready.front()])
            {
                if (--m_waits[later] == 0)
                {
                    ready.push_back(later);
                }
            }
        }
        return m_isKnown && done == m_waits.size();
    }

    uint64_t GetBytes() const
    {
        return m_bytes;
    }

  private:
    /// A recv ends after its send started.
    void Match()
    {
        m_isKnown = m_isKnown && m_sends.size() == m_receives.size();
        for (const auto& [pair, send] : m_sends)
        {
            const auto receive = m_receives.find(pair);
            m_isKnown = m_isKnown && receive != m_receives.end();
            if (m_isKnown)
            {
                m_after[send].push_back(receive->second);
                ++m_waits[receive->second];
            }
        }
    }

    bool m_isKnown{true};
    uint64_t m_bytes{0};
    std::map<std::string, uint32_t> m_waits;
    std::map<std::string, std::vector<std::string>> m_after;
    std::map<std::string, std::string> m_sends; //!< source, destination, tag, bytes -> step
    std::map<std::string, std::string> m_receives;
};

TEST(GoalWriter, WritesARingOfTwo)
{
    // Two parts of 8 B: 0 sends part 0, then returns part 1 when it has it; so does 1.
    const auto goal = WriteGoal(BuildPlan("ring", MakeRequest("ring", 2, 16)));
    EXPECT_EQ(DropComments(goal),
              "num_ranks 2\n"
              "\n"
              "rank 0 {\n"
              "s0: send 8b to 1 tag 0\n"
              "r1: recv 8b from 1 tag 1\n"
              "s2: send 8b to 1 tag 2\n"
              "r3: recv 8b from 1 tag 3\n"
              "s2 requires r1\n"
              "}\n"
              "\n"
              "rank 1 {\n"
              "r0: recv 8b from 0 tag 0\n"
              "s1: send 8b to 0 tag 1\n"
              "r2: recv 8b from 0 tag 2\n"
              "s3: send 8b to 0 tag 3\n"
              "s3 requires r0\n"
              "}\n");
}

TEST(GoalWriter, WritesSchedulesThatCompleteForEveryScheme)
{
    for (const auto& scheme : GetSchemes())
    {
        SCOPED_TRACE(scheme.name);
        const auto plan = BuildNine(scheme);
        if (plan.HasAggregations())
        {
            continue;
        }
        GoalRun run(WriteGoal(plan));
        EXPECT_TRUE(run.Completes());
        EXPECT_EQ(run.GetBytes(),
                  ComputePlanStatistics(plan).totalBytes + GoalWriter(plan).GetSignalCount());
    }
}

TEST(GoalWriter, SaysInCommentsWhatGoalDoesNot)
{
    const auto goal = WriteGoal(BuildPlan("ring", MakeRequest("ring", 2, 16)));
    // Two chunks of 8 B; all (2^32 - 1) contribute to both and want their sum. Of operation 2, the
    // first of the all-gather: a copy of one chunk, the second, on stream 0 between buffers 0.
    EXPECT_THAT(goal,
                testing::StartsWith("num_ranks 2\n"
                                    "//gradsync plan 2 exact all-reduce\n"
                                    "//gradsync chunks 2*8\n"
                                    "//gradsync sources 2*4294967295\n"
                                    "//gradsync targets 2*4294967295\n"));
    EXPECT_THAT(goal,
                testing::HasSubstr("//gradsync operation 2 copy 1 1 0 0 0\n"
                                   "s2: send 8b to 1 tag 2\n"));
}

std::vector<uint32_t>
Describe(const Plan& plan, OperationId id)
{
    const auto& operation = plan.GetOperations()[id];
    std::vector<uint32_t> numbers{static_cast<uint32_t>(operation.kind),
                                  operation.src,
                                  operation.dst,
                                  operation.firstChunk,
                                  operation.chunkCount,
                                  operation.buffers.src,
                                  operation.buffers.dst};
    // Of what computes the stream is the number of its duration, which is compared apart.
    numbers.push_back(operation.IsCompute() ? 0 : operation.stream);
    for (const auto later : plan.GetSuccessors(id))
    {
        numbers.push_back(later);
    }
    return numbers;
}

void
ExpectSame(const Plan& imported, const Plan& plan)
{
    ASSERT_EQ(imported.GetOperations().size(), plan.GetOperations().size());
    ASSERT_EQ(imported.GetLayout().GetChunkCount(), plan.GetLayout().GetChunkCount());
    EXPECT_EQ(imported.GetRankCount(), plan.GetRankCount());
    EXPECT_EQ(imported.GetWorkerCount(), plan.GetWorkerCount());
    EXPECT_EQ(imported.IsCompressed(), plan.IsCompressed());
    EXPECT_EQ(imported.GetCollective().GetName(), plan.GetCollective().GetName());
    EXPECT_EQ(imported.GetCollective().GetSum(), plan.GetCollective().GetSum());
    EXPECT_EQ(imported.GetCollective().IsAllReduce(), plan.GetCollective().IsAllReduce());
    for (uint32_t chunk = 0; chunk < plan.GetLayout().GetChunkCount(); ++chunk)
    {
        EXPECT_EQ(imported.GetLayout().GetBytes(chunk, 1), plan.GetLayout().GetBytes(chunk, 1));
        EXPECT_EQ(imported.GetCollective().GetSource(chunk), plan.GetCollective().GetSource(chunk));
        EXPECT_EQ(imported.GetCollective().GetTarget(chunk), plan.GetCollective().GetTarget(chunk));
    }
    ASSERT_EQ(imported.GetGate().has_value(), plan.GetGate().has_value());
    if (const auto& gate = plan.GetGate())
    {
        EXPECT_EQ(imported.GetGate()->operation, gate->operation);
        EXPECT_EQ(imported.GetGate()->quorum, gate->quorum);
        EXPECT_EQ(imported.GetGate()->timeoutPicoseconds, gate->timeoutPicoseconds);
        EXPECT_EQ(imported.GetGate()->answers.size(), gate->answers.size());
    }
    for (OperationId id = 0; id < plan.GetOperations().size(); ++id)
    {
        ASSERT_EQ(Describe(imported, id), Describe(plan, id)) << id;
        ASSERT_EQ(imported.GetBytes(id), plan.GetBytes(id)) << id;
        if (plan.GetOperations()[id].IsCompute())
        {
            ASSERT_EQ(imported.GetComputePicoseconds(id), plan.GetComputePicoseconds(id)) << id;
        }
    }
}

TEST(GoalImport, IsThePlanThatWasExportedForEveryScheme)
{
    for (const auto& scheme : GetSchemes())
    {
        SCOPED_TRACE(scheme.name);
        const auto plan = BuildNine(scheme);
        if (plan.HasAggregations())
        {
            continue;
        }
        const auto imported = PlanImport("x.goal", WriteGoal(plan), 1, 4);
        ExpectSame(imported, plan);
        EXPECT_THAT(imported, DoesWhatItIsFor());
        EXPECT_EQ(CountImportServers("x.goal", WriteGoal(plan)),
                  plan.GetRankCount() - plan.GetWorkerCount());
    }
}

TEST(GoalImport, RestoresBarriersThatTookSignals)
{
    const auto plan = BuildNine(*FindScheme("ps"), {{"barrier", true}});
    EXPECT_GT(GoalWriter(plan).GetSignalCount(), 0u);
    ExpectSame(PlanImport("x.goal", WriteGoal(plan), 1, 4), plan);
}

TEST(GoalImport, RestoresWhatComputesAndSizesOfMessages)
{
    CodecSpec codec;
    codec.kind = CodecKind::Int8;
    // 1.25 ns an element, so that times are no whole nanoseconds.
    const auto cost = [](uint64_t elements) { return 1.25e-9 * static_cast<double>(elements); };
    const auto plan = CompressPlan(BuildNine(*FindScheme("ring")), codec, {cost, cost});
    ASSERT_TRUE(plan.IsCompressed());
    ExpectSame(PlanImport("x.goal", WriteGoal(plan), 1, 4), plan);
}

std::map<std::pair<uint32_t, uint32_t>, uint64_t>
CountPairs(const Plan& plan)
{
    std::map<std::pair<uint32_t, uint32_t>, uint64_t> bytes;
    for (OperationId id = 0; id < plan.GetOperations().size(); ++id)
    {
        const auto& operation = plan.GetOperations()[id];
        if (operation.IsTransfer())
        {
            bytes[{operation.src, operation.dst}] += plan.GetBytes(id);
        }
    }
    return bytes;
}

TEST(GoalImport, KeepsMessagesAndChainsWithoutTheComments)
{
    for (const auto& scheme : GetSchemes())
    {
        SCOPED_TRACE(scheme.name);
        const auto plan = BuildNine(scheme);
        if (plan.HasAggregations())
        {
            continue;
        }
        const auto signals = GoalWriter(plan).GetSignalCount();
        const auto imported = PlanImport("x.goal", DropComments(WriteGoal(plan)), 1, 4);
        EXPECT_THAT(imported, DoesWhatItIsFor());
        EXPECT_EQ(imported.GetCollective().GetName(), "exchange of messages");
        const auto before = ComputePlanStatistics(plan);
        const auto after = ComputePlanStatistics(imported);
        EXPECT_EQ(after.transferCount, before.transferCount + signals);
        EXPECT_EQ(after.totalBytes, before.totalBytes + signals);
        if (signals == 0)
        {
            EXPECT_EQ(CountPairs(imported), CountPairs(plan));
            EXPECT_EQ(after.transfersPerRound, before.transfersPerRound);
        }
        else
        {
            // A signal is a link of the chain that it carries on.
            EXPECT_GE(after.GetLongestChain(), before.GetLongestChain());
        }
    }
}

TEST(GoalWriter, SignalsAcrossRanksOnlyForBarriers)
{
    const auto count = [](bool barrier) {
        const auto request = MakeRequest("ps", 4, 960, {{"barrier", barrier}});
        return GoalWriter(BuildPlan("ps", request)).GetSignalCount();
    };
    EXPECT_EQ(count(false), 0u);
    // One join at rank 0 behind 12 pushes and before 12 pulls. Six of the pushes have rank 0 at an
    // end; of the pulls the three that it sends need no message.
    EXPECT_EQ(count(true), 6u + 9u);
}

TEST(GoalWriter, RefusesPlansThatLetTheNetworkAggregate)
{
    PlanBuilder builder(2, 2, ChunkLayout::Even(64, 1));
    builder.AddAggregate(builder.AddAggregationGroup({0, 1}, {.name = "any"}), 0, 1);
    const auto plan = builder.Build();
    EXPECT_THROW(GoalWriter{plan}, std::invalid_argument);
}

} // namespace

} // namespace ns3::gradsync
