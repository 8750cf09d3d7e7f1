// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_COMPRESSION_KERNELS_H
#define GRADSYNC_COMPRESSION_KERNELS_H

#include <cstddef>
#include <cstdint>
#include <cuda_runtime_api.h>

/**
 * The codecs of model/compression on a GPU, of the same arithmetic: results are those of the CPU
 * functions of the same name, bit for bit, except for payloads of NaN in sums that are no AddDense.
 *
 * Pointers are to device memory, aligned to 16 bytes (int8_t codes, scales, indices and what is
 * selected to 4, so that they can follow each other in a message), and must not overlap unless
 * said. Everything runs on the given stream and nothing waits for it; errors are those of the
 * launch. Outputs that depend on data (counts) stay on the device. A tensor has fewer than 2^32 -
 * 4096 elements. Nothing is launched for no elements; counts are written all the same.
 */
namespace ns3::gradsync::kernels
{

/// \param blockElements a multiple of 4, at most 8192
cudaError_t EncodeInt8Blocks(const float* values,
                             uint64_t count,
                             uint32_t blockElements,
                             int8_t* codes,
                             float* scales,
                             cudaStream_t stream);
cudaError_t DecodeInt8Blocks(const int8_t* codes,
                             const float* scales,
                             uint64_t count,
                             uint32_t blockElements,
                             float* values,
                             cudaStream_t stream);

cudaError_t EncodeHalf(const float* values, uint64_t count, uint16_t* codes, cudaStream_t stream);
cudaError_t DecodeHalf(const uint16_t* codes, uint64_t count, float* values, cudaStream_t stream);
cudaError_t EncodeBfloat(const float* values, uint64_t count, uint16_t* codes, cudaStream_t stream);
cudaError_t DecodeBfloat(const uint16_t* codes, uint64_t count, float* values, cudaStream_t stream);

cudaError_t EncodeTwoBits(const float* gradients,
                          float* residual,
                          uint64_t count,
                          float threshold,
                          uint32_t* words,
                          cudaStream_t stream);
cudaError_t DecodeTwoBits(const uint32_t* words,
                          uint64_t count,
                          float threshold,
                          float* values,
                          cudaStream_t stream);

cudaError_t EncodeFixedPoints(const float* values,
                              uint64_t count,
                              float factor,
                              int32_t* codes,
                              cudaStream_t stream);
cudaError_t DecodeFixedPoints(const int32_t* codes,
                              uint64_t count,
                              float factor,
                              float* values,
                              cudaStream_t stream);

/// \param packetElements a multiple of 4
cudaError_t FindPacketExponents(const float* values,
                                uint64_t count,
                                uint32_t packetElements,
                                int8_t* exponents,
                                cudaStream_t stream);
cudaError_t EncodeWithExponents(const float* values,
                                uint64_t count,
                                uint32_t packetElements,
                                uint32_t workers,
                                const int8_t* exponents,
                                int32_t* codes,
                                cudaStream_t stream);
cudaError_t DecodeWithExponents(const int32_t* sums,
                                uint64_t count,
                                uint32_t packetElements,
                                uint32_t workers,
                                const int8_t* exponents,
                                float* values,
                                cudaStream_t stream);

/// What int8 sends where switches add up. \param packetElements a multiple of 4 \param workers 1
/// to 127
cudaError_t EncodeBytesWithExponents(const float* values,
                                     uint64_t count,
                                     uint32_t packetElements,
                                     uint32_t workers,
                                     const int8_t* exponents,
                                     int8_t* codes,
                                     cudaStream_t stream);
cudaError_t DecodeBytesWithExponents(const int8_t* sums,
                                     uint64_t count,
                                     uint32_t packetElements,
                                     uint32_t workers,
                                     const int8_t* exponents,
                                     float* values,
                                     cudaStream_t stream);

/// Scratch memory of SelectTopK: 8 bytes per element, for the case that all are alike, and a bit
/// for counts.
size_t GetTopKWorkspaceBytes(uint64_t count);

cudaError_t SelectTopK(const float* values,
                       uint64_t count,
                       uint64_t k,
                       uint32_t* indices,
                       float* selected,
                       void* workspace,
                       cudaStream_t stream);

/// Scratch memory of SelectFromKey and GatherMarked.
size_t GetSelectWorkspaceBytes(uint64_t count);

/// \param key on the device; \param found how many were written, at most `capacity`
cudaError_t SelectFromKey(const float* values,
                          uint64_t count,
                          const uint32_t* key,
                          uint32_t capacity,
                          uint32_t* indices,
                          float* selected,
                          uint32_t* found,
                          void* workspace,
                          cudaStream_t stream);

/// Ok-Topk: counts of `found` ascending indices in each region.
cudaError_t CountPerRegion(const uint32_t* indices,
                           const uint32_t* found,
                           const uint32_t* ends,
                           uint32_t regions,
                           uint32_t* counts,
                           cudaStream_t stream);
cudaError_t ProposeRegionEnds(const uint32_t* indices,
                              const uint32_t* found,
                              uint32_t elements,
                              uint32_t regions,
                              uint32_t* ends,
                              cudaStream_t stream);

/// Parameters of one iteration of DGC.
struct DgcIteration
{
    double density;
    double sampleRate;
    float momentum;
    double clipNorm; //!< 0: no clipping
};

size_t GetDgcWorkspaceBytes(uint64_t count, const DgcIteration& parameters);

/**
 * One iteration of DgcSelector.
 * \param velocity, accumulated u and v, updated
 * \param iteration its number, 0 at first; one more afterwards. On the device, so that a captured
 *   graph goes from one to the next
 * \param indices, selected as long as DgcSelector::GetCapacity(); \param found how many were
 * written
 */
cudaError_t SelectDgc(const float* gradient,
                      uint64_t count,
                      const DgcIteration& parameters,
                      float* velocity,
                      float* accumulated,
                      uint64_t* iteration,
                      uint32_t* indices,
                      float* selected,
                      uint32_t* found,
                      void* workspace,
                      cudaStream_t stream);

/// \param blockElements 256, 512, 1024 or 2048
cudaError_t SelectBlockTopK(const float* values,
                            uint64_t count,
                            uint32_t blockElements,
                            uint32_t k,
                            uint16_t* offsets,
                            float* selected,
                            cudaStream_t stream);
cudaError_t PackOffsets(const uint16_t* offsets,
                        uint64_t count,
                        uint32_t bits,
                        uint32_t* words,
                        cudaStream_t stream);
cudaError_t UnpackOffsets(const uint32_t* words,
                          uint64_t count,
                          uint32_t bits,
                          uint16_t* offsets,
                          cudaStream_t stream);

/// The dense gradient of a message: the values where the stream of offsets says, 0 elsewhere. Of
/// the stream only the bytes that are used are read, and no offset leads beyond the tensor.
cudaError_t ScatterBlockTopK(const uint32_t* words,
                             const float* selected,
                             uint64_t count,
                             uint32_t blockElements,
                             uint32_t k,
                             float* values,
                             cudaStream_t stream);

/// sum += addend; any NaN is the canonical one
cudaError_t AddDense(const float* addend, uint64_t count, float* sum, cudaStream_t stream);
/// velocity = momentum * velocity + gradient, of codec-decorators.h
cudaError_t StepMomentum(const float* gradient,
                         uint64_t count,
                         float momentum,
                         float* velocity,
                         cudaStream_t stream);
/// residual -= received, and 0 where that is not finite; likewise
cudaError_t KeepResidual(const float* received,
                         uint64_t count,
                         float* residual,
                         cudaStream_t stream);
/// sum[index] += value; the indices must be distinct
cudaError_t AddSparse(const uint32_t* indices,
                      const float* values,
                      uint64_t count,
                      float* sum,
                      cudaStream_t stream);

/// As AddSparse, and sets the bit of each index in `marks`: for the union of sparse messages.
cudaError_t AddSparseMarked(const uint32_t* indices,
                            const float* values,
                            uint64_t count,
                            float* sum,
                            uint32_t* marks,
                            cudaStream_t stream);
/// The marked elements of `sum`, ascending: with AddSparseMarked per message what MergeSparse
/// gives.
cudaError_t GatherMarked(const float* sum,
                         const uint32_t* marks,
                         uint64_t count,
                         uint32_t capacity,
                         uint32_t* indices,
                         float* values,
                         uint32_t* found,
                         void* workspace,
                         cudaStream_t stream);

size_t GetNormWorkspaceBytes(uint64_t count);
cudaError_t ComputeNorm(const float* values,
                        uint64_t count,
                        double* norm,
                        void* workspace,
                        cudaStream_t stream);
cudaError_t ScoreBlocks(const float* values,
                        uint64_t count,
                        float memory,
                        float* contributions,
                        cudaStream_t stream);
/// \param found how many blocks there are
cudaError_t FindNonZeroBlocks(const float* values,
                              uint64_t count,
                              uint32_t* bitmap,
                              uint32_t* found,
                              cudaStream_t stream);

} // namespace ns3::gradsync::kernels

#endif // GRADSYNC_COMPRESSION_KERNELS_H
