// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_SCENARIO_WARNINGS_H
#define GRADSYNC_SCENARIO_WARNINGS_H

#include "ns3/scenario.h"

#include <iosfwd>
#include <set>
#include <string>

namespace ns3::gradsync
{

/// What the user of a scenario should know of its runs, though it is no error; each said once.
class ScenarioWarnings
{
  public:
    void Add(const ResolvedRun& run);

    void Print(std::ostream& err) const;

  private:
    std::set<std::string> m_estimates; //!< profiles that are no measurements
    std::set<RenamedKey> m_renamed;    //!< keys that were read under their old names
};

} // namespace ns3::gradsync

#endif // GRADSYNC_SCENARIO_WARNINGS_H
