// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_ROUND_GATE_H
#define GRADSYNC_ROUND_GATE_H

#include "ns3/late-operations.h"
#include "ns3/plan-execution.h"
#include "ns3/scoped-event.h"

#include <cstdint>
#include <map>
#include <vector>

namespace ns3::gradsync
{

/**
 * The gate of each iteration of a job, for plans that have one: counts answers, says when it
 * closes, and keeps what it did not wait for (LateOperations).
 */
class RoundGate
{
  public:
    /// Whose iterations they are.
    class Owner
    {
      public:
        /// Whether the iteration is known to have lost any rank.
        virtual bool HasLost() const = 0;
        /// Whether a rank of the job will not answer, as far as it knows.
        virtual bool IsGivenUp(uint32_t rank) const = 0;
        /// There are answers enough: it is time to call Close.
        virtual void OnGateClosing() = 0;
        /// There is none, and it was to wait no longer than this.
        virtual void OnNobodyAnswered(const Time& timeout) = 0;

      protected:
        ~Owner() = default;
    };

    RoundGate(ExecutionTable& executions, Owner& owner, LateOperations::Listener& listener);
    ~RoundGate();
    RoundGate(const RoundGate&) = delete;
    RoundGate& operator=(const RoundGate&) = delete;

    /// An execution begins. \param execution outlives all calls until the next of Open; its plan
    /// may have no gate
    void Open(PlanExecution& execution);

    /// It will not close any more.
    void Cancel();

    void OnAnswer();
    void CloseIfEnough();

    /// Leaves out those that did not answer. \returns [rank] whether it did not
    std::vector<bool> Close(const LateOperations::Origin& origin);

    /// Begins what follows it, after Close.
    void Pass();

    /// A rank of the job is gone, with all that it still had to do.
    void ForgetLateAt(uint32_t rank);

    bool IsClosed() const
    {
        return m_state == State::Closed;
    }

    /// Answers that arrived before it closed; 0 of plans without.
    uint32_t GetAnswers() const
    {
        return m_answers;
    }

    bool HasLateOperations() const;

  private:
    enum class State : uint8_t
    {
        Open,
        Closing, //!< when this instant is over
        Closed
    };

    const PlanGate& GetGate() const;
    bool HasAllAnswers() const;
    void OnTimeout();
    void DropFinished();

    ExecutionTable& m_executions;
    Owner& m_owner;
    LateOperations::Listener& m_listener;
    PlanExecution* m_execution{nullptr};
    State m_state{State::Open};
    uint32_t m_answers{0};
    ScopedEvent m_timeoutEvent;
    ScopedEvent m_closingEvent;
    /// By the number that their executions had, see ExecutionTable.
    std::map<uint32_t, LateOperations> m_late;
    LateOperations* m_latest{nullptr}; //!< of the execution in hand; nullptr: there are none
};

} // namespace ns3::gradsync

#endif // GRADSYNC_ROUND_GATE_H
