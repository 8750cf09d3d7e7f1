// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/switch-inbox.h"

#include "ns3/fabric-port.h"
#include "ns3/fabric-switch.h"
#include "ns3/port-prefetch.h"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>
#include <utility>

namespace ns3::gradsync
{

namespace
{

/// Fewer arrivals are sorted by comparing them.
constexpr size_t DEALT_FROM = 48;

/// How many arrivals ahead what one touches is fetched; each step needs what the one before has
/// fetched.
constexpr size_t ROUTE_AHEAD = 12;
constexpr size_t EGRESS_AHEAD = 8;
constexpr size_t QUEUE_AHEAD = 4;
constexpr size_t EGRESSES = 16; //!< more than EGRESS_AHEAD, a power of two

/// So many departures that have been stay before those that are still to come.
constexpr size_t MOST_GONE = 64;

/// Into about as many equal parts of the round as there are arrivals.
void
DealOut(TimeStepCount now, TimeStepCount end, SwitchInbox::Desk& desk)
{
    auto& arrivals = desk.arrivals;
    auto& sorted = desk.sorted;
    auto& starts = desk.starts;
    const auto bits = static_cast<int>(std::bit_width(static_cast<uint64_t>(end - now)));
    const auto shift = std::max(bits - static_cast<int>(std::bit_width(arrivals.size())), 0);
    const auto partOf = [now, shift](const auto& arrival) {
        return static_cast<size_t>((arrival.at - now) >> shift);
    };
    starts.assign(static_cast<size_t>((end - now) >> shift) + 2, 0);
    for (const auto& arrival : arrivals)
    {
        ++starts[partOf(arrival) + 1];
    }
    std::partial_sum(starts.begin(), starts.end(), starts.begin());
    sorted.resize(arrivals.size());
    for (const auto& arrival : arrivals)
    {
        sorted[starts[partOf(arrival)]++] = arrival;
    }
    arrivals.swap(sorted);
}

/// By time, then by link: many are dealt out to equal parts of the round, each link's in their
/// order, so that little is left to compare.
void
Sort(TimeStepCount now, TimeStepCount end, SwitchInbox::Desk& desk)
{
    if (desk.arrivals.size() >= DEALT_FROM)
    {
        DealOut(now, end, desk);
    }
    const auto isBefore = [](const auto& one, const auto& other) {
        return one.at != other.at ? one.at < other.at : one.place < other.place;
    };
    auto& arrivals = desk.arrivals;
    for (size_t i = 1; i < arrivals.size(); ++i)
    {
        const auto arrival = arrivals[i];
        auto place = i;
        for (; place > 0 && isBefore(arrival, arrivals[place - 1]); --place)
        {
            arrivals[place] = arrivals[place - 1];
        }
        arrivals[place] = arrival;
    }
}

} // namespace

SwitchInbox::SwitchInbox(FabricSwitch& node, const std::vector<FabricPort*>& links)
    : m_node(&node),
      m_id(node.GetNode()),
      m_placeOf(links.size())
{
    std::vector<uint16_t> ports(links.size());
    std::iota(ports.begin(), ports.end(), uint16_t{0});
    std::ranges::sort(ports, {}, [&](uint16_t port) { return links[port]->GetIndex(); });
    m_links.reserve(links.size());
    for (const auto port : ports)
    {
        m_placeOf[port] = static_cast<uint16_t>(m_links.size());
        m_links.push_back({.due = INT64_MAX, .from = links[port], .port = port});
    }
}

bool
SwitchInbox::IsBefore(const Departure& one, const Departure& other)
{
    return one.at != other.at ? one.at < other.at : one.index < other.index;
}

/// Most are the last ones: packets of one length leave ports in turn.
void
SwitchInbox::AddDeparture(LazySender& port, TimeStepCount at)
{
    const Departure departure{.at = at, .index = port.GetIndex(), .port = &port};
    auto place = m_departures.size();
    m_departures.push_back(departure);
    for (; place > m_firstDeparture && IsBefore(departure, m_departures[place - 1]); --place)
    {
        m_departures[place] = m_departures[place - 1];
    }
    m_departures[place] = departure;
}

TimeStepCount
SwitchInbox::Run(TimeStepCount now, TimeStepCount end, Desk& desk)
{
    const auto before = desk.done.size();
    Gather(now, end, desk);
    Sort(now, end, desk);
    std::array<FabricPort*, EGRESSES> egresses{};
    for (size_t i = 0; i < desk.arrivals.size(); ++i)
    {
        if (desk.fetches)
        {
            Fetch(desk, i, egresses);
        }
        const auto& arrival = desk.arrivals[i];
        if (HasDeparture()) [[unlikely]]
        {
            Depart(arrival.at, desk);
        }
        desk.done.push_back(arrival.at);
        auto* egress = std::exchange(egresses[i % EGRESSES], nullptr);
        m_node->Receive(arrival.packet, m_links[arrival.place].port, egress, arrival.at);
    }
    Depart(end, desk);
    const auto count = desk.done.size() - before;
    m_doneCount += count;
    desk.turns.push_back({.node = m_id, .count = count});
    return FindNext();
}

void
SwitchInbox::PrefetchPorts(TimeStepCount end) const
{
    for (const auto& link : m_links)
    {
        if (link.due < end)
        {
            Prefetch(link.from, 1);
        }
    }
}

/// Takes off the links what arrives before `end`.
void
SwitchInbox::Gather(TimeStepCount now, TimeStepCount end, Desk& desk)
{
    desk.arrivals.clear();
    desk.cursors.clear();
    for (uint32_t place = 0; place < m_links.size(); ++place)
    {
        if (m_links[place].due < end)
        {
            desk.cursors.push_back({.packet = nullptr, .place = place});
        }
    }
    for (uint32_t round = 0; desk.fetches && round < PortPrefetch::SYNC_ROUNDS; ++round)
    {
        for (const auto& cursor : desk.cursors)
        {
            PortPrefetch::ForSync(*m_links[cursor.place].from, round);
        }
    }
    for (auto& cursor : desk.cursors)
    {
        auto* link = m_links[cursor.place].from;
        link->SyncBefore(now, now); // packets that start later come later than the round
        cursor.packet = link->GetWire();
    }
    // Packet by packet of all links in turn: on one link each is found through the one before.
    while (!desk.cursors.empty())
    {
        GatherNext(end, desk);
    }
}

void
SwitchInbox::GatherNext(TimeStepCount end, Desk& desk)
{
    size_t kept = 0;
    for (const auto& [packet, place] : desk.cursors)
    {
        desk.arrivals.push_back({.at = packet->arrival, .packet = packet, .place = place});
        auto* next = packet->next;
        if (next && packet->nextArrival < end)
        {
            Prefetch(next);
            desk.cursors[kept++] = {.packet = next, .place = place};
            continue;
        }
        m_links[place].due = next ? packet->nextArrival : INT64_MAX;
        m_links[place].from->CutWire(next);
    }
    desk.cursors.resize(kept);
}

/// Fetches what the arrivals after this one touch.
inline void
SwitchInbox::Fetch(const Desk& desk, size_t i, std::span<FabricPort*> egresses) const
{
    const auto& arrivals = desk.arrivals;
    if (i + ROUTE_AHEAD < arrivals.size())
    {
        m_node->PrefetchRoute(*arrivals[i + ROUTE_AHEAD].packet);
    }
    if (i + EGRESS_AHEAD < arrivals.size())
    {
        egresses[(i + EGRESS_AHEAD) % EGRESSES] =
            m_node->PrefetchEgress(*arrivals[i + EGRESS_AHEAD].packet);
    }
    if (i + QUEUE_AHEAD < arrivals.size())
    {
        if (const auto* egress = egresses[(i + QUEUE_AHEAD) % EGRESSES])
        {
            PortPrefetch::ForOne(*egress, arrivals[i + QUEUE_AHEAD].at);
        }
    }
}

/// Lets leave what must be seen in time and leaves before `until`.
void
SwitchInbox::Depart(TimeStepCount until, Desk& desk)
{
    while (HasDeparture() && m_departures[m_firstDeparture].at < until)
    {
        const auto next = m_departures[m_firstDeparture++];
        if (!HasDeparture() || m_firstDeparture == MOST_GONE)
        {
            const auto gone = static_cast<std::ptrdiff_t>(m_firstDeparture);
            m_departures.erase(m_departures.begin(), m_departures.begin() + gone);
            m_firstDeparture = 0;
        }
        desk.done.push_back(next.at);
        next.port->Depart(next.at);
    }
}

TimeStepCount
SwitchInbox::FindNext() const
{
    auto next = HasDeparture() ? m_departures[m_firstDeparture].at : INT64_MAX;
    for (const auto& link : m_links)
    {
        next = std::min(next, link.due);
    }
    return next;
}

void
SwitchInbox::Dissolve(TimeStepCount now)
{
    const auto departures = std::exchange(m_departures, {});
    for (auto i = std::exchange(m_firstDeparture, 0); i < departures.size(); ++i)
    {
        departures[i].port->Reschedule(now);
    }
}

} // namespace ns3::gradsync
