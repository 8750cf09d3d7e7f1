// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/ranked-job.h"

#include "ns3/exchange-application.h"
#include "ns3/log.h"
#include "ns3/rank-share.h"

#include <algorithm>
#include <set>
#include <utility>

namespace ns3::gradsync
{

NS_LOG_COMPONENT_DEFINE("GradsyncRankedJob");

RankedJob::RankedJob(const JobSite& site,
                     uint32_t index,
                     std::string name,
                     std::vector<uint32_t> endpointOf,
                     std::vector<Ptr<ExchangeApplication>> applications)
    : m_site(site),
      m_index(index),
      m_applications(std::move(applications)),
      m_name(std::move(name)),
      m_endpointOf(std::move(endpointOf))
{
}

RankedJob::~RankedJob()
{
    // Nodes may outlive the engine.
    for (const auto& application : m_applications)
    {
        application->Detach();
    }
}

const std::string&
RankedJob::GetName() const
{
    return m_name;
}

Ptr<ExchangeApplication>
RankedJob::GetApplication(uint32_t rank) const
{
    return m_applications.at(rank);
}

bool
RankedJob::HasFailed() const
{
    return m_failure.has_value();
}

std::optional<uint32_t>
RankedJob::FindRank(uint32_t endpoint) const
{
    const auto found = std::ranges::find(m_endpointOf, endpoint);
    return found == m_endpointOf.end()
               ? std::nullopt
               : std::optional(static_cast<uint32_t>(found - m_endpointOf.begin()));
}

void
RankedJob::Attach(RankOwner& owner)
{
    for (uint32_t rank = 0; rank < m_applications.size(); ++rank)
    {
        m_applications[rank]->Attach(
            {rank, m_endpointOf[rank], m_site.transport, &m_executions, m_site.slowdowns},
            &owner);
    }
}

bool
RankedJob::IsHere(uint32_t rank) const
{
    return m_site.share == nullptr || m_site.share->IsHere(m_endpointOf[rank]);
}

bool
RankedJob::TakesPart() const
{
    return m_site.share == nullptr || m_site.share->AreAllEndsTold() ||
           std::ranges::any_of(m_endpointOf, [this](uint32_t endpoint) {
               return m_site.share->IsHere(endpoint);
           });
}

void
RankedJob::StartTimeout(const Time& timeout, std::function<void()> onTimeout)
{
    if (m_site.share)
    {
        m_site.share->OnPartBegun(m_index, std::move(onTimeout)); // which knows the time
    }
    else if (timeout.IsStrictlyPositive())
    {
        m_timeoutEvent.Schedule(timeout, [onTimeout = std::move(onTimeout)] { onTimeout(); });
    }
}

void
RankedJob::StopTimeout()
{
    m_timeoutEvent.Cancel();
}

void
RankedJob::EndByFailure(std::string cause)
{
    StopTimeout();
    m_failure = std::move(cause);
    NS_LOG_WARN("job " << m_name << ": " << *m_failure);
    m_site.listener->OnJobFailed();
}

void
RankedJob::AbandonMessages()
{
    std::set<const MessageHandler*> handlers;
    for (const auto& application : m_applications)
    {
        handlers.insert(PeekPointer(application));
    }
    m_site.transport->Abandon(
        [&handlers](uint32_t /* src */, uint32_t /* dst */, const auto* handler) {
            return handlers.contains(handler);
        });
}

} // namespace ns3::gradsync
