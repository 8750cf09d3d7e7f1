// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_KERNELS_STOCHASTIC_KERNELS_H
#define GRADSYNC_KERNELS_STOCHASTIC_KERNELS_H

#include "ns3/stochastic-arithmetic.h"

#include <cstddef>
#include <cstdint>
#include <cuda_runtime_api.h>

/// The codecs that draw random numbers; the rules of compression-kernels.h hold here too. Messages
/// need an alignment of 4 bytes.
namespace ns3::gradsync::kernels
{

/// \param blockElements a multiple of 4
cudaError_t EncodeQsgdBuckets(const float* values,
                              uint64_t count,
                              uint32_t blockElements,
                              uint32_t levels,
                              const RandomStream& random,
                              uint8_t* codes,
                              float* norms,
                              cudaStream_t stream);
cudaError_t DecodeQsgdBuckets(const uint8_t* codes,
                              const float* norms,
                              uint64_t count,
                              uint32_t blockElements,
                              uint32_t levels,
                              float* values,
                              cudaStream_t stream);

size_t GetTernaryWorkspaceBytes(uint64_t count);
/// \param count at least 1
cudaError_t FindTernaryScaler(const float* values,
                              uint64_t count,
                              double clipDeviations,
                              float* scaler,
                              void* workspace,
                              cudaStream_t stream);
/// \param scaler on the device, one for all
cudaError_t EncodeTernaryWords(const float* values,
                               uint64_t count,
                               const float* scaler,
                               const RandomStream& random,
                               uint32_t* words,
                               cudaStream_t stream);
cudaError_t DecodeTernaryWords(const uint32_t* words,
                               const float* scaler,
                               uint64_t count,
                               float* values,
                               cudaStream_t stream);

cudaError_t EncodeSigns(const float* values,
                        uint64_t count,
                        const RandomStream& random,
                        uint32_t* words,
                        cudaStream_t stream);
cudaError_t DecodeSigns(const uint32_t* words,
                        uint64_t count,
                        float magnitude,
                        float* values,
                        cudaStream_t stream);
/// \param votes the messages of all voters, one after the other; \param count words of each
cudaError_t CountMajority(const uint32_t* votes,
                          uint32_t voters,
                          uint64_t count,
                          const RandomStream& random,
                          uint32_t* words,
                          cudaStream_t stream);

} // namespace ns3::gradsync::kernels

#endif // GRADSYNC_KERNELS_STOCHASTIC_KERNELS_H
