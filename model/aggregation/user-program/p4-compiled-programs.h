// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_P4_COMPILED_PROGRAMS_H
#define GRADSYNC_P4_COMPILED_PROGRAMS_H

#include <cstdint>
#include <string_view>

/// The programs of p4-behavioral/compiled, built in, so that they are there wherever gradsync is.
namespace ns3::gradsync::compiled
{

/// Settings with which slot-aggregation.p4 was compiled.
inline constexpr uint32_t SLOT_POOL = 4096;
inline constexpr uint32_t SLOT_VALUES = 64;

/// slot-aggregation.json: sums wrap around.
std::string_view GetSlotProgram();
/// slot-aggregation-saturate.json
std::string_view GetSaturatingSlotProgram();

} // namespace ns3::gradsync::compiled

#endif // GRADSYNC_P4_COMPILED_PROGRAMS_H
