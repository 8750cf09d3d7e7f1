// SPDX-License-Identifier: GPL-2.0-only
// THC's kernels without a GPU, as those of cpu-kernels.cc.
#include "thc-kernels.h"

#include "ns3/thc.h"

namespace ns3::gradsync::kernels
{

cudaError_t
FindThcNorms(const float* values, uint64_t count, float* norms, cudaStream_t)
{
    gradsync::FindThcNorms({values, count}, {norms, CountThcBlocks(count)});
    return cudaSuccess;
}

cudaError_t
EncodeThc(const float* values,
          uint64_t count,
          const float* norms,
          const ThcTable& table,
          const ThcDraw& draw,
          uint8_t* codes,
          cudaStream_t)
{
    gradsync::EncodeThc({values, count},
                        {norms, CountThcBlocks(count)},
                        table,
                        draw,
                        {codes, GetThcCodeBytes(CountThcCoordinates(count))});
    return cudaSuccess;
}

cudaError_t
DecodeThc(const uint8_t* codes,
          const float* norms,
          uint64_t count,
          const ThcTable& table,
          uint64_t iteration,
          float* values,
          cudaStream_t)
{
    gradsync::DecodeThc({codes, GetThcCodeBytes(CountThcCoordinates(count))},
                        {norms, CountThcBlocks(count)},
                        table,
                        iteration,
                        {values, count});
    return cudaSuccess;
}

} // namespace ns3::gradsync::kernels
