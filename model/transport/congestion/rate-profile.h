// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_RATE_PROFILE_H
#define GRADSYNC_RATE_PROFILE_H

#include "ns3/attribute.h"

#include <cstdint>
#include <string>

namespace ns3::gradsync
{

/// For which links a congestion control's rates are meant: as published, for each flow's own NIC,
/// or for NICs of so many Gb/s.
enum RateProfile : uint32_t
{
    PROFILE_PAPER = 0,
    PROFILE_LINK = 1,
    PROFILE_10G = 10,
    PROFILE_25G = 25,
    PROFILE_40G = 40,
    PROFILE_50G = 50,
    PROFILE_100G = 100,
    PROFILE_200G = 200,
    PROFILE_400G = 400,
    PROFILE_800G = 800
};

/// Of an Attribute that is a RateProfile: paper, link, 10G ... 800G.
Ptr<const AttributeChecker> MakeRateProfileChecker();

/**
 * What the published steps of a rate are multiplied by, in proportion to the links' rate, as the
 * authors of HPCC scale DCQCN's and TIMELY's (SIGCOMM 2019, section 5.1 and their simulator).
 *
 * \param lineRate of the flow, bits per second
 * \param paperRate of the network that the algorithm was published for, bits per second
 */
double GetRateScale(RateProfile profile, double lineRate, double paperRate);

/// A sentence where steps are for links of half a NIC's rate or less; else empty.
std::string DescribeSmallSteps(const char* control,
                               RateProfile profile,
                               double lineRate,
                               double paperRate);

} // namespace ns3::gradsync

#endif // GRADSYNC_RATE_PROFILE_H
