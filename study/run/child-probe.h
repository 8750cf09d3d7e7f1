// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_CHILD_PROBE_H
#define GRADSYNC_CHILD_PROBE_H

#include <functional>
#include <string>

namespace ns3::gradsync
{

/**
 * Runs something in a process of its own that ns-3 may abort, as it does for many wrong values of
 * its own types.
 * \returns empty when it came to its end; else why not, in ns-3's words where it has any
 * \throws ScenarioError when a signal told this program to stop meanwhile
 */
std::string ProbeInChild(const std::function<void()>& attempt);

} // namespace ns3::gradsync

#endif // GRADSYNC_CHILD_PROBE_H
