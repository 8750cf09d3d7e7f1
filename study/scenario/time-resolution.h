// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_TIME_RESOLUTION_H
#define GRADSYNC_TIME_RESOLUTION_H

namespace ns3::gradsync
{

/**
 * Makes ns-3 count time in picoseconds, as all of gradsync expects: a byte at 100 Gb/s takes 80 ps.
 * Call it before the first simulation of the process; does nothing when it is so already.
 */
void UsePicoseconds();

} // namespace ns3::gradsync

#endif // GRADSYNC_TIME_RESOLUTION_H
