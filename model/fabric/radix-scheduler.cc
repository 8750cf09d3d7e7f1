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

RadixScheduler::RadixScheduler() = default;
RadixScheduler::~RadixScheduler() = default;

inline void
RadixScheduler::Push(const Event& event)
{
    const auto index = GetIndex(event.key.m_ts);
    if (index == 0)
    {
        m_front.push_back(event);
        return;
    }
    auto& bucket = m_buckets[index - 1];
    if (bucket.size() == bucket.capacity() && bucket.size() >= MERGED_FROM) [[unlikely]]
    {
        MergeCancelled(bucket);
    }
    bucket.push_back(event);
    m_occupied |= uint64_t{1} << (index - 1);
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
    return m_occupied == 0 && m_frontHead == m_front.size() && m_late.empty();
}

/// A late event as it leaves, when no other is left.
Scheduler::Event
RadixScheduler::GetLate() const
{
    auto event = m_late.back();
    event.key.m_ts = LAST_TIME_STEP;
    return event;
}

Scheduler::Event
RadixScheduler::PeekNext() const
{
    // Must not deal out: an event earlier than the present first one may still be inserted.
    if (m_frontHead < m_front.size())
    {
        return m_front[m_frontHead];
    }
    if (m_occupied == 0)
    {
        return GetLate();
    }
    const auto& bucket = m_buckets[static_cast<size_t>(std::countr_zero(m_occupied))];
    return *std::min_element(bucket.begin(), bucket.end(), [this](const auto& a, const auto& b) {
        return IsBefore(a, b);
    });
}

Scheduler::Event
RadixScheduler::RemoveNext()
{
    if (m_frontHead == m_front.size())
    {
        if (m_occupied == 0) [[unlikely]]
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
        for (auto occupied = m_occupied; occupied != 0; occupied &= occupied - 1)
        {
            const auto& bucket = m_buckets[static_cast<size_t>(std::countr_zero(occupied))];
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
    const auto lowest = static_cast<size_t>(std::countr_zero(m_occupied));
    auto& bucket = m_buckets[lowest];
    m_occupied &= m_occupied - 1;
    m_last = std::min_element(bucket.begin(), bucket.end())->key.m_ts;
    for (const auto& event : bucket)
    {
        Push(event); // into a lower bucket, all of which are empty: the order of uids is kept
    }
    bucket.clear();
    m_foreseenFront = m_last <= m_foreseenTime ? SIZE_MAX : 0;
    const auto isBefore = [this](const Event& a, const Event& b) { return IsBefore(a, b); };
    if (!std::is_sorted(m_front.begin(), m_front.end(), isBefore))
    {
        std::sort(m_front.begin(), m_front.end(), isBefore);
    }
}

void
RadixScheduler::Remove(const Event& event)
{
    const bool isLate = event.key.m_ts > LAST_TIME_STEP;
    const auto index = isLate ? m_buckets.size() : GetIndex(event.key.m_ts);
    auto& bucket = isLate ? m_late : index == 0 ? m_front : m_buckets[index - 1];
    const auto begin = bucket.begin() + static_cast<std::ptrdiff_t>(index == 0 ? m_frontHead : 0);
    const auto found = std::find_if(begin, bucket.end(), [&event](const Event& candidate) {
        return candidate.key.m_uid == event.key.m_uid;
    });
    NS_ASSERT(found != bucket.end());
    bucket.erase(found);
    if (!isLate && index != 0 && bucket.empty())
    {
        m_occupied &= ~(uint64_t{1} << (index - 1));
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
    m_occupied = 0;
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
