// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_CHAKRA_EXPORT_H
#define GRADSYNC_CHAKRA_EXPORT_H

#include "ns3/plan.h"
#include "ns3/workload.h"

#include <ostream>
#include <string>

namespace ns3::gradsync
{

/// Writes Chakra traces of a plan, one of each rank. \param name of the files, with {rank}
/// \param out nullptr: says nothing \throws ScenarioError for what Chakra cannot say
void ExportChakraPlan(const Plan& plan, const std::string& name, std::ostream* out);

/// Likewise of a workload, and the ranks of its process groups in a file of their own, with
/// "groups.json" in the place of "{rank}.et".
void ExportChakraWorkload(const Workload& workload, const std::string& name, std::ostream& out);

} // namespace ns3::gradsync

#endif // GRADSYNC_CHAKRA_EXPORT_H
