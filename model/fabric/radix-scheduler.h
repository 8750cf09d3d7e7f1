// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_RADIX_SCHEDULER_H
#define GRADSYNC_RADIX_SCHEDULER_H

#include "ns3/arrival-table.h"
#include "ns3/bucket-set.h"
#include "ns3/leaving-order.h"
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

/**
 * A drop-in ns-3 scheduler: a monotone radix heap (Ahuja, Mehlhorn, Orlin, Tarjan, "Faster
 * algorithms for the shortest path problem", J. ACM 37, 1990, section 4).
 *
 * Simulated time never runs backwards, so an event can be filed by the highest digit, of four bits,
 * in which its time differs from the time of the event removed last, and by its value there. The
 * front holds the events of that very time; when it is empty, the lowest bucket is dealt out to
 * those below. Each event moves down at most once a digit, in arrays that are read in order: no
 * tree, no allocation per event. Events of
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

    /// Whether there is one; else ns-3 uses another scheduler, which knows no EventOrder.
    static bool IsInUse()
    {
        return !s_all.empty();
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

    static constexpr uint32_t DIGIT_BITS = 4;
    static constexpr uint32_t DIGITS = 1U << DIGIT_BITS; //!< values of one
    static constexpr size_t BUCKETS = size_t{64} / DIGIT_BITS * DIGITS;

    /// Larger arrays of events go from bucket to bucket: else each would have one of its own.
    static constexpr size_t SHARED_FROM = 64;

    /// The lowest bit of the digit of a bucket.
    static uint32_t GetShift(size_t bucket)
    {
        return static_cast<uint32_t>(bucket / DIGITS * DIGIT_BITS);
    }

    /// Bucket of an event at time `ts`, later than m_last.
    size_t GetBucket(uint64_t ts) const
    {
        const auto highest = static_cast<uint32_t>(std::bit_width(ts ^ m_last)) - 1;
        const auto shift = highest & ~(DIGIT_BITS - 1);
        return size_t{shift} / DIGIT_BITS * DIGITS + (ts >> shift & (DIGITS - 1));
    }

    static Event WithContext(Event event);
    void Push(const Event& event);
    void PushToFront(const Event& event);
    void SortFront();
    Event FindNext() const;
    Event GetLate() const;
    Event RemoveFirst();
    void Grow(Bucket& bucket);
    Event LeaveFront();
    void RefillFront();
    void Foresee();
    void Rebase(uint64_t ts);

    LeavingOrder m_order;
    uint64_t m_last{0}; //!< time of the event removed last
    BucketSet<BUCKETS> m_occupied;
    size_t m_frontHead{0}; //!< the front is a queue: its first event
    Bucket m_front;        //!< events at m_last, as they will leave
    std::array<Bucket, BUCKETS> m_buckets;
    std::vector<Bucket> m_spare; //!< empty ones with room
    ArrivalTable m_arrivals;     //!< of what becomes the front
    Bucket m_late;               //!< after the end of time
    bool m_hasMerged{false};     //!< some bucket may have a CancelledEvents
    uint64_t m_foreseenTime{0};  //!< the PrefetchFunction was told of what comes up to this time
    size_t m_foreseenFront{0};   //!< and of this many in the front

    static inline std::vector<const RadixScheduler*> s_all;
    static inline PrefetchFunction s_prefetch{nullptr};
    static inline WatchFunction s_watch;
    static inline uint64_t s_untilWatch{UINT64_MAX}; //!< instants
};

} // namespace ns3::gradsync

#endif // GRADSYNC_RADIX_SCHEDULER_H
