// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/instruction-sets.h"

#include <array>

#ifdef __x86_64__
#include <cpuid.h>
#endif

namespace ns3::gradsync
{

namespace
{

#ifdef __x86_64__
/// Clang 14's __builtin_cpu_supports does not know this one.
bool
HasF16c()
{
    std::array<uint32_t, 4> registers{};
    return __get_cpuid(1, &registers[0], &registers[1], &registers[2], &registers[3]) != 0 &&
           (registers[2] & bit_F16C) != 0;
}
#endif

std::vector<InstructionSet>
FindInstructionSets()
{
    std::vector<InstructionSet> found{InstructionSet::Baseline};
#ifdef __x86_64__
    // These also ask whether the operating system keeps the wider registers.
    if (__builtin_cpu_supports("avx2") && HasF16c())
    {
        found.push_back(InstructionSet::Avx2);
        if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
            __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
        {
            found.push_back(InstructionSet::Avx512);
        }
    }
#endif
    return found;
}

} // namespace

const std::vector<InstructionSet>&
GetInstructionSets()
{
    static const std::vector<InstructionSet> sets = FindInstructionSets();
    return sets;
}

InstructionSet
GetFastestInstructionSet()
{
    return GetInstructionSets().back();
}

std::string
GetName(InstructionSet instructions)
{
    switch (instructions)
    {
    case InstructionSet::Baseline:
        break;
    case InstructionSet::Avx2:
        return "AVX2";
    case InstructionSet::Avx512:
        return "AVX-512";
    }
    return "baseline";
}

} // namespace ns3::gradsync
