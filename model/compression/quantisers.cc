// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/quantisers.h"

#include "ns3/parallel-ranges.h"
#include "ns3/quantiser-arithmetic.h"

#include <algorithm>
#include <array>

namespace ns3::gradsync
{

namespace
{

uint32_t
FindLargestKey(const float* values, uint64_t count)
{
    // As signed numbers: keys are below 2^31, and SSE2 compares signed integers only.
    int32_t largest = 0;
    for (uint64_t i = 0; i < count; ++i)
    {
        const auto key = static_cast<int32_t>(MagnitudeKey(values[i]));
        largest = key > largest ? key : largest;
    }
    return static_cast<uint32_t>(largest);
}

/// out[i] = convert(in[i]) on all threads.
template <typename In, typename Out, typename Convert>
void
ConvertAll(std::span<const In> in, std::span<Out> out, uint32_t threads, const Convert& convert)
{
    const In* const source = in.data();
    Out* const target = out.data();
    ForEachRange(in.size(), 1, threads, [=](const ElementRange& range) {
        for (uint64_t i = range.begin; i < range.end; ++i)
        {
            target[i] = convert(source[i]);
        }
    });
}

/// work(block, its first element, its elements) on all threads.
template <typename Work>
void
ForEachBlock(uint64_t count, uint32_t blockElements, uint32_t threads, const Work& work)
{
    ForEachRange(count, blockElements, threads, [=](const ElementRange& range) {
        for (uint64_t begin = range.begin; begin < range.end; begin += blockElements)
        {
            work(begin / blockElements,
                 begin,
                 std::min<uint64_t>(blockElements, range.end - begin));
        }
    });
}

/// Codes of up to sixteen elements; inlined for sixteen, which are then done four at once.
inline uint32_t
EncodeWord(const float* gradients, float* residual, uint64_t count, float threshold)
{
    std::array<uint32_t, TWO_BITS_PER_WORD> codes; // of which `count` are set
    for (uint64_t i = 0; i < count; ++i)
    {
        const auto step = EncodeTwoBit(gradients[i], residual[i], threshold);
        codes[i] = step.code;
        residual[i] = step.residual;
    }
    uint32_t word = 0;
    for (uint64_t i = 0; i < count; ++i)
    {
        word |= codes[i] << (2 * i);
    }
    return word;
}

} // namespace

void
EncodeInt8Blocks(std::span<const float> values,
                 uint32_t blockElements,
                 std::span<int8_t> codes,
                 std::span<float> scales,
                 uint32_t threads)
{
    ForEachBlock(values.size(),
                 blockElements,
                 threads,
                 [=](uint64_t block, uint64_t first, uint64_t count) {
                     const float* const source = values.data() + first;
                     int8_t* const target = codes.data() + first;
                     const auto scale = MakeInt8Scale(FindLargestKey(source, count));
                     scales[block] = scale.scale;
                     for (uint64_t i = 0; i < count; ++i)
                     {
                         target[i] = EncodeInt8(source[i], scale.inverse);
                     }
                 });
}

void
DecodeInt8Blocks(std::span<const int8_t> codes,
                 std::span<const float> scales,
                 uint32_t blockElements,
                 std::span<float> values,
                 uint32_t threads)
{
    ForEachBlock(values.size(),
                 blockElements,
                 threads,
                 [=](uint64_t block, uint64_t first, uint64_t count) {
                     const int8_t* const source = codes.data() + first;
                     float* const target = values.data() + first;
                     const float scale = scales[block];
                     for (uint64_t i = 0; i < count; ++i)
                     {
                         target[i] = DecodeInt8(source[i], scale);
                     }
                 });
}

void
EncodeHalf(std::span<const float> values, std::span<uint16_t> codes, uint32_t threads)
{
    ConvertAll(values, codes, threads, [](float value) { return FloatToHalf(value); });
}

void
DecodeHalf(std::span<const uint16_t> codes, std::span<float> values, uint32_t threads)
{
    ConvertAll(codes, values, threads, [](uint16_t code) { return HalfToFloat(code); });
}

void
EncodeBfloat(std::span<const float> values, std::span<uint16_t> codes, uint32_t threads)
{
    ConvertAll(values, codes, threads, [](float value) { return FloatToBfloat(value); });
}

void
DecodeBfloat(std::span<const uint16_t> codes, std::span<float> values, uint32_t threads)
{
    ConvertAll(codes, values, threads, [](uint16_t code) { return BfloatToFloat(code); });
}

void
EncodeTwoBits(std::span<const float> gradients,
              std::span<float> residual,
              float threshold,
              std::span<uint32_t> words,
              uint32_t threads)
{
    ForEachBlock(gradients.size(),
                 TWO_BITS_PER_WORD,
                 threads,
                 [=](uint64_t block, uint64_t first, uint64_t count) {
                     const float* const source = gradients.data() + first;
                     float* const kept = residual.data() + first;
                     words[block] = count == TWO_BITS_PER_WORD
                                        ? EncodeWord(source, kept, TWO_BITS_PER_WORD, threshold)
                                        : EncodeWord(source, kept, count, threshold);
                 });
}

void
DecodeTwoBits(std::span<const uint32_t> words,
              float threshold,
              std::span<float> values,
              uint32_t threads)
{
    // What each byte of a word means: four elements at once.
    std::array<std::array<float, 4>, 256> meanings{};
    for (uint32_t byte = 0; byte < meanings.size(); ++byte)
    {
        for (uint32_t i = 0; i < 4; ++i)
        {
            meanings[byte][i] = DecodeTwoBit((byte >> (2 * i)) & 3U, threshold);
        }
    }
    ForEachBlock(values.size(),
                 TWO_BITS_PER_WORD,
                 threads,
                 [=, &meanings](uint64_t block, uint64_t first, uint64_t count) {
                     float* target = values.data() + first;
                     uint32_t rest = words[block];
                     for (; count >= 4; count -= 4, target += 4, rest >>= 8)
                     {
                         std::copy_n(meanings[rest & 255U].data(), 4, target);
                     }
                     std::copy_n(meanings[rest & 255U].data(), count, target);
                 });
}

void
EncodeFixedPoints(std::span<const float> values,
                  float factor,
                  std::span<int32_t> codes,
                  uint32_t threads)
{
    ConvertAll(values, codes, threads, [factor](float value) {
        return EncodeFixedPoint(value, factor);
    });
}

void
DecodeFixedPoints(std::span<const int32_t> codes,
                  float factor,
                  std::span<float> values,
                  uint32_t threads)
{
    const float inverse = 1.0F / factor;
    ConvertAll(codes, values, threads, [inverse](int32_t code) {
        return DecodeFixedPoint(code, inverse);
    });
}

void
FindPacketExponents(std::span<const float> values,
                    uint32_t packetElements,
                    std::span<int8_t> exponents,
                    uint32_t threads)
{
    ForEachBlock(values.size(),
                 packetElements,
                 threads,
                 [=](uint64_t block, uint64_t first, uint64_t count) {
                     exponents[block] =
                         GetPacketExponent(FindLargestKey(values.data() + first, count));
                 });
}

void
EncodeWithExponents(std::span<const float> values,
                    uint32_t packetElements,
                    uint32_t workers,
                    std::span<const int8_t> exponents,
                    std::span<int32_t> codes,
                    uint32_t threads)
{
    const float factor = GetSumFactor(workers);
    ForEachBlock(values.size(),
                 packetElements,
                 threads,
                 [=](uint64_t block, uint64_t first, uint64_t count) {
                     const float* const source = values.data() + first;
                     int32_t* const target = codes.data() + first;
                     const int8_t exponent = exponents[block];
                     for (uint64_t i = 0; i < count; ++i)
                     {
                         target[i] = EncodeWithExponent(source[i], factor, exponent);
                     }
                 });
}

void
DecodeWithExponents(std::span<const int32_t> sums,
                    uint32_t packetElements,
                    uint32_t workers,
                    std::span<const int8_t> exponents,
                    std::span<float> values,
                    uint32_t threads)
{
    const float factor = GetSumFactor(workers);
    ForEachBlock(sums.size(),
                 packetElements,
                 threads,
                 [=](uint64_t block, uint64_t first, uint64_t count) {
                     const int32_t* const source = sums.data() + first;
                     float* const target = values.data() + first;
                     const int8_t exponent = exponents[block];
                     for (uint64_t i = 0; i < count; ++i)
                     {
                         target[i] = DecodeWithExponent(source[i], factor, exponent);
                     }
                 });
}

} // namespace ns3::gradsync
