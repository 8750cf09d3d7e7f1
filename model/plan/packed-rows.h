// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_PACKED_ROWS_H
#define GRADSYNC_PACKED_ROWS_H

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace ns3::gradsync
{

/**
 * A table of 32-bit numbers, `COLUMNS` a row, that only grows at its end. Plans are regular: within
 * a block of 64 rows most columns stay the same or change by the same step (modulo 2^32) from row
 * to row. Such a column of a block takes 8 bytes; others are kept as they are.
 */
template <size_t COLUMNS>
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
        return Read(m_blocks[row / BLOCK_ROWS], row % BLOCK_ROWS, column);
    }

    Row GetRow(size_t row) const
    {
        const auto& block = m_blocks[row / BLOCK_ROWS];
        Row values;
        for (size_t column = 0; column < COLUMNS; ++column)
        {
            values[column] = Read(block, row % BLOCK_ROWS, column);
        }
        return values;
    }

    void Append(const Row& values)
    {
        const size_t position = m_size % BLOCK_ROWS;
        if (position == 0)
        {
            m_blocks.emplace_back();
        }
        auto& block = m_blocks.back();
        for (size_t column = 0; column < COLUMNS; ++column)
        {
            Write(block, position, column, values[column]);
        }
        ++m_size;
    }

    /// Gives unused memory back.
    void Trim()
    {
        m_blocks.shrink_to_fit();
        m_kept.shrink_to_fit();
    }

    uint64_t GetMemoryBytes() const
    {
        return m_blocks.capacity() * sizeof(Block) + m_kept.capacity() * sizeof(Values);
    }

  private:
    static constexpr size_t BLOCK_ROWS = 64;
    using Values = std::array<uint32_t, BLOCK_ROWS>;

    /// values[row] = first + row * step
    struct Line
    {
        uint32_t first; //!< of a column that is kept as it is: its place in m_kept
        uint32_t step;
    };

    /// Never in more cache lines than it must be.
    struct alignas(std::bit_ceil(COLUMNS * sizeof(Line) + sizeof(uint32_t))) Block
    {
        std::array<Line, COLUMNS> lines;
        uint32_t keptColumns{0}; //!< a bit each
    };

    static_assert(COLUMNS <= 32);

    static bool IsKept(const Block& block, size_t column)
    {
        return (block.keptColumns >> column & 1) != 0;
    }

    uint32_t Read(const Block& block, size_t position, size_t column) const
    {
        const auto& line = block.lines[column];
        return IsKept(block, column) ? m_kept[line.first][position]
                                     : line.first + static_cast<uint32_t>(position) * line.step;
    }

    void Write(Block& block, size_t position, size_t column, uint32_t value)
    {
        auto& line = block.lines[column];
        if (position == 0)
        {
            line = {value, 0};
            return;
        }
        if (position == 1)
        {
            line.step = value - line.first;
            return;
        }
        if (!IsKept(block, column))
        {
            if (value == line.first + static_cast<uint32_t>(position) * line.step)
            {
                return;
            }
            Keep(block, position, column);
        }
        m_kept[line.first][position] = value;
    }

    /// From here on the column of this block is no line.
    void Keep(Block& block, size_t rows, size_t column)
    {
        Values values{};
        for (size_t row = 0; row < rows; ++row)
        {
            values[row] = Read(block, row, column);
        }
        block.lines[column] = {static_cast<uint32_t>(m_kept.size()), 0};
        block.keptColumns |= 1U << column;
        m_kept.push_back(values);
    }

    size_t m_size{0};
    std::vector<Block> m_blocks;
    std::vector<Values> m_kept;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_PACKED_ROWS_H
