// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_OPERATION_LEDGER_H
#define GRADSYNC_OPERATION_LEDGER_H

#include "ns3/nstime.h"
#include "ns3/plan.h"

#include <cstdint>
#include <vector>

namespace ns3::gradsync
{

/**
 * Which operations of a plan wait, are under way or are done.
 *
 * Four bytes per operation, and eight more where it keeps times.
 */
class OperationLedger
{
  public:
    /// \param keepsTimes when transfers are sent
    OperationLedger(const Plan& plan, bool keepsTimes);

    uint32_t GetSize() const
    {
        return static_cast<uint32_t>(m_waiting.size());
    }

    /// Operations that are not done.
    uint32_t GetLeft() const
    {
        return m_left;
    }

    uint32_t CountDone() const
    {
        return GetSize() - m_left;
    }

    bool IsDone(OperationId id) const
    {
        return m_waiting[id] == DONE;
    }

    /// Handed to the transport, which has not delivered it.
    bool IsSent(OperationId id) const
    {
        return m_waiting[id] == SENT;
    }

    /// At its receiver, which has not added it.
    bool IsDelivered(OperationId id) const
    {
        return m_waiting[id] == DELIVERED;
    }

    /// Operations before it that are not done; 0 as well of what is under way. Not of what is done.
    uint32_t GetWaiting(OperationId id) const
    {
        return m_waiting[id] < DELIVERED ? m_waiting[id] : 0;
    }

    /// One operation before it is done. \returns whether that was the last
    bool Release(OperationId id)
    {
        return !IsDone(id) && --m_waiting[id] == 0;
    }

    void MarkSent(OperationId id);

    void MarkDelivered(OperationId id)
    {
        m_waiting[id] = DELIVERED;
    }

    void MarkDone(OperationId id)
    {
        m_waiting[id] = DONE;
        --m_left;
    }

    /// 0 where it keeps no times.
    Time GetSentAt(OperationId id) const
    {
        return m_sentAt.empty() ? Time() : m_sentAt[id];
    }

  private:
    static constexpr uint32_t DONE = UINT32_MAX;
    static constexpr uint32_t SENT = UINT32_MAX - 1;
    static constexpr uint32_t DELIVERED = UINT32_MAX - 2;

    /// [operation] -> predecessors that are not done, or one of the marks above.
    std::vector<uint32_t> m_waiting;
    uint32_t m_left;
    std::vector<Time> m_sentAt; //!< [operation]; empty: it keeps none
};

} // namespace ns3::gradsync

#endif // GRADSYNC_OPERATION_LEDGER_H
