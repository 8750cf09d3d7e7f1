// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/collective.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace ns3::gradsync
{

Collective::Collective(std::string name,
                       std::vector<uint32_t> sources,
                       std::vector<uint32_t> targets,
                       Sum sum)
    : m_name(std::move(name)),
      m_sources(std::move(sources)),
      m_targets(std::move(targets)),
      m_sum(sum)
{
}

std::string
Collective::GetTitle() const
{
    constexpr std::string_view vowels = "aeiou";
    const bool isVowel = !m_name.empty() && vowels.find(m_name.front()) != std::string_view::npos;
    return (isVowel ? "an " : "a ") + m_name;
}

bool
Collective::Fits(uint32_t workers, uint32_t chunks) const
{
    const auto fits = [workers, chunks](const std::vector<uint32_t>& ranks) {
        return (ranks.size() == 1 || ranks.size() == chunks) &&
               std::all_of(ranks.begin(), ranks.end(), [workers](uint32_t rank) {
                   return rank == ALL || rank < workers;
               });
    };
    return fits(m_sources) && fits(m_targets);
}

uint64_t
Collective::GetMemoryBytes() const
{
    return (m_sources.capacity() + m_targets.capacity()) * sizeof(uint32_t);
}

} // namespace ns3::gradsync
