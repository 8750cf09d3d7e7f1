// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/round-gate.h"

#include "ns3/exchange-application.h"

#include <algorithm>
#include <utility>

namespace ns3::gradsync
{

RoundGate::RoundGate(ExecutionTable& executions, Owner& owner, LateOperations::Listener& listener)
    : m_executions(executions),
      m_owner(owner),
      m_listener(listener)
{
}

RoundGate::~RoundGate()
{
    for (const auto& [number, late] : m_late)
    {
        m_executions.Remove(number);
    }
}

void
RoundGate::Open(PlanExecution& execution)
{
    m_execution = &execution;
    m_answers = 0;
    m_state = State::Open;
    m_latest = nullptr;
    DropFinished();
    Cancel();
    if (const auto& gate = execution.GetPlan().GetGate())
    {
        m_timeoutEvent.Schedule(PicoSeconds(gate->timeoutPicoseconds), &RoundGate::OnTimeout, this);
    }
}

void
RoundGate::Cancel()
{
    m_timeoutEvent.Cancel();
    m_closingEvent.Cancel();
}

const PlanGate&
RoundGate::GetGate() const
{
    return *m_execution->GetPlan().GetGate();
}

void
RoundGate::OnAnswer()
{
    ++m_answers;
    CloseIfEnough();
}

/// Whether all that can still answer have done so, as far as the job knows.
bool
RoundGate::HasAllAnswers() const
{
    const auto& answers = GetGate().answers;
    return std::all_of(answers.begin(), answers.end(), [this](const auto& answer) {
        return m_execution->GetLedger().IsDone(answer.operation) ||
               m_owner.IsGivenUp(m_execution->GetRank(answer.worker).GetRank());
    });
}

void
RoundGate::CloseIfEnough()
{
    const bool isEnough =
        m_answers >= GetGate().quorum || (m_answers > 0 && m_owner.HasLost() && HasAllAnswers());
    if (m_state == State::Open && isEnough)
    {
        m_state = State::Closing;
        // Not at once: what else arrives at this instant counts.
        m_closingEvent.Schedule(Time(0), &Owner::OnGateClosing, &m_owner);
    }
}

void
RoundGate::OnTimeout()
{
    if (m_state != State::Open)
    {
        return;
    }
    if (m_answers == 0)
    {
        m_owner.OnNobodyAnswered(PicoSeconds(GetGate().timeoutPicoseconds));
        return;
    }
    m_state = State::Closing;
    m_owner.OnGateClosing();
}

std::vector<bool>
RoundGate::Close(const LateOperations::Origin& origin)
{
    m_state = State::Closed;
    Cancel();
    m_execution->SendReady(); // what is ready at this instant has the number that ends here
    std::vector<bool> isLost(m_execution->GetRankCount(), false);
    for (const auto& [operation, worker] : GetGate().answers)
    {
        isLost[worker] = !m_execution->GetLedger().IsDone(operation);
    }
    const auto number = m_execution->Renumber();
    auto left = m_execution->LeaveOut(isLost);
    m_executions.Remove(number);
    if (!left.empty())
    {
        m_latest = &m_late
                        .try_emplace(number,
                                     m_listener,
                                     origin,
                                     std::as_const(*m_execution),
                                     number,
                                     std::move(left))
                        .first->second;
        m_executions.Replace(number, *m_latest);
    }
    return isLost;
}

void
RoundGate::Pass()
{
    m_execution->PassGate();
    if (m_latest != nullptr)
    {
        m_latest->BeginAfterGate();
    }
}

void
RoundGate::ForgetLateAt(uint32_t rank)
{
    for (auto& [number, late] : m_late)
    {
        late.ForgetAt(rank);
    }
}

bool
RoundGate::HasLateOperations() const
{
    return std::any_of(m_late.begin(), m_late.end(), [](const auto& item) {
        return !item.second.IsEmpty();
    });
}

void
RoundGate::DropFinished()
{
    std::erase_if(m_late, [this](const auto& item) {
        if (!item.second.IsEmpty())
        {
            return false;
        }
        m_executions.Remove(item.first);
        return true;
    });
}

} // namespace ns3::gradsync
