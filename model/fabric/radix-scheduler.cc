// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/radix-scheduler.h"

#include "ns3/assert.h"
#include "ns3/event-impl.h"
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

/// Fewer simultaneous events are sorted by comparing them.
constexpr size_t LISTED_FROM = 32;

/// Nor are those of networks with more ports put into a table.
constexpr uint32_t MAX_LISTED = (1U << 24) - 1;

} // namespace

/// Stands for several cancelled events, at least one.
class CancelledEvents : public EventImpl
{
  public:
    explicit CancelledEvents(uint64_t count)
        : m_count(count)
    {
        Cancel();
    }

    uint64_t GetCount() const
    {
        return m_count;
    }

    /// One of them leaves. \returns whether another is left
    bool Leave()
    {
        return --m_count > 0;
    }

  protected:
    void Notify() override
    {
    }

  private:
    uint64_t m_count;
};

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
        MergeCancelled(bucket);
    }
}

/// An event of the present instant: where it belongs among those that are left of it.
inline void
RadixScheduler::PushToFront(const Event& event)
{
    auto place = m_front.end();
    const auto head = m_front.begin() + static_cast<std::ptrdiff_t>(m_frontHead);
    while (place != head && IsBeforeInFront(event, *std::prev(place)))
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

void
RadixScheduler::MergeCancelled(Bucket& bucket)
{
    uint64_t count = 0;
    Event latest{};
    std::erase_if(bucket, [&](const Event& event) {
        if (!event.impl || !event.impl->IsCancelled())
        {
            return false;
        }
        const auto* merged = dynamic_cast<const CancelledEvents*>(event.impl);
        count += merged ? merged->GetCount() : 1;
        if (!latest.impl || IsBefore(latest, event))
        {
            latest = event;
        }
        event.impl->Unref();
        return true;
    });
    if (count > 0)
    {
        latest.impl = new CancelledEvents(count); // the simulator lets go of it
        bucket.push_back(latest);
        m_hasMerged = true;
    }
    if (bucket.size() > bucket.capacity() / 2)
    {
        bucket.reserve(2 * bucket.capacity()); // else the next merge would come too soon
    }
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
    const bool isCancelled = event.impl && event.impl->IsCancelled();
    auto* merged = isCancelled ? dynamic_cast<CancelledEvents*>(event.impl) : nullptr;
    if (merged && merged->Leave())
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
    m_newest = event.key.m_uid;
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
        return IsBefore(a, b);
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
    const auto isBefore = [this](const Event& a, const Event& b) { return IsBeforeInFront(a, b); };
    if (std::is_sorted(m_front.begin(), m_front.end(), isBefore) || ListFront())
    {
        return;
    }
    std::sort(m_front.begin(), m_front.end(), isBefore);
}

/**
 * Sorts many events of one instant as far as they are of ports, of which each comes once, by a
 * table of the ports: where thousands of hosts run in step, comparisons would cost more than the
 * events themselves. \returns false where that cannot be done: nothing has changed
 */
bool
RadixScheduler::ListFront()
{
    if (m_front.size() < LISTED_FROM || m_listed.size() > m_front.size())
    {
        return false; // few, or a few ports of very many
    }
    bool hasOthers = false;
    for (uint32_t i = 0; i < m_front.size(); ++i)
    {
        const auto context = m_front[i].key.m_context;
        const bool isArrival = EventOrder::IsArrival(context);
        hasOthers = hasOthers || !isArrival;
        if (isArrival && !List(EventOrder::GetPlace(context), i))
        {
            std::fill(m_listed.begin(), m_listed.end(), 0);
            return false; // ports of two networks
        }
    }
    m_sorted.clear();
    if (hasOthers)
    {
        AppendOthers(true);
    }
    for (size_t i = 0; i < m_listed.size(); ++i)
    {
        for (auto word = std::exchange(m_listed[i], 0); word != 0; word &= word - 1)
        {
            const auto port = i * WORD_BITS + static_cast<size_t>(std::countr_zero(word));
            m_sorted.push_back(m_front[m_places[port]]);
        }
    }
    if (hasOthers)
    {
        AppendOthers(false);
    }
    m_front.swap(m_sorted);
    return true;
}

/// Notes where the arrival at a port stands in the front. \returns false if another one does, or
/// the table would become too large
inline bool
RadixScheduler::List(uint32_t port, uint32_t place)
{
    if (port > MAX_LISTED)
    {
        return false;
    }
    if (port >= m_places.size()) [[unlikely]]
    {
        m_listed.resize(port / WORD_BITS + 1);
        m_places.resize(m_listed.size() * WORD_BITS);
    }
    auto& word = m_listed[port / WORD_BITS];
    const auto bit = uint64_t{1} << (port % WORD_BITS);
    const bool isNew = (word & bit) == 0;
    word |= bit;
    m_places[port] = place;
    return isNew;
}

/// What is not an arrival and comes before those, or after.
void
RadixScheduler::AppendOthers(bool isBefore)
{
    const auto begin = static_cast<std::ptrdiff_t>(m_sorted.size());
    std::copy_if(m_front.begin(),
                 m_front.end(),
                 std::back_inserter(m_sorted),
                 [isBefore](const auto& event) {
                     const auto context = event.key.m_context;
                     return !EventOrder::IsArrival(context) &&
                            EventOrder::IsBeforeArrivals(context) == isBefore;
                 });
    std::sort(m_sorted.begin() + begin, m_sorted.end(), [this](const auto& a, const auto& b) {
        return IsBeforeInFront(a, b);
    });
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
        return IsBefore(a, b);
    });
    for (const auto& event : all)
    {
        Push(event);
    }
}

} // namespace ns3::gradsync
