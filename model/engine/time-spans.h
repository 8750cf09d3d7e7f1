// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_TIME_SPANS_H
#define GRADSYNC_TIME_SPANS_H

#include "ns3/nstime.h"

#include <cstdint>
#include <utility>
#include <vector>

namespace ns3::gradsync
{

/// The moments that any of some intervals covers.
class TimeSpans
{
  public:
    /// From the first moment to before the second, in steps of ns-3's time.
    using Span = std::pair<int64_t, int64_t>;

    TimeSpans() = default;

    /// \param intervals in any order; they may overlap, and be empty
    explicit TimeSpans(std::vector<Span> intervals);

    Time GetTotal() const;

    /// Of an interval, what is covered.
    Time GetOverlap(const Span& interval) const;

    /// What both cover.
    TimeSpans Intersect(const TimeSpans& other) const;

    /// Ascending, apart from each other.
    const std::vector<Span>& GetSpans() const
    {
        return m_spans;
    }

  private:
    /// Covered before a moment.
    int64_t CountBefore(int64_t moment) const;

    std::vector<Span> m_spans;
    std::vector<int64_t> m_before; //!< [span] covered by those before it
};

} // namespace ns3::gradsync

#endif // GRADSYNC_TIME_SPANS_H
