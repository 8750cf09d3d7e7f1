// SPDX-License-Identifier: GPL-2.0-only
#include "compression-kernels.h"
#include "ordered-select.h"
#include "top-k.h"

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
    TopKLimits sample;
};

/// Momentum, accumulation and masking of four elements in registers: u and v are read once and
/// written once.
struct DgcRule : SelectRule
{
    static constexpr TuningNumber VECTORS = &Tuning::dgcVectors;
    static constexpr uint32_t BLOCKS = 3; // 80 registers: 40 floats are held at a time
    static constexpr bool HOLDS = true;
    static constexpr bool KEEPS = true;

    struct Loaded
    {
        float4 gradient;
        float4 velocity;
        float4 accumulated;
    };

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
    uint64_t* iteration;

    DgcRule(const float* input,
            uint64_t elements,
            float decay,
            const DgcScalars* known,
            float* u,
            float* v,
            uint64_t* number)
        : gradient(input),
          count(elements),
          momentum(decay),
          scalars(known),
          velocity(u),
          accumulated(v),
          iteration(number)
    {
    }

    __device__ uint64_t GetCount() const
    {
        return count;
    }

    __device__ Loaded Load(const TileVector& vector) const
    {
        return {vector.Load(gradient), vector.Load(velocity), vector.Load(accumulated)};
    }

    __device__ uint32_t Look(const TileVector&, const Loaded& loaded, Held& held, Shared&) const
    {
        const float clip = scalars->clip;
        const auto& [g, u, v] = loaded;
        const DgcState x = StepDgc(g.x, clip, {u.x, v.x}, momentum);
        const DgcState y = StepDgc(g.y, clip, {u.y, v.y}, momentum);
        const DgcState z = StepDgc(g.z, clip, {u.z, v.z}, momentum);
        const DgcState w = StepDgc(g.w, clip, {u.w, v.w}, momentum);
        held.velocity = {x.velocity, y.velocity, z.velocity, w.velocity};
        held.accumulated = {x.accumulated, y.accumulated, z.accumulated, w.accumulated};
        // What is not there is 0, and so below the threshold.
        return FindReached(held.accumulated, max(scalars->threshold, 1U));
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

    __device__ void Keep(const TileVector& vector, const Held& held, uint32_t sent) const
    {
        vector.Store(velocity, Mask(held.velocity, sent));
        vector.Store(accumulated, Mask(held.accumulated, sent));
    }

    /// The next iteration has the next number.
    __device__ void Finish() const
    {
        ++*iteration;
    }
};

/// As GetClipFactor().
__device__ inline float
FindClip(double clipNorm, const DgcScalars& scalars)
{
    const double norm = clipNorm > 0.0 ? scalars.norm : 0.0;
    const bool isClipped = clipNorm > 0.0 && isfinite(norm) && norm > clipNorm;
    return isClipped ? static_cast<float>(clipNorm / norm) : 1.0F;
}

/// What the samples of all iterations have in common. There are as many elements in one, or one
/// less, as it begins later or earlier.
struct SampleShape
{
    uint64_t elements; //!< of the tensor
    uint64_t stride;
    uint32_t most;       //!< in a sample
    uint32_t ofMost;     //!< wanted of so many
    uint32_t ofOneLess;  //!< likewise
    uint32_t clearWords; //!< of the counts of tiles, which are cleared on the way
};

/// What the sampled elements of v will be, and all that the iteration knows ahead.
__global__ void
__launch_bounds__(THREADS) SampleKernel(const float* __restrict__ gradient,
                                        const float* __restrict__ velocity,
                                        const float* __restrict__ accumulated,
                                        SampleShape shape,
                                        float momentum,
                                        double clipNorm,
                                        const uint64_t* __restrict__ iteration,
                                        DgcScalars* __restrict__ scalars,
                                        float* __restrict__ values,
                                        unsigned long long* __restrict__ tileWords)
{
    __shared__ uint64_t start;
    __shared__ float clip;
    if (threadIdx.x == 0)
    {
        start = HashNumber(*iteration) % shape.stride;
        clip = FindClip(clipNorm, *scalars);
        if (blockIdx.x == 0)
        {
            const auto count =
                static_cast<uint32_t>((shape.elements - start + shape.stride - 1) / shape.stride);
            scalars->clip = clip;
            scalars->sample = {count, count == shape.most ? shape.ofMost : shape.ofOneLess};
        }
    }
    __syncthreads();
    const uint64_t i = static_cast<uint64_t>(blockIdx.x) * THREADS + threadIdx.x;
    if (i < shape.clearWords)
    {
        tileWords[i] = 0;
    }
    const uint64_t at = start + i * shape.stride;
    if (at < shape.elements)
    {
        values[i] =
            StepDgc(gradient[at], clip, {velocity[at], accumulated[at]}, momentum).accumulated;
    }
}

uint64_t
CountShare(double density, uint64_t elements)
{
    CodecSpec spec;
    spec.density = density;
    return CountSelected(spec, elements);
}

SampleShape
MakeSampleShape(uint64_t count, const DgcIteration& parameters)
{
    // An iteration's sample begins before one stride is over.
    const auto stride = MakeDgcSample(count, parameters.sampleRate, 0).stride;
    const uint64_t most = (count + stride - 1) / stride;
    return {
        count,
        stride,
        static_cast<uint32_t>(most),
        static_cast<uint32_t>(CountShare(parameters.density, most)),
        static_cast<uint32_t>(CountShare(parameters.density, most - 1)),
        static_cast<uint32_t>(CountTileWords(CountTiles(count, GetTuning().*DgcRule::VECTORS)))};
}

/// Everything in the workspace.
struct DgcParts
{
    DgcScalars* scalars;
    float* sample;
    void* scratch; //!< of the norm, then of the selection in the sample
    TileCounts tiles;
};

DgcParts
CutDgc(WorkspaceCutter& cutter, uint64_t count, const DgcIteration& parameters)
{
    const auto stride = MakeDgcSample(count, parameters.sampleRate, 0).stride;
    const uint64_t samples = (count + stride - 1) / stride;
    DgcParts parts{};
    parts.scalars = cutter.Take<DgcScalars>(1);
    parts.sample = cutter.Take<float>(samples);
    parts.scratch =
        cutter.Take<char>(std::max(GetTopKWorkspaceBytes(samples), GetNormWorkspaceBytes(count)));
    parts.tiles = TakeTileCounts(cutter, count, DgcRule::VECTORS);
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
          uint64_t* iteration,
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
    const SampleShape shape = MakeSampleShape(count, parameters);
    Launch<SampleKernel>(CountThreadBlocks(std::max(shape.most, shape.clearWords)),
                         THREADS,
                         stream,
                         gradient,
                         velocity,
                         accumulated,
                         shape,
                         parameters.momentum,
                         parameters.clipNorm,
                         iteration,
                         parts.scalars,
                         parts.sample,
                         reinterpret_cast<unsigned long long*>(parts.tiles.ticket));
    if (const auto error = FindTopKKey(parts.sample,
                                       shape.most,
                                       &parts.scalars->sample,
                                       &parts.scalars->threshold,
                                       parts.scratch,
                                       stream);
        error != cudaSuccess)
    {
        return error;
    }
    const DgcRule
        rule(gradient, count, parameters.momentum, parts.scalars, velocity, accumulated, iteration);
    LaunchOrderedSelect(rule,
                        count,
                        static_cast<uint32_t>(CountShare(parameters.density, count)),
                        parts.tiles,
                        indices,
                        selected,
                        found,
                        stream);
    return cudaGetLastError();
}

} // namespace ns3::gradsync::kernels
