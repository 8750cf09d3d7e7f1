// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/roce-mirrors.h"

#include "ns3/fabric-network.h"
#include "ns3/network-aggregation.h"
#include "ns3/roce-transport.h"
#include "ns3/simulator.h"

#include <algorithm>
#include <span>
#include <stdexcept>
#include <utility>

namespace ns3::gradsync
{

RoceMirrors::RoceMirrors(RoceConnectionTable& connections,
                         RoceSender& sender,
                         FabricNetwork& fabric,
                         const Topology& topology,
                         const TopologyDivision& division,
                         DividedMessages messages)
    : m_connections(connections),
      m_sender(sender),
      m_fabric(fabric),
      m_division(division),
      m_own(division.own),
      m_posts(division.count),
      m_taken(division.count),
      m_messages(std::move(messages)),
      m_cut(fabric, topology, division),
      m_arrivals(fabric, connections)
{
    for (const auto node : topology.GetEndpoints())
    {
        m_partOf.push_back(division.partOf[node]);
    }
    m_receiversAt.resize(m_partOf.size());
    m_connections.Divide(division.own, division.count);
    m_sender.Divide(*this, division.count);
    if (m_messages.tellsTimes)
    {
        m_sender.KeepQueuePairs(); // reservations do not know when their messages were sent
    }
    m_fabric.Divide(division);
}

bool
RoceMirrors::AreHere(std::span<const uint32_t> ports) const
{
    const auto links = m_fabric.GetTopology().GetLinks();
    return std::ranges::all_of(ports, [this, links](uint32_t port) {
        const auto& link = links[port / 2];
        return m_division.IsHere(link.a) && m_division.IsHere(link.b);
    });
}

void
RoceMirrors::OnPost(RoceQueuePair& queuePair,
                    const Message& message,
                    uint32_t firstPsn,
                    TimeStepCount now)
{
    const auto part = m_partOf[message.dst];
    if (part == m_own)
    {
        return;
    }
    queuePair.receiving = nullptr;
    if (!RoceConnectionTable::IsReservation(queuePair.number))
    {
        Tell(part, queuePair, message, firstPsn, now);
    }
}

void
RoceMirrors::OnBuilt(RoceQueuePair& queuePair) const
{
    if (m_partOf[queuePair.dst] != m_own)
    {
        queuePair.receiving = nullptr;
    }
}

void
RoceMirrors::OnFirst(const RoceQueuePair& queuePair, const RoceMessages& messages, uint32_t message)
{
    const auto part = m_partOf[queuePair.dst];
    if (part != m_own)
    {
        const auto& series = messages.series;
        m_posts[part].Append(
            MakePost(queuePair,
                     {series.GetBytes(message), series.GetTag(message), series.GetHandler()},
                     messages.GetFirstPsn(message)));
    }
}

RocePost
RoceMirrors::MakePost(const RoceQueuePair& queuePair,
                      const MessageSeries& messages,
                      uint32_t firstPsn)
{
    return {.at = -1,
            .messages = messages,
            .src = queuePair.src,
            .receiver = FindReceiver(queuePair.dst, queuePair.stream, messages.GetHandler()),
            .stream = queuePair.stream,
            .index = queuePair.index,
            .generation = queuePair.generation,
            .firstPsn = firstPsn};
}

/// With those before it of its queue pair, if they go on like this: an exchange may begin with
/// thousands of messages a host, several for each of the others.
void
RoceMirrors::Tell(uint32_t part,
                  const RoceQueuePair& queuePair,
                  const Message& message,
                  uint32_t firstPsn,
                  TimeStepCount now)
{
    auto& posts = m_posts[part];
    if (queuePair.index >= m_lastPosts.size())
    {
        m_lastPosts.resize(size_t{queuePair.index} + 1);
    }
    auto& last = m_lastPosts[queuePair.index];
    if (last < posts.GetSize() && posts[last].Append(queuePair, message))
    {
        return;
    }
    last = static_cast<uint32_t>(posts.GetSize());
    auto post = MakePost(queuePair, {message.bytes, message.tag, message.handler}, firstPsn);
    post.at = m_messages.tellsTimes ? now : -1;
    posts.Append(post);
}

Time
RoceMirrors::Announce(const AwaitedEndpoints& endpoints)
{
    return m_arrivals.Watch(endpoints, m_division);
}

SwitchRounds*
RoceMirrors::HoldSwitches(TimeStepCount lookahead)
{
    const auto links = m_fabric.GetTopology().GetLinks();
    const bool areOfSwitches = std::ranges::all_of(links, [this](const auto& link) {
        return !m_division.IsCut(link) ||
               (m_fabric.GetSwitch(link.a) && m_fabric.GetSwitch(link.b));
    });
    return areOfSwitches ? m_fabric.HoldRounds(lookahead) : nullptr;
}

void
RoceMirrors::Depart(TimeStepCount now)
{
    m_cut.Depart(now);
    m_arrivals.Depart(now);
}

TimeStepCount
RoceMirrors::GetFirstArrival() const
{
    return m_cut.GetFirstArrival();
}

TimeStepCount
RoceMirrors::GetNextStart() const
{
    return std::min(m_cut.GetNextStart(), m_arrivals.GetNextStart());
}

void
RoceMirrors::Take(uint32_t part, OutgoingBatch& batch)
{
    if (m_posts[part].IsEmpty() && !m_cut.HasFor(part))
    {
        return;
    }
    m_taken[part].Clear();
    m_taken[part].Swap(m_posts[part]);
    batch.ReferTo(m_taken[part]);
    m_cut.Take(part, batch);
}

void
RoceMirrors::Put(BatchReader& batch, TimeStepCount now)
{
    if (batch.IsAtEnd())
    {
        return; // it had nothing
    }
    constexpr size_t AHEAD = 8; // so much later a queue pair that is fetched now is used
    const auto posts = batch.TakeView<RocePost>();
    for (size_t i = 0; i < posts.GetSize(); ++i)
    {
        posts.PrefetchAfter(i);
        if (i + AHEAD < posts.GetSize())
        {
            m_connections.PrefetchMirror(posts[i + AHEAD].index);
        }
        Expect(posts[i], now);
    }
    m_cut.Put(batch, now);
}

/// Messages will come from another process.
void
RoceMirrors::Expect(const RocePost& post, TimeStepCount now)
{
    const auto [handler, dst] = GetReceiver(post.receiver);
    const auto [queuePair, isNew] =
        m_connections.Mirror(post.index, post.generation, {post.src, dst, post.stream});
    if (isNew)
    {
        queuePair.acknowledgePort = m_sender.ChoosePort(dst, ~queuePair.flowHash, post.src);
        queuePair.BeginAt(post.firstPsn);
    }
    auto messages = post.messages;
    messages.SetHandler(handler);
    m_sender.AddMessages(queuePair, messages);
    if (m_messages.tellsTimes)
    {
        TellSending(handler, messages.GetTag(0), TimeStep(post.at), now);
    }
}

/// Other processes may be ahead of this one, whose handler may not have begun what the message is
/// of.
void
RoceMirrors::TellSending(MessageHandler* handler, uint64_t tag, const Time& at, TimeStepCount now)
{
    if (at.GetTimeStep() < now)
    {
        handler->OnSentElsewhere(tag, at);
        return;
    }
    m_messages.callAt(at, [handler, tag, at] { handler->OnSentElsewhere(tag, at); });
}

/// By its number in all processes.
uint32_t
RoceMirrors::FindReceiver(uint32_t endpoint, uint32_t stream, const MessageHandler* handler)
{
    ListReceivers();
    if (stream >= NetworkAggregation::FIRST_STREAM)
    {
        handler = &m_nobody;
    }
    const auto& receivers = m_receiversAt[endpoint];
    const auto found = std::ranges::find(receivers, handler, &NumberedReceiver::handler);
    if (found == receivers.end())
    {
        throw std::logic_error("a message to another process is for somebody it does not know");
    }
    return found->number;
}

const DividedMessages::Receiver&
RoceMirrors::GetReceiver(uint32_t number)
{
    ListReceivers();
    return m_receivers.at(number);
}

void
RoceMirrors::ListReceivers()
{
    if (!m_receivers.empty())
    {
        return;
    }
    m_receivers = m_messages.listReceivers();
    for (uint32_t endpoint = 0; endpoint < m_partOf.size(); ++endpoint)
    {
        m_receivers.push_back({&m_nobody, endpoint});
    }
    for (uint32_t number = 0; number < m_receivers.size(); ++number)
    {
        const auto& [handler, endpoint] = m_receivers[number];
        m_receiversAt[endpoint].push_back({handler, number});
    }
}

void
RoceMirrors::Nobody::OnDelivered(uint64_t /* tag */)
{
}

void
RoceMirrors::Nobody::OnFailed(uint64_t /* tag */, const std::string& /* reason */)
{
}

void
RoceTransport::Divide(const TopologyDivision& division, DividedMessages messages)
{
    const auto shared = m_fabric->FindShared();
    if (!shared.empty())
    {
        throw std::invalid_argument(shared);
    }
    if (m_ackEvery == 0)
    {
        throw std::invalid_argument(
            "attribute AckEvery is 0: senders then learn at once, from another rank too, what has "
            "arrived");
    }
    m_mirrors = std::make_unique<RoceMirrors>(m_connections,
                                              m_sender,
                                              *m_fabric,
                                              *m_topology,
                                              division,
                                              std::move(messages));
}

Time
RoceTransport::Announce(const AwaitedEndpoints& endpoints)
{
    return m_mirrors->Announce(endpoints);
}

SwitchRounds*
RoceTransport::HoldSwitches(int64_t lookahead)
{
    return m_mirrors->HoldSwitches(lookahead);
}

void
RoceTransport::SetBound(int64_t bound)
{
    m_fabric->SetBound(bound);
}

void
RoceTransport::Depart(int64_t now)
{
    m_mirrors->Depart(now);
}

int64_t
RoceTransport::GetFirstArrival() const
{
    return m_mirrors->GetFirstArrival();
}

int64_t
RoceTransport::GetNextStart() const
{
    return m_mirrors->GetNextStart();
}

void
RoceTransport::Take(uint32_t part, OutgoingBatch& batch)
{
    m_mirrors->Take(part, batch);
}

void
RoceTransport::Put(BatchReader& batch)
{
    m_mirrors->Put(batch, Simulator::Now().GetTimeStep());
}

DividedTransport*
RoceTransport::GetDivided()
{
    return this;
}

} // namespace ns3::gradsync
