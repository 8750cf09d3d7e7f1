// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_RADIX_SCHEDULER_H
#define GRADSYNC_RADIX_SCHEDULER_H

#include "ns3/event-order.h"
#include "ns3/scheduler.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace ns3
{
class EventImpl;
} // namespace ns3

namespace ns3::gradsync
{

class CancelledEvents;

/**
 * A drop-in ns-3 scheduler: a monotone radix heap (Ahuja, Mehlhorn, Orlin, Tarjan, "Faster
 * algorithms for the shortest path problem", J. ACM 37, 1990, section 4).
 *
 * Simulated time never runs backwards, so an event can be filed by the highest bit in which its
 * time differs from the time of the event removed last. Bucket 0 holds the events of that very
 * time; when it is empty, the lowest bucket is dealt out to those below. Each event moves down at
 * most once a bit, in arrays that are read in order: no tree, no allocation per event. Events of
 * equal time leave in the EventOrder of their context, and those that are equal there in the order
 * of their uid, of which ns-3 has 2^32 before it begins anew: the order is that of their age, right
 * for all that were inserted within the last 2^32.
 *
 * Simulated time ends at LAST_TIME_STEP. Events of a later time, or of one that has wrapped, leave
 * after all others, at that instant, and cancelled: whoever waits for one waits in vain, but no
 * event ever goes back in time.
 *
 * ns-3 keeps an event that is cancelled until its time comes; TCP does so a second ahead with every
 * acknowledgement. When a bucket would grow, those in it are let go, and one that stands for all of
 * them is kept, at the latest of their times. It leaves as often as they would have, so that ns-3
 * counts the same events and ends at the same time.
 */
class RadixScheduler : public Scheduler
{
  public:
    static TypeId GetTypeId();
    RadixScheduler();
    ~RadixScheduler() override;

    void Insert(const Event& event) override;
    bool IsEmpty() const override;
    Event PeekNext() const override;
    Event RemoveNext() override;
    void Remove(const Event& event) override;

    /// Whether an event is pending that is earlier than `ts`, at little more than the cost of a
    /// look.
    bool HasBefore(uint64_t ts) const;

    /// The EventOrder of the event that PeekNext tells of.
    uint32_t GetNextOrder() const;

    /// As RemoveNext, with the EventOrder of the event as its context still.
    Event RemoveNextInOrder();

    /// Is told of the events that come next, each once: those up to some time, or the first ones of
    /// a time that has many; not of those that are inserted among them later. It may look at them,
    /// but change nothing.
    using PrefetchFunction = void (*)(std::span<EventImpl* const> next);

    /// How many events a PrefetchFunction is told of at most.
    static constexpr size_t PREFETCH_COUNT = 16;

    /// For all schedulers from now on, as ns-3 does not tell which one it uses; nullptr: none.
    static void SetPrefetch(PrefetchFunction prefetch);

    /// Looks at what is pending, and changes nothing of it. \returns after how many instants that
    /// have events it wants to look again, 1 at least
    using WatchFunction = std::function<uint64_t(const RadixScheduler& pending)>;

    /// For all schedulers from now on; an empty function: nobody watches.
    static void SetWatch(WatchFunction watch, uint64_t instants = 1);

    /// Calls visit(event) for every event that is pending and in time, in no order that means
    /// anything.
    template <typename Visit>
    void VisitPending(const Visit& visit) const
    {
        std::for_each(m_front.begin() + static_cast<std::ptrdiff_t>(m_frontHead),
                      m_front.end(),
                      visit);
        for (const auto& bucket : m_buckets)
        {
            std::for_each(bucket.begin(), bucket.end(), visit);
        }
    }

    /// Calls visit(event) likewise for every event that is pending in any scheduler of this class,
    /// late ones too. \returns false when there is none: ns-3 uses another one
    template <typename Visit>
    static bool VisitAllPending(const Visit& visit)
    {
        for (const auto* scheduler : s_all)
        {
            scheduler->VisitPending(visit);
            std::for_each(scheduler->m_late.begin(), scheduler->m_late.end(), visit);
        }
        return !s_all.empty();
    }

  private:
    using Bucket = std::vector<Event>;

    static constexpr uint32_t WORD_BITS = 64;

    /// Bucket of an event at time `ts`, not earlier than m_last.
    size_t GetIndex(uint64_t ts) const
    {
        return static_cast<size_t>(std::bit_width(ts ^ m_last));
    }

    /// Whether one event leaves before another.
    bool IsBefore(const Event& one, const Event& other) const
    {
        return one.key.m_ts != other.key.m_ts ? one.key.m_ts < other.key.m_ts
                                              : IsBeforeInFront(one, other);
    }

    /// Likewise for two of the same time.
    bool IsBeforeInFront(const Event& one, const Event& other) const
    {
        const auto oneOrder = EventOrder::Get(one.key.m_context);
        const auto otherOrder = EventOrder::Get(other.key.m_context);
        return oneOrder != otherOrder ? oneOrder < otherOrder
                                      : m_newest - one.key.m_uid > m_newest - other.key.m_uid;
    }

    static Event WithContext(Event event);
    void Push(const Event& event);
    void PushToFront(const Event& event);
    void SortFront();
    bool ListFront();
    bool List(uint32_t port, uint32_t place);
    void AppendOthers();
    Event FindNext() const;
    Event GetLate() const;
    Event RemoveFirst();
    void MergeCancelled(Bucket& bucket);
    Event LeaveFront();
    void RefillFront();
    void Foresee();
    void Rebase(uint64_t ts);

    uint32_t m_newest{0};   //!< uid of the event inserted last
    uint64_t m_last{0};     //!< time of the event removed last
    uint64_t m_occupied{0}; //!< bit i: bucket i + 1 has events
    size_t m_frontHead{0};  //!< bucket 0 is a queue: its first event
    Bucket m_front;         //!< bucket 0: events at m_last, as they will leave
    std::array<Bucket, 64> m_buckets;
    Bucket m_sorted;                //!< what becomes the front
    std::vector<uint64_t> m_listed; //!< bit of each port, while the front is sorted
    std::vector<uint32_t> m_places; //!< [port] where in the front it was
    Bucket m_late;                  //!< after the end of time
    bool m_hasMerged{false};        //!< some bucket may have a CancelledEvents
    uint64_t m_foreseenTime{0};     //!< the PrefetchFunction was told of what comes up to this time
    size_t m_foreseenFront{0};      //!< and of this many in bucket 0

    static inline std::vector<const RadixScheduler*> s_all;
    static inline PrefetchFunction s_prefetch{nullptr};
    static inline WatchFunction s_watch;
    static inline uint64_t s_untilWatch{UINT64_MAX}; //!< instants
};

} // namespace ns3::gradsync

#endif // GRADSYNC_RADIX_SCHEDULER_H
