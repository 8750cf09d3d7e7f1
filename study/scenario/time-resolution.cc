// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/time-resolution.h"

#include "ns3/nstime.h"

namespace ns3::gradsync
{

void
UsePicoseconds()
{
    if (Time::GetResolution() != Time::PS)
    {
        Time::SetResolution(Time::PS);
    }
}

} // namespace ns3::gradsync
