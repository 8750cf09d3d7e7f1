// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/sending-turns.h"

#include "ns3/plan-sender.h"
#include "ns3/simulator.h"

#include <algorithm>

namespace ns3::gradsync
{

SendingTurns::SendingTurns()
    : m_waiting(std::make_shared<Waiting>())
{
}

SendingTurns::~SendingTurns() = default;

void
SendingTurns::Add(uint32_t job, PlanSender& sender)
{
    const auto place = std::ranges::lower_bound(*m_waiting, job, {}, &Waiting::value_type::first);
    m_waiting->insert(place, {job, &sender});
    Simulator::ScheduleNow([waiting = m_waiting] { TakeFirst(*waiting); });
}

void
SendingTurns::Remove(const PlanSender& sender)
{
    std::erase_if(*m_waiting, [&sender](const auto& one) { return one.second == &sender; });
}

void
SendingTurns::TakeFirst(Waiting& waiting)
{
    if (!waiting.empty()) // of those that were removed the events remain
    {
        auto* sender = waiting.front().second;
        waiting.erase(waiting.begin());
        sender->OnInstantOver();
    }
}

} // namespace ns3::gradsync
