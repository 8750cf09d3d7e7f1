// SPDX-License-Identifier: GPL-2.0-only
// What changes an array by another one, element by element.
#include "compression-kernels.h"
#include "launch.h"

#include "ns3/feedback-arithmetic.h"

namespace ns3::gradsync::kernels
{

namespace
{

struct AddRule
{
    __device__ float operator()(float state, float other) const
    {
        return AddCanonical(state, other);
    }
};

struct MomentumRule
{
    float momentum;

    __device__ float operator()(float state, float other) const
    {
        return gradsync::StepMomentum(other, state, momentum);
    }
};

struct ResidualRule
{
    __device__ float operator()(float state, float other) const
    {
        return gradsync::KeepResidual(state, other);
    }
};

template <typename Rule>
__global__ void
__launch_bounds__(THREADS) UpdateKernel(const float* __restrict__ others,
                                        uint64_t count,
                                        Rule rule,
                                        float* __restrict__ states)
{
    const uint64_t first = 4 * (static_cast<uint64_t>(blockIdx.x) * THREADS + threadIdx.x);
    if (first >= count)
    {
        return;
    }
    const float4 other = LoadFour<float4>(others, first, count, 0.0F);
    float4 state = LoadFour<float4>(states, first, count, 0.0F);
    state.x = rule(state.x, other.x);
    state.y = rule(state.y, other.y);
    state.z = rule(state.z, other.z);
    state.w = rule(state.w, other.w);
    StoreFour(states, first, count, state);
}

template <typename Rule>
cudaError_t
Update(const float* others, uint64_t count, const Rule& rule, float* states, cudaStream_t stream)
{
    if (count > 0)
    {
        Launch<UpdateKernel<Rule>>(CountThreadBlocks((count + 3) / 4),
                                   THREADS,
                                   stream,
                                   others,
                                   count,
                                   rule,
                                   states);
    }
    return cudaGetLastError();
}

} // namespace

cudaError_t
AddDense(const float* addend, uint64_t count, float* sum, cudaStream_t stream)
{
    return Update(addend, count, AddRule(), sum, stream);
}

cudaError_t
StepMomentum(const float* gradient,
             uint64_t count,
             float momentum,
             float* velocity,
             cudaStream_t stream)
{
    return Update(gradient, count, MomentumRule{momentum}, velocity, stream);
}

cudaError_t
KeepResidual(const float* received, uint64_t count, float* residual, cudaStream_t stream)
{
    return Update(received, count, ResidualRule(), residual, stream);
}

} // namespace ns3::gradsync::kernels
