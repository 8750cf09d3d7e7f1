// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_PACKED_ROWS_H
#define GRADSYNC_PACKED_ROWS_H

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

namespace ns3::gradsync
{

/**
 * A table of 32-bit numbers, `COLUMNS` a row, that only grows at its end. Plans are regular: within
 * a block of 128 rows most columns stay the same or change by the same step (modulo 2^32) from row
 * to row, and others do so in a pattern that comes again in other blocks. A column of a block is
 * thus its first value and a step, or its first value and the number of a pattern, each of which is
 * kept once.
 *
 * These numbers of a block make a row in turn, which is regular, too: beyond `NEAR_BLOCKS` such
 * rows are packed likewise, which costs time at each access and saves most of what is left.
 */
template <size_t COLUMNS, size_t NEAR_BLOCKS = size_t{1} << 18>
class PackedRows
{
  public:
    using Row = std::array<uint32_t, COLUMNS>;

    size_t GetSize() const
    {
        return m_size;
    }

    uint32_t Get(size_t row, size_t column) const
    {
        const size_t number = row / BLOCK_ROWS;
        if (number >= m_near.size()) [[unlikely]]
        {
            return GetRow(row)[column];
        }
        const auto& block = m_near[number];
        const auto position = static_cast<uint32_t>(row % BLOCK_ROWS);
        const auto step = block[STEPS + column];
        return block[column] + ((block[PATTERNED] >> column & 1) != 0 ? m_patterns[step][position]
                                                                      : position * step);
    }

    Row GetRow(size_t row) const
    {
        const size_t number = row / BLOCK_ROWS;
        const auto position = static_cast<uint32_t>(row % BLOCK_ROWS);
        if (number < m_near.size()) [[likely]]
        {
            return Unpack(m_near[number], position);
        }
        if constexpr (HAS_FAR)
        {
            if (number != CountBlocks())
            {
                return Unpack(m_far.GetRow(number - NEAR_BLOCKS), position);
            }
        }
        return PickRow(m_open.data(), m_openStride, position);
    }

    /// Calls visit(row, values) for the rows [first, last): many of them in much less time than
    /// GetRow takes.
    template <typename Visit>
    void ForEachRow(size_t first, size_t last, const Visit& visit) const
    {
        Columns columns;
        while (first < last)
        {
            const size_t number = first / BLOCK_ROWS;
            const auto end = std::min(last, (number + 1) * BLOCK_ROWS);
            const bool isOpen = number == CountBlocks();
            if (!isOpen)
            {
                const auto block = GetBlock(number);
                for (size_t column = 0; column < COLUMNS; ++column)
                {
                    UnpackColumn(block, column, columns[column]);
                }
            }
            for (; first < end; ++first)
            {
                const auto position = first % BLOCK_ROWS;
                visit(first,
                      isOpen ? PickRow(m_open.data(), m_openStride, position)
                             : PickRow(columns.front().data(), BLOCK_ROWS, position));
            }
        }
    }

    /// Calls visit(row, value) for a column of the first `count` rows.
    template <typename Visit>
    void ForEachValue(size_t column, size_t count, const Visit& visit) const
    {
        Pattern values;
        const auto closed = std::min(count, CountBlocks() * BLOCK_ROWS);
        for (size_t row = 0; row < closed; ++row)
        {
            if (row % BLOCK_ROWS == 0)
            {
                UnpackColumn(GetBlock(row / BLOCK_ROWS), column, values);
            }
            visit(row, values[row % BLOCK_ROWS]);
        }
        for (auto row = closed; row < count; ++row)
        {
            visit(row, m_open[column * m_openStride + row % BLOCK_ROWS]);
        }
    }

    void Append(const Row& values)
    {
        if (m_openStride != BLOCK_ROWS) [[unlikely]]
        {
            SpreadOpen(BLOCK_ROWS);
        }
        auto* place = m_open.data() + m_size % BLOCK_ROWS;
        for (size_t column = 0; column < COLUMNS; ++column)
        {
            place[column * BLOCK_ROWS] = values[column];
        }
        if (++m_size % BLOCK_ROWS == 0)
        {
            AppendBlock(MakeBlock());
        }
    }

    /// Many rows at once.
    void AppendAll(std::span<const uint32_t> values) requires(COLUMNS == 1)
    {
        if (m_openStride != BLOCK_ROWS)
        {
            SpreadOpen(BLOCK_ROWS);
        }
        while (!values.empty())
        {
            const auto position = m_size % BLOCK_ROWS;
            const auto count = std::min(values.size(), BLOCK_ROWS - position);
            std::copy_n(values.begin(), count, m_open.data() + position);
            values = values.subspan(count);
            m_size += count;
            if (m_size % BLOCK_ROWS == 0)
            {
                AppendBlock(MakeBlock());
            }
        }
    }

    /// Appends rows [first, last) again, to each of which `shift` is added. Where they begin a
    /// block and come to one, only its numbers are copied.
    void AppendAgain(size_t first, size_t last, const Row& shift)
    {
        while (first < last)
        {
            const auto end = std::min(last, (first / BLOCK_ROWS + 1) * BLOCK_ROWS);
            if (end - first == BLOCK_ROWS && m_size % BLOCK_ROWS == 0)
            {
                AppendBlockAgain(first / BLOCK_ROWS, shift);
            }
            else
            {
                AppendRowsAgain(first, end, shift);
            }
            first = end;
        }
    }

    /// Gives unused memory back. What is appended later knows no pattern from before.
    void Trim()
    {
        m_near.shrink_to_fit();
        m_patterns.shrink_to_fit();
        SpreadOpen(m_size % BLOCK_ROWS);
        m_known = {};
        if constexpr (HAS_FAR)
        {
            m_far.Trim();
        }
    }

    uint64_t GetMemoryBytes() const
    {
        uint64_t bytes = m_near.capacity() * sizeof(Block) +
                         m_patterns.capacity() * sizeof(Pattern) +
                         m_open.capacity() * sizeof(uint32_t);
        if constexpr (HAS_FAR)
        {
            bytes += m_far.GetMemoryBytes();
        }
        return bytes;
    }

  private:
    static constexpr size_t BLOCK_ROWS = 128;
    /// In a block: the first value of each column, the step or the pattern of each, and a bit for
    /// each that has a pattern.
    static constexpr size_t STEPS = COLUMNS;
    static constexpr size_t PATTERNED = 2 * COLUMNS;
    using Block = std::array<uint32_t, PATTERNED + 1>;
    static_assert(COLUMNS <= 32);
    /// From the first value.
    using Pattern = std::array<uint32_t, BLOCK_ROWS>;
    using Columns = std::array<Pattern, COLUMNS>;
    static constexpr bool HAS_FAR = NEAR_BLOCKS != SIZE_MAX;
    /// Blocks that are packed once more, all in one level.
    using Far = PackedRows<HAS_FAR ? PATTERNED + 1 : 1, SIZE_MAX>;

    struct NoFar
    {
    };

    size_t CountBlocks() const
    {
        return m_size / BLOCK_ROWS;
    }

    Row Unpack(const Block& block, uint32_t position) const
    {
        Row values;
        for (size_t column = 0; column < COLUMNS; ++column) // all at once, as lines
        {
            values[column] = block[column] + position * block[STEPS + column];
        }
        for (auto patterned = block[PATTERNED]; patterned != 0; patterned &= patterned - 1)
        {
            const auto column = static_cast<size_t>(std::countr_zero(patterned));
            values[column] = block[column] + m_patterns[block[STEPS + column]][position];
        }
        return values;
    }

    Block GetBlock(size_t number) const
    {
        if constexpr (HAS_FAR)
        {
            if (number >= m_near.size())
            {
                return m_far.GetRow(number - NEAR_BLOCKS);
            }
        }
        return m_near[number];
    }

    void UnpackColumn(const Block& block, size_t column, Pattern& values) const
    {
        const auto base = block[column];
        const auto step = block[STEPS + column];
        const bool isPatterned = (block[PATTERNED] >> column & 1) != 0;
        const auto* pattern = isPatterned ? m_patterns[step].data() : nullptr;
        for (uint32_t row = 0; row < BLOCK_ROWS; ++row)
        {
            values[row] = base + (isPatterned ? pattern[row] : row * step);
        }
    }

    /// \param stride from one column to the next
    static Row PickRow(const uint32_t* columns, size_t stride, size_t position)
    {
        Row row;
        for (size_t column = 0; column < COLUMNS; ++column)
        {
            row[column] = columns[column * stride + position];
        }
        return row;
    }

    /// Leaves so much room for each column of the rows at the end.
    void SpreadOpen(size_t stride)
    {
        std::vector<uint32_t> open(COLUMNS * stride);
        for (size_t column = 0; column < COLUMNS; ++column)
        {
            std::copy_n(m_open.begin() + static_cast<std::ptrdiff_t>(column * m_openStride),
                        m_size % BLOCK_ROWS,
                        open.begin() + static_cast<std::ptrdiff_t>(column * stride));
        }
        m_open = std::move(open);
        m_openStride = stride;
    }

    /// A whole one, behind whole ones.
    void AppendBlockAgain(size_t number, const Row& shift)
    {
        auto block = GetBlock(number);
        for (size_t column = 0; column < COLUMNS; ++column)
        {
            block[column] += shift[column];
        }
        m_size += BLOCK_ROWS;
        AppendBlock(block);
    }

    /// At most as many as a block has. They are read before the first is appended, which may end
    /// the open block.
    void AppendRowsAgain(size_t first, size_t last, const Row& shift)
    {
        std::array<Row, BLOCK_ROWS> rows;
        ForEachRow(first, last, [&rows, first](size_t row, const Row& values) {
            rows[row - first] = values;
        });
        for (size_t row = 0; row < last - first; ++row)
        {
            for (size_t column = 0; column < COLUMNS; ++column)
            {
                rows[row][column] += shift[column];
            }
            Append(rows[row]);
        }
    }

    Block MakeBlock()
    {
        Block block{};
        for (size_t column = 0; column < COLUMNS; ++column)
        {
            Pattern values;
            const auto* open = m_open.data() + column * BLOCK_ROWS;
            const auto first = *open;
            for (size_t row = 0; row < BLOCK_ROWS; ++row)
            {
                values[row] = open[row] - first;
            }
            block[column] = first;
            block[STEPS + column] = values[1];
            if (!IsLine(values))
            {
                block[STEPS + column] = FindPattern(values);
                block[PATTERNED] |= 1U << column;
            }
        }
        return block;
    }

    void AppendBlock(const Block& block)
    {
        if constexpr (HAS_FAR)
        {
            if (m_near.size() == NEAR_BLOCKS)
            {
                m_far.Append(block);
                return;
            }
        }
        m_near.push_back(block);
    }

    /// All rows at once, as compilers make vectors of it.
    static bool IsLine(const Pattern& values)
    {
        uint32_t difference = 0;
        for (uint32_t row = 1; row < BLOCK_ROWS; ++row)
        {
            difference |= (values[row] - values[row - 1]) ^ values[1];
        }
        return difference == 0;
    }

    /// FNV-1a of every fourth value, so that no multiplication waits for the one before.
    static uint64_t GetHash(const Pattern& values)
    {
        constexpr uint64_t PRIME = 0x100000001b3;
        constexpr size_t LANES = 4;
        std::array<uint64_t, LANES> hashes;
        hashes.fill(0xcbf29ce484222325);
        for (size_t row = 0; row < BLOCK_ROWS; row += LANES)
        {
            for (size_t lane = 0; lane < LANES; ++lane)
            {
                hashes[lane] = (hashes[lane] ^ values[row + lane]) * PRIME;
            }
        }
        auto hash = hashes[0];
        for (size_t lane = 1; lane < LANES; ++lane)
        {
            hash = (hash ^ hashes[lane]) * PRIME;
        }
        return hash;
    }

    /// The number of a pattern, a new one if it is not known.
    uint32_t FindPattern(const Pattern& values)
    {
        const auto next = static_cast<uint32_t>(m_patterns.size());
        const auto [known, isNew] = m_known.try_emplace(GetHash(values), next);
        if (!isNew && m_patterns[known->second] == values)
        {
            return known->second;
        }
        m_patterns.push_back(values);
        return next;
    }

    std::vector<Block> m_near;
    [[no_unique_address]] std::conditional_t<HAS_FAR, Far, NoFar> m_far;
    std::vector<Pattern> m_patterns;
    std::unordered_map<uint64_t, uint32_t> m_known; //!< hash -> pattern, while the table grows
    std::vector<uint32_t> m_open; //!< the block at the end, a column after the other
    size_t m_openStride{0};       //!< from one to the next; until rows come none
    size_t m_size{0};             //!< rows
};

} // namespace ns3::gradsync

#endif // GRADSYNC_PACKED_ROWS_H
