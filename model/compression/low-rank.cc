// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/low-rank.h"

#include "ns3/parallel-ranges.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace ns3::gradsync
{

namespace
{

constexpr uint32_t WARP_SUMS = 32;
constexpr uint32_t EIGHTHS = LOW_RANK_STRIP / LOW_RANK_EIGHTH;
constexpr uint32_t COLUMN_BLOCK = 128; //!< columns that are done at once

/// Adds the upper half to the lower one until one is left.
template <typename Number, size_t COUNT>
Number
AddHalves(std::array<Number, COUNT>& lanes)
{
    for (size_t half = COUNT / 2; half > 0; half /= 2)
    {
        for (size_t lane = 0; lane < half; ++lane)
        {
            lanes[lane] += lanes[lane + half];
        }
    }
    return lanes[0];
}

/// A matrix whose last row may end early.
class Matrix
{
  public:
    Matrix(std::span<const float> values, const LowRankShape& shape)
        : m_values(values),
          m_shape(shape),
          m_last(shape.columns, 0.0F)
    {
        std::copy(m_values.begin() + GetOffset(shape.rows - 1), m_values.end(), m_last.begin());
    }

    const float* GetRow(uint32_t row) const
    {
        return row + 1 < m_shape.rows ? m_values.data() + GetOffset(row) : m_last.data();
    }

  private:
    std::ptrdiff_t GetOffset(uint32_t row) const
    {
        return static_cast<std::ptrdiff_t>(uint64_t{row} * m_shape.columns);
    }

    std::span<const float> m_values;
    LowRankShape m_shape;
    std::vector<float> m_last;
};

float
MultiplyRow(const float* row, const float* column, uint32_t count)
{
    std::array<float, LOW_RANK_LANES> lanes{};
    for (uint32_t begin = 0; begin < count; begin += LOW_RANK_LANES)
    {
        const uint32_t width = std::min(LOW_RANK_LANES, count - begin);
        for (uint32_t lane = 0; lane < width; ++lane)
        {
            lanes[lane] += row[begin + lane] * column[begin + lane];
        }
    }
    std::array<float, WARP_SUMS> sums;
    for (uint32_t lane = 0; lane < WARP_SUMS; ++lane)
    {
        const float* const own = lanes.data() + size_t{4} * lane;
        sums[lane] = (own[0] + own[2]) + (own[1] + own[3]);
    }
    return MakeCanonical(AddHalves(sums));
}

/// Scalar product of two columns of P.
double
MultiplyColumns(std::span<const float> a, std::span<const float> b)
{
    std::array<double, LOW_RANK_COLUMN_LANES> lanes{};
    for (size_t i = 0; i < a.size(); ++i)
    {
        lanes[i % LOW_RANK_COLUMN_LANES] += static_cast<double>(a[i]) * static_cast<double>(b[i]);
    }
    // Each warp first, then the warps.
    std::array<double, WARP_SUMS> warps;
    for (uint32_t warp = 0; warp < WARP_SUMS; ++warp)
    {
        std::array<double, WARP_SUMS> own;
        std::copy_n(lanes.begin() + size_t{warp} * WARP_SUMS, WARP_SUMS, own.begin());
        warps[warp] = AddHalves(own);
    }
    return AddHalves(warps);
}

/// Adds to some columns of Q what a strip of rows gives. \param p of the column of P
void
AddStrip(const Matrix& matrix,
         uint32_t firstRow,
         uint32_t rows,
         uint32_t firstColumn,
         const float* p,
         std::span<float> q)
{
    std::array<std::array<float, COLUMN_BLOCK>, EIGHTHS> sums{};
    for (uint32_t i = 0; i < rows; ++i)
    {
        auto& sum = sums[i / LOW_RANK_EIGHTH];
        const float* const row = matrix.GetRow(firstRow + i) + firstColumn;
        const float factor = p[firstRow + i];
        for (size_t column = 0; column < q.size(); ++column)
        {
            sum[column] += row[column] * factor;
        }
    }
    for (size_t column = 0; column < q.size(); ++column)
    {
        std::array<float, EIGHTHS> eighths;
        for (uint32_t i = 0; i < EIGHTHS; ++i)
        {
            eighths[i] = sums[i][column];
        }
        q[column] += AddHalves(eighths);
    }
}

} // namespace

LowRankShape
GetLowRankShape(uint64_t elements, uint32_t columns, uint32_t rank)
{
    if (columns == 0)
    {
        const auto root =
            static_cast<uint64_t>(std::ceil(std::sqrt(static_cast<double>(elements))));
        columns = static_cast<uint32_t>((root + 3) / 4 * 4);
    }
    const uint64_t rows = elements == 0 ? 0 : (elements + columns - 1) / columns;
    return {static_cast<uint32_t>(rows), columns, rank};
}

uint64_t
CountRowFactors(const LowRankShape& shape)
{
    return uint64_t{shape.rows} * shape.rank;
}

uint64_t
CountColumnFactors(const LowRankShape& shape)
{
    return uint64_t{shape.columns} * shape.rank;
}

void
RestartColumns(std::span<float> q, const LowRankShape& shape)
{
    for (uint32_t j = 0; j < shape.rank; ++j)
    {
        const auto column = q.subspan(size_t{j} * shape.columns, shape.columns);
        const bool isZero = std::ranges::all_of(column, [](float value) { return value == 0.0F; });
        const bool isFinite = std::ranges::all_of(column, [](float value) {
            return IsKeyFinite(MagnitudeKey(value));
        });
        if (!isZero && isFinite)
        {
            continue;
        }
        PhiloxBlock four{};
        for (uint32_t i = 0; i < shape.columns; ++i)
        {
            four = i % 4 == 0 ? DrawLowRankStart(j, i / 4) : four;
            column[i] = ToLowRankStart(four.words[i % 4]);
        }
    }
}

void
ProjectRows(std::span<const float> values,
            const LowRankShape& shape,
            std::span<const float> q,
            std::span<float> p,
            uint32_t threads)
{
    const Matrix matrix(values, shape);
    const uint64_t padded = uint64_t{shape.rows} * shape.columns;
    ForEachRange(padded, shape.columns, threads, [&](const ElementRange& range) {
        for (uint64_t row = range.begin / shape.columns; row < range.end / shape.columns; ++row)
        {
            for (uint32_t j = 0; j < shape.rank; ++j)
            {
                p[uint64_t{j} * shape.rows + row] =
                    MultiplyRow(matrix.GetRow(static_cast<uint32_t>(row)),
                                q.data() + uint64_t{j} * shape.columns,
                                shape.columns);
            }
        }
    });
}

void
Orthogonalise(std::span<float> p, const LowRankShape& shape)
{
    const auto getColumn = [&](uint32_t j) {
        return p.subspan(size_t{j} * shape.rows, shape.rows);
    };
    const auto getNorm = [&](uint32_t j) {
        return std::sqrt(MultiplyColumns(getColumn(j), getColumn(j)));
    };
    std::vector<double> before;
    for (uint32_t j = 0; j < shape.rank; ++j)
    {
        before.push_back(getNorm(j));
    }
    for (uint32_t j = 0; j < shape.rank; ++j)
    {
        const auto column = getColumn(j);
        const double scale = GetLowRankScale(getNorm(j), before[j]);
        for (auto& value : column)
        {
            value = ScaleLowRank(value, scale);
        }
        for (uint32_t later = j + 1; later < shape.rank; ++later)
        {
            const auto other = getColumn(later);
            const double product = MultiplyColumns(column, other);
            for (size_t i = 0; i < other.size(); ++i)
            {
                other[i] = TakeOutLowRank(other[i], column[i], product);
            }
        }
    }
}

void
ProjectColumns(std::span<const float> values,
               const LowRankShape& shape,
               std::span<const float> p,
               std::span<float> q,
               uint32_t threads)
{
    const Matrix matrix(values, shape);
    const uint64_t padded = uint64_t{shape.rows} * shape.columns;
    const uint64_t grain = uint64_t{shape.rows} * COLUMN_BLOCK;
    ForEachRange(padded, grain, threads, [&](const ElementRange& range) {
        const auto last = static_cast<uint32_t>(range.end / shape.rows);
        for (auto first = static_cast<uint32_t>(range.begin / shape.rows); first < last;
             first += COLUMN_BLOCK)
        {
            const uint32_t width = std::min(COLUMN_BLOCK, last - first);
            for (uint32_t j = 0; j < shape.rank; ++j)
            {
                const auto part = q.subspan(size_t{j} * shape.columns + first, width);
                std::ranges::fill(part, 0.0F);
                for (uint32_t row = 0; row < shape.rows; row += LOW_RANK_STRIP)
                {
                    AddStrip(matrix,
                             row,
                             std::min(LOW_RANK_STRIP, shape.rows - row),
                             first,
                             p.data() + size_t{j} * shape.rows,
                             part);
                }
                std::ranges::transform(part, part.begin(), MakeCanonical);
            }
        }
    });
}

void
ExpandFactors(std::span<const float> p,
              std::span<const float> q,
              const LowRankShape& shape,
              std::span<float> values,
              uint32_t threads)
{
    ForEachRange(values.size(), shape.columns, threads, [&](const ElementRange& range) {
        for (uint64_t begin = range.begin; begin < range.end; begin += shape.columns)
        {
            const auto row =
                values.subspan(begin, std::min<uint64_t>(shape.columns, range.end - begin));
            std::ranges::fill(row, 0.0F);
            for (uint32_t j = 0; j < shape.rank; ++j)
            {
                const float factor = p[uint64_t{j} * shape.rows + begin / shape.columns];
                const float* const column = q.data() + uint64_t{j} * shape.columns;
                for (size_t k = 0; k < row.size(); ++k)
                {
                    row[k] += factor * column[k];
                }
            }
            std::ranges::transform(row, row.begin(), MakeCanonical);
        }
    });
}

} // namespace ns3::gradsync
