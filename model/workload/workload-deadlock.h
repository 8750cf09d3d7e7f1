// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_WORKLOAD_DEADLOCK_H
#define GRADSYNC_WORKLOAD_DEADLOCK_H

#include <optional>
#include <string>

namespace ns3::gradsync
{

class Workload;

/**
 * Whether tasks would wait for each other for ever: by edges in a circle, or because ranks come to
 * their communications in different orders.
 *
 * Runs the workload without time. Every rank of a communication waits for all of them to begin, but
 * the sender of a message, whom nobody keeps waiting (PlanExecution: a rank receives at any time).
 *
 * \returns one line for the user that names the ranks and what they wait for
 */
std::optional<std::string> FindDeadlock(const Workload& workload);

} // namespace ns3::gradsync

#endif // GRADSYNC_WORKLOAD_DEADLOCK_H
