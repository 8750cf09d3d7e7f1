// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/edge-sorter.h"

#include "ns3/coming-numbers.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
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

    void Take(const PackedRows<2>& edges, size_t first, size_t last)
    {
        auto place = m_open.size();
        m_open.resize(place + last - first);
        bool areForward = true;
        edges.ForEachRow(first, last, [&](size_t, const auto& row) {
            m_open[place++] = {row[0], row[1]};
            areForward = areForward && row[0] < row[1];
        });
        m_sorted.areForward = m_sorted.areForward && areForward;
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
    /// Counting sort: the end of a row is moved back to its start while the row is filled, from its
    /// last edge on, so that what came in ascending order is so.
    void WriteRows(size_t limit)
    {
        const auto rest = std::partition(m_open.begin(), m_open.end(), [limit](const Edge& edge) {
            return edge.earlier < limit;
        });
        std::vector<OperationId> ends(limit - m_next + 1);
        const auto row = [this](const Edge& edge) { return edge.earlier - m_next; };
        std::for_each(m_open.begin(), rest, [&](const Edge& edge) { ++ends[row(edge)]; });
        std::partial_sum(ends.begin(), ends.end(), ends.begin());
        std::vector<OperationId> successors(ends.back());
        std::for_each(std::reverse_iterator(rest), m_open.rend(), [&](const Edge& edge) {
            successors[--ends[row(edge)]] = edge.later;
        });
        m_open.erase(m_open.begin(), rest);
        Write(ends, successors);
        m_next = limit;
    }

    /// \param starts [row] of its successors, of which each is kept once; the last one is an end
    void Write(std::span<OperationId> starts, std::span<OperationId> successors)
    {
        const auto before = m_sorted.successors.GetSize();
        auto end = successors.begin(); // of what is kept
        for (size_t row = 0; row + 1 < starts.size(); ++row)
        {
            const auto first = successors.begin() + starts[row];
            const auto last = successors.begin() + starts[row + 1];
            if (!std::is_sorted(first, last))
            {
                std::sort(first, last);
            }
            const auto begin = end;
            starts[row] = static_cast<OperationId>(before + size_t(begin - successors.begin()));
            std::for_each(first, last, [&](OperationId later) {
                if (end == begin || *(end - 1) != later)
                {
                    *end++ = later;
                }
            });
        }
        m_sorted.offsets.AppendAll(starts.first(starts.size() - 1));
        m_sorted.successors.AppendAll({successors.begin(), end});
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
        counts.AppendAll(std::span(open).first(known));
        open.erase(open.begin(), open.begin() + static_cast<std::ptrdiff_t>(known));
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

/// But for the last offset, which is not there yet.
void
Repeat(SortedEdges& sorted, size_t operations, uint32_t copies)
{
    const auto edges = sorted.successors.GetSize();
    for (uint32_t copy = 1; copy < copies; ++copy)
    {
        sorted.offsets.AppendAgain(operations, static_cast<OperationId>(copy * edges));
        sorted.successors.AppendAgain(edges, static_cast<OperationId>(copy * operations));
        sorted.predecessors.AppendAgain(0, operations, {0}); // as many
    }
}

} // namespace

SortedEdges
SortEdges(const PackedRows<2>& edges, size_t operations, uint32_t copies)
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
        [&](size_t first, size_t last) { writer.Take(edges, first, last); },
        [&](size_t least) { writer.WriteWorthwhile(std::min(least, operations)); });
    writer.WriteBefore(operations);
    sorted.predecessors = CountPredecessors(sorted.successors, operations);
    Repeat(sorted, operations, copies);
    sorted.offsets.Append(static_cast<OperationId>(sorted.successors.GetSize()));
    sorted.offsets.Trim();
    sorted.successors.Trim();
    sorted.predecessors.Trim();
    return sorted;
}

} // namespace ns3::gradsync
