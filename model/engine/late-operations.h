// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_LATE_OPERATIONS_H
#define GRADSYNC_LATE_OPERATIONS_H

#include "ns3/plan-execution.h"

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

namespace ns3::gradsync
{

/**
 * What the gate of one iteration did not wait for, and goes on all the same: a slow client computes
 * to the end and sends its answer, which nobody wants any more.
 */
class LateOperations final : public OperationObserver
{
  public:
    /// Is told what happens to them.
    class Listener
    {
      public:
        virtual void OnLateDelivered(const LateOperations& late,
                                     OperationId id,
                                     const Time& sentAt) = 0;
        /// \param rank of the job
        virtual void OnLateTrained(const LateOperations& late,
                                   uint32_t rank,
                                   const Time& since) = 0;
        /// It is dropped.
        virtual void OnLateAnswer(const LateOperations& late) = 0;

      protected:
        ~Listener() = default;
    };

    /// Of the iteration that left them out.
    struct Origin
    {
        uint32_t iteration;
        uint32_t planIndex; //!< of the job
    };

    /// \param number under which the execution had them
    LateOperations(Listener& listener,
                   const Origin& origin,
                   const PlanExecution& execution,
                   uint32_t number,
                   std::map<OperationId, LeftOperation> operations);

    /// The gate is passed: begins what waited for it, and transfers that waited for a limit.
    void BeginAfterGate();

    /// Forgets all that are at, from or to a rank of the job.
    void ForgetAt(uint32_t rank);

    const Origin& GetOrigin() const
    {
        return m_origin;
    }

    const Plan& GetPlan() const
    {
        return *m_plan;
    }

    bool IsEmpty() const
    {
        return m_operations.empty();
    }

    void OnDelivered(OperationId id) override;
    void OnComputed(OperationId id) override;
    void OnTrained(OperationId id, uint32_t rank, const Time& since) override;
    void OnSkipped(OperationId id) override;
    void OnFailed(OperationId id, const std::string& reason) override;
    void OnWrongSum(OperationId id, const std::string& reason) override;

  private:
    std::vector<OperationId> Release(OperationId done);
    void Finish(OperationId id);
    void Begin(OperationId id);
    void Begin(OperationId id, const Operation& operation, ExchangeApplication& at);

    Listener& m_listener;
    Origin m_origin;
    std::shared_ptr<const Plan> m_plan;
    std::vector<ExchangeApplication*> m_ranks; //!< [rank of the plan]
    uint32_t m_firstStream;
    uint32_t m_number;
    std::map<OperationId, LeftOperation> m_operations; //!< that are not done
};

} // namespace ns3::gradsync

#endif // GRADSYNC_LATE_OPERATIONS_H
