// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_SCENARIO_WARNINGS_H
#define GRADSYNC_SCENARIO_WARNINGS_H

#include "ns3/scenario-runner.h"
#include "ns3/scenario.h"

#include <compare>
#include <cstdint>
#include <iosfwd>
#include <set>
#include <string>

namespace ns3::gradsync
{

/// NICs that PCIe keeps from their rate.
struct SlowNics
{
    uint64_t pcieBitRate;
    uint64_t networkBitRate;
    std::string first; //!< the name of one of them

    auto operator<=>(const SlowNics&) const = default;
};

/// The first of each pair of rates. What a NIC has of links into the network counts together.
std::set<SlowNics> FindSlowNics(const Topology& topology);

/// What the user of a scenario should know of its runs, though it is no error; each said once.
class ScenarioWarnings
{
  public:
    void Add(const ResolvedRun& run);
    void Add(const RunCheck& check);

    void Print(std::ostream& err) const;

  private:
    std::set<std::string> m_estimates; //!< profiles that are no measurements
    std::set<std::string> m_concerns;  //!< known to go wrong with what a transport is set to
    std::set<std::string> m_denials;   //!< jobs that begin without switches that aggregate
    std::set<std::string> m_leftOut;   //!< what of traces is not simulated
    std::set<RenamedKey> m_renamed;    //!< keys that were read under their old names
    std::set<SlowNics> m_slowNics;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_SCENARIO_WARNINGS_H
