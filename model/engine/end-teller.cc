// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/end-teller.h"

#include "ns3/plan-ranks.h"
#include "ns3/rank-share.h"

#include <algorithm>

namespace ns3::gradsync
{

EndTeller::EndTeller(const Plan& plan,
                     const PlanRanks& ranks,
                     const DistantEnds& distant,
                     RankShare& share,
                     uint32_t job)
    : m_plan(plan),
      m_ranks(ranks),
      m_distant(distant),
      m_share(share),
      m_job(job),
      m_own(share.GetOwnPart())
{
}

void
EndTeller::TellArrival(uint64_t tag, const Time& at, uint32_t order) const
{
    const auto id = static_cast<OperationId>(tag);
    const auto operation = m_plan.GetOperations()[id];
    const auto sender = m_distant.FindSender(operation);
    auto parts =
        m_distant.TakesTime(id, operation) ? std::vector<uint32_t>() : m_distant.FindWaiting(id);
    const auto& receiver = m_ranks.Get(operation.dst);
    const auto hop = m_plan.GetHopPicoseconds(operation);
    RankShare::Notice notice{.at = (at + PicoSeconds(hop)).GetTimeStep(),
                             .tag = tag,
                             .order = hop == 0 ? order : receiver.GetOrder(),
                             .endpoint = receiver.GetEndpoint(),
                             .job = m_job,
                             .news = {.isDelivered = false, .isDone = true}};
    for (const auto part : parts)
    {
        notice.news.isDelivered = part == sender;
        m_share.Tell(part, notice);
    }
    if (sender && !std::ranges::binary_search(parts, *sender))
    {
        notice.news = {.isDelivered = true, .isDone = false};
        m_share.Tell(*sender, notice);
    }
}

void
EndTeller::TellWork(uint64_t tag, const Operation& operation) const
{
    const auto parts = m_distant.FindWaiting(static_cast<OperationId>(tag));
    if (parts.empty())
    {
        return;
    }
    const auto& rank = m_ranks.Get(operation.dst);
    const auto processor = operation.IsCompute() ? operation.firstChunk : 0;
    const RankShare::Notice notice{.at = rank.GetBusyUntil(processor).GetTimeStep(),
                                   .tag = tag,
                                   .order = rank.GetOrder(),
                                   .endpoint = rank.GetEndpoint(),
                                   .job = m_job,
                                   .news = {.isDelivered = false, .isDone = true}};
    for (const auto part : parts)
    {
        m_share.Tell(part, notice);
    }
}

} // namespace ns3::gradsync
