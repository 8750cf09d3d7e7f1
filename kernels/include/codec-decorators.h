// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_KERNELS_CODEC_DECORATORS_H
#define GRADSYNC_KERNELS_CODEC_DECORATORS_H

#include "compression-kernels.h"

/**
 * Around any codec of compression-kernels.h, as AddErrorFeedback and AddMomentum are on the CPU,
 * with the same results. A codec is what it does to an array: `compress` is called with what is to
 * be compressed, `decompress` with where to put what was received; both return cudaError_t and must
 * use `stream`. They nest.
 */
namespace ns3::gradsync::kernels
{

/**
 * Error feedback: what a message lost is added to the next gradient.
 * \param residual what is owed, 0 at first
 * \param received scratch of as many elements
 */
template <typename Compress, typename Decompress>
cudaError_t
CompressWithFeedback(const float* gradient,
                     uint64_t count,
                     float* residual,
                     float* received,
                     const Compress& compress,
                     const Decompress& decompress,
                     cudaStream_t stream)
{
    auto error = AddDense(gradient, count, residual, stream);
    if (error == cudaSuccess)
    {
        error = compress(static_cast<const float*>(residual));
    }
    if (error == cudaSuccess)
    {
        error = decompress(received);
    }
    return error == cudaSuccess ? KeepResidual(received, count, residual, stream) : error;
}

/// Local momentum: u = m u + g, and u is what is compressed. \param velocity u, 0 at first
template <typename Compress>
cudaError_t
CompressWithMomentum(const float* gradient,
                     uint64_t count,
                     float momentum,
                     float* velocity,
                     const Compress& compress,
                     cudaStream_t stream)
{
    const auto error = StepMomentum(gradient, count, momentum, velocity, stream);
    return error == cudaSuccess ? compress(static_cast<const float*>(velocity)) : error;
}

} // namespace ns3::gradsync::kernels

#endif // GRADSYNC_KERNELS_CODEC_DECORATORS_H
