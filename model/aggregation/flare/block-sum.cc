// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/block-sum.h"

#include "ns3/simulator.h"

#include <algorithm>

namespace ns3::gradsync
{

namespace
{

/// Buffers, each of which one handler has at a time. A handler takes the one that is free first.
class BufferedSum final : public BlockSum
{
  public:
    BufferedSum(const BlockArithmetic& arithmetic, uint32_t children, uint32_t buffers)
        : BlockSum(arithmetic),
          m_missing(children),
          m_buffers(buffers)
    {
    }

    Time Begin(const BlockTimes& times,
               const Contribution& /* contribution */,
               std::span<const int32_t> values) override
    {
        const auto now = Simulator::Now();
        auto& buffer = *std::ranges::min_element(m_buffers, {}, [&now](const Buffer& one) {
            return std::max(one.free, now);
        });
        const auto start = std::max(buffer.free, now);
        const auto time = buffer.isUsed ? times.add : times.copy;
        if (buffer.isUsed)
        {
            Add(buffer.sum, values);
        }
        else
        {
            buffer.sum.assign(values.begin(), values.end());
        }
        buffer.isUsed = true;
        buffer.free = start + time;
        return buffer.free - now;
    }

    std::optional<Time> Continue(const BlockTimes& times, Contribution& contribution) override
    {
        if (contribution.merges)
        {
            Complete(std::move(m_buffers.front().sum));
            return std::nullopt;
        }
        if (--m_missing > 0)
        {
            return std::nullopt;
        }
        Time merging;
        for (size_t i = 1; i < m_buffers.size() && m_buffers[i].isUsed; ++i)
        {
            Add(m_buffers.front().sum, m_buffers[i].sum);
            merging += times.GetMergeTime(m_buffers[i].sum);
        }
        contribution.merges = true;
        return merging.IsStrictlyPositive() ? std::optional(merging)
                                            : Continue(times, contribution);
    }

  private:
    struct Buffer
    {
        Time free{0}; //!< when the last of those who have taken it is done with it
        bool isUsed{false};
        std::vector<int32_t> sum{};
    };

    uint32_t m_missing; //!< packets that are not added
    std::vector<Buffer> m_buffers;
};

/// Each packet has a place of its own at level 0. Two sums side by side become one of the next
/// level, by the handler that made the later one; the last of an odd number goes up as it is.
class TreeSum final : public BlockSum
{
  public:
    TreeSum(const BlockArithmetic& arithmetic, uint32_t children)
        : BlockSum(arithmetic),
          m_children(children)
    {
    }

    Time Begin(const BlockTimes& times,
               const Contribution& contribution,
               std::span<const int32_t> values) override
    {
        m_sums[{0, contribution.child}] = {false, {values.begin(), values.end()}};
        return times.copy;
    }

    std::optional<Time> Continue(const BlockTimes& times, Contribution& contribution) override
    {
        for (auto width = CountSums(contribution.level); width > 1;
             width = CountSums(contribution.level))
        {
            const auto place = contribution.child >> contribution.level;
            const auto own = m_sums.find({contribution.level, place});
            const std::pair above{contribution.level + 1, place / 2};
            if ((place ^ 1U) >= width)
            {
                ++contribution.level;
                m_sums[above] = std::move(own->second);
                m_sums.erase(own);
                continue;
            }
            own->second.isMade = true;
            const auto other = m_sums.find({contribution.level, place ^ 1U});
            if (other == m_sums.end() || !other->second.isMade)
            {
                return std::nullopt;
            }
            const auto left = place % 2 == 0 ? own : other;
            const auto right = left == own ? other : own;
            Add(left->second.values, right->second.values);
            const auto time = times.GetMergeTime(right->second.values);
            ++contribution.level;
            m_sums[above] = {false, std::move(left->second.values)};
            m_sums.erase(own);
            m_sums.erase(other);
            return time;
        }
        Complete(std::move(m_sums.begin()->second.values));
        return std::nullopt;
    }

  private:
    struct Sum
    {
        bool isMade{false}; //!< false: its handler is still at work
        std::vector<int32_t> values{};
    };

    /// At a level, of all children.
    uint32_t CountSums(uint32_t level) const
    {
        return ((m_children - 1) >> level) + 1;
    }

    uint32_t m_children;
    std::map<std::pair<uint32_t, uint32_t>, Sum> m_sums; //!< [level, place]
};

} // namespace

std::unique_ptr<BlockSum>
BlockSum::Make(FlareSum kind,
               const BlockArithmetic& arithmetic,
               uint32_t children,
               uint32_t buffers)
{
    switch (kind)
    {
    case FlareSum::Tree:
        return std::make_unique<TreeSum>(arithmetic, children);
    case FlareSum::Multiple:
        return std::make_unique<BufferedSum>(arithmetic, children, buffers);
    case FlareSum::Single:
        break;
    }
    return std::make_unique<BufferedSum>(arithmetic, children, 1);
}

void
BlockSum::Complete(std::vector<int32_t> sum)
{
    m_isComplete = true;
    m_sum = std::move(sum);
}

} // namespace ns3::gradsync
