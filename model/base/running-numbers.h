// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_RUNNING_NUMBERS_H
#define GRADSYNC_RUNNING_NUMBERS_H

#include <cstdint>

namespace ns3::gradsync
{

/// Numbers one after another, from 0 again after the last, but none that is in use: a run of any
/// length never gives one to two at a time.
class RunningNumbers
{
  public:
    /// \param end numbers are below; there must be more than are in use at a time
    /// \param first the one to begin with
    explicit RunningNumbers(uint64_t end = uint64_t{1} << 32, uint32_t first = 0)
        : m_end(end),
          m_next(first)
    {
    }

    /// \param isUsed whether a number is in use
    template <typename IsUsed>
    uint32_t Take(const IsUsed& isUsed)
    {
        auto number = TakeNext();
        while (isUsed(number))
        {
            number = TakeNext();
        }
        return number;
    }

  private:
    uint32_t TakeNext()
    {
        const auto number = m_next;
        m_next = uint64_t{m_next} + 1 == m_end ? 0 : m_next + 1;
        return number;
    }

    uint64_t m_end;
    uint32_t m_next;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_RUNNING_NUMBERS_H
