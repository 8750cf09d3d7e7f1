// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_TRANSPORT_PROBE_H
#define GRADSYNC_TRANSPORT_PROBE_H

#include "ns3/transport-registry.h"

namespace ns3::gradsync
{

/**
 * Tries the types of ns-3 that a transport names (queue discs, congestion controls) on a small
 * network, in a process of its own: ns-3 aborts the program for many wrong values of their
 * Attributes, some of them only when the first packet comes. Each choice is tried once.
 * \throws ScenarioError in ns-3's words
 */
void ProbeForeignTypes(const TransportChoice& choice);

} // namespace ns3::gradsync

#endif // GRADSYNC_TRANSPORT_PROBE_H
