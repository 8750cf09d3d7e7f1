// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/aggregation-trees.h"

#include <algorithm>
#include <fmt/format.h>
#include <numeric>
#include <set>
#include <stdexcept>
#include <utility>

namespace ns3::gradsync
{

AggregationTrees::AggregationTrees(uint32_t workers, const std::vector<GroupLevel>& levels)
{
    SortRanks(workers, levels);
    for (uint32_t index = 0; index < levels.size(); ++index)
    {
        AddLevel(levels[index], index);
    }
    const GroupLevel everybody{"network", std::vector<uint32_t>(workers, 0), 1, 1.0};
    AddLevel(everybody, static_cast<uint32_t>(levels.size()));
}

void
AggregationTrees::SortRanks(uint32_t workers, const std::vector<GroupLevel>& levels)
{
    m_ranks.resize(workers);
    std::iota(m_ranks.begin(), m_ranks.end(), 0);
    for (const auto& level : levels)
    {
        // From the innermost on, so that the outermost level decides.
        std::stable_sort(m_ranks.begin(), m_ranks.end(), [&level](uint32_t a, uint32_t b) {
            return level.groupOf[a] < level.groupOf[b];
        });
    }
    m_indexOf.resize(workers);
    for (uint32_t index = 0; index < workers; ++index)
    {
        m_indexOf[m_ranks[index]] = index;
    }
}

void
AggregationTrees::AddLevel(const GroupLevel& level, uint32_t index)
{
    const auto innerEnd = static_cast<uint32_t>(m_regions.size());
    uint32_t inner = 0;
    while (inner < innerEnd && m_regions[inner].level + 1 != index)
    {
        ++inner;
    }
    const auto size = static_cast<uint32_t>(m_ranks.size());
    std::set<uint32_t> seen;
    for (uint32_t begin = 0, end = 0; begin < size; begin = end)
    {
        const auto group = level.groupOf[m_ranks[begin]];
        while (end < size && level.groupOf[m_ranks[end]] == group)
        {
            ++end;
        }
        if (!seen.insert(group).second)
        {
            throw std::invalid_argument(
                fmt::format("group {} of level \"{}\" lies in two groups of the next level",
                            group,
                            level.name));
        }
        Region region{begin, end, index, {}};
        for (; inner < innerEnd && m_regions[inner].end <= end; ++inner)
        {
            region.children.push_back(inner);
        }
        m_regions.push_back(std::move(region));
    }
}

uint32_t
AggregationTrees::GetStageCount() const
{
    return m_regions.back().level + 1;
}

AggregationTree
AggregationTrees::MakeTree(uint32_t root) const
{
    AggregationTree tree;
    tree.parent.resize(m_ranks.size());
    tree.stage.resize(m_ranks.size());
    const auto index = m_indexOf[root];
    tree.parent[root] = root;
    Attach(m_regions.back(), index, index, 0, tree);
    return tree;
}

void
AggregationTrees::Attach(const Region& region,
                         uint32_t head,
                         uint32_t root,
                         uint32_t ordinal,
                         AggregationTree& tree) const
{
    const auto attach = [&](uint32_t index) {
        if (index != head)
        {
            tree.parent[m_ranks[index]] = m_ranks[head];
            tree.stage[m_ranks[index]] = region.level;
        }
    };
    if (region.children.empty())
    {
        for (uint32_t index = region.begin; index < region.end; ++index)
        {
            attach(index);
        }
        return;
    }
    for (const auto id : region.children)
    {
        const auto& child = m_regions[id];
        uint32_t childOrdinal = ordinal;
        if (region.Holds(root))
        {
            childOrdinal = root - region.begin - (root < child.begin ? 0 : child.GetSize());
        }
        const uint32_t childHead =
            child.Holds(head) ? head : child.begin + childOrdinal % child.GetSize();
        attach(childHead);
        Attach(child, childHead, root, childOrdinal, tree);
    }
}

} // namespace ns3::gradsync
