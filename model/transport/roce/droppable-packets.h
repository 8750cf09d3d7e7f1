// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_DROPPABLE_PACKETS_H
#define GRADSYNC_DROPPABLE_PACKETS_H

#include <algorithm>
#include <cstdint>
#include <deque>

namespace ns3::gradsync
{

/// The packets of a connection that may be lost (Message::droppable), by their sequence numbers.
class DroppablePackets
{
  public:
    /// Packets [first, end), which come after all that were added before.
    void Add(uint32_t first, uint32_t end)
    {
        m_ranges.push_back({first, end});
    }

    bool Contains(uint32_t psn) const
    {
        return SkipFrom(psn) != psn;
    }

    /// The first packet from `psn` on that may not be lost.
    uint32_t SkipFrom(uint32_t psn) const
    {
        const auto found = std::find_if(m_ranges.begin(),
                                        m_ranges.end(),
                                        [psn](const Range& range) { return range.end > psn; });
        return found != m_ranges.end() && found->first <= psn ? found->end : psn;
    }

    /// Nobody asks for those before `psn` any more.
    void ForgetBefore(uint32_t psn)
    {
        while (!m_ranges.empty() && m_ranges.front().end <= psn)
        {
            m_ranges.pop_front();
        }
    }

  private:
    struct Range
    {
        uint32_t first;
        uint32_t end;
    };

    std::deque<Range> m_ranges; //!< ascending; two never touch, as messages end with another packet
};

} // namespace ns3::gradsync

#endif // GRADSYNC_DROPPABLE_PACKETS_H
