// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_COMING_NUMBERS_H
#define GRADSYNC_COMING_NUMBERS_H

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace ns3::gradsync
{

/**
 * What is still to come of a row of numbers that nearly ascend, such as the ends of a plan's edges:
 * whatever waits for all numbers below a limit need not wait for the end of the row.
 */
class ComingNumbers
{
  public:
    /// Numbers a block.
    static constexpr size_t BLOCK = 4096;

    /// \param read read(first, last, visit) calls visit(number) for the numbers of indices [first,
    /// last), all below `count`
    template <typename Read>
    ComingNumbers(size_t count, const Read& read)
        : m_least((count + BLOCK - 1) / BLOCK + 1, UINT32_MAX)
    {
        for (size_t block = m_least.size() - 1; block-- > 0;)
        {
            auto least = m_least[block + 1];
            read(block * BLOCK, std::min(count, (block + 1) * BLOCK), [&least](uint32_t number) {
                least = std::min(least, number);
            });
            m_least[block] = least;
        }
    }

    size_t CountBlocks() const
    {
        return m_least.size() - 1;
    }

    /// No number after this block is less; UINT32_MAX: none comes.
    uint32_t GetLeastAfter(size_t block) const
    {
        return m_least[block + 1];
    }

  private:
    std::vector<uint32_t> m_least; //!< [block]: of this and all later ones
};

} // namespace ns3::gradsync

#endif // GRADSYNC_COMING_NUMBERS_H
