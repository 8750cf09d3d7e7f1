// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/gradient-codecs.h"

#include <algorithm>
#include <fmt/format.h>

namespace ns3::gradsync
{

namespace
{

constexpr uint64_t GRADIENT_ELEMENT_BYTES = 4;

bool
MeetsRule(const GradientCodecRule& rule, const std::string& block, uint64_t bytes)
{
    const auto elements = (bytes + GRADIENT_ELEMENT_BYTES - 1) / GRADIENT_ELEMENT_BYTES;
    return elements > rule.aboveElements &&
           (rule.blocks.empty() || std::ranges::any_of(rule.blocks, [&block](const auto& pattern) {
                return MatchesPattern(block, pattern);
            }));
}

} // namespace

bool
MatchesPattern(std::string_view name, std::string_view pattern)
{
    // The last star may always take more: no other has to be tried again.
    size_t at = 0;
    size_t in = 0;
    auto star = std::string_view::npos;
    size_t taken = 0;
    while (at < name.size())
    {
        if (in < pattern.size() && pattern[in] == '*')
        {
            star = in++;
            taken = at;
        }
        else if (in < pattern.size() && pattern[in] == name[at])
        {
            ++in;
            ++at;
        }
        else if (star != std::string_view::npos)
        {
            in = star + 1;
            at = ++taken;
        }
        else
        {
            return false;
        }
    }
    return pattern.find_first_not_of('*', in) == std::string_view::npos;
}

SharedCodec
ChooseCodec(std::span<const GradientCodecRule> rules, const std::string& block, uint64_t bytes)
{
    const auto found = std::ranges::find_if(rules, [&](const auto& rule) {
        return MeetsRule(rule, block, bytes);
    });
    return found == rules.end() ? nullptr : found->codec;
}

std::string
NameCompressed(const std::string& label, const SharedCodec& codec)
{
    return codec ? fmt::format("{} ({})", label, GetCodecInfo(codec->choice.spec.kind).name)
                 : label;
}

} // namespace ns3::gradsync
