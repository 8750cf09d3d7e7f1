// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_KERNELS_MESSAGE_KERNELS_H
#define GRADSYNC_KERNELS_MESSAGE_KERNELS_H

#include <cstdint>
#include <cuda_runtime_api.h>

/// What the codecs of device-codecs.h need beside compression-kernels.h, whose rules hold here too,
/// to write and read messages. Messages may be broken: no index leads beyond the tensor.
namespace ns3::gradsync::kernels
{

cudaError_t CopyFloats(const float* from, uint64_t count, float* to, cudaStream_t stream);

/// As PackOffsets, but not a byte beyond the last one that is used. \param bytes aligned to 4
cudaError_t PackOffsetBytes(const uint16_t* offsets,
                            uint64_t count,
                            uint32_t bits,
                            void* bytes,
                            cudaStream_t stream);

/// Values at their indices, which ascend, and 0 elsewhere. Where they do not ascend, as in a broken
/// message, some values may be left out.
cudaError_t ScatterSparse(const uint32_t* indices,
                          const float* values,
                          uint64_t count,
                          uint64_t elements,
                          float* gradient,
                          cudaStream_t stream);

/**
 * Ends a message of as many indices as the device found: the values go behind them.
 * \param message starts with the indices; room for `capacity` of both
 * \param bytes of the whole message
 */
cudaError_t CloseSparseMessage(const float* values,
                               const uint32_t* found,
                               uint64_t capacity,
                               uint32_t* message,
                               uint64_t* bytes,
                               cudaStream_t stream);

/// ScatterSparse of such a message. \param bytes its size; what exceeds the capacity is left out
cudaError_t ScatterSparseMessage(const uint32_t* message,
                                 const uint64_t* bytes,
                                 uint64_t capacity,
                                 uint64_t elements,
                                 float* gradient,
                                 cudaStream_t stream);

/**
 * CloseSparseMessage with values in binary16.
 * \param found null: `capacity` entries \param bytes may be null
 */
cudaError_t CloseHalfMessage(const float* values,
                             const uint32_t* found,
                             uint64_t capacity,
                             uint32_t* message,
                             uint64_t* bytes,
                             cudaStream_t stream);

/// ScatterSparse of such a message. \param bytes as above; null: those of `capacity` entries
cudaError_t ScatterHalfMessage(const uint32_t* message,
                               const uint64_t* bytes,
                               uint64_t capacity,
                               uint64_t elements,
                               float* gradient,
                               cudaStream_t stream);

} // namespace ns3::gradsync::kernels

#endif // GRADSYNC_KERNELS_MESSAGE_KERNELS_H
