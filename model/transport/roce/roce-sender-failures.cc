// SPDX-License-Identifier: GPL-2.0-only
// The part of RoceSender about losses, and about connections that end before their messages do.
#include "ns3/log.h"
#include "ns3/roce-sender.h"

#include <fmt/format.h>
#include <stdexcept>
#include <utility>
#include <vector>

namespace ns3::gradsync
{

NS_LOG_COMPONENT_DEFINE("GradsyncRoceSender");

void
RoceSender::TellLoss(RoceQueuePair& queuePair, bool isTimeout, TimeStepCount now)
{
    NS_LOG_LOGIC("connection " << queuePair.src << " -> " << queuePair.dst << " lost packets, by "
                               << (isTimeout ? "a timeout" : "a negative acknowledgement"));
    m_recoveryTrace(queuePair.src, queuePair.dst, isTimeout);
    m_flows.OnLoss(queuePair, isTimeout, now);
}

void
RoceSender::Abandon(const Transport::MessageFilter& isMeant, TimeStepCount now)
{
    BuildReserved();
    for (auto* queuePair : m_connections.ListOpen())
    {
        if (IsMeant(*queuePair, isMeant))
        {
            GetNic(*queuePair).GetPort().Sync(now);
            // What was to depart by now may have been all that was left to do.
            GiveMessages(*queuePair);
            Close(*queuePair, false);
        }
    }
}

bool
RoceSender::IsMeant(const RoceQueuePair& queuePair, const Transport::MessageFilter& isMeant)
{
    for (const auto* messages = queuePair.oldest; messages; messages = messages->next)
    {
        if (!isMeant(queuePair.src, queuePair.dst, messages->series.GetHandler()))
        {
            return false;
        }
    }
    return true;
}

void
RoceSender::GiveMessages(RoceQueuePair& queuePair)
{
    for (auto* messages = queuePair.oldest; messages;)
    {
        auto* next = messages->next;
        m_messages.Give(messages);
        messages = next;
    }
}

void
RoceSender::Fail(RoceQueuePair& queuePair)
{
    const auto reason = DescribeFailure(queuePair);
    NS_LOG_WARN(reason);
    if (m_mirrors)
    {
        throw std::runtime_error(reason + ": other processes would have to know that at once");
    }
    std::vector<std::pair<MessageHandler*, uint64_t>> undelivered;
    for (const auto* messages = queuePair.receiving; messages; messages = messages->next)
    {
        const bool isFirst = messages == queuePair.receiving;
        const auto& series = messages->series;
        for (auto i = isFirst ? messages->FindIndex(queuePair.expectedPsn) : 0;
             i < series.GetCount();
             ++i)
        {
            undelivered.emplace_back(series.GetHandler(), series.GetTag(i));
        }
    }
    GiveMessages(queuePair);
    Close(queuePair, false);
    for (const auto& [handler, tag] : undelivered)
    {
        handler->OnFailed(tag, reason);
    }
}

std::string
RoceSender::DescribeFailure(const RoceQueuePair& queuePair) const
{
    const auto name = [this](uint32_t endpoint) -> const std::string& {
        return m_topology->GetNodes()[m_topology->GetEndpoints()[endpoint]].name;
    };
    return fmt::format("connection {} -> {} gave up after {} timeouts of {} ms",
                       name(queuePair.src),
                       name(queuePair.dst),
                       queuePair.incidents->retries,
                       TimeStep(m_settings.timeout).ToDouble(Time::MS));
}

} // namespace ns3::gradsync
