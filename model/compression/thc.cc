// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/thc.h"

#include "ns3/parallel-ranges.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

namespace ns3::gradsync
{

namespace
{

constexpr uint32_t HALF_LEVELS = THC_LEVELS / 2;

/// Distances of butterflies in the order in which the kernels do them: what a thread holds first.
constexpr std::array<uint32_t, 12> STRIDES{256, 512, 1024, 2048, 16, 32, 64, 128, 1, 2, 4, 8};

/// Elements of a block, and of its transform.
struct ThcPart
{
    uint64_t block;
    uint64_t begin;
    uint32_t elements;
    uint32_t size;
};

/// work(part) of each block, on all threads.
template <typename Work>
void
ForEachPart(uint64_t count, uint32_t threads, const Work& work)
{
    ForEachRange(count, THC_BLOCK, threads, [&](const ElementRange& range) {
        for (uint64_t begin = range.begin; begin < range.end; begin += THC_BLOCK)
        {
            const auto elements =
                static_cast<uint32_t>(std::min<uint64_t>(THC_BLOCK, range.end - begin));
            work(ThcPart{begin / THC_BLOCK, begin, elements, GetThcSize(elements)});
        }
    });
}

/// Integral of (b - x)(x - a) over the normal density between a and b: what rounding there costs.
double
GetRoundingCost(double a, double b)
{
    const auto density = [](double x) {
        return std::exp(-x * x / 2) / std::sqrt(2 * std::numbers::pi);
    };
    const double share =
        (std::erf(b / std::numbers::sqrt2) - std::erf(a / std::numbers::sqrt2)) / 2;
    const double first = density(a) - density(b);
    const double second = share + a * density(a) - b * density(b);
    return (a + b) * first - a * b * share - second;
}

/// The lower half of the table, by dynamic programming over the grid's lower half.
std::array<uint32_t, HALF_LEVELS>
ChooseLowerHalf(uint32_t granularity)
{
    const uint32_t points = (granularity + 1) / 2;
    const auto at = [granularity](uint32_t point) {
        return (2.0 * point / granularity - 1.0) * static_cast<double>(THC_BOUND);
    };
    // least[level][point]: of all ways to have that level there, up to it.
    std::vector<std::vector<double>> least(
        HALF_LEVELS,
        std::vector<double>(points, std::numeric_limits<double>::infinity()));
    std::vector<std::vector<uint32_t>> before(HALF_LEVELS, std::vector<uint32_t>(points, 0));
    least[0][0] = 0.0;
    for (uint32_t level = 1; level < HALF_LEVELS; ++level)
    {
        for (uint32_t point = level; point < points; ++point)
        {
            for (uint32_t other = level - 1; other < point; ++other)
            {
                const double cost = least[level - 1][other] + GetRoundingCost(at(other), at(point));
                if (cost < least[level][point])
                {
                    least[level][point] = cost;
                    before[level][point] = other;
                }
            }
        }
    }
    uint32_t best = HALF_LEVELS - 1;
    double lowest = std::numeric_limits<double>::infinity();
    for (uint32_t point = HALF_LEVELS - 1; point < points; ++point)
    {
        // Both halves cost the same, and the middle lies between them.
        const double cost =
            2 * least[HALF_LEVELS - 1][point] + GetRoundingCost(at(point), at(granularity - point));
        best = cost < lowest ? point : best;
        lowest = std::min(cost, lowest);
    }
    std::array<uint32_t, HALF_LEVELS> chosen{};
    for (uint32_t level = HALF_LEVELS; level-- > 0;)
    {
        chosen[level] = best;
        best = before[level][best];
    }
    return chosen;
}

/// Reads sums of table values by coordinate, and decodes the tensor.
template <typename Read>
void
DecodeCoordinates(std::span<const float> norms,
                  uint32_t granularity,
                  uint32_t workers,
                  uint64_t iteration,
                  std::span<float> values,
                  uint32_t threads,
                  const Read& read)
{
    ForEachPart(values.size(), threads, [&](const ThcPart& part) {
        std::array<float, THC_BLOCK> held;
        for (uint32_t i = 0; i < part.size; ++i)
        {
            held[i] = CentreThc(read(part.begin + i), granularity * workers);
        }
        TransformHadamard(std::span(held).first(part.size));
        const float step = MakeThcScale(norms[part.block], granularity, part.size).step;
        for (uint32_t lane = 0; lane < std::min(THC_LANES, part.elements); ++lane)
        {
            const auto signs = DrawThcSigns(iteration, static_cast<uint32_t>(part.block), lane);
            for (uint32_t i = lane; i < part.elements; i += THC_LANES)
            {
                values[part.begin + i] =
                    DecodeThc(TurnThcSign(held[i], signs, i / THC_LANES), step);
            }
        }
    });
}

uint32_t
ReadCode(std::span<const uint8_t> codes, uint64_t coordinate)
{
    return (codes[coordinate / 2] >> (4 * (coordinate % 2))) & 0xfU;
}

} // namespace

uint64_t
CountThcCoordinates(uint64_t elements)
{
    const auto rest = static_cast<uint32_t>(elements % THC_BLOCK);
    return elements - rest + (rest == 0 ? 0 : GetThcSize(rest));
}

ThcTable
MakeThcTable(uint32_t granularity)
{
    ThcTable table{};
    table.granularity = granularity;
    const auto lower = ChooseLowerHalf(granularity);
    for (uint32_t level = 0; level < HALF_LEVELS; ++level)
    {
        table.values[level] = static_cast<uint8_t>(lower[level]);
        table.values[THC_LEVELS - 1 - level] = static_cast<uint8_t>(granularity - lower[level]);
    }
    uint32_t code = 0;
    for (uint32_t whole = 0; whole < std::size(table.cells); ++whole)
    {
        while (code + 2 < THC_LEVELS && table.values[code + 1] <= whole)
        {
            ++code;
        }
        table.cells[whole] = MakeThcCell(code, table.values[code], table.values[code + 1]);
    }
    return table;
}

void
TransformHadamard(std::span<float> values)
{
    float* const data = values.data();
    const auto size = static_cast<uint32_t>(values.size());
    for (const uint32_t stride : STRIDES)
    {
        if (stride >= size)
        {
            continue;
        }
        for (uint32_t begin = 0; begin < size; begin += 2 * stride)
        {
            for (uint32_t i = begin; i < begin + stride; ++i)
            {
                const float a = data[i];
                const float b = data[i + stride];
                data[i] = a + b;
                data[i + stride] = a - b;
            }
        }
    }
}

void
FindThcNorms(std::span<const float> values, std::span<float> norms, uint32_t threads)
{
    ForEachPart(values.size(), threads, [&](const ThcPart& part) {
        std::array<double, THC_LANES> lanes{};
        for (uint32_t i = 0; i < part.elements; ++i)
        {
            const double value = values[part.begin + i];
            lanes[i % THC_LANES] += value * value;
        }
        for (uint32_t half = THC_LANES / 2; half > 0; half /= 2)
        {
            for (uint32_t lane = 0; lane < half; ++lane)
            {
                lanes[lane] += lanes[lane + half];
            }
        }
        norms[part.block] = MakeCanonical(static_cast<float>(std::sqrt(lanes[0])));
    });
}

void
EncodeThc(std::span<const float> values,
          std::span<const float> norms,
          const ThcTable& table,
          const ThcDraw& draw,
          std::span<uint8_t> codes,
          uint32_t threads)
{
    const float slope = GetThcSlope(table.granularity);
    ForEachPart(values.size(), threads, [&](const ThcPart& part) {
        std::array<float, THC_BLOCK> held;
        std::fill_n(held.begin(), part.size, 0.0F);
        const float inverse = MakeThcScale(norms[part.block], table.granularity, part.size).inverse;
        for (uint32_t lane = 0; lane < std::min(THC_LANES, part.elements); ++lane)
        {
            const auto signs =
                DrawThcSigns(draw.iteration, static_cast<uint32_t>(part.block), lane);
            for (uint32_t i = lane; i < part.elements; i += THC_LANES)
            {
                held[i] = TurnThcSign(values[part.begin + i] * inverse, signs, i / THC_LANES);
            }
        }
        TransformHadamard(std::span(held).first(part.size));
        std::fill_n(codes.begin() + static_cast<int64_t>(part.begin / 2),
                    GetThcCodeBytes(part.size),
                    uint8_t{0});
        PhiloxBlock random{};
        for (uint32_t i = 0; i < part.size; ++i)
        {
            const uint64_t coordinate = part.begin + i;
            random =
                i % 4 == 0 ? DrawThcRoundings(draw, static_cast<uint32_t>(coordinate / 4)) : random;
            const float position = GetThcPosition(held[i], slope, table.granularity);
            const uint32_t code = RoundThc(position,
                                           random.words[i % 4],
                                           table.cells[static_cast<uint32_t>(position)]);
            codes[coordinate / 2] |= static_cast<uint8_t>(code << (4 * (coordinate % 2)));
        }
    });
}

void
DecodeThc(std::span<const uint8_t> codes,
          std::span<const float> norms,
          const ThcTable& table,
          uint64_t iteration,
          std::span<float> values,
          uint32_t threads)
{
    DecodeCoordinates(
        norms,
        table.granularity,
        1,
        iteration,
        values,
        threads,
        [&](uint64_t coordinate) -> uint32_t { return table.values[ReadCode(codes, coordinate)]; });
}

void
AddThc(std::span<const uint8_t> codes,
       const ThcTable& table,
       std::span<uint8_t> sums,
       uint32_t threads)
{
    const uint32_t used = ChooseThreads(sums.size(), threads);
    ForEachRange(sums.size(), 2, used, [&](const ElementRange& range) {
        for (uint64_t i = range.begin; i < range.end; ++i)
        {
            sums[i] = static_cast<uint8_t>(sums[i] + table.values[ReadCode(codes, i)]);
        }
    });
}

void
DecodeThcSums(std::span<const uint8_t> sums,
              std::span<const float> norms,
              uint32_t granularity,
              uint32_t workers,
              uint64_t iteration,
              std::span<float> values,
              uint32_t threads)
{
    DecodeCoordinates(norms,
                      granularity,
                      workers,
                      iteration,
                      values,
                      threads,
                      [&](uint64_t coordinate) -> uint32_t { return sums[coordinate]; });
}

} // namespace ns3::gradsync
