// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_PHILOX_H
#define GRADSYNC_PHILOX_H

#include "ns3/float-bits.h"

/**
 * Random numbers by counter: the same for the same counter and key on the CPU and in the CUDA
 * kernels, whatever the number of threads, and nothing to keep between calls.
 */
namespace ns3::gradsync
{

/// Four numbers of 32 bits: a counter, or what becomes of it.
struct PhiloxBlock
{
    uint32_t words[4];
};

/// Two numbers of 32 bits; other keys give independent sequences.
struct PhiloxKey
{
    uint32_t words[2];
};

/**
 * Philox4x32-10 (Salmon et al., SC'11, section 3.3): ten rounds of two multiplications, whose
 * factors, and what the key grows by, are those of Random123.
 */
GRADSYNC_HOST_DEVICE inline PhiloxBlock
Philox4x32(const PhiloxBlock& counter, const PhiloxKey& key)
{
    constexpr uint32_t ROUNDS = 10;
    PhiloxBlock state = counter;
    uint32_t even = key.words[0];
    uint32_t odd = key.words[1];
    for (uint32_t round = 0; round < ROUNDS; ++round)
    {
        const uint64_t left = uint64_t{0xd2511f53U} * state.words[0];
        const uint64_t right = uint64_t{0xcd9e8d57U} * state.words[2];
        state = {{static_cast<uint32_t>(right >> 32) ^ state.words[1] ^ even,
                  static_cast<uint32_t>(right),
                  static_cast<uint32_t>(left >> 32) ^ state.words[3] ^ odd,
                  static_cast<uint32_t>(left)}};
        even += 0x9e3779b9U;
        odd += 0xbb67ae85U;
    }
    return state;
}

/// In [0, 1), a multiple of 2^-24: exact, and each as likely as any other.
GRADSYNC_HOST_DEVICE inline float
ToUnitInterval(uint32_t word)
{
    return static_cast<float>(word >> 8) * 0x1p-24F;
}

} // namespace ns3::gradsync

#endif // GRADSYNC_PHILOX_H
