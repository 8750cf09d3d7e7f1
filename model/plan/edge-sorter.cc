// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/edge-sorter.h"

#include "ns3/coming-numbers.h"

#include <algorithm>
#include <fmt/format.h>
#include <numeric>
#include <span>
#include <stdexcept>
#include <vector>

namespace ns3::gradsync
{

namespace
{

/// What is open is looked through when it is worth it.
constexpr size_t LEAST_OPEN = 65'536;
/// Rows that are sorted at once: 64 MB of counters.
constexpr size_t MOST_ROWS = size_t{1} << 24;

struct Edge
{
    OperationId earlier;
    OperationId later;
};

/// Writes the rows of successors, the lowest first, as soon as all their edges are known.
class SuccessorWriter
{
  public:
    explicit SuccessorWriter(SortedEdges& sorted)
        : m_sorted(sorted)
    {
    }

    void Take(const Edge& edge)
    {
        m_open.push_back(edge);
        m_sorted.areForward = m_sorted.areForward && edge.earlier < edge.later;
    }

    /// All edges of rows before `limit` were taken.
    void WriteWorthwhile(size_t limit)
    {
        if (m_open.size() >= m_worthwhile)
        {
            WriteBefore(limit);
            m_worthwhile = std::max(LEAST_OPEN, 2 * m_open.size());
        }
    }

    void WriteBefore(size_t limit)
    {
        while (m_next < limit)
        {
            WriteRows(std::min(limit, m_next + MOST_ROWS));
        }
    }

  private:
    /// Counting sort: the end of a row is moved back to its start while the row is filled.
    void WriteRows(size_t limit)
    {
        const auto rest = std::partition(m_open.begin(), m_open.end(), [limit](const Edge& edge) {
            return edge.earlier < limit;
        });
        std::vector<size_t> ends(limit - m_next + 1);
        const auto row = [this](const Edge& edge) { return edge.earlier - m_next; };
        std::for_each(m_open.begin(), rest, [&](const Edge& edge) { ++ends[row(edge)]; });
        std::partial_sum(ends.begin(), ends.end(), ends.begin());
        std::vector<OperationId> successors(ends.back());
        std::for_each(m_open.begin(), rest, [&](const Edge& edge) {
            successors[--ends[row(edge)]] = edge.later;
        });
        m_open.erase(m_open.begin(), rest);
        for (size_t i = 0; i + 1 < ends.size(); ++i)
        {
            WriteRow({successors.data() + ends[i], successors.data() + ends[i + 1]});
        }
        m_next = limit;
    }

    void WriteRow(std::span<OperationId> successors)
    {
        m_sorted.offsets.Append(static_cast<OperationId>(m_sorted.successors.GetSize()));
        if (successors.size() < 2)
        {
            std::ranges::for_each(successors, [this](auto id) { m_sorted.successors.Append(id); });
            return;
        }
        std::sort(successors.begin(), successors.end());
        std::for_each(successors.begin(),
                      std::unique(successors.begin(), successors.end()),
                      [this](auto later) { m_sorted.successors.Append(later); });
    }

    SortedEdges& m_sorted;
    std::vector<Edge> m_open;
    size_t m_next{0}; //!< row
    size_t m_worthwhile{LEAST_OPEN};
};

void
CheckEdge(const Edge& edge, size_t operations)
{
    const auto [earlier, later] = edge;
    if (std::max(earlier, later) >= operations)
    {
        throw std::logic_error(fmt::format("plan: edge {} -> {}, but there are {} operations",
                                           earlier,
                                           later,
                                           operations));
    }
}

/// Calls take(first, last) for all blocks of edges, and `pause` after each with the least number
/// that is still to come. \param read see ComingNumbers
template <typename Read, typename Take, typename Pause>
void
ForEachBlock(size_t count, const Read& read, const Take& take, const Pause& pause)
{
    const ComingNumbers coming(count, read);
    for (size_t block = 0; block < coming.CountBlocks(); ++block)
    {
        const auto first = block * ComingNumbers::BLOCK;
        take(first, std::min(count, first + ComingNumbers::BLOCK));
        pause(coming.GetLeastAfter(block));
    }
}

PackedRows<1>
CountPredecessors(const OperationIdTable& successors, size_t operations)
{
    PackedRows<1> counts;
    std::vector<uint32_t> open; // of the operations that follow those in `counts`
    const auto write = [&](size_t limit) {
        const auto known = std::min(limit - counts.GetSize(), open.size());
        const auto end = open.begin() + static_cast<std::ptrdiff_t>(known);
        std::for_each(open.begin(), end, [&](auto count) { counts.Append({count}); });
        open.erase(open.begin(), end);
    };
    ForEachBlock(
        successors.GetSize(),
        [&](size_t first, size_t last, const auto& visit) {
            successors.ForEachItem(first, last, [&](size_t, OperationId id) { visit(id); });
        },
        [&](size_t first, size_t last) {
            const auto written = counts.GetSize();
            successors.ForEachItem(first, last, [&](size_t, OperationId id) {
                const auto place = id - written;
                if (place >= open.size()) [[unlikely]]
                {
                    open.resize(place + 1);
                }
                ++open[place];
            });
        },
        [&](size_t least) {
            if (least - counts.GetSize() >= std::max(LEAST_OPEN, open.size() / 2))
            {
                write(least);
            }
        });
    write(operations);
    while (counts.GetSize() < operations)
    {
        counts.Append({0});
    }
    return counts;
}

} // namespace

SortedEdges
SortEdges(const PackedRows<2>& edges, size_t operations)
{
    SortedEdges sorted;
    SuccessorWriter writer(sorted);
    ForEachBlock(
        edges.GetSize(),
        [&](size_t first, size_t last, const auto& visit) {
            edges.ForEachRow(first, last, [&](size_t, const auto& row) {
                CheckEdge({row[0], row[1]}, operations);
                visit(row[0]);
            });
        },
        [&](size_t first, size_t last) {
            edges.ForEachRow(first, last, [&](size_t, const auto& row) {
                writer.Take({row[0], row[1]});
            });
        },
        [&](size_t least) { writer.WriteWorthwhile(std::min(least, operations)); });
    writer.WriteBefore(operations);
    sorted.offsets.Append(static_cast<OperationId>(sorted.successors.GetSize()));
    sorted.predecessors = CountPredecessors(sorted.successors, operations);
    sorted.offsets.Trim();
    sorted.successors.Trim();
    sorted.predecessors.Trim();
    return sorted;
}

} // namespace ns3::gradsync
