// SPDX-License-Identifier: GPL-2.0-only
// As cpu-kernels.cc: the kernels of codecs that draw random numbers, as the CPU's functions.
#include "stochastic-kernels.h"

#include "ns3/quantisers.h"
#include "ns3/stochastic-quantisers.h"

#include <cstring>

namespace ns3::gradsync::kernels
{

cudaError_t
EncodeQsgdBuckets(const float* values,
                  uint64_t count,
                  uint32_t block,
                  uint32_t levels,
                  const RandomStream& random,
                  uint8_t* codes,
                  float* norms,
                  cudaStream_t)
{
    gradsync::EncodeQsgdBuckets({values, count},
                                block,
                                levels,
                                random,
                                {codes, CountQsgdBytes(count, levels)},
                                {norms, CountBlocks(count, block)});
    return cudaSuccess;
}

cudaError_t
DecodeQsgdBuckets(const uint8_t* codes,
                  const float* norms,
                  uint64_t count,
                  uint32_t block,
                  uint32_t levels,
                  float* values,
                  cudaStream_t)
{
    gradsync::DecodeQsgdBuckets({codes, CountQsgdBytes(count, levels)},
                                {norms, CountBlocks(count, block)},
                                block,
                                levels,
                                {values, count});
    return cudaSuccess;
}

size_t
GetTernaryWorkspaceBytes(uint64_t count)
{
    return count / 100 + 8;
}

cudaError_t
FindTernaryScaler(const float* values,
                  uint64_t count,
                  double clipDeviations,
                  float* scaler,
                  void* workspace,
                  cudaStream_t)
{
    std::memset(workspace, 0xa5, GetTernaryWorkspaceBytes(count));
    *scaler = gradsync::FindTernaryScaler({values, count}, clipDeviations);
    return cudaSuccess;
}

cudaError_t
EncodeTernaryWords(const float* values,
                   uint64_t count,
                   const float* scaler,
                   const RandomStream& random,
                   uint32_t* words,
                   cudaStream_t)
{
    gradsync::EncodeTernaryWords({values, count}, *scaler, random, {words, CountBlocks(count, 16)});
    return cudaSuccess;
}

cudaError_t
DecodeTernaryWords(const uint32_t* words,
                   const float* scaler,
                   uint64_t count,
                   float* values,
                   cudaStream_t)
{
    if (count > 0)
    {
        gradsync::DecodeTernaryWords({words, CountBlocks(count, 16)}, *scaler, {values, count});
    }
    return cudaSuccess;
}

cudaError_t
EncodeSigns(const float* values,
            uint64_t count,
            const RandomStream& random,
            uint32_t* words,
            cudaStream_t)
{
    gradsync::EncodeSigns({values, count}, random, {words, CountBlocks(count, SIGNS_PER_WORD)});
    return cudaSuccess;
}

cudaError_t
DecodeSigns(const uint32_t* words, uint64_t count, float magnitude, float* values, cudaStream_t)
{
    gradsync::DecodeSigns({words, CountBlocks(count, SIGNS_PER_WORD)}, magnitude, {values, count});
    return cudaSuccess;
}

} // namespace ns3::gradsync::kernels
