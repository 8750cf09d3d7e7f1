// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/radix-scheduler.h"

#include "ns3/assert.h"
#include "ns3/cancelled-events.h"
#include "ns3/time-range.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace ns3::gradsync
{

NS_OBJECT_ENSURE_REGISTERED(RadixScheduler);

namespace
{

/// Smaller buckets are not worth a look.
constexpr size_t MERGED_FROM = 1024;

} // namespace

TypeId
RadixScheduler::GetTypeId()
{
    static TypeId tid = TypeId("ns3::gradsync::RadixScheduler")
                            .SetParent<Scheduler>()
                            .SetGroupName("GradSync")
                            .AddConstructor<RadixScheduler>();
    return tid;
}

RadixScheduler::RadixScheduler()
{
    s_all.push_back(this);
}

RadixScheduler::~RadixScheduler()
{
    std::erase(s_all, this);
}

inline void
RadixScheduler::Push(const Event& event)
{
    if (event.key.m_ts == m_last)
    {
        PushToFront(event);
        return;
    }
    const auto index = GetBucket(event.key.m_ts);
    auto& bucket = m_buckets[index];
    if (bucket.size() == bucket.capacity()) [[unlikely]]
    {
        Grow(bucket);
    }
    bucket.push_back(event);
    m_occupied.Add(index);
}

/// It is full.
void
RadixScheduler::Grow(Bucket& bucket)
{
    if (bucket.capacity() == 0 && !m_spare.empty())
    {
        bucket.swap(m_spare.back());
        m_spare.pop_back();
    }
    else if (bucket.size() >= MERGED_FROM)
    {
        m_hasMerged = CancelledEvents::Merge(bucket, m_order) || m_hasMerged;
        if (bucket.size() > bucket.capacity() / 2)
        {
            bucket.reserve(2 * bucket.capacity()); // else the next merge would come too soon
        }
    }
}

/// An event of the present instant: where it belongs among those that are left of it.
inline void
RadixScheduler::PushToFront(const Event& event)
{
    auto place = m_front.end();
    const auto head = m_front.begin() + static_cast<std::ptrdiff_t>(m_frontHead);
    while (place != head && m_order.IsBeforeAtOnce(event, *std::prev(place)))
    {
        --place;
    }
    if (m_foreseenFront != SIZE_MAX &&
        place - m_front.begin() < static_cast<std::ptrdiff_t>(m_foreseenFront))
    {
        ++m_foreseenFront;
    }
    m_front.insert(place, event);
}

/// An event as it leaves: with a context of ns-3's own.
inline Scheduler::Event
RadixScheduler::WithContext(Event event)
{
    event.key.m_context = EventOrder::GetContext(event.key.m_context);
    return event;
}

/// The first event of the front leaves; one that stands for several stays until all of them have.
Scheduler::Event
RadixScheduler::LeaveFront()
{
    const auto event = m_front[m_frontHead];
    if (CancelledEvents::Leave(event))
    {
        event.impl->Ref(); // whoever takes it lets go of it
    }
    else
    {
        ++m_frontHead;
    }
    return event;
}

void
RadixScheduler::Insert(const Event& event)
{
    m_order.SetNewest(event.key.m_uid);
    if (event.key.m_ts > LAST_TIME_STEP) [[unlikely]]
    {
        m_late.push_back(event);
        return;
    }
    if (event.key.m_ts < m_last)
    {
        Rebase(event.key.m_ts); // never by the simulator itself
    }
    Push(event);
}

bool
RadixScheduler::IsEmpty() const
{
    return m_frontHead == m_front.size() && m_occupied.IsEmpty() && m_late.empty();
}

/// A late event as it leaves, when no other is left.
Scheduler::Event
RadixScheduler::GetLate() const
{
    auto event = m_late.back();
    event.key.m_ts = LAST_TIME_STEP;
    return event;
}

bool
RadixScheduler::HasBefore(uint64_t ts) const
{
    if (m_frontHead < m_front.size())
    {
        return m_last < ts;
    }
    const auto lowest = m_occupied.FindFrom(0);
    if (lowest == BUCKETS)
    {
        return !m_late.empty() && ts > LAST_TIME_STEP;
    }
    // All times of the lowest bucket have its digit, and above it those of the last event: they lie
    // between these two.
    const auto shift = GetShift(lowest);
    const auto below = (uint64_t{1} << shift) - 1;
    const auto above = m_last & ~(below | uint64_t{DIGITS - 1} << shift);
    const auto earliest = above | uint64_t{lowest % DIGITS} << shift;
    const auto latest = earliest | below;
    if (latest < ts)
    {
        return true;
    }
    const auto& bucket = m_buckets[lowest];
    return earliest < ts &&
           std::ranges::any_of(bucket, [ts](const Event& event) { return event.key.m_ts < ts; });
}

Scheduler::Event
RadixScheduler::FindNext() const
{
    // Must not deal out: an event earlier than the present first one may still be inserted.
    if (m_frontHead < m_front.size())
    {
        return m_front[m_frontHead];
    }
    const auto lowest = m_occupied.FindFrom(0);
    if (lowest == BUCKETS)
    {
        return GetLate();
    }
    const auto& bucket = m_buckets[lowest];
    return *std::min_element(bucket.begin(), bucket.end(), [this](const auto& a, const auto& b) {
        return m_order.IsBefore(a, b);
    });
}

Scheduler::Event
RadixScheduler::PeekNext() const
{
    return WithContext(FindNext());
}

uint32_t
RadixScheduler::GetNextOrder() const
{
    return EventOrder::Get(FindNext().key.m_context);
}

inline Scheduler::Event
RadixScheduler::RemoveFirst()
{
    if (m_frontHead == m_front.size())
    {
        if (m_occupied.IsEmpty()) [[unlikely]]
        {
            const auto event = GetLate();
            m_late.pop_back();
            event.impl->Cancel();
            return event;
        }
        RefillFront();
    }
    if (s_prefetch && m_frontHead >= m_foreseenFront)
    {
        Foresee();
    }
    return m_hasMerged ? LeaveFront() : m_front[m_frontHead++];
}

Scheduler::Event
RadixScheduler::RemoveNext()
{
    return WithContext(RemoveFirst());
}

Scheduler::Event
RadixScheduler::RemoveNextInOrder()
{
    return RemoveFirst();
}

void
RadixScheduler::SetPrefetch(PrefetchFunction prefetch)
{
    s_prefetch = prefetch;
}

void
RadixScheduler::SetWatch(WatchFunction watch, uint64_t instants)
{
    s_watch = std::move(watch);
    s_untilWatch = s_watch ? instants : UINT64_MAX;
}

void
RadixScheduler::Foresee()
{
    std::array<EventImpl*, PREFETCH_COUNT> next;
    const auto inFront = std::min(m_front.size() - m_frontHead, next.size());
    for (size_t i = 0; i < inFront; ++i)
    {
        next[i] = m_front[m_frontHead + i].impl;
    }
    m_foreseenFront = m_frontHead + inFront;
    auto count = inFront;
    if (m_foreseenFront == m_front.size())
    {
        m_foreseenFront = SIZE_MAX;
        m_foreseenTime = m_last;
        for (auto i = m_occupied.FindFrom(0); i < BUCKETS; i = m_occupied.FindFrom(i + 1))
        {
            const auto& bucket = m_buckets[i];
            if (count + bucket.size() > next.size())
            {
                break;
            }
            for (const auto& event : bucket)
            {
                next[count++] = event.impl;
                m_foreseenTime = std::max(m_foreseenTime, event.key.m_ts);
            }
        }
    }
    s_prefetch({next.data(), count});
}

void
RadixScheduler::RefillFront()
{
    m_front.clear();
    m_frontHead = 0;
    if (--s_untilWatch == 0)
    {
        s_untilWatch = s_watch(*this);
    }
    const auto lowest = m_occupied.FindFrom(0);
    auto& bucket = m_buckets[lowest];
    m_occupied.Remove(lowest);
    m_last = UINT64_MAX;
    for (const auto& event : bucket)
    {
        m_last = std::min(m_last, event.key.m_ts);
    }
    for (const auto& event : bucket)
    {
        if (event.key.m_ts == m_last)
        {
            m_front.push_back(event);
        }
        else
        {
            Push(event); // into a lower bucket, all of which are empty
        }
    }
    bucket.clear();
    if (bucket.capacity() > SHARED_FROM)
    {
        m_spare.push_back(std::exchange(bucket, {}));
    }
    m_foreseenFront = m_last <= m_foreseenTime ? SIZE_MAX : 0;
    SortFront();
}

void
RadixScheduler::SortFront()
{
    const auto isBefore = [this](const Event& a, const Event& b) {
        return m_order.IsBeforeAtOnce(a, b);
    };
    if (std::is_sorted(m_front.begin(), m_front.end(), isBefore) ||
        m_arrivals.Sort(m_front, m_order))
    {
        return;
    }
    std::sort(m_front.begin(), m_front.end(), isBefore);
}

void
RadixScheduler::Remove(const Event& event)
{
    const bool isLate = event.key.m_ts > LAST_TIME_STEP;
    const bool isInFront = event.key.m_ts == m_last;
    const auto index = isLate || isInFront ? BUCKETS : GetBucket(event.key.m_ts);
    auto& bucket = isLate ? m_late : isInFront ? m_front : m_buckets[index];
    const auto begin = bucket.begin() + static_cast<std::ptrdiff_t>(isInFront ? m_frontHead : 0);
    const auto found = std::find_if(begin, bucket.end(), [&event](const Event& candidate) {
        return candidate.key.m_uid == event.key.m_uid;
    });
    NS_ASSERT(found != bucket.end());
    bucket.erase(found);
    if (index != BUCKETS && bucket.empty())
    {
        m_occupied.Remove(index);
    }
}

void
RadixScheduler::Rebase(uint64_t ts)
{
    Bucket all(m_front.begin() + static_cast<std::ptrdiff_t>(m_frontHead), m_front.end());
    m_front.clear();
    m_frontHead = 0;
    for (auto& bucket : m_buckets)
    {
        all.insert(all.end(), bucket.begin(), bucket.end());
        bucket.clear();
    }
    m_occupied.Clear();
    m_last = ts;
    std::sort(all.begin(), all.end(), [this](const auto& a, const auto& b) {
        return m_order.IsBefore(a, b);
    });
    for (const auto& event : all)
    {
        Push(event);
    }
}

} // namespace ns3::gradsync
