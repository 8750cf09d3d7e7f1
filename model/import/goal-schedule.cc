// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/goal-schedule.h"

#include "ns3/goal-tokens.h"
#include "ns3/import-error.h"

#include <fmt/format.h>
#include <map>
#include <set>
#include <utility>

namespace ns3::gradsync
{

namespace
{

constexpr uint64_t MAX_RANKS = 1 << 20;
constexpr uint64_t MAX_STEPS = 1 << 24;
/// As much as a gradient may have: the picoseconds of an exchange must fit in 63 bits.
constexpr uint64_t MAX_BYTES = 1ULL << 44;
/// Of all calcs together, for the same reason: 46 days.
constexpr uint64_t MAX_NANOSECONDS = 4'000'000'000'000'000;
constexpr uint64_t MAX_NUMBER = UINT32_MAX;

/// Reads the statements of a schedule one after the other.
class GoalReader
{
  public:
    GoalReader(const std::string& file, std::string_view text)
        : m_tokens(file, text)
    {
        m_schedule.file = file;
    }

    /// \param ranks false to stop before the first of them
    GoalSchedule Read(bool ranks)
    {
        SkipEmptyLines();
        m_tokens.Expect("num_ranks");
        m_schedule.ranks =
            static_cast<uint32_t>(m_tokens.TakeNumber("the number of ranks", MAX_RANKS));
        while (SkipEmptyLines(), m_tokens.Peek().kind != GoalTokens::Kind::End)
        {
            if (m_tokens.Peek().kind == GoalTokens::Kind::Note)
            {
                ReadNote();
            }
            else if (!m_tokens.TakeIf("rank"))
            {
                m_tokens.FailOnNext("\"rank\"");
            }
            else if (ranks)
            {
                ReadRank();
            }
            else
            {
                break;
            }
        }
        return std::move(m_schedule);
    }

  private:
    using Token = GoalTokens::Token;

    void SkipEmptyLines()
    {
        while (m_tokens.Peek().kind == GoalTokens::Kind::NewLine)
        {
            m_tokens.Take();
        }
    }

    void ReadRank()
    {
        const auto line = m_tokens.Peek().line;
        const auto rank = m_tokens.TakeNumber("a rank", MAX_RANKS);
        if (rank >= m_schedule.ranks)
        {
            m_tokens.Fail(
                line,
                fmt::format("found rank {}, but num_ranks is {}", rank, m_schedule.ranks));
        }
        m_rank = static_cast<uint32_t>(rank);
        if (!m_seen.insert(m_rank).second)
        {
            m_tokens.Fail(line, fmt::format("rank {} is there twice", rank));
        }
        m_tokens.Expect("{");
        m_labels.clear();
        m_named.clear();
        while (SkipEmptyLines(), !m_tokens.TakeIf("}"))
        {
            ReadStatement();
        }
        if (m_hasNote)
        {
            m_tokens.Fail(m_tokens.Peek().line, "an annotation without a step");
        }
        ResolveLabels();
    }

    void ReadStatement()
    {
        const auto token = m_tokens.Peek();
        if (token.kind == GoalTokens::Kind::Note)
        {
            ReadNote();
            return;
        }
        if (token.kind != GoalTokens::Kind::Word)
        {
            m_tokens.FailOnNext("a label, send, recv, calc or \"}\"");
        }
        if (token.text == "send" || token.text == "recv" || token.text == "calc")
        {
            ReadStep();
            return;
        }
        m_tokens.Take();
        if (m_tokens.TakeIf(":"))
        {
            if (!m_labels.try_emplace(token.text, m_schedule.steps.size()).second)
            {
                m_tokens.Fail(token.line, fmt::format("the label {} is there twice", token.text));
            }
            ReadStep();
            return;
        }
        const bool onStart = m_tokens.TakeIf("irequires");
        if (!onStart && !m_tokens.TakeIf("requires"))
        {
            m_tokens.FailOnNext("\":\", requires or irequires");
        }
        m_named.push_back({token, m_tokens.TakeLabel(), onStart});
        m_tokens.ExpectLineEnd();
    }

    void ReadStep()
    {
        GoalStep step;
        step.rank = m_rank;
        step.line = m_tokens.Peek().line;
        if (m_tokens.TakeIf("calc"))
        {
            step.amount = m_tokens.TakeNumber("nanoseconds", MAX_NANOSECONDS);
            AddUp(m_nanoseconds, step.amount, MAX_NANOSECONDS, "nanoseconds of calc");
        }
        else if (m_tokens.TakeIf("send"))
        {
            step.kind = GoalStep::Kind::Send;
            ReadMessage("to", step);
        }
        else if (m_tokens.TakeIf("recv"))
        {
            step.kind = GoalStep::Kind::Receive;
            ReadMessage("from", step);
        }
        else
        {
            m_tokens.FailOnNext("send, recv or calc");
        }
        ReadOptions(step);
        m_tokens.ExpectLineEnd();
        if (std::exchange(m_hasNote, false))
        {
            step.note = m_schedule.notes.size() - 1;
        }
        if (m_schedule.steps.size() == MAX_STEPS)
        {
            m_tokens.Fail(step.line, fmt::format("more than {} steps", MAX_STEPS));
        }
        m_schedule.steps.push_back(step);
    }

    void ReadMessage(std::string_view direction, GoalStep& step)
    {
        step.amount = m_tokens.TakeNumber("bytes", MAX_BYTES);
        m_tokens.Expect("b");
        m_tokens.Expect(direction);
        if (m_tokens.Peek().text == "-")
        {
            m_tokens.Fail(step.line,
                          "found a message from any rank (-1), which only a run decides; expected "
                          "a rank");
        }
        const auto peer = m_tokens.TakeNumber("a rank", MAX_RANKS);
        if (peer >= m_schedule.ranks)
        {
            m_tokens.Fail(
                step.line,
                fmt::format("found rank {}, but num_ranks is {}", peer, m_schedule.ranks));
        }
        step.peer = static_cast<uint32_t>(peer);
        if (step.kind == GoalStep::Kind::Send)
        {
            AddUp(m_bytes, step.amount, MAX_BYTES, "bytes sent");
        }
    }

    /// In any order, where txt2bin wants tag, cpu, nic.
    void ReadOptions(GoalStep& step)
    {
        while (m_tokens.Peek().kind == GoalTokens::Kind::Word)
        {
            if (m_tokens.TakeIf("cpu"))
            {
                step.processor = static_cast<uint32_t>(m_tokens.TakeNumber("a cpu", MAX_NUMBER));
            }
            else if (step.kind != GoalStep::Kind::Calc && m_tokens.TakeIf("nic"))
            {
                step.nic = static_cast<uint32_t>(m_tokens.TakeNumber("a nic", MAX_NUMBER));
            }
            else if (step.kind != GoalStep::Kind::Calc && m_tokens.TakeIf("tag"))
            {
                if (m_tokens.Peek().text == "-")
                {
                    m_tokens.Fail(step.line,
                                  "found any tag (-1), which only a run decides; expected a tag");
                }
                step.tag = static_cast<uint32_t>(m_tokens.TakeNumber("a tag", MAX_NUMBER));
            }
            else
            {
                m_tokens.FailOnNext(step.kind == GoalStep::Kind::Calc
                                        ? "cpu or the end of the line"
                                        : "tag, cpu, nic or the end of the line");
            }
        }
    }

    void ReadNote()
    {
        const auto token = m_tokens.Take();
        try
        {
            if (goal_annotation::IsOfPlan(token.text))
            {
                if (!m_schedule.plan)
                {
                    m_schedule.plan.emplace();
                }
                goal_annotation::ReadPlanLine(token.text, *m_schedule.plan);
                return;
            }
            if (std::exchange(m_hasNote, true))
            {
                throw goal_annotation::Error("two of one step");
            }
            m_schedule.notes.push_back(goal_annotation::ReadStepLine(token.text));
        }
        catch (const goal_annotation::Error& error)
        {
            m_tokens.Fail(token.line, fmt::format("{}: {}", goal_annotation::PREFIX, error.what()));
        }
    }

    /// Labels are known to their rank only, and may be named before their step.
    void ResolveLabels()
    {
        const auto find = [this](const Token& label) {
            const auto found = m_labels.find(label.text);
            if (found == m_labels.end())
            {
                m_tokens.Fail(label.line,
                              fmt::format("rank {} has no step {}", m_rank, label.text));
            }
            return found->second;
        };
        for (const auto& [later, earlier, onStart] : m_named)
        {
            m_schedule.dependencies.push_back({find(later), find(earlier), onStart, later.line});
        }
    }

    void AddUp(uint64_t& sum, uint64_t amount, uint64_t maximum, std::string_view what)
    {
        sum += amount;
        if (sum > maximum)
        {
            m_tokens.Fail(m_tokens.Peek().line, fmt::format("more than {} {}", maximum, what));
        }
    }

    struct NamedDependency
    {
        Token later;
        Token earlier;
        bool onStart;
    };

    GoalTokens m_tokens;
    GoalSchedule m_schedule;
    uint32_t m_rank{0};
    uint64_t m_bytes{0};
    uint64_t m_nanoseconds{0};
    bool m_hasNote{false}; //!< the last of the notes waits for its step
    std::set<uint32_t> m_seen;
    std::map<std::string_view, size_t> m_labels; //!< of this rank
    std::vector<NamedDependency> m_named;
};

} // namespace

std::string
GoalSchedule::GetWhere(const GoalStep& step) const
{
    return fmt::format("{}:{}", file, step.line);
}

GoalSchedule
ReadGoal(const std::string& file, std::string_view text)
{
    return GoalReader(file, text).Read(true);
}

GoalSchedule
ReadGoalHeader(const std::string& file, std::string_view text)
{
    return GoalReader(file, text).Read(false);
}

} // namespace ns3::gradsync
