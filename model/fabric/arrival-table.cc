// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/arrival-table.h"

#include <algorithm>
#include <bit>
#include <iterator>
#include <utility>

namespace ns3::gradsync
{

namespace
{

/// Fewer simultaneous events are sorted by comparing them.
constexpr size_t LISTED_FROM = 32;

/// Nor are those of networks with more ports put into a table.
constexpr uint32_t MAX_LISTED = (1U << 24) - 1;

constexpr uint32_t PORTS_OF_WORD = 64;

} // namespace

bool
ArrivalTable::Sort(Events& events, const LeavingOrder& order)
{
    if (events.size() < LISTED_FROM || m_listed.size() > events.size())
    {
        return false; // few, or a few ports of very many
    }
    bool hasOthers = false;
    if (!ListArrivals(events, hasOthers))
    {
        std::fill(m_listed.begin(), m_listed.end(), 0);
        return false; // ports of two networks
    }
    m_sorted.clear();
    if (hasOthers)
    {
        AppendOthers(events, true, order);
    }
    AppendArrivals(events);
    if (hasOthers)
    {
        AppendOthers(events, false, order);
    }
    events.swap(m_sorted);
    return true;
}

/// \param[out] hasOthers whether not all are arrivals \returns as of List
inline bool
ArrivalTable::ListArrivals(const Events& events, bool& hasOthers)
{
    for (uint32_t i = 0; i < events.size(); ++i)
    {
        const auto context = events[i].key.m_context;
        const bool isArrival = EventOrder::IsArrival(context);
        hasOthers = hasOthers || !isArrival;
        if (isArrival && !List(EventOrder::GetPlace(context), i))
        {
            return false;
        }
    }
    return true;
}

/// Notes where the arrival at a port stands. \returns false if another one does, or the table would
/// become too large
inline bool
ArrivalTable::List(uint32_t port, uint32_t place)
{
    if (port > MAX_LISTED)
    {
        return false;
    }
    if (port >= m_places.size()) [[unlikely]]
    {
        m_listed.resize(port / PORTS_OF_WORD + 1);
        m_places.resize(m_listed.size() * PORTS_OF_WORD);
    }
    auto& word = m_listed[port / PORTS_OF_WORD];
    const auto bit = uint64_t{1} << (port % PORTS_OF_WORD);
    const bool isNew = (word & bit) == 0;
    word |= bit;
    m_places[port] = place;
    return isNew;
}

/// By their ports, which the table forgets.
inline void
ArrivalTable::AppendArrivals(const Events& events)
{
    for (size_t i = 0; i < m_listed.size(); ++i)
    {
        for (auto word = std::exchange(m_listed[i], 0); word != 0; word &= word - 1)
        {
            const auto port = i * PORTS_OF_WORD + static_cast<size_t>(std::countr_zero(word));
            m_sorted.push_back(events[m_places[port]]);
        }
    }
}

/// What is not an arrival and comes before those, or after.
void
ArrivalTable::AppendOthers(const Events& events, bool isBefore, const LeavingOrder& order)
{
    const auto begin = static_cast<std::ptrdiff_t>(m_sorted.size());
    std::copy_if(events.begin(),
                 events.end(),
                 std::back_inserter(m_sorted),
                 [isBefore](const auto& event) {
                     const auto context = event.key.m_context;
                     return !EventOrder::IsArrival(context) &&
                            EventOrder::IsBeforeArrivals(context) == isBefore;
                 });
    std::sort(m_sorted.begin() + begin, m_sorted.end(), [&order](const auto& a, const auto& b) {
        return order.IsBeforeAtOnce(a, b);
    });
}

} // namespace ns3::gradsync
