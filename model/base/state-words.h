// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_STATE_WORDS_H
#define GRADSYNC_STATE_WORDS_H

#include <algorithm>
#include <bit>
#include <concepts>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace ns3::gradsync
{

/**
 * All that decides how a simulation goes on from now, written down so that two moments can be
 * compared: times count from now, sequence numbers from what is acknowledged, and random numbers by
 * where their generator stands. Equal words mean an equal future. Counters that nothing reads back
 * are left out.
 *
 * Whoever has state that it cannot write so refuses, and the moment equals no other.
 */
class StateWords
{
  public:
    /// \param now in time steps
    explicit StateWords(int64_t now)
        : m_now(now)
    {
    }

    int64_t GetNow() const
    {
        return m_now;
    }

    template <typename T>
        requires std::integral<T> || std::is_enum_v<T> void Add(T value)
    {
        m_words.push_back(static_cast<uint64_t>(value));
    }

    /// Where a list of unknown length ends, none of whose items begins so: two states never have
    /// the same words by where one list ends and the next begins.
    void EndList()
    {
        m_words.push_back(UINT64_MAX);
    }

    /// By its bits.
    void Add(double value)
    {
        m_words.push_back(std::bit_cast<uint64_t>(value));
    }

    /// A time that still matters when it is over, in time steps.
    void AddTime(int64_t at)
    {
        Add(at - m_now);
    }

    /// A time after which it means nothing more.
    void AddDeadline(int64_t at)
    {
        Add(std::max<int64_t>(at - m_now, 0));
    }

    /// A number that grows for as long as the simulation goes on, and whose end 2^32 would change
    /// it: not compared.
    void AddGrowing(uint32_t value)
    {
        m_largestGrowing = std::max(m_largestGrowing, value);
    }

    uint32_t GetLargestGrowing() const
    {
        return m_largestGrowing;
    }

    /// \param why one line, of the first that refuses
    void Refuse(std::string why)
    {
        if (m_refusal.empty())
        {
            m_refusal = std::move(why);
        }
    }

    /// Empty: nobody did.
    const std::string& GetRefusal() const
    {
        return m_refusal;
    }

    const std::vector<uint64_t>& Get() const
    {
        return m_words;
    }

  private:
    int64_t m_now;
    std::vector<uint64_t> m_words;
    uint32_t m_largestGrowing{0};
    std::string m_refusal;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_STATE_WORDS_H
