// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/run-limits.h"

#include "ns3/fault-spec.h"
#include "ns3/scenario-error.h"
#include "ns3/traffic-generator.h"

#include <algorithm>
#include <fmt/format.h>

namespace ns3::gradsync
{

namespace
{

/// Whether jobs may go on, or end, with less to do than they were planned to.
bool
MayShorten(FaultKind kind)
{
    return kind == FaultKind::HostCrash || kind == FaultKind::AggregatorDown;
}

void
CheckFaults(const ResolvedRun& run, const Time& least)
{
    double total = 0.0;
    double most = 0.0;
    size_t worst = 0;
    for (size_t i = 0; i < run.faults.size(); ++i)
    {
        const auto count = CountBeginnings(run.faults[i], least);
        total += count;
        worst = count > most ? i : worst;
        most = std::max(most, count);
    }
    if (total > static_cast<double>(MAX_FAULT_BEGINNINGS))
    {
        throw ScenarioError(
            "faults",
            fmt::format("in the {:.3g} s that the jobs take at least they begin {:.3g} times, most "
                        "of them {}: it would not end, expected at most {} times",
                        least.GetSeconds(),
                        total,
                        ToString(run.faults[worst].kind),
                        MAX_FAULT_BEGINNINGS));
    }
}

void
CheckTraffic(const ResolvedRun& run, const Time& least)
{
    for (size_t i = 0; i < run.traffic.size(); ++i)
    {
        const auto& spec = run.traffic[i];
        const auto count = CountFlows(spec, *run.topology, least);
        if (count > static_cast<double>(MAX_FLOWS))
        {
            throw ScenarioError(
                fmt::format("traffic.{}", i),
                fmt::format("in the {:.3g} s that the jobs take at least {:.3g} flows begin: it "
                            "would not end, expected at most {}",
                            least.GetSeconds(),
                            count,
                            MAX_FLOWS));
        }
    }
}

} // namespace

void
CheckLimits(const ResolvedRun& run, const Time& least)
{
    const bool mayShorten = std::ranges::any_of(run.faults, MayShorten, &FaultSpec::kind);
    CheckFaults(run, mayShorten ? Time() : least);
    CheckTraffic(run, mayShorten ? Time() : least);
}

} // namespace ns3::gradsync
