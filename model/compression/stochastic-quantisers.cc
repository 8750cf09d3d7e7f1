// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/stochastic-quantisers.h"

#include "ns3/parallel-ranges.h"
#include "ns3/quantisers.h"

#include <algorithm>
#include <array>

namespace ns3::gradsync
{

namespace
{

/// Elements that are done at once: sixteen draws of four, and whole words of all codes.
constexpr uint32_t CHUNK = 64;

/// Elements whose squares are added before the sums are; those go over as many lanes.
constexpr uint64_t STRIP_ELEMENTS = TERNARY_STRIP_ELEMENTS;
constexpr uint32_t STRIP_LANES = 1024;
constexpr uint32_t WARP_LANES = 32;

/// work(first element, elements) for each chunk, on all threads.
template <typename Work>
void
ForEachChunk(uint64_t count, uint32_t threads, const Work& work)
{
    ForEachRange(count, CHUNK, threads, [&work](const ElementRange& range) {
        for (uint64_t first = range.begin; first < range.end; first += CHUNK)
        {
            work(first, std::min<uint64_t>(CHUNK, range.end - first));
        }
    });
}

using RandomChunk = std::array<uint32_t, CHUNK>;

RandomChunk
DrawChunk(const RandomStream& stream, uint64_t first)
{
    RandomChunk numbers;
    for (uint32_t group = 0; group < CHUNK / 4; ++group)
    {
        const PhiloxBlock four = DrawFour(stream, first / 4 + group);
        std::copy_n(four.words, 4, numbers.begin() + size_t{4} * group);
    }
    return numbers;
}

/// Adds the upper half to the lower one until one of the 32 is left, as the lanes of a warp do.
double
AddWarp(double* lanes)
{
    for (uint32_t half = WARP_LANES / 2; half > 0; half /= 2)
    {
        for (uint32_t lane = 0; lane < half; ++lane)
        {
            lanes[lane] += lanes[lane + half];
        }
    }
    return lanes[0];
}

/// Element i in lane i mod 128; then each thread of a warp adds its four, and the warp all.
double
SumSquares(std::span<const float> values)
{
    std::array<double, SQUARE_LANES> lanes{};
    for (size_t begin = 0; begin < values.size(); begin += SQUARE_LANES)
    {
        const size_t count = std::min<size_t>(SQUARE_LANES, values.size() - begin);
        for (size_t lane = 0; lane < count; ++lane)
        {
            const double value = values[begin + lane];
            lanes[lane] += value * value;
        }
    }
    std::array<double, WARP_LANES> sums;
    for (uint32_t lane = 0; lane < WARP_LANES; ++lane)
    {
        const double* const own = lanes.data() + size_t{4} * lane;
        sums[lane] = (own[0] + own[2]) + (own[1] + own[3]);
    }
    return AddWarp(sums.data());
}

uint32_t
FindLargestMagnitude(std::span<const float> values)
{
    int32_t largest = 0; // as signed numbers, which SSE2 compares
    for (const float value : values)
    {
        const auto key = static_cast<int32_t>(MagnitudeKey(value));
        largest = key > largest ? key : largest;
    }
    return static_cast<uint32_t>(largest);
}

using ScaleChunk = std::array<float, CHUNK>;

/// convert(norm) of the bucket of each of the chunk's elements.
template <typename Convert>
ScaleChunk
SpreadNorms(std::span<const float> norms,
            uint32_t blockElements,
            uint64_t first,
            uint64_t count,
            const Convert& convert)
{
    ScaleChunk scales{};
    uint64_t bucket = first / blockElements;
    for (uint64_t i = 0; i < count; ++bucket)
    {
        const uint64_t end = std::min((bucket + 1) * blockElements - first, count);
        std::fill(scales.begin() + i, scales.begin() + end, convert(norms[bucket]));
        i = end;
    }
    return scales;
}

using CodeChunk = std::array<uint8_t, CHUNK>;

/// Puts codes of 2, 4 or 8 bits side by side.
void
PackCodes(const CodeChunk& codes, uint32_t bits, std::span<uint8_t> bytes)
{
    const uint32_t perByte = 8 / bits;
    for (size_t i = 0; i < bytes.size(); ++i)
    {
        uint32_t byte = 0;
        for (uint32_t j = 0; j < perByte; ++j)
        {
            byte |= static_cast<uint32_t>(codes[i * perByte + j]) << (j * bits);
        }
        bytes[i] = static_cast<uint8_t>(byte);
    }
}

CodeChunk
UnpackCodes(std::span<const uint8_t> bytes, uint32_t bits)
{
    CodeChunk codes{};
    const uint32_t perByte = 8 / bits;
    const uint32_t mask = (1U << bits) - 1U;
    for (size_t i = 0; i < bytes.size(); ++i)
    {
        for (uint32_t j = 0; j < perByte; ++j)
        {
            codes[i * perByte + j] = static_cast<uint8_t>(bytes[i] >> (j * bits) & mask);
        }
    }
    return codes;
}

} // namespace

void
EncodeQsgdBuckets(std::span<const float> values,
                  uint32_t blockElements,
                  uint32_t levels,
                  const RandomStream& stream,
                  std::span<uint8_t> codes,
                  std::span<float> norms,
                  uint32_t threads)
{
    ForEachRange(values.size(), blockElements, threads, [&](const ElementRange& range) {
        for (uint64_t first = range.begin; first < range.end; first += blockElements)
        {
            const auto count = std::min<uint64_t>(blockElements, range.end - first);
            norms[first / blockElements] = MakeQsgdNorm(SumSquares(values.subspan(first, count)));
        }
    });
    const uint32_t bits = GetQsgdBits(levels);
    const auto most = static_cast<float>(levels);
    ForEachChunk(values.size(), threads, [&](uint64_t first, uint64_t count) {
        const auto random = DrawChunk(stream, first);
        const auto inverses = SpreadNorms(norms, blockElements, first, count, [=](float norm) {
            return GetQsgdInverse(norm, levels);
        });
        CodeChunk chunk{};
        for (uint64_t i = 0; i < count; ++i)
        {
            chunk[i] = static_cast<uint8_t>(
                EncodeQsgd(values[first + i], inverses[i], most, random[i], bits));
        }
        PackCodes(chunk, bits, codes.subspan(first * bits / 8, CountQsgdBytes(count, levels)));
    });
}

void
DecodeQsgdBuckets(std::span<const uint8_t> codes,
                  std::span<const float> norms,
                  uint32_t blockElements,
                  uint32_t levels,
                  std::span<float> values,
                  uint32_t threads)
{
    const uint32_t bits = GetQsgdBits(levels);
    ForEachChunk(values.size(), threads, [&](uint64_t first, uint64_t count) {
        const auto bytes = CountQsgdBytes(count, levels);
        const auto chunk = UnpackCodes(codes.subspan(first * bits / 8, bytes), bits);
        const auto steps = SpreadNorms(norms, blockElements, first, count, [=](float norm) {
            return GetQsgdStep(norm, levels);
        });
        for (uint64_t i = 0; i < count; ++i)
        {
            values[first + i] = DecodeQsgd(chunk[i], steps[i], bits);
        }
    });
}

float
FindTernaryScaler(std::span<const float> values, double clipDeviations, uint32_t threads)
{
    const auto strips = CountBlocks(values.size(), STRIP_ELEMENTS);
    std::vector<double> squares(strips);
    std::vector<uint32_t> largest(strips);
    ForEachRange(values.size(), STRIP_ELEMENTS, threads, [&](const ElementRange& range) {
        for (uint64_t first = range.begin; first < range.end; first += STRIP_ELEMENTS)
        {
            const auto count = std::min<uint64_t>(STRIP_ELEMENTS, range.end - first);
            const auto strip = values.subspan(first, count);
            squares[first / STRIP_ELEMENTS] = SumSquares(strip);
            largest[first / STRIP_ELEMENTS] = FindLargestMagnitude(strip);
        }
    });
    std::array<double, STRIP_LANES> lanes{};
    for (uint64_t strip = 0; strip < strips; ++strip)
    {
        lanes[strip % STRIP_LANES] += squares[strip];
    }
    std::array<double, STRIP_LANES / WARP_LANES> warps;
    for (uint32_t warp = 0; warp < warps.size(); ++warp)
    {
        warps[warp] = AddWarp(lanes.data() + size_t{WARP_LANES} * warp);
    }
    return values.empty() ? 0.0F
                          : MakeTernaryScaler(*std::ranges::max_element(largest),
                                              AddWarp(warps.data()),
                                              values.size(),
                                              clipDeviations);
}

void
EncodeTernaryWords(std::span<const float> values,
                   float scaler,
                   const RandomStream& stream,
                   std::span<uint32_t> words,
                   uint32_t threads)
{
    const float inverse = GetTernaryInverse(scaler);
    const std::span bytes(reinterpret_cast<uint8_t*>(words.data()), words.size_bytes());
    ForEachChunk(values.size(), threads, [&](uint64_t first, uint64_t count) {
        const auto random = DrawChunk(stream, first);
        CodeChunk chunk{};
        for (uint64_t i = 0; i < count; ++i)
        {
            chunk[i] = static_cast<uint8_t>(EncodeTernary(values[first + i], inverse, random[i]));
        }
        // Whole words: what is behind the last element is 0.
        PackCodes(chunk, 2, bytes.subspan(first / 4, 4 * CountBlocks(count, TWO_BITS_PER_WORD)));
    });
}

void
DecodeTernaryWords(std::span<const uint32_t> words,
                   float scaler,
                   std::span<float> values,
                   uint32_t threads)
{
    const std::span bytes(reinterpret_cast<const uint8_t*>(words.data()), words.size_bytes());
    ForEachChunk(values.size(), threads, [&](uint64_t first, uint64_t count) {
        const auto chunk = UnpackCodes(bytes.subspan(first / 4, CountBlocks(count, 4)), 2);
        for (uint64_t i = 0; i < count; ++i)
        {
            values[first + i] = DecodeTernary(chunk[i], scaler);
        }
    });
}

} // namespace ns3::gradsync
