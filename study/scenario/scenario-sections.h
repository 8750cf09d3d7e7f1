// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_SCENARIO_SECTIONS_H
#define GRADSYNC_SCENARIO_SECTIONS_H

#include "ns3/parameter-spec.h"

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace ns3::gradsync
{

/// A part of a scenario whose `kind` says what it knows.
struct KindSection
{
    std::string_view name; //!< as SharedShape: "scheme", wherever one stands
    std::span<const KindSpec> (*getKinds)();
    const char* help;
};

/// All of them: topology, transport, scheme, codec, model; faults and traffic, which are lists.
std::span<const KindSection> GetKindSections();

/// The one of that name, or nullptr.
const KindSection* FindKindSection(std::string_view name);

/// What a scenario has at the top.
const std::vector<ParameterSpec>& GetScenarioParameters();

/// What a job knows.
const std::vector<ParameterSpec>& GetJobParameters();

/// What `dgt` of a job knows.
const std::vector<ParameterSpec>& GetTransmissionParameters();

/// What a tensor of a job knows.
const std::vector<ParameterSpec>& GetTensorParameters();

/// Tensors of a job, all of `count` counted.
inline constexpr uint64_t MAX_TENSORS = 10'000;

/// 16 TiB: the picoseconds of a whole exchange must fit in 63 bits.
inline constexpr uint64_t MAX_GRADIENT_BYTES = 1ULL << 44;

/// What `plot` knows.
const std::vector<ParameterSpec>& GetPlotParameters();

/// What `results` knows.
const std::vector<ParameterSpec>& GetResultsParameters();

} // namespace ns3::gradsync

#endif // GRADSYNC_SCENARIO_SECTIONS_H
