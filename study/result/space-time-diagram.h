// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_SPACE_TIME_DIAGRAM_H
#define GRADSYNC_SPACE_TIME_DIAGRAM_H

#include "ns3/exchange-engine.h"
#include "ns3/plan.h"

#include <ostream>
#include <span>
#include <string>

namespace ns3::gradsync
{

/**
 * Draws the transfers of a plan as SVG: a lane for each rank, time to the right, each transfer a
 * line from its start at the sender to its end at the receiver. Reductions and copies differ in
 * colour and in dashes. The same input gives the same bytes.
 * \param transfers of one job, with times from 0 on
 */
void DrawSpaceTime(const std::string& title,
                   const Plan& plan,
                   std::span<const TransferRecord> transfers,
                   std::ostream& stream);

} // namespace ns3::gradsync

#endif // GRADSYNC_SPACE_TIME_DIAGRAM_H
