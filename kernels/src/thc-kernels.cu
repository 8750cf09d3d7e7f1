// SPDX-License-Identifier: GPL-2.0-only
#include "launch.h"
#include "thc-kernels.h"

namespace ns3::gradsync::kernels
{

namespace
{

static_assert(THREADS == THC_LANES, "a thread has a lane of the block");

constexpr uint32_t PER_THREAD = THC_PER_LANE;
constexpr uint32_t WORD_CODES = 8; //!< codes of 4 bits in a word
constexpr uint32_t WORD_SUMS = 4;

/// A word more after every sixteen: threads that read sixteen in a row then have banks of their
/// own.
constexpr uint32_t HELD_WORDS = THC_BLOCK + THC_BLOCK / PER_THREAD;

/// The block of elements that a block of threads transforms.
struct Part
{
    uint64_t begin;
    uint32_t elements;
    uint32_t size; //!< of the transform
};

__device__ inline Part
FindPart(uint64_t count)
{
    const uint64_t begin = static_cast<uint64_t>(blockIdx.x) * THC_BLOCK;
    const uint64_t rest = count - begin;
    const auto elements = static_cast<uint32_t>(rest < THC_BLOCK ? rest : THC_BLOCK);
    return {begin, elements, GetThcSize(elements)};
}

/// First and distance of the sixteen coordinates that a thread holds: every 256th, every 16th of
/// 256, or sixteen in a row.
struct Hold
{
    uint32_t first;
    uint32_t stride;
};

__device__ inline Hold
HoldFar()
{
    return {threadIdx.x, THREADS};
}

__device__ inline Hold
HoldMiddle()
{
    return {threadIdx.x % PER_THREAD + THREADS * (threadIdx.x / PER_THREAD), PER_THREAD};
}

__device__ inline Hold
HoldNear()
{
    return {PER_THREAD * threadIdx.x, 1};
}

/// The four butterflies among what a thread holds; those beyond the transform are left out.
__device__ inline void
TransformHeld(float (&own)[PER_THREAD], const Hold& hold, uint32_t size)
{
#pragma unroll
    for (uint32_t distance = 1; distance < PER_THREAD; distance *= 2)
    {
        if (hold.stride * distance < size)
        {
#pragma unroll
            for (uint32_t i = 0; i < PER_THREAD; ++i)
            {
                if ((i & distance) == 0)
                {
                    const float a = own[i];
                    const float b = own[i + distance];
                    own[i] = a + b;
                    own[i + distance] = a - b;
                }
            }
        }
    }
}

/// Gives what threads hold to those that hold it next. A thread writes only where it was the one to
/// read in the exchange before, so that no barrier need come between them.
__device__ inline void
Exchange(float (&own)[PER_THREAD], const Hold& from, const Hold& to, float* held)
{
#pragma unroll
    for (uint32_t i = 0; i < PER_THREAD; ++i)
    {
        const uint32_t place = from.first + from.stride * i;
        held[place + place / PER_THREAD] = own[i];
    }
    __syncthreads();
#pragma unroll
    for (uint32_t i = 0; i < PER_THREAD; ++i)
    {
        const uint32_t place = to.first + to.stride * i;
        own[i] = held[place + place / PER_THREAD];
    }
}

__global__ void
__launch_bounds__(THREADS)
    FindThcNormsKernel(const float* __restrict__ values, uint64_t count, float* __restrict__ norms)
{
    __shared__ double lanes[THC_LANES];
    const Part part = FindPart(count);
    double sum = 0.0;
#pragma unroll
    for (uint32_t i = 0; i < PER_THREAD; ++i)
    {
        const uint32_t element = threadIdx.x + THREADS * i;
        const double value = element < part.elements ? values[part.begin + element] : 0.0F;
        sum += value * value;
    }
    lanes[threadIdx.x] = sum;
    for (uint32_t half = THC_LANES / 2; half > 0; half /= 2)
    {
        __syncthreads();
        if (threadIdx.x < half)
        {
            lanes[threadIdx.x] += lanes[threadIdx.x + half];
        }
    }
    if (threadIdx.x == 0)
    {
        norms[blockIdx.x] = MakeCanonical(static_cast<float>(sqrt(lanes[0])));
    }
}

/// Stores the codes of the sixteen coordinates from `first` on that are below `size`.
__device__ inline void
StoreCodes(uint8_t* codes, uint32_t first, uint32_t size, const uint32_t (&words)[2])
{
    if (first + PER_THREAD <= size)
    {
        auto* const where = reinterpret_cast<uint32_t*>(codes + first / 2);
        where[0] = words[0];
        where[1] = words[1];
        return;
    }
    for (uint32_t i = first; i < size; i += 2)
    {
        codes[i / 2] = static_cast<uint8_t>(words[0] >> (4 * i)); // of which there are at most 8
    }
}

__global__ void
__launch_bounds__(THREADS) EncodeThcKernel(const float* __restrict__ values,
                                           uint64_t count,
                                           const float* __restrict__ norms,
                                           ThcTable table,
                                           ThcDraw draw,
                                           uint8_t* __restrict__ codes)
{
    __shared__ float held[HELD_WORDS];
    __shared__ uint32_t cells[THREADS];
    cells[threadIdx.x] = table.cells[threadIdx.x];
    const Part part = FindPart(count);
    const float inverse = MakeThcScale(norms[blockIdx.x], table.granularity, part.size).inverse;
    const uint32_t signs = DrawThcSigns(draw.iteration, blockIdx.x, threadIdx.x);
    float own[PER_THREAD];
#pragma unroll
    for (uint32_t i = 0; i < PER_THREAD; ++i)
    {
        const uint32_t element = threadIdx.x + THREADS * i;
        const float value = element < part.elements ? values[part.begin + element] * inverse : 0.0F;
        own[i] = element < part.elements ? TurnThcSign(value, signs, i) : 0.0F;
    }
    TransformHeld(own, HoldFar(), part.size);
    Exchange(own, HoldFar(), HoldMiddle(), held);
    TransformHeld(own, HoldMiddle(), part.size);
    Exchange(own, HoldMiddle(), HoldNear(), held);
    TransformHeld(own, HoldNear(), part.size);
    const uint32_t first = HoldNear().first;
    const float slope = GetThcSlope(table.granularity);
    uint32_t words[2] = {0, 0};
#pragma unroll
    for (uint32_t quad = 0; quad < PER_THREAD / 4; ++quad)
    {
        const auto place = static_cast<uint32_t>((part.begin + first) / 4) + quad;
        const PhiloxBlock random = DrawThcRoundings(draw, place);
#pragma unroll
        for (uint32_t i = 0; i < 4; ++i)
        {
            const uint32_t index = 4 * quad + i;
            const float position = GetThcPosition(own[index], slope, table.granularity);
            const uint32_t cell = cells[static_cast<uint32_t>(position)];
            const uint32_t code = RoundThc(position, random.words[i], cell);
            words[index / WORD_CODES] |= (first + index < part.size ? code : 0U)
                                         << (4 * (index % WORD_CODES));
        }
    }
    StoreCodes(codes + part.begin / 2, first, part.size, words);
}

/// Reads sums of table values: of one message, as codes.
struct CodeReader
{
    const uint8_t* codes;

    /// Of the sixteen coordinates from `first` on; those from `size` on are 0.
    __device__ void Read(uint64_t begin,
                         uint32_t first,
                         uint32_t size,
                         const uint32_t* levels,
                         uint32_t (&sums)[PER_THREAD]) const
    {
        uint32_t words[2] = {0, 0};
        const uint8_t* const from = codes + begin / 2 + first / 2;
        if (first + PER_THREAD <= size)
        {
            words[0] = reinterpret_cast<const uint32_t*>(from)[0];
            words[1] = reinterpret_cast<const uint32_t*>(from)[1];
        }
        else
        {
            for (uint32_t i = first; i < size; i += 2)
            {
                words[0] |= static_cast<uint32_t>(from[i / 2]) << (4 * i);
            }
        }
#pragma unroll
        for (uint32_t i = 0; i < PER_THREAD; ++i)
        {
            const uint32_t code = (words[i / WORD_CODES] >> (4 * (i % WORD_CODES))) & 0xfU;
            sums[i] = levels[code];
        }
    }
};

/// Of several messages, as sums.
struct SumReader
{
    const uint8_t* sums;

    __device__ void Read(uint64_t begin,
                         uint32_t first,
                         uint32_t size,
                         const uint32_t*,
                         uint32_t (&read)[PER_THREAD]) const
    {
        const uint8_t* const from = sums + begin + first;
        if (first + PER_THREAD <= size)
        {
#pragma unroll
            for (uint32_t word = 0; word < PER_THREAD / WORD_SUMS; ++word)
            {
                const uint32_t four = reinterpret_cast<const uint32_t*>(from)[word];
#pragma unroll
                for (uint32_t i = 0; i < WORD_SUMS; ++i)
                {
                    read[WORD_SUMS * word + i] = (four >> (8 * i)) & 0xffU;
                }
            }
            return;
        }
#pragma unroll
        for (uint32_t i = 0; i < PER_THREAD; ++i)
        {
            read[i] = first + i < size ? from[i] : 0U;
        }
    }
};

template <typename Reader>
__global__ void
__launch_bounds__(THREADS) DecodeThcKernel(Reader reader,
                                           const float* __restrict__ norms,
                                           uint64_t count,
                                           ThcTable table,
                                           uint32_t workers,
                                           uint64_t iteration,
                                           float* __restrict__ values)
{
    __shared__ float held[HELD_WORDS];
    __shared__ uint32_t levels[THC_LEVELS];
    if (threadIdx.x < THC_LEVELS)
    {
        levels[threadIdx.x] = table.values[threadIdx.x];
    }
    __syncthreads();
    const Part part = FindPart(count);
    const uint32_t first = HoldNear().first;
    uint32_t sums[PER_THREAD];
    reader.Read(part.begin, first, part.size, levels, sums);
    float own[PER_THREAD];
#pragma unroll
    for (uint32_t i = 0; i < PER_THREAD; ++i)
    {
        const float whole = CentreThc(sums[i], table.granularity * workers);
        own[i] = first + i < part.size ? whole : 0.0F;
    }
    // In the other order than the encoder: sums of whole numbers are exact in any.
    TransformHeld(own, HoldNear(), part.size);
    Exchange(own, HoldNear(), HoldMiddle(), held);
    TransformHeld(own, HoldMiddle(), part.size);
    Exchange(own, HoldMiddle(), HoldFar(), held);
    TransformHeld(own, HoldFar(), part.size);
    const float step = MakeThcScale(norms[blockIdx.x], table.granularity, part.size).step;
    const uint32_t signs = DrawThcSigns(iteration, blockIdx.x, threadIdx.x);
#pragma unroll
    for (uint32_t i = 0; i < PER_THREAD; ++i)
    {
        const uint32_t element = threadIdx.x + THREADS * i;
        if (element < part.elements)
        {
            values[part.begin + element] = gradsync::DecodeThc(TurnThcSign(own[i], signs, i), step);
        }
    }
}

/// A thread adds a word of codes to two words of sums.
__global__ void
__launch_bounds__(THREADS) AddThcKernel(const uint8_t* __restrict__ codes,
                                        uint64_t coordinates,
                                        ThcTable table,
                                        uint8_t* __restrict__ sums)
{
    __shared__ uint32_t levels[THC_LEVELS];
    if (threadIdx.x < THC_LEVELS)
    {
        levels[threadIdx.x] = table.values[threadIdx.x];
    }
    __syncthreads();
    const uint64_t first = WORD_CODES * (static_cast<uint64_t>(blockIdx.x) * THREADS + threadIdx.x);
    if (first + WORD_CODES <= coordinates)
    {
        const uint32_t word = *reinterpret_cast<const uint32_t*>(codes + first / 2);
        auto* const where = reinterpret_cast<uint32_t*>(sums + first);
        uint32_t added[2] = {0, 0};
#pragma unroll
        for (uint32_t i = 0; i < WORD_CODES; ++i)
        {
            const uint32_t value = levels[(word >> (4 * i)) & 0xfU];
            added[i / WORD_SUMS] |= value << (8 * (i % WORD_SUMS));
        }
        where[0] += added[0]; // no sum exceeds 255, so that none carries into its neighbour
        where[1] += added[1];
        return;
    }
    for (uint64_t i = first; i < coordinates; ++i)
    {
        const uint32_t code = (codes[i / 2] >> (4 * (i % 2))) & 0xfU;
        sums[i] = static_cast<uint8_t>(sums[i] + levels[code]);
    }
}

uint32_t
CountParts(uint64_t count)
{
    return static_cast<uint32_t>((count + THC_BLOCK - 1) / THC_BLOCK);
}

} // namespace

cudaError_t
FindThcNorms(const float* values, uint64_t count, float* norms, cudaStream_t stream)
{
    if (count > 0)
    {
        Launch<FindThcNormsKernel>(CountParts(count), THREADS, stream, values, count, norms);
    }
    return cudaGetLastError();
}

cudaError_t
EncodeThc(const float* values,
          uint64_t count,
          const float* norms,
          const ThcTable& table,
          const ThcDraw& draw,
          uint8_t* codes,
          cudaStream_t stream)
{
    if (count > 0)
    {
        Launch<EncodeThcKernel>(CountParts(count),
                                THREADS,
                                stream,
                                values,
                                count,
                                norms,
                                table,
                                draw,
                                codes);
    }
    return cudaGetLastError();
}

cudaError_t
DecodeThc(const uint8_t* codes,
          const float* norms,
          uint64_t count,
          const ThcTable& table,
          uint64_t iteration,
          float* values,
          cudaStream_t stream)
{
    if (count > 0)
    {
        Launch<DecodeThcKernel<CodeReader>>(CountParts(count),
                                            THREADS,
                                            stream,
                                            CodeReader{codes},
                                            norms,
                                            count,
                                            table,
                                            1U,
                                            iteration,
                                            values);
    }
    return cudaGetLastError();
}

cudaError_t
AddThc(const uint8_t* codes,
       uint64_t coordinates,
       const ThcTable& table,
       uint8_t* sums,
       cudaStream_t stream)
{
    if (coordinates > 0)
    {
        Launch<AddThcKernel>(CountThreadBlocks((coordinates + WORD_CODES - 1) / WORD_CODES),
                             THREADS,
                             stream,
                             codes,
                             coordinates,
                             table,
                             sums);
    }
    return cudaGetLastError();
}

cudaError_t
DecodeThcSums(const uint8_t* sums,
              const float* norms,
              uint64_t count,
              uint32_t granularity,
              uint32_t workers,
              uint64_t iteration,
              float* values,
              cudaStream_t stream)
{
    ThcTable table{};
    table.granularity = granularity;
    if (count > 0)
    {
        Launch<DecodeThcKernel<SumReader>>(CountParts(count),
                                           THREADS,
                                           stream,
                                           SumReader{sums},
                                           norms,
                                           count,
                                           table,
                                           workers,
                                           iteration,
                                           values);
    }
    return cudaGetLastError();
}

} // namespace ns3::gradsync::kernels
