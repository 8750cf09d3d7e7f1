// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_TESTS_PICOSECOND_CLOCK_H
#define GRADSYNC_TESTS_PICOSECOND_CLOCK_H

#include "ns3/nstime.h"

namespace ns3::gradsync::tests
{

/// Sets the simulator's clock to picoseconds, once: ns-3 cannot do it again after a first run.
inline void
UsePicoseconds()
{
    if (Time::GetResolution() != Time::PS)
    {
        Time::SetResolution(Time::PS);
    }
}

} // namespace ns3::gradsync::tests

#endif // GRADSYNC_TESTS_PICOSECOND_CLOCK_H
