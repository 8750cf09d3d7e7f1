// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_TURN_QUEUE_H
#define GRADSYNC_TURN_QUEUE_H

#include <cstddef>
#include <cstdint>
#include <deque>

namespace ns3::gradsync
{

/// Who waits for a turn, by numbers, first come, first served. Each may give its place to another.
class TurnQueue
{
  public:
    static constexpr uint32_t NOBODY = UINT32_MAX; //!< no number

    bool IsEmpty() const
    {
        return m_numbers.empty();
    }

    uint32_t GetFront() const
    {
        return m_numbers.front();
    }

    /// The one after the first; NOBODY when there is none.
    uint32_t GetSecond() const
    {
        return m_numbers.size() > 1 ? m_numbers[1] : NOBODY;
    }

    void Pop()
    {
        do
        {
            m_numbers.pop_front();
            ++m_first;
        } while (!m_numbers.empty() && m_numbers.front() == NOBODY);
    }

    /// At the end. \param number not NOBODY \return its turn, by which it is named below
    uint32_t Push(uint32_t number)
    {
        m_numbers.push_back(number);
        return m_first + static_cast<uint32_t>(m_numbers.size()) - 1;
    }

    /// Another one waits in its place.
    void Replace(uint32_t turn, uint32_t number)
    {
        m_numbers[turn - m_first] = number;
    }

    void Remove(uint32_t turn)
    {
        if (turn == m_first)
        {
            Pop();
            return;
        }
        Replace(turn, NOBODY);
    }

    /// The numbers in order. \param visit called with each
    template <typename VISIT>
    void ForEach(const VISIT& visit) const
    {
        for (const auto number : m_numbers)
        {
            if (number != NOBODY)
            {
                visit(number);
            }
        }
    }

  private:
    std::deque<uint32_t> m_numbers; //!< the first one is there
    uint32_t m_first{0};            //!< turn of the first; counts modulo 2^32
};

} // namespace ns3::gradsync

#endif // GRADSYNC_TURN_QUEUE_H
