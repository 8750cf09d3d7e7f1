// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_AGGREGATION_TREES_H
#define GRADSYNC_AGGREGATION_TREES_H

#include "ns3/worker-groups.h"

#include <cstdint>
#include <vector>

namespace ns3::gradsync
{

/// One aggregation tree: where each rank sends its sum, and across which level.
struct AggregationTree
{
    std::vector<uint32_t> parent; //!< [rank]; the root is its own parent
    /// [rank] level of the region whose aggregator the parent is, hence the step of the reduction:
    /// 0 is the innermost. Unset for the root.
    std::vector<uint32_t> stage;
};

/**
 * The aggregation trees of RAT (Wan et al. 2020; doc/schemes.rst): one rooted at each
 * rank, each with one aggregator per region at every level.
 *
 * The aggregators are balanced over the roots. The root is the aggregator of every region that
 * holds it. For a region Q next to the root's own one inside the region P, the root has an ordinal
 * among the ranks of P outside Q, and Q's aggregator is its member of that ordinal, modulo the size
 * of Q. The regions inside Q take the same ordinal modulo their own sizes, but the one that holds
 * Q's aggregator takes that. With equal regions every rank then receives exactly (w-1) shards per
 * phase; in uneven ones two ranks of one innermost region directly below the top aggregate for
 * numbers of trees that differ by at most one.
 */
class AggregationTrees
{
  public:
    /**
     * \param workers number of ranks, at least 1
     * \param levels the levels that form regions, from the innermost to the outermost
     * \throws std::invalid_argument when a group lies in two groups of the next level
     */
    AggregationTrees(uint32_t workers, const std::vector<GroupLevel>& levels);

    /// Number of steps of one phase: the levels, and the one between the outermost regions.
    uint32_t GetStageCount() const;

    AggregationTree MakeTree(uint32_t root) const;

  private:
    /// A group of some level, or (the last one) all ranks. Its members are a range of m_ranks.
    struct Region
    {
        uint32_t begin;
        uint32_t end;
        uint32_t level;
        std::vector<uint32_t> children; //!< regions of the next inner level

        uint32_t GetSize() const
        {
            return end - begin;
        }

        bool Holds(uint32_t index) const
        {
            return index >= begin && index < end;
        }
    };

    void SortRanks(uint32_t workers, const std::vector<GroupLevel>& levels);
    void AddLevel(const GroupLevel& level, uint32_t index);
    void Attach(const Region& region,
                uint32_t head,
                uint32_t root,
                uint32_t ordinal,
                AggregationTree& tree) const;

    std::vector<uint32_t> m_ranks;   //!< so that every region is a contiguous range
    std::vector<uint32_t> m_indexOf; //!< [rank] -> index in m_ranks
    std::vector<Region> m_regions;   //!< innermost level first; the last one holds all ranks
};

} // namespace ns3::gradsync

#endif // GRADSYNC_AGGREGATION_TREES_H
