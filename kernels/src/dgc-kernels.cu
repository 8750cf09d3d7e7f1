// SPDX-License-Identifier: GPL-2.0-only
#include "compression-kernels.h"
#include "ordered-select.h"

#include "ns3/codec-spec.h"
#include "ns3/dgc-selector.h"
#include "ns3/sparsifier-arithmetic.h"

#include <algorithm>

namespace ns3::gradsync::kernels
{

namespace
{

/// What an iteration knows before its pass over the tensor.
struct DgcScalars
{
    double norm;
    float clip;
    uint32_t threshold; //!< magnitude key
};

/// Momentum, accumulation and masking of four elements in registers: u and v are read once and
/// written once.
struct DgcRule
{
    struct Held
    {
        float4 velocity;
        float4 accumulated;
    };

    const float* gradient;
    uint64_t count;
    float momentum;
    const DgcScalars* scalars;
    float* velocity;
    float* accumulated;

    __device__ uint32_t Look(uint64_t first, Held& held) const
    {
        const float clip = scalars->clip;
        const uint32_t threshold = max(scalars->threshold, 1U);
        const float4 g = LoadFour<float4>(gradient, first, count, 0.0F);
        const float4 u = LoadFour<float4>(velocity, first, count, 0.0F);
        const float4 v = LoadFour<float4>(accumulated, first, count, 0.0F);
        const DgcState x = StepDgc(g.x, clip, {u.x, v.x}, momentum);
        const DgcState y = StepDgc(g.y, clip, {u.y, v.y}, momentum);
        const DgcState z = StepDgc(g.z, clip, {u.z, v.z}, momentum);
        const DgcState w = StepDgc(g.w, clip, {u.w, v.w}, momentum);
        held.velocity = {x.velocity, y.velocity, z.velocity, w.velocity};
        held.accumulated = {x.accumulated, y.accumulated, z.accumulated, w.accumulated};
        uint32_t bits = 0;
#pragma unroll
        for (uint32_t i = 0; i < 4; ++i)
        {
            const bool isSelected =
                first + i < count && MagnitudeKey(GetComponent(held.accumulated, i)) >= threshold;
            bits |= (isSelected ? 1U : 0U) << i;
        }
        return bits;
    }

    __device__ float GetValue(const Held& held, uint32_t element) const
    {
        return GetComponent(held.accumulated, element);
    }

    static __device__ float4 Mask(const float4& four, uint32_t sent)
    {
        return {(sent & 1U) != 0 ? 0.0F : four.x,
                (sent & 2U) != 0 ? 0.0F : four.y,
                (sent & 4U) != 0 ? 0.0F : four.z,
                (sent & 8U) != 0 ? 0.0F : four.w};
    }

    __device__ void Keep(uint64_t first, const Held& held, uint32_t sent) const
    {
        StoreFour(velocity, first, count, Mask(held.velocity, sent));
        StoreFour(accumulated, first, count, Mask(held.accumulated, sent));
    }
};

__global__ void
SetClipKernel(DgcScalars* scalars, double clipNorm)
{
    const double norm = clipNorm > 0.0 ? scalars->norm : 0.0;
    const bool isClipped = clipNorm > 0.0 && isfinite(norm) && norm > clipNorm;
    scalars->clip = isClipped ? static_cast<float>(clipNorm / norm) : 1.0F;
}

/// What the sampled elements of v will be.
__global__ void
__launch_bounds__(THREADS) SampleKernel(const float* __restrict__ gradient,
                                        const float* __restrict__ velocity,
                                        const float* __restrict__ accumulated,
                                        DgcSample sample,
                                        float momentum,
                                        const DgcScalars* __restrict__ scalars,
                                        float* __restrict__ values)
{
    const uint64_t i = static_cast<uint64_t>(blockIdx.x) * THREADS + threadIdx.x;
    if (i < sample.count)
    {
        const uint64_t at = sample.start + i * sample.stride;
        values[i] = StepDgc(gradient[at], scalars->clip, {velocity[at], accumulated[at]}, momentum)
                        .accumulated;
    }
}

uint64_t
CountShare(double density, uint64_t elements)
{
    CodecSpec spec;
    spec.density = density;
    return CountSelected(spec, elements);
}

/// Everything in the workspace.
struct DgcParts
{
    DgcScalars* scalars;
    float* sample;
    uint32_t* sampleIndices;
    float* sampleSelected;
    void* scratch; //!< of the norm, then of the selection in the sample
    TileCounts tiles;
};

DgcParts
CutDgc(WorkspaceCutter& cutter, uint64_t count, const DgcIteration& parameters)
{
    // The longest sample of any iteration.
    const auto stride = MakeDgcSample(count, parameters.sampleRate, 0).stride;
    const uint64_t samples = (count + stride - 1) / stride;
    const uint64_t selected = CountShare(parameters.density, samples);
    DgcParts parts{};
    parts.scalars = cutter.Take<DgcScalars>(1);
    parts.sample = cutter.Take<float>(samples);
    parts.sampleIndices = cutter.Take<uint32_t>(selected);
    parts.sampleSelected = cutter.Take<float>(selected);
    parts.scratch =
        cutter.Take<char>(std::max(GetTopKWorkspaceBytes(samples), GetNormWorkspaceBytes(count)));
    parts.tiles = TakeTileCounts(cutter, count);
    return parts;
}

} // namespace

size_t
GetDgcWorkspaceBytes(uint64_t count, const DgcIteration& parameters)
{
    WorkspaceCutter cutter(nullptr);
    CutDgc(cutter, count, parameters);
    return cutter.GetBytes();
}

cudaError_t
SelectDgc(const float* gradient,
          uint64_t count,
          const DgcIteration& parameters,
          float* velocity,
          float* accumulated,
          uint32_t* indices,
          float* selected,
          uint32_t* found,
          void* workspace,
          cudaStream_t stream)
{
    if (count == 0)
    {
        return cudaMemsetAsync(found, 0, sizeof *found, stream);
    }
    WorkspaceCutter cutter(workspace);
    const DgcParts parts = CutDgc(cutter, count, parameters);
    if (parameters.clipNorm > 0.0)
    {
        if (const auto error =
                ComputeNorm(gradient, count, &parts.scalars->norm, parts.scratch, stream);
            error != cudaSuccess)
        {
            return error;
        }
    }
    Launch<SetClipKernel>(1, 1, stream, parts.scalars, parameters.clipNorm);
    const auto sample = MakeDgcSample(count, parameters.sampleRate, parameters.iteration);
    if (sample.count > 0)
    {
        Launch<SampleKernel>(CountThreadBlocks(sample.count),
                             THREADS,
                             stream,
                             gradient,
                             velocity,
                             accumulated,
                             sample,
                             parameters.momentum,
                             parts.scalars,
                             parts.sample);
    }
    if (const auto error = SelectTopK(parts.sample,
                                      sample.count,
                                      CountShare(parameters.density, sample.count),
                                      parts.sampleIndices,
                                      parts.sampleSelected,
                                      &parts.scalars->threshold,
                                      parts.scratch,
                                      stream);
        error != cudaSuccess)
    {
        return error;
    }
    if (const auto error = ClearTileCounts(parts.tiles, count, stream); error != cudaSuccess)
    {
        return error;
    }
    const DgcRule rule{gradient, count, parameters.momentum, parts.scalars, velocity, accumulated};
    const uint32_t tiles = CountTiles(count);
    Launch<OrderedSelectKernel<DgcRule>>(
        tiles,
        THREADS,
        stream,
        rule,
        tiles,
        static_cast<uint32_t>(CountShare(parameters.density, count)),
        parts.tiles,
        indices,
        selected,
        found);
    return cudaGetLastError();
}

} // namespace ns3::gradsync::kernels
