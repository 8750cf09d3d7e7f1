// SPDX-License-Identifier: GPL-2.0-only
// PowerSGD's Gram-Schmidt.
#include "low-rank-kernels.h"
#include "low-rank-shape.h"
#include "warp-sums.h"

namespace ns3::gradsync::kernels
{

namespace
{

constexpr uint32_t COLUMN_THREADS = LOW_RANK_COLUMN_LANES;
static_assert(COLUMN_THREADS == WARP * WARP, "a warp adds up those of all warps");

/// Sums over all threads of a block, some at once. \param shared room for each warp's
template <uint32_t SUMS>
__device__ inline void
AddThreads(double (&sums)[SUMS], double (*shared)[WARP])
{
    const uint32_t lane = threadIdx.x % WARP;
    double ofWarp[SUMS];
#pragma unroll
    for (uint32_t k = 0; k < SUMS; ++k)
    {
        ofWarp[k] = AddWarp(sums[k]);
    }
    __syncthreads(); // the sums before have been read
#pragma unroll
    for (uint32_t k = 0; k < SUMS; ++k)
    {
        if (lane == 0)
        {
            shared[k][threadIdx.x / WARP] = ofWarp[k];
        }
    }
    __syncthreads();
#pragma unroll
    for (uint32_t k = 0; k < SUMS; ++k)
    {
        sums[k] = AddWarp(shared[k][lane]);
    }
}

/// The columns of P of which a thread has every 1024th element; no other thread touches these.
struct ColumnsOfThread
{
    float* p;
    uint32_t rows;
    uint32_t rank;

    __device__ float& Get(uint32_t column, uint32_t row) const
    {
        return p[static_cast<uint64_t>(column) * rows + row];
    }

    /// Squares of the columns from `first` on.
    __device__ void AddSquares(uint32_t first, double (&sums)[GROUP]) const
    {
#pragma unroll 1
        for (uint32_t row = threadIdx.x; row < rows; row += COLUMN_THREADS)
        {
#pragma unroll
            for (uint32_t k = 0; k < GROUP; ++k)
            {
                if (first + k < rank)
                {
                    sums[k] += Square(Get(first + k, row));
                }
            }
        }
    }

    __device__ void Scale(uint32_t column, double scale) const
    {
#pragma unroll 1
        for (uint32_t row = threadIdx.x; row < rows; row += COLUMN_THREADS)
        {
            Get(column, row) = ScaleLowRank(Get(column, row), scale);
        }
    }

    /// Products of a column and those from `first` on.
    __device__ void AddColumnProducts(uint32_t column, uint32_t first, double (&sums)[GROUP]) const
    {
#pragma unroll 1
        for (uint32_t row = threadIdx.x; row < rows; row += COLUMN_THREADS)
        {
            const auto value = static_cast<double>(Get(column, row));
#pragma unroll
            for (uint32_t k = 0; k < GROUP; ++k)
            {
                if (first + k < rank)
                {
                    sums[k] += value * static_cast<double>(Get(first + k, row));
                }
            }
        }
    }

    /// Takes the part of a column out of those from `first` on. \returns squares of the first one
    __device__ double TakeOut(uint32_t column,
                              uint32_t first,
                              const double (&products)[GROUP]) const
    {
        double squares = 0.0;
#pragma unroll 1
        for (uint32_t row = threadIdx.x; row < rows; row += COLUMN_THREADS)
        {
            const float value = Get(column, row);
            float others[GROUP]; // loaded before any is stored, one wait for all
#pragma unroll
            for (uint32_t k = 0; k < GROUP; ++k)
            {
                others[k] = first + k < rank ? Get(first + k, row) : 0.0F;
            }
#pragma unroll
            for (uint32_t k = 0; k < GROUP; ++k)
            {
                others[k] = TakeOutLowRank(others[k], value, products[k]);
                if (first + k < rank)
                {
                    Get(first + k, row) = others[k];
                }
            }
            squares += Square(others[0]);
        }
        return squares;
    }
};

/// One block of threads. Some columns are done at once, as each sum over the block takes a
/// microsecond and each look at a column another one.
__global__ void
__launch_bounds__(COLUMN_THREADS) OrthogonaliseKernel(float* __restrict__ p, LowRankShape shape)
{
    __shared__ double norms[LOW_RANK_MOST]; // before anything is taken out
    __shared__ double shared[GROUP][WARP];
    const ColumnsOfThread columns{p, shape.rows, shape.rank};
    double square[1] = {}; // of the next column
#pragma unroll 1
    for (uint32_t first = 0; first < shape.rank; first += GROUP)
    {
        double squares[GROUP] = {};
        columns.AddSquares(first, squares);
        AddThreads(squares, shared);
        square[0] = first == 0 ? squares[0] : square[0];
#pragma unroll
        for (uint32_t k = 0; k < GROUP; ++k)
        {
            if (threadIdx.x == 0 && first + k < shape.rank)
            {
                norms[first + k] = sqrt(squares[k]);
            }
        }
    }
    __syncthreads();
#pragma unroll 1
    for (uint32_t j = 0; j < shape.rank; ++j)
    {
        columns.Scale(j, GetLowRankScale(sqrt(square[0]), norms[j]));
#pragma unroll 1
        for (uint32_t first = j + 1; first < shape.rank; first += GROUP)
        {
            double products[GROUP] = {};
            columns.AddColumnProducts(j, first, products);
            AddThreads(products, shared);
            const double squares = columns.TakeOut(j, first, products);
            square[0] = first == j + 1 ? squares : square[0];
        }
        AddThreads(square, shared);
    }
}

} // namespace

cudaError_t
Orthogonalise(float* p, const LowRankShape& shape, cudaStream_t stream)
{
    if (!IsValid(shape))
    {
        return cudaErrorInvalidValue;
    }
    Launch<OrthogonaliseKernel>(1, COLUMN_THREADS, stream, p, shape);
    return cudaGetLastError();
}

} // namespace ns3::gradsync::kernels
