// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_KERNELS_TUNING_H
#define GRADSYNC_KERNELS_TUNING_H

#include <algorithm>
#include <cstdint>
#include <cuda_runtime.h>

/**
 * How kernels are cut for an architecture, apart from what they compute. Machine code of each
 * architecture has its own numbers in it (DEVICE_TUNING); the host takes those of the device that
 * it launches on (GetTuning). Results are the same for any.
 */
namespace ns3::gradsync::kernels
{

/// A thread's share: of vectors of four elements, which lie a warp's or a block's width apart.
struct Tuning
{
    uint32_t convertVectors; //!< conversions to and from 16 bits
    uint32_t selectVectors;  //!< tiles of ordered selections; at most 4
    uint32_t dgcVectors;     //!< likewise, where three arrays are held in registers
};

// The same for both so far: 13 (A100) and 14 (H100) bytes per cycle and multiprocessor, some 500
// cycles away, are 7 KB under way, of which 2048 threads with one vector each ask for 32. More
// vectors save instructions. No GPU has told the two apart yet.
inline constexpr Tuning TUNING_80{4, 4, 2};
inline constexpr Tuning TUNING_90{4, 4, 2};

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
inline constexpr Tuning DEVICE_TUNING = TUNING_80;
#else
inline constexpr Tuning DEVICE_TUNING = TUNING_90; // and where the kernels are emulated
#endif

/// Which number of a tuning.
using TuningNumber = uint32_t Tuning::*;

/// Of the device in use.
inline uint32_t
GetDeviceNumber(cudaDeviceAttr attribute)
{
    int device = 0;
    int value = 0;
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&value, attribute, device);
    return static_cast<uint32_t>(value);
}

inline uint32_t
CountProcessors()
{
    return GetDeviceNumber(cudaDevAttrMultiProcessorCount);
}

inline Tuning
GetTuning()
{
    return GetDeviceNumber(cudaDevAttrComputeCapabilityMajor) < 9 ? TUNING_80 : TUNING_90;
}

/// The least of all architectures, for memory that must do on any.
constexpr uint32_t
GetLeast(TuningNumber number)
{
    return std::min(TUNING_80.*number, TUNING_90.*number);
}

} // namespace ns3::gradsync::kernels

#endif // GRADSYNC_KERNELS_TUNING_H
