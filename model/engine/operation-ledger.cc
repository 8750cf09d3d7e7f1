// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/operation-ledger.h"

#include "ns3/simulator.h"

namespace ns3::gradsync
{

OperationLedger::OperationLedger(const Plan& plan, bool keepsTimes)
    : m_waiting(plan.CountPredecessors()),
      m_left(static_cast<uint32_t>(m_waiting.size())),
      m_sentAt(keepsTimes ? m_waiting.size() : 0)
{
}

void
OperationLedger::MarkSent(OperationId id)
{
    m_waiting[id] = SENT;
    if (!m_sentAt.empty())
    {
        m_sentAt[id] = Simulator::Now();
    }
}

} // namespace ns3::gradsync
