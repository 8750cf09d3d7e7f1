// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/gradient-reductions.h"

#include "ns3/feedback-arithmetic.h"
#include "ns3/parallel-ranges.h"
#include "ns3/sparsifier-arithmetic.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

namespace ns3::gradsync
{

namespace
{

/// Adds the upper half of the lanes to the lower one until one is left.
template <typename Number>
Number
AddLanes(std::array<Number, SUM_LANES>& lanes)
{
    for (uint32_t half = SUM_LANES / 2; half > 0; half /= 2)
    {
        for (uint32_t lane = 0; lane < half; ++lane)
        {
            lanes[lane] += lanes[lane + half];
        }
    }
    return lanes[0];
}

/// Sum of convert(values[i]), element i in lane i mod 1024.
template <typename Number, typename Value, typename Convert>
Number
SumInLanes(std::span<const Value> values, const Convert& convert)
{
    std::array<Number, SUM_LANES> lanes{};
    for (size_t begin = 0; begin < values.size(); begin += SUM_LANES)
    {
        const size_t count = std::min<size_t>(SUM_LANES, values.size() - begin);
        for (size_t lane = 0; lane < count; ++lane)
        {
            lanes[lane] += convert(values[begin + lane]);
        }
    }
    return AddLanes(lanes);
}

/// states[i] = rule(states[i], others[i]) on all threads.
template <typename Rule>
void
UpdateAll(std::span<const float> others,
          std::span<float> states,
          uint32_t threads,
          const Rule& rule)
{
    const float* const source = others.data();
    float* const target = states.data();
    const uint32_t used = ChooseThreads(others.size(), threads);
    ForEachRange(others.size(), 1, used, [=](const ElementRange& range) {
        for (uint64_t i = range.begin; i < range.end; ++i)
        {
            target[i] = rule(target[i], source[i]);
        }
    });
}

} // namespace

void
AddDense(std::span<const float> addend, std::span<float> sum, uint32_t threads)
{
    UpdateAll(addend, sum, threads, [](float a, float b) { return AddCanonical(a, b); });
}

void
StepMomentum(std::span<const float> gradient,
             float momentum,
             std::span<float> velocity,
             uint32_t threads)
{
    UpdateAll(gradient, velocity, threads, [momentum](float state, float other) {
        return StepMomentum(other, state, momentum);
    });
}

void
KeepResidual(std::span<const float> received, std::span<float> residual, uint32_t threads)
{
    UpdateAll(received, residual, threads, [](float state, float other) {
        return KeepResidual(state, other);
    });
}

void
AddSparse(const SparseGradient& addend, std::span<float> sum, uint32_t threads)
{
    ForEachRange(addend.indices.size(), 1, threads, [&](const ElementRange& range) {
        for (uint64_t i = range.begin; i < range.end; ++i)
        {
            sum[addend.indices[i]] += addend.values[i];
        }
    });
}

uint64_t
MergeSparse(const std::vector<SparseGradient>& messages,
            std::span<uint32_t> indices,
            std::span<float> values)
{
    constexpr uint64_t END = UINT64_MAX;
    std::vector<size_t> next(messages.size(), 0);
    uint64_t count = 0;
    while (true)
    {
        uint64_t smallest = END;
        for (size_t i = 0; i < messages.size(); ++i)
        {
            if (next[i] < messages[i].indices.size())
            {
                smallest = std::min<uint64_t>(smallest, messages[i].indices[next[i]]);
            }
        }
        if (smallest == END)
        {
            return count;
        }
        bool first = true;
        for (size_t i = 0; i < messages.size(); ++i)
        {
            if (next[i] < messages[i].indices.size() && messages[i].indices[next[i]] == smallest)
            {
                const float value = messages[i].values[next[i]++];
                values[count] = first ? value : values[count] + value;
                first = false;
            }
        }
        indices[count++] = static_cast<uint32_t>(smallest);
    }
}

double
ComputeNorm(std::span<const float> values, uint32_t threads)
{
    const uint64_t blocks = (values.size() + DGT_BLOCK_ELEMENTS - 1) / DGT_BLOCK_ELEMENTS;
    std::vector<double> sums(blocks, 0.0);
    ForEachRange(values.size(), DGT_BLOCK_ELEMENTS, threads, [&](const ElementRange& range) {
        for (uint64_t begin = range.begin; begin < range.end; begin += DGT_BLOCK_ELEMENTS)
        {
            const auto count = std::min<uint64_t>(DGT_BLOCK_ELEMENTS, range.end - begin);
            sums[begin / DGT_BLOCK_ELEMENTS] =
                SumInLanes<double>(values.subspan(begin, count), [](float value) {
                    return static_cast<double>(value) * static_cast<double>(value);
                });
        }
    });
    return std::sqrt(
        SumInLanes<double>(std::span<const double>(sums), [](double sum) { return sum; }));
}

void
ScoreBlocks(std::span<const float> values,
            float memory,
            std::span<float> contributions,
            uint32_t threads)
{
    ForEachRange(values.size(), DGT_BLOCK_ELEMENTS, threads, [&](const ElementRange& range) {
        for (uint64_t begin = range.begin; begin < range.end; begin += DGT_BLOCK_ELEMENTS)
        {
            const auto count = std::min<uint64_t>(DGT_BLOCK_ELEMENTS, range.end - begin);
            auto& contribution = contributions[begin / DGT_BLOCK_ELEMENTS];
            const auto sum = SumInLanes<float>(values.subspan(begin, count), [](float value) {
                return FromBits(MagnitudeKey(value));
            });
            contribution =
                UpdateContribution(contribution, sum, static_cast<uint32_t>(count), memory);
        }
    });
}

uint64_t
FindNonZeroBlocks(std::span<const float> values, std::span<uint32_t> bitmap, uint32_t threads)
{
    constexpr uint64_t WORD_ELEMENTS = 32ULL * ZERO_BLOCK_ELEMENTS;
    ForEachRange(values.size(), WORD_ELEMENTS, threads, [&](const ElementRange& range) {
        for (uint64_t begin = range.begin; begin < range.end; begin += WORD_ELEMENTS)
        {
            uint32_t word = 0;
            const uint64_t end = std::min(range.end, begin + WORD_ELEMENTS);
            for (uint64_t first = begin; first < end; first += ZERO_BLOCK_ELEMENTS)
            {
                uint32_t keys = 0;
                for (uint64_t i = first; i < std::min(end, first + ZERO_BLOCK_ELEMENTS); ++i)
                {
                    keys |= MagnitudeKey(values[i]);
                }
                word |= (keys != 0 ? 1U : 0U) << ((first - begin) / ZERO_BLOCK_ELEMENTS);
            }
            bitmap[begin / WORD_ELEMENTS] = word;
        }
    });
    uint64_t count = 0;
    for (const uint32_t word : bitmap)
    {
        count += static_cast<uint64_t>(std::popcount(word));
    }
    return count;
}

} // namespace ns3::gradsync
