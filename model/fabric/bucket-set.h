// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_BUCKET_SET_H
#define GRADSYNC_BUCKET_SET_H

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace ns3::gradsync
{

/// Which of COUNT buckets have events, a bit each.
template <size_t COUNT>
class BucketSet
{
  public:
    bool IsEmpty() const
    {
        return std::ranges::all_of(m_words, [](auto word) { return word == 0; });
    }

    void Add(size_t bucket)
    {
        m_words[bucket / WORD_BITS] |= uint64_t{1} << bucket % WORD_BITS;
    }

    void Remove(size_t bucket)
    {
        m_words[bucket / WORD_BITS] &= ~(uint64_t{1} << bucket % WORD_BITS);
    }

    void Clear()
    {
        m_words = {};
    }

    /// The first one from `bucket` on; COUNT: there is none.
    size_t FindFrom(size_t bucket) const
    {
        if (bucket >= COUNT)
        {
            return COUNT;
        }
        auto word = bucket / WORD_BITS;
        auto bits = m_words[word] & ~uint64_t{0} << bucket % WORD_BITS;
        while (bits == 0)
        {
            if (++word == m_words.size())
            {
                return COUNT;
            }
            bits = m_words[word];
        }
        return word * WORD_BITS + static_cast<size_t>(std::countr_zero(bits));
    }

  private:
    static constexpr size_t WORD_BITS = 64;
    static_assert(COUNT % WORD_BITS == 0);

    std::array<uint64_t, COUNT / WORD_BITS> m_words{};
};

} // namespace ns3::gradsync

#endif // GRADSYNC_BUCKET_SET_H
