// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_DRAW_H
#define GRADSYNC_DRAW_H

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <random>
#include <span>
#include <vector>

namespace ns3::gradsync
{

/// Numbers and words of random scenarios; the same in every run.
class Draw
{
  public:
    explicit Draw(uint32_t seed)
        : m_random(seed)
    {
    }

    uint32_t Between(uint32_t low, uint32_t high)
    {
        return low + static_cast<uint32_t>(m_random() % (high - low + 1));
    }

    const char* Of(std::span<const char* const> choices)
    {
        return choices[m_random() % choices.size()];
    }

    const char* Of(std::initializer_list<const char*> choices)
    {
        return Of(std::span(choices.begin(), choices.size()));
    }

    /// True once in so many times.
    bool IsOneIn(uint32_t times)
    {
        return m_random() % times == 0;
    }

    template <typename T>
    void Shuffle(std::vector<T>& values)
    {
        std::shuffle(values.begin(), values.end(), m_random);
    }

  private:
    std::mt19937 m_random;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_DRAW_H
