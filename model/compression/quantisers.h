// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_QUANTISERS_H
#define GRADSYNC_QUANTISERS_H

#include "ns3/quantiser-loops.h"

#include <cstdint>
#include <span>

/**
 * CPU implementations of the quantising codecs: every element is sent, in fewer bits. The formulas
 * are those of quantiser-arithmetic.h and float-bits.h.
 *
 * Sizes of the outputs must be exactly what the input asks for; spans must not overlap unless the
 * function says so. Every function takes the number of threads (0: as many as the machine has) and
 * a set of instructions, one of GetInstructionSets(), and gives the same bits for any.
 */
namespace ns3::gradsync
{

/// Blocks that `elements` make.
constexpr uint64_t
CountBlocks(uint64_t elements, uint64_t blockElements)
{
    return (elements + blockElements - 1) / blockElements;
}

/// \param codes one per element; \param scales one per block
void EncodeInt8Blocks(std::span<const float> values,
                      uint32_t blockElements,
                      std::span<int8_t> codes,
                      std::span<float> scales,
                      uint32_t threads = 0,
                      InstructionSet instructions = GetFastestInstructionSet());
void DecodeInt8Blocks(std::span<const int8_t> codes,
                      std::span<const float> scales,
                      uint32_t blockElements,
                      std::span<float> values,
                      uint32_t threads = 0,
                      InstructionSet instructions = GetFastestInstructionSet());

void EncodeHalf(std::span<const float> values,
                std::span<uint16_t> codes,
                uint32_t threads = 0,
                InstructionSet instructions = GetFastestInstructionSet());
void DecodeHalf(std::span<const uint16_t> codes,
                std::span<float> values,
                uint32_t threads = 0,
                InstructionSet instructions = GetFastestInstructionSet());
void EncodeBfloat(std::span<const float> values,
                  std::span<uint16_t> codes,
                  uint32_t threads = 0,
                  InstructionSet instructions = GetFastestInstructionSet());
void DecodeBfloat(std::span<const uint16_t> codes,
                  std::span<float> values,
                  uint32_t threads = 0,
                  InstructionSet instructions = GetFastestInstructionSet());

/// \param residual read and updated; \param words one for every 16 elements
void EncodeTwoBits(std::span<const float> gradients,
                   std::span<float> residual,
                   float threshold,
                   std::span<uint32_t> words,
                   uint32_t threads = 0,
                   InstructionSet instructions = GetFastestInstructionSet());
void DecodeTwoBits(std::span<const uint32_t> words,
                   float threshold,
                   std::span<float> values,
                   uint32_t threads = 0);

void EncodeFixedPoints(std::span<const float> values,
                       float factor,
                       std::span<int32_t> codes,
                       uint32_t threads = 0,
                       InstructionSet instructions = GetFastestInstructionSet());
/// \param factor as of the encoder
void DecodeFixedPoints(std::span<const int32_t> codes,
                       float factor,
                       std::span<float> values,
                       uint32_t threads = 0,
                       InstructionSet instructions = GetFastestInstructionSet());

/// \param exponents one per packet
void FindPacketExponents(std::span<const float> values,
                         uint32_t packetElements,
                         std::span<int8_t> exponents,
                         uint32_t threads = 0,
                         InstructionSet instructions = GetFastestInstructionSet());
/// \param exponents of each packet, the largest of all workers
void EncodeWithExponents(std::span<const float> values,
                         uint32_t packetElements,
                         uint32_t workers,
                         std::span<const int8_t> exponents,
                         std::span<int32_t> codes,
                         uint32_t threads = 0,
                         InstructionSet instructions = GetFastestInstructionSet());
void DecodeWithExponents(std::span<const int32_t> sums,
                         uint32_t packetElements,
                         uint32_t workers,
                         std::span<const int8_t> exponents,
                         std::span<float> values,
                         uint32_t threads = 0,
                         InstructionSet instructions = GetFastestInstructionSet());

/**
 * The same in 8 bits, sums too: what int8 sends where switches add up.
 * \param workers 1 to 127
 * \throws std::invalid_argument for other workers
 */
void EncodeBytesWithExponents(std::span<const float> values,
                              uint32_t packetElements,
                              uint32_t workers,
                              std::span<const int8_t> exponents,
                              std::span<int8_t> codes,
                              uint32_t threads = 0,
                              InstructionSet instructions = GetFastestInstructionSet());
void DecodeBytesWithExponents(std::span<const int8_t> sums,
                              uint32_t packetElements,
                              uint32_t workers,
                              std::span<const int8_t> exponents,
                              std::span<float> values,
                              uint32_t threads = 0,
                              InstructionSet instructions = GetFastestInstructionSet());

} // namespace ns3::gradsync

#endif // GRADSYNC_QUANTISERS_H
