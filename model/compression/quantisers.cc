// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/quantisers.h"

#include "ns3/parallel-ranges.h"
#include "ns3/quantiser-arithmetic.h"

#include <algorithm>
#include <array>
#include <stdexcept>

namespace ns3::gradsync
{

namespace
{

/// convert(source, elements, target) for a part of the arrays on each thread.
template <typename In, typename Out, typename Convert>
void
ConvertAll(std::span<const In> in, std::span<Out> out, uint32_t threads, const Convert& convert)
{
    const In* const source = in.data();
    Out* const target = out.data();
    ForEachRange(in.size(), 1, threads, [=](const ElementRange& range) {
        convert(source + range.begin, range.end - range.begin, target + range.begin);
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

/// How `elements` results are written: streamed, where they and what they are made of would push
/// each other out of the caches that a core has to itself (of this order on today's processors).
Stores
ChooseStores(uint64_t elements)
{
    constexpr uint64_t FEWEST_STREAMED = 1U << 20; // 4 MiB of values
    return elements >= FEWEST_STREAMED ? Stores::Streamed : Stores::Cached;
}

void
CheckByteWorkers(uint32_t workers)
{
    if (workers == 0 || workers > BYTE_SUM_MAXIMUM)
    {
        throw std::invalid_argument("a sum in 8 bits is that of 1 to 127 workers");
    }
}

} // namespace

void
EncodeInt8Blocks(std::span<const float> values,
                 uint32_t blockElements,
                 std::span<int8_t> codes,
                 std::span<float> scales,
                 uint32_t threads,
                 InstructionSet instructions)
{
    const auto& loops = GetQuantiserLoops(instructions);
    const Stores stores = ChooseStores(values.size());
    ForEachRange(values.size(), blockElements, threads, [=, &loops](const ElementRange& range) {
        const auto count = [&range, blockElements](uint64_t first) {
            return std::min<uint64_t>(blockElements, range.end - first);
        };
        const float* const source = values.data();
        uint32_t key = loops.findLargestKey(source + range.begin, count(range.begin));
        for (uint64_t first = range.begin; first < range.end;)
        {
            const auto scale = MakeInt8Scale(key);
            scales[first / blockElements] = scale.scale;
            const uint64_t next = first + count(first);
            key = loops.encodeInt8AndLook(source + first,
                                          next - first,
                                          scale.inverse,
                                          codes.data() + first,
                                          source + next,
                                          count(next),
                                          stores);
            first = next;
        }
    });
}

void
DecodeInt8Blocks(std::span<const int8_t> codes,
                 std::span<const float> scales,
                 uint32_t blockElements,
                 std::span<float> values,
                 uint32_t threads,
                 InstructionSet instructions)
{
    const auto decode = GetQuantiserLoops(instructions).decodeInt8;
    const Stores stores = ChooseStores(values.size());
    ForEachBlock(
        values.size(),
        blockElements,
        threads,
        [=](uint64_t block, uint64_t first, uint64_t count) {
            decode(codes.data() + first, count, scales[block], values.data() + first, stores);
        });
}

void
EncodeHalf(std::span<const float> values,
           std::span<uint16_t> codes,
           uint32_t threads,
           InstructionSet instructions)
{
    ConvertAll(values, codes, threads, GetQuantiserLoops(instructions).encodeHalf);
}

void
DecodeHalf(std::span<const uint16_t> codes,
           std::span<float> values,
           uint32_t threads,
           InstructionSet instructions)
{
    ConvertAll(codes, values, threads, GetQuantiserLoops(instructions).decodeHalf);
}

void
EncodeBfloat(std::span<const float> values,
             std::span<uint16_t> codes,
             uint32_t threads,
             InstructionSet instructions)
{
    ConvertAll(values, codes, threads, GetQuantiserLoops(instructions).encodeBfloat);
}

void
DecodeBfloat(std::span<const uint16_t> codes,
             std::span<float> values,
             uint32_t threads,
             InstructionSet instructions)
{
    ConvertAll(codes, values, threads, GetQuantiserLoops(instructions).decodeBfloat);
}

void
EncodeTwoBits(std::span<const float> gradients,
              std::span<float> residual,
              float threshold,
              std::span<uint32_t> words,
              uint32_t threads,
              InstructionSet instructions)
{
    const auto encode = GetQuantiserLoops(instructions).encodeTwoBits;
    ForEachRange(gradients.size(), TWO_BITS_PER_WORD, threads, [=](const ElementRange& range) {
        encode(gradients.data() + range.begin,
               residual.data() + range.begin,
               range.end - range.begin,
               threshold,
               words.data() + range.begin / TWO_BITS_PER_WORD);
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
                  uint32_t threads,
                  InstructionSet instructions)
{
    const auto encode = GetQuantiserLoops(instructions).encodeFixedPoint;
    ConvertAll(values, codes, threads, [=](const float* in, uint64_t count, int32_t* out) {
        encode(in, count, factor, out);
    });
}

void
DecodeFixedPoints(std::span<const int32_t> codes,
                  float factor,
                  std::span<float> values,
                  uint32_t threads,
                  InstructionSet instructions)
{
    const auto decode = GetQuantiserLoops(instructions).decodeFixedPoint;
    const float inverse = 1.0F / factor;
    ConvertAll(codes, values, threads, [=](const int32_t* in, uint64_t count, float* out) {
        decode(in, count, inverse, out);
    });
}

void
FindPacketExponents(std::span<const float> values,
                    uint32_t packetElements,
                    std::span<int8_t> exponents,
                    uint32_t threads,
                    InstructionSet instructions)
{
    const auto find = GetQuantiserLoops(instructions).findLargestKey;
    ForEachBlock(values.size(),
                 packetElements,
                 threads,
                 [=](uint64_t block, uint64_t first, uint64_t count) {
                     exponents[block] = GetPacketExponent(find(values.data() + first, count));
                 });
}

void
EncodeWithExponents(std::span<const float> values,
                    uint32_t packetElements,
                    uint32_t workers,
                    std::span<const int8_t> exponents,
                    std::span<int32_t> codes,
                    uint32_t threads,
                    InstructionSet instructions)
{
    const auto encode = GetQuantiserLoops(instructions).encodeWithExponent;
    const float factor = GetSumFactor(workers);
    ForEachBlock(
        values.size(),
        packetElements,
        threads,
        [=](uint64_t block, uint64_t first, uint64_t count) {
            encode(values.data() + first, count, factor, exponents[block], codes.data() + first);
        });
}

void
DecodeWithExponents(std::span<const int32_t> sums,
                    uint32_t packetElements,
                    uint32_t workers,
                    std::span<const int8_t> exponents,
                    std::span<float> values,
                    uint32_t threads,
                    InstructionSet instructions)
{
    const auto decode = GetQuantiserLoops(instructions).decodeWithExponent;
    const float factor = GetSumFactor(workers);
    ForEachBlock(
        sums.size(),
        packetElements,
        threads,
        [=](uint64_t block, uint64_t first, uint64_t count) {
            decode(sums.data() + first, count, factor, exponents[block], values.data() + first);
        });
}

void
EncodeBytesWithExponents(std::span<const float> values,
                         uint32_t packetElements,
                         uint32_t workers,
                         std::span<const int8_t> exponents,
                         std::span<int8_t> codes,
                         uint32_t threads,
                         InstructionSet instructions)
{
    CheckByteWorkers(workers);
    const auto encode = GetQuantiserLoops(instructions).encodeByteWithExponent;
    const float share = GetByteShare(workers);
    ForEachBlock(
        values.size(),
        packetElements,
        threads,
        [=](uint64_t block, uint64_t first, uint64_t count) {
            encode(values.data() + first, count, share, exponents[block], codes.data() + first);
        });
}

void
DecodeBytesWithExponents(std::span<const int8_t> sums,
                         uint32_t packetElements,
                         uint32_t workers,
                         std::span<const int8_t> exponents,
                         std::span<float> values,
                         uint32_t threads,
                         InstructionSet instructions)
{
    CheckByteWorkers(workers);
    const auto decode = GetQuantiserLoops(instructions).decodeByteWithExponent;
    const float inverse = 1.0F / GetByteShare(workers);
    ForEachBlock(
        sums.size(),
        packetElements,
        threads,
        [=](uint64_t block, uint64_t first, uint64_t count) {
            decode(sums.data() + first, count, inverse, exponents[block], values.data() + first);
        });
}

} // namespace ns3::gradsync
