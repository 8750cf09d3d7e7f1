// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_INSTRUCTION_SETS_H
#define GRADSYNC_INSTRUCTION_SETS_H

#include <cstdint>
#include <string>
#include <vector>

namespace ns3::gradsync
{

/// Sets of instructions, each with all of those before it.
enum class InstructionSet : uint8_t
{
    Baseline, //!< what the program was compiled for; the only one where that is not x86-64
    Avx2,     //!< AVX2 and F16C: Intel from 2013 on, AMD from 2015 on
    Avx512    //!< AVX-512 F, BW, DQ and VL: Intel's servers from 2017 on, AMD from 2022 on
};

/// Those that this CPU and its operating system have, the fastest last.
const std::vector<InstructionSet>& GetInstructionSets();

/// The last of these.
InstructionSet GetFastestInstructionSet();

/// "baseline", "AVX2", "AVX-512".
std::string GetName(InstructionSet instructions);

} // namespace ns3::gradsync

#endif // GRADSYNC_INSTRUCTION_SETS_H
