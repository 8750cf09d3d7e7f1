// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_PART_ENDS_H
#define GRADSYNC_PART_ENDS_H

#include "ns3/nstime.h"
#include "ns3/process-link.h"

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace ns3::gradsync
{

/// The part of one process of an iteration of a job has ended.
struct PartEnd
{
    int64_t at;     //!< time steps
    uint64_t order; //!< of simultaneous ends: by the EventOrder, then as they came in one process
    uint32_t job;
    uint32_t reserved; //!< no bytes without a value
};

/// Up to where a process may run: all events before `time`, and of those at it the ones that have
/// an EventOrder, or all.
struct RunBound
{
    int64_t time;
    bool isWhole;

    auto operator<=>(const RunBound&) const = default;
};

/// A job that several processes simulate together.
struct SharedJob
{
    std::vector<uint32_t> endpoints; //!< of its ranks
    uint32_t iterations;
    Time start;
    Time timeout; //!< of each iteration; 0: none
};

/**
 * Which processes have ended their parts of the iterations of which jobs, as far as all know.
 *
 * An iteration of a job ends at the last of the ends of its parts, and the next one begins there,
 * so a process one of whose parts has ended goes no farther than that end may be. Parts end in
 * events that have an EventOrder.
 */
class PartEnds
{
  public:
    /// \param partOf [endpoint] -> process \param tellsAll all processes take part in all jobs
    PartEnds(uint32_t own,
             std::span<const SharedJob> jobs,
             std::span<const uint32_t> partOf,
             size_t processes,
             bool tellsAll);

    /// An iteration of a job begins here. \param onTimeout is due when it does not end in time
    void Begin(uint32_t job, std::function<void()> onTimeout);

    /// The part of this process. \param order the EventOrder of the event in hand \param goOn what
    /// is due at the end of the iteration
    void End(uint32_t job, int64_t at, uint32_t order, std::function<void()> goOn);

    /// Those of this process since the last Take.
    std::vector<PartEnd> Take();

    /// All processes know of these, and hear of them at once. \param process whose they are
    void Hear(uint32_t process, const PartEnd& end);

    /// An iteration whose end all know.
    struct Iteration
    {
        int64_t end;
        uint64_t order;
        uint32_t job;
        std::function<void()> goOn; //!< empty: this process takes no part
        bool isTimedOut{false};
    };

    /// Those that were heard of last, each once, by their ends.
    std::vector<Iteration> TakeEnded();

    /// Those that cannot end in time any more, likewise. \param notes [process] what all have told
    /// \param begin where the next iteration begins that not all have told of
    std::vector<Iteration> TakeTimedOut(std::span<const ProcessNote> notes, int64_t begin);

    /// When the last job failed, if none is left to go on.
    std::optional<int64_t> GetLastFailure() const
    {
        return m_lastFailure;
    }

    /**
     * How far this process may go for the ends that it waits for; nothing: as far as it likes.
     * \param notes [process] what all have told \param next nothing that is sent from now on
     * happens before
     */
    std::optional<RunBound> FindBound(std::span<const ProcessNote> notes, int64_t next) const;

  private:
    struct Job
    {
        std::vector<bool> takesPart; //!< [process]
        std::vector<bool> hasEnded;  //!< [process] as all know
        size_t going;                //!< processes whose parts have not ended, as all know
        PartEnd last;                //!< of those that have
        std::function<void()> goOn;  //!< not empty: the part of this process has ended
        int64_t endedAt;             //!< when that was
        std::function<void()> onTimeout;
        int64_t timeout;     //!< 0: none
        int64_t deadline;    //!< of the iteration in hand; INT64_MAX: none
        uint32_t iterations; //!< that are not done
    };

    static int64_t FindDeadline(const Job& job, int64_t begin);
    static RunBound FindBound(const Job& job,
                              uint32_t own,
                              std::span<const ProcessNote> notes,
                              int64_t next);

    uint32_t m_own;
    std::vector<Job> m_jobs;
    std::vector<PartEnd> m_new;    //!< of this process
    std::vector<uint32_t> m_ended; //!< jobs
    uint32_t m_count{0};           //!< ends of this process
    size_t m_going{0};             //!< jobs that have neither finished nor failed
    std::optional<int64_t> m_lastFailure;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_PART_ENDS_H
