// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/codec-profile.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace ns3::gradsync
{

namespace
{

/// How far beyond the largest point the fit is trusted.
constexpr uint64_t EXTRAPOLATION = 4;

/// What takes longer is an error of the profile, and sums of such times would not fit a simulation.
constexpr double LONGEST_SECONDS = 3600.0;

double
Fit(const KernelProfile& kernel, uint64_t elements)
{
    return kernel.fixedSeconds +
           static_cast<double>(elements) * kernel.bytesPerElement / kernel.bytesPerSecond;
}

double
Interpolate(const ProfilePoint& low, const ProfilePoint& high, uint64_t elements)
{
    const double share = static_cast<double>(elements - low.elements) /
                         static_cast<double>(high.elements - low.elements);
    return low.seconds + share * (high.seconds - low.seconds);
}

/// As GetSeconds, however long it takes.
double
Evaluate(const CodecProfile& profile, const std::string& kernel, uint64_t elements)
{
    const auto& name = profile.name;
    const auto& kernels = profile.kernels;
    const auto found = kernels.find(kernel);
    if (found == kernels.end())
    {
        std::vector<std::string> names;
        names.reserve(kernels.size());
        for (const auto& [known, times] : kernels)
        {
            names.push_back(known);
        }
        throw ProfileError(fmt::format("the profile {} has no times of {} (it has: {})",
                                       name,
                                       kernel,
                                       fmt::join(names, ", ")));
    }
    const auto& points = found->second.points;
    if (points.empty() || elements < points.front().elements)
    {
        return Fit(found->second, elements);
    }
    if (elements > EXTRAPOLATION * points.back().elements)
    {
        throw ProfileError(fmt::format("the profile {} has times of {} for at most {} elements; "
                                       "{} are more than {} times that",
                                       name,
                                       kernel,
                                       points.back().elements,
                                       elements,
                                       EXTRAPOLATION));
    }
    const auto above =
        std::upper_bound(points.begin(),
                         points.end(),
                         elements,
                         [](uint64_t size, const auto& point) { return size < point.elements; });
    if (above == points.end())
    {
        return elements == points.back().elements ? points.back().seconds
                                                  : Fit(found->second, elements);
    }
    return Interpolate(*(above - 1), *above, elements);
}

} // namespace

double
CodecProfile::GetSeconds(const std::string& kernel, uint64_t elements) const
{
    const double seconds = Evaluate(*this, kernel, elements);
    if (!(seconds <= LONGEST_SECONDS))
    {
        throw ProfileError(
            fmt::format("by the profile {}, {} takes {} s for {} elements; more than "
                        "{} s cannot be right",
                        name,
                        kernel,
                        seconds,
                        elements,
                        LONGEST_SECONDS));
    }
    return seconds;
}

std::string
GetKernelName(const CodecSpec& codec, const std::string& part)
{
    if (codec.kind == CodecKind::Fp32)
    {
        return {};
    }
    CodecSpec named = codec;
    named.kind = codec.kind == CodecKind::BiSparse ? CodecKind::Dgc : codec.kind;
    return GetCodecName(named) + "-" + part;
}

} // namespace ns3::gradsync
