// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_BLOCK_SUM_H
#define GRADSYNC_BLOCK_SUM_H

#include "ns3/block-arithmetic.h"
#include "ns3/nstime.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace ns3::gradsync
{

/// How handlers add the packets of a block (doc/aggregation.rst, FLARE).
enum class FlareSum : uint8_t
{
    Single,   //!< into one buffer, one handler at a time
    Multiple, //!< into several, which the last handler adds up
    Tree      //!< by a tree of the children, in an order that is always the same
};

/// A handler that adds a packet.
struct Contribution
{
    uint32_t child;     //!< whose packet it is
    uint32_t level{0};  //!< in the tree, of the sum that it has made
    bool merges{false}; //!< buffers, when its packet was added
};

/// Sums of a block at a switch, until those of all children are in.
class BlockSum
{
  public:
    /// \param children at least one \param buffers of FlareSum::Multiple, at least one
    static std::unique_ptr<BlockSum> Make(FlareSum kind,
                                          const BlockArithmetic& arithmetic,
                                          uint32_t children,
                                          uint32_t buffers);
    virtual ~BlockSum() = default;

    /// A handler begins with a packet now. \returns how long it takes, with the time that it waits
    /// for others
    virtual Time Begin(const BlockTimes& times,
                       const Contribution& contribution,
                       std::span<const int32_t> values) = 0;
    /// That time is over. \returns how long what it does next takes; none: it is done
    virtual std::optional<Time> Continue(const BlockTimes& times, Contribution& contribution) = 0;

    bool IsComplete() const
    {
        return m_isComplete;
    }

    /// How often integers drove a sum out of int32.
    uint64_t GetOverflows() const
    {
        return m_overflows;
    }

    /// Of a complete block.
    std::vector<int32_t> TakeSum()
    {
        return std::move(m_sum);
    }

  protected:
    explicit BlockSum(const BlockArithmetic& arithmetic)
        : m_arithmetic(arithmetic)
    {
    }

    void Add(std::vector<int32_t>& sums, std::span<const int32_t> values)
    {
        m_overflows += m_arithmetic.Add(sums, values) ? 1 : 0;
    }

    void Complete(std::vector<int32_t> sum);

  private:
    BlockArithmetic m_arithmetic;
    bool m_isComplete{false};
    uint64_t m_overflows{0};
    std::vector<int32_t> m_sum;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_BLOCK_SUM_H
