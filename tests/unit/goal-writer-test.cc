// SPDX-License-Identifier: GPL-2.0-only
#include "unit/scheme-test-support.h"

#include "ns3/goal-writer.h"
#include "ns3/plan-builder.h"

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
                m_isKnown =
                    m_isKnown && (line.empty() || line == "}" || std::regex_match(line, header));
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
    EXPECT_EQ(WriteGoal(BuildPlan("ring", MakeRequest("ring", 2, 16))),
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
        const auto request =
            MakeRequest(scheme.name, 9, 9 * SHARD_BYTES, {}, {MakeLevel("rack", {3, 3, 3}, 2.0)});
        const auto plan = scheme.build(request);
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

TEST(GoalWriter, RefusesPlansThatLetTheNetworkAddUp)
{
    PlanBuilder builder(2, 2, ChunkLayout::Even(64, 1));
    builder.AddAggregate(builder.AddAggregationGroup({0, 1}), 0, 1);
    const auto plan = builder.Build();
    EXPECT_THROW(GoalWriter{plan}, std::invalid_argument);
}

} // namespace

} // namespace ns3::gradsync
