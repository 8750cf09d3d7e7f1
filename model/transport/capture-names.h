// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_CAPTURE_NAMES_H
#define GRADSYNC_CAPTURE_NAMES_H

#include "ns3/topology.h"

#include <string>
#include <vector>

namespace ns3::gradsync
{

/**
 * Names, without an extension, for the captures of what the ends of all links send.
 *
 * SENDER-RECEIVER, or SENDER-RECEIVER-LINK where several links join the two. Characters of node
 * names other than letters, digits and `._-+,=@` are written as `%` and two hexadecimal digits, and
 * so is a first `.` or `-`: a name is one file of the folder, and none that is hidden or reads like
 * an option. Names that would still be the same (`a-b` to `c`, `a` to `b-c`) or longer than file
 * names may be end with `~` and the number of the port.
 *
 * \returns [2 * link + end], end 0 being the link's node a; all differ
 */
std::vector<std::string> MakeCaptureNames(const Topology& topology);

} // namespace ns3::gradsync

#endif // GRADSYNC_CAPTURE_NAMES_H
