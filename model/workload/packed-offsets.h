// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_PACKED_OFFSETS_H
#define GRADSYNC_PACKED_OFFSETS_H

#include <cstdint>
#include <string>
#include <vector>

namespace ns3::gradsync
{

/**
 * Offsets of rows that follow each other in one list, from their lengths, which stand one place
 * further on: {0, a, b} becomes {0, a, a + b}.
 * \param what is in the rows, for the message
 * \throws WorkloadError when all of them are more than 32 bits can number
 */
void SumUpOffsets(std::vector<uint32_t>& offsets, const std::string& what);

/// \throws WorkloadError when as many are more than 32 bits can number, all ones left out
void CheckNumbers(uint64_t count, const std::string& what);

} // namespace ns3::gradsync

#endif // GRADSYNC_PACKED_OFFSETS_H
