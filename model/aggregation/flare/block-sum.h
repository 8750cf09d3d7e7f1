// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_BLOCK_SUM_H
#define GRADSYNC_BLOCK_SUM_H

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

/// What handlers do with the values of packets.
struct BlockArithmetic
{
    bool addsFloats; //!< values are the bits of floats; false: integers, modulo 2^32
    Time copy;       //!< of the values of a packet into a free buffer
    Time add;        //!< of them to others
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
    static std::unique_ptr<BlockSum> Make(FlareSum kind, uint32_t children, uint32_t buffers);
    virtual ~BlockSum() = default;

    /// A handler begins with a packet now. \returns how long it takes, with the time that it waits
    /// for others
    virtual Time Begin(const BlockArithmetic& arithmetic,
                       const Contribution& contribution,
                       std::span<const int32_t> values) = 0;
    /// That time is over. \returns how long what it does next takes; none: it is done
    virtual std::optional<Time> Continue(const BlockArithmetic& arithmetic,
                                         Contribution& contribution) = 0;

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
    void Add(const BlockArithmetic& arithmetic,
             std::span<int32_t> sums,
             std::span<const int32_t> values);
    void Complete(std::vector<int32_t> sum);

  private:
    bool m_isComplete{false};
    uint64_t m_overflows{0};
    std::vector<int32_t> m_sum;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_BLOCK_SUM_H
