// SPDX-License-Identifier: GPL-2.0-only
#include "low-rank-kernels.h"
#include "low-rank-shape.h"
#include "warp-sums.h"

namespace ns3::gradsync::kernels
{

namespace
{

constexpr uint32_t TILE_COLUMNS = 4 * WARP;
static_assert(LOW_RANK_LANES == 4 * WARP, "a lane of a warp owns those of one float4");
static_assert(WARPS * LOW_RANK_EIGHTH == LOW_RANK_STRIP, "a warp has an eighth of a strip");
static_assert(WARPS == 8 && GROUP <= WARPS, "eighths are added by one warp for each column");

__device__ inline float
ShuffleFloat(float value, uint32_t lane)
{
    return FromBits(__shfl_sync(ALL_LANES, ToBits(value), static_cast<int>(lane)));
}

/// The sum over the lanes of a warp by halves; the same in all lanes.
__device__ inline float
AddFloats(float value)
{
    const uint32_t lane = threadIdx.x % WARP;
#pragma unroll
    for (uint32_t half = WARP / 2; half > 0; half /= 2)
    {
        value += ShuffleFloat(value, lane ^ half);
    }
    return value;
}

/// sum += a * b, four times.
__device__ inline void
AddProducts(float4& sum, const float4& a, const float4& b)
{
    sum.x += a.x * b.x;
    sum.y += a.y * b.y;
    sum.z += a.z * b.z;
    sum.w += a.w * b.w;
}

__device__ inline float4
AddVectors(const float4& a, const float4& b)
{
    return {a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w};
}

__device__ inline float4
MakeCanonicalVector(const float4& a)
{
    return {MakeCanonical(a.x), MakeCanonical(a.y), MakeCanonical(a.z), MakeCanonical(a.w)};
}

/// A block of threads per column of Q.
__global__ void
__launch_bounds__(THREADS) RestartColumnsKernel(float* __restrict__ q, uint32_t rows)
{
    __shared__ uint32_t isSet;    // whether any is not 0
    __shared__ uint32_t isBroken; // whether any is not finite
    float* const column = q + static_cast<uint64_t>(blockIdx.x) * rows;
    if (threadIdx.x == 0)
    {
        isSet = 0;
        isBroken = 0;
    }
    __syncthreads();
    constexpr uint32_t AT_ONCE =
        8; // loads under way: few threads run, and each takes a microsecond
    uint32_t keys = 0;
    uint32_t broken = 0;
#pragma unroll 1
    for (uint32_t begin = 4 * threadIdx.x; begin < rows; begin += AT_ONCE * 4 * THREADS)
    {
        float4 next[AT_ONCE];
#pragma unroll
        for (uint32_t i = 0; i < AT_ONCE; ++i)
        {
            const uint32_t row = begin + i * 4 * THREADS; // rows are a multiple of 4
            next[i] = row < rows ? *reinterpret_cast<const float4*>(column + row) : float4{};
        }
#pragma unroll
        for (const float4& four : next)
        {
            const uint32_t each[4] = {MagnitudeKey(four.x),
                                      MagnitudeKey(four.y),
                                      MagnitudeKey(four.z),
                                      MagnitudeKey(four.w)};
            keys |= each[0] | each[1] | each[2] | each[3];
            broken |= IsKeyFinite(max(max(each[0], each[1]), max(each[2], each[3]))) ? 0U : 1U;
        }
    }
    if (keys != 0)
    {
        atomicOr(&isSet, 1U);
    }
    if (broken != 0)
    {
        atomicOr(&isBroken, 1U);
    }
    __syncthreads();
    if (isSet != 0 && isBroken == 0)
    {
        return;
    }
#pragma unroll 1
    for (uint32_t quad = threadIdx.x; quad < rows / 4; quad += THREADS)
    {
        const PhiloxBlock four = DrawLowRankStart(blockIdx.x, quad);
        *reinterpret_cast<float4*>(column + 4 * quad) = float4{ToLowRankStart(four.words[0]),
                                                               ToLowRankStart(four.words[1]),
                                                               ToLowRankStart(four.words[2]),
                                                               ToLowRankStart(four.words[3])};
    }
}

/// A warp per row of the matrix, which stays in the cache for later groups of columns.
__global__ void
__launch_bounds__(THREADS) ProjectRowsKernel(const float* __restrict__ values,
                                             uint64_t count,
                                             LowRankShape shape,
                                             const float* __restrict__ q,
                                             float* __restrict__ p)
{
    const uint32_t row = blockIdx.x * WARPS + threadIdx.x / WARP;
    const uint32_t lane = threadIdx.x % WARP;
    if (row >= shape.rows)
    {
        return;
    }
    const uint64_t begin = static_cast<uint64_t>(row) * shape.columns;
#pragma unroll 1
    for (uint32_t first = 0; first < shape.rank; first += GROUP)
    {
        float4 sums[GROUP] = {};
#pragma unroll 1
        for (uint32_t column = 4 * lane; column < shape.columns; column += LOW_RANK_LANES)
        {
            const float4 four = LoadFour<float4>(values, begin + column, count, 0.0F);
#pragma unroll
            for (uint32_t j = 0; j < GROUP; ++j)
            {
                if (first + j < shape.rank)
                {
                    const uint64_t place =
                        static_cast<uint64_t>(first + j) * shape.columns + column;
                    AddProducts(sums[j], four, *reinterpret_cast<const float4*>(q + place));
                }
            }
        }
#pragma unroll
        for (uint32_t j = 0; j < GROUP; ++j)
        {
            const float sum = AddFloats((sums[j].x + sums[j].z) + (sums[j].y + sums[j].w));
            if (lane == 0 && first + j < shape.rank)
            {
                p[static_cast<uint64_t>(first + j) * shape.rows + row] = MakeCanonical(sum);
            }
        }
    }
}

/// A tile of the matrix: a strip of rows, of which a warp has an eighth, and 128 columns, of which
/// a lane has four.
struct Tile
{
    __device__ Tile(const LowRankShape& shape)
        : strip(blockIdx.x / CountTileColumns(shape)),
          firstRow(strip * LOW_RANK_STRIP + threadIdx.x / WARP * LOW_RANK_EIGHTH),
          lastRow(min(firstRow + LOW_RANK_EIGHTH, shape.rows)),
          column(blockIdx.x % CountTileColumns(shape) * TILE_COLUMNS + 4 * (threadIdx.x % WARP))
    {
    }

    __host__ __device__ static uint32_t CountTileColumns(const LowRankShape& shape)
    {
        return (shape.columns + TILE_COLUMNS - 1) / TILE_COLUMNS;
    }

    uint32_t strip;
    uint32_t firstRow;
    uint32_t lastRow; //!< exclusive; not above the first one where there is none
    uint32_t column;
};

/// A block of threads per tile. \param partial [strip][column of Q][row of Q]
__global__ void
__launch_bounds__(THREADS) ProjectStripsKernel(const float* __restrict__ values,
                                               uint64_t count,
                                               LowRankShape shape,
                                               const float* __restrict__ p,
                                               float* __restrict__ partial)
{
    __shared__ float4 eighths[GROUP][WARPS][WARP];
    const Tile tile(shape);
    const uint32_t warp = threadIdx.x / WARP;
    const uint32_t lane = threadIdx.x % WARP;
    const bool isInside = tile.column < shape.columns;
#pragma unroll 1
    for (uint32_t first = 0; first < shape.rank; first += GROUP)
    {
        float4 sums[GROUP] = {};
#pragma unroll 1
        for (uint32_t row = tile.firstRow; isInside && row < tile.lastRow; ++row)
        {
            const uint64_t place = static_cast<uint64_t>(row) * shape.columns + tile.column;
            const float4 four = LoadFour<float4>(values, place, count, 0.0F);
#pragma unroll
            for (uint32_t j = 0; j < GROUP; ++j)
            {
                if (first + j < shape.rank)
                {
                    const float factor = p[static_cast<uint64_t>(first + j) * shape.rows + row];
                    AddProducts(sums[j], four, float4{factor, factor, factor, factor});
                }
            }
        }
        __syncthreads(); // those of the group before have been read
#pragma unroll
        for (uint32_t j = 0; j < GROUP; ++j)
        {
            eighths[j][warp][lane] = sums[j];
        }
        __syncthreads();
        if (warp < GROUP && first + warp < shape.rank && isInside)
        {
            const float4(&own)[WARPS][WARP] = eighths[warp];
            const float4 even = AddVectors(AddVectors(own[0][lane], own[4][lane]),
                                           AddVectors(own[2][lane], own[6][lane]));
            const float4 odd = AddVectors(AddVectors(own[1][lane], own[5][lane]),
                                          AddVectors(own[3][lane], own[7][lane]));
            const uint64_t column = static_cast<uint64_t>(tile.strip) * shape.rank + first + warp;
            *reinterpret_cast<float4*>(partial + column * shape.columns + tile.column) =
                AddVectors(even, odd);
        }
    }
}

/// A block of threads per 128 numbers of Q: its warps load strips at the same time, which one of
/// them adds in order.
__global__ void
__launch_bounds__(THREADS) AddStripsKernel(const float* __restrict__ partial,
                                           uint32_t strips,
                                           uint64_t numbers,
                                           float* __restrict__ q)
{
    constexpr uint32_t EACH = 4; // strips of a warp
    __shared__ float4 loaded[EACH * WARPS][WARP];
    const uint32_t warp = threadIdx.x / WARP;
    const uint32_t lane = threadIdx.x % WARP;
    const uint64_t first = 4 * (static_cast<uint64_t>(blockIdx.x) * WARP + lane);
    float4 sum{};
#pragma unroll 1
    for (uint32_t begin = 0; begin < strips; begin += EACH * WARPS)
    {
#pragma unroll
        for (uint32_t i = 0; i < EACH; ++i)
        {
            const uint32_t number = i * WARPS + warp;
            const uint64_t strip = begin + number;
            loaded[number][lane] =
                strip < strips && first < numbers
                    ? *reinterpret_cast<const float4*>(partial + strip * numbers + first)
                    : float4{};
        }
        __syncthreads();
        if (warp == 0)
        {
#pragma unroll
            for (const auto& strip : loaded)
            {
                sum = AddVectors(sum, strip[lane]); // a sum is never -0, which 0 would change
            }
        }
        __syncthreads(); // what is loaded next may take its place
    }
    if (warp == 0 && first < numbers)
    {
        *reinterpret_cast<float4*>(q + first) = MakeCanonicalVector(sum);
    }
}

/// A block of threads per tile.
__global__ void
__launch_bounds__(THREADS) ExpandFactorsKernel(const float* __restrict__ p,
                                               const float* __restrict__ q,
                                               LowRankShape shape,
                                               uint64_t count,
                                               float* __restrict__ values)
{
    const Tile tile(shape);
    if (tile.column >= shape.columns || tile.firstRow >= tile.lastRow)
    {
        return;
    }
    float4 sums[LOW_RANK_EIGHTH] = {};
#pragma unroll 1
    for (uint32_t j = 0; j < shape.rank; ++j)
    {
        const float4 four = *reinterpret_cast<const float4*>(
            q + static_cast<uint64_t>(j) * shape.columns + tile.column);
        const float* const factors = p + static_cast<uint64_t>(j) * shape.rows;
#pragma unroll
        for (uint32_t i = 0; i < LOW_RANK_EIGHTH; ++i)
        {
            // The last row again in the place of those that are not there.
            const float factor = factors[min(tile.firstRow + i, tile.lastRow - 1)];
            AddProducts(sums[i], float4{factor, factor, factor, factor}, four);
        }
    }
#pragma unroll
    for (uint32_t i = 0; i < LOW_RANK_EIGHTH; ++i)
    {
        const uint32_t row = tile.firstRow + i;
        if (row < tile.lastRow)
        {
            StoreFour(values,
                      static_cast<uint64_t>(row) * shape.columns + tile.column,
                      count,
                      MakeCanonicalVector(sums[i]));
        }
    }
}

uint32_t
CountStrips(const LowRankShape& shape)
{
    return (shape.rows + LOW_RANK_STRIP - 1) / LOW_RANK_STRIP;
}

uint32_t
CountTiles(const LowRankShape& shape)
{
    return CountStrips(shape) * Tile::CountTileColumns(shape);
}

} // namespace

size_t
GetLowRankWorkspaceBytes(const LowRankShape& shape)
{
    WorkspaceCutter cutter(nullptr);
    cutter.Take<float>(CountStrips(shape) * CountColumnFactors(shape));
    return cutter.GetBytes();
}

cudaError_t
RestartColumns(float* q, const LowRankShape& shape, cudaStream_t stream)
{
    if (!IsValid(shape))
    {
        return cudaErrorInvalidValue;
    }
    Launch<RestartColumnsKernel>(shape.rank, THREADS, stream, q, shape.columns);
    return cudaGetLastError();
}

cudaError_t
ProjectRows(const float* values,
            uint64_t count,
            const LowRankShape& shape,
            const float* q,
            float* p,
            cudaStream_t stream)
{
    if (!IsValid(shape))
    {
        return cudaErrorInvalidValue;
    }
    const uint32_t blocks = (shape.rows + WARPS - 1) / WARPS;
    Launch<ProjectRowsKernel>(blocks, THREADS, stream, values, count, shape, q, p);
    return cudaGetLastError();
}

cudaError_t
ProjectColumns(const float* values,
               uint64_t count,
               const LowRankShape& shape,
               const float* p,
               float* q,
               void* workspace,
               cudaStream_t stream)
{
    if (!IsValid(shape))
    {
        return cudaErrorInvalidValue;
    }
    const uint32_t strips = CountStrips(shape);
    const uint64_t numbers = CountColumnFactors(shape);
    WorkspaceCutter cutter(workspace);
    auto* const partial = cutter.Take<float>(strips * numbers);
    const uint32_t tiles = CountTiles(shape);
    Launch<ProjectStripsKernel>(tiles, THREADS, stream, values, count, shape, p, partial);
    Launch<AddStripsKernel>(static_cast<uint32_t>((numbers / 4 + WARP - 1) / WARP),
                            THREADS,
                            stream,
                            partial,
                            strips,
                            numbers,
                            q);
    return cudaGetLastError();
}

cudaError_t
ExpandFactors(const float* p,
              const float* q,
              const LowRankShape& shape,
              uint64_t count,
              float* values,
              cudaStream_t stream)
{
    if (!IsValid(shape))
    {
        return cudaErrorInvalidValue;
    }
    Launch<ExpandFactorsKernel>(CountTiles(shape), THREADS, stream, p, q, shape, count, values);
    return cudaGetLastError();
}

} // namespace ns3::gradsync::kernels
