// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_TRACE_EVENTS_H
#define GRADSYNC_TRACE_EVENTS_H

#include "ns3/nstime.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <ostream>
#include <queue>
#include <string>
#include <utility>
#include <vector>

namespace ns3::gradsync
{

/// Microseconds with six digits behind the point.
std::string FormatMicroseconds(const Time& time);

/// A text as JSON has it.
std::string QuoteJson(const std::string& text);

/// Which of the parallel lanes are free: the lowest one is taken, so that few are needed.
class Lanes
{
  public:
    /// \param start not before that of the call before
    uint32_t Take(const Time& start, const Time& end);

    uint32_t GetCount() const
    {
        return m_count;
    }

  private:
    template <typename Item>
    using LeastFirst = std::priority_queue<Item, std::vector<Item>, std::greater<>>;

    uint32_t m_count{0};
    LeastFirst<uint32_t> m_free;
    LeastFirst<std::pair<Time, uint32_t>> m_busy; //!< (until, lane)
};

/// Writes events of Chrome's trace event format, one after the other.
class TraceEvents
{
  public:
    explicit TraceEvents(std::ostream& stream)
        : m_stream(stream)
    {
    }

    TraceEvents(const TraceEvents&) = delete;
    TraceEvents& operator=(const TraceEvents&) = delete;

    void Begin();
    void End();

    /// \param more further members, as JSON
    void Add(char phase, uint32_t process, uint32_t thread, const std::string& more);

    /// \param more as for Add, with a comma before it
    void AddSpan(uint32_t process,
                 uint32_t thread,
                 const std::string& name,
                 const Time& start,
                 const Time& end,
                 const std::string& more = "");

    /// Viewers show processes by their numbers,
    void NameProcess(uint32_t process, const std::string& name);
    /// and the threads of one, by their places; of equal ones by their numbers.
    void NameThread(uint32_t process,
                    uint32_t thread,
                    const std::string& name,
                    std::optional<uint32_t> place = {});

    /**
     * An arrow begins ('s') or ends ('f') at the span of that thread that was written last.
     * \param isCritical of a critical path: viewers show arrows by their category
     */
    void AddArrowEnd(char phase,
                     uint32_t process,
                     uint32_t thread,
                     const std::string& name,
                     uint64_t flow,
                     const Time& at,
                     bool isCritical);

  private:
    /// What viewers know of a process or thread. \param value as JSON
    void Describe(uint32_t process,
                  uint32_t thread,
                  const std::string& what,
                  const std::string& value);

    std::ostream& m_stream;
    bool m_isFirst{true};
};

} // namespace ns3::gradsync

#endif // GRADSYNC_TRACE_EVENTS_H
