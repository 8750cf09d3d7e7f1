// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/rate-profile.h"

#include "ns3/enum.h"

#include <fmt/format.h>

namespace ns3::gradsync
{

Ptr<const AttributeChecker>
MakeRateProfileChecker()
{
    return MakeEnumChecker(PROFILE_PAPER,
                           "paper",
                           PROFILE_LINK,
                           "link",
                           PROFILE_10G,
                           "10G",
                           PROFILE_25G,
                           "25G",
                           PROFILE_40G,
                           "40G",
                           PROFILE_50G,
                           "50G",
                           PROFILE_100G,
                           "100G",
                           PROFILE_200G,
                           "200G",
                           PROFILE_400G,
                           "400G",
                           PROFILE_800G,
                           "800G");
}

double
GetRateScale(RateProfile profile, double lineRate, double paperRate)
{
    switch (profile)
    {
    case PROFILE_PAPER:
        return 1.0;
    case PROFILE_LINK:
        return lineRate / paperRate;
    default:
        return static_cast<double>(profile) * 1e9 / paperRate;
    }
}

std::string
DescribeSmallSteps(const char* control, RateProfile profile, double lineRate, double paperRate)
{
    const auto meant = paperRate * GetRateScale(profile, lineRate, paperRate);
    if (2 * meant > lineRate)
    {
        return {};
    }
    return fmt::format(
        "{}'s steps are for NICs of {:g} Gb/s and these have {:g}: flows that were cut "
        "stay slow for long (profile)",
        control,
        meant / 1e9,
        lineRate / 1e9);
}

} // namespace ns3::gradsync
