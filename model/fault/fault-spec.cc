// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/fault-spec.h"

#include <algorithm>
#include <cmath>

namespace ns3::gradsync
{

std::string_view
ToString(FaultKind kind)
{
    switch (kind)
    {
    case FaultKind::HostPauseSend:
        return "host-pause-send";
    case FaultKind::HostPause:
        return "host-pause";
    case FaultKind::HostCrash:
        return "host-crash";
    case FaultKind::Straggler:
        return "straggler";
    case FaultKind::LinkDown:
        return "link-down";
    case FaultKind::LinkDegraded:
        return "link-degraded";
    case FaultKind::Flood:
        return "flood";
    case FaultKind::SwitchDown:
        return "switch-down";
    case FaultKind::AggregatorDown:
        return "aggregator-down";
    }
    return "unknown";
}

FaultTarget
GetTarget(FaultKind kind)
{
    switch (kind)
    {
    case FaultKind::HostPauseSend:
    case FaultKind::HostPause:
    case FaultKind::HostCrash:
    case FaultKind::Straggler:
        return FaultTarget::Endpoint;
    case FaultKind::LinkDown:
    case FaultKind::LinkDegraded:
    case FaultKind::Flood:
        return FaultTarget::Link;
    case FaultKind::SwitchDown:
    case FaultKind::AggregatorDown:
        break;
    }
    return FaultTarget::Node;
}

double
CountBeginnings(const FaultSpec& fault, const Time& end)
{
    if (end <= fault.start)
    {
        return 0.0;
    }
    const auto seconds = (end - fault.start).GetSeconds();
    const auto pool = static_cast<double>(fault.pool.size());
    if (fault.meanUp.IsStrictlyPositive())
    {
        const auto cycle = fault.meanUp.GetSeconds() + fault.meanRepair.GetSeconds();
        return fault.meanRepair.IsZero() ? pool : pool * seconds / cycle;
    }
    const auto targets = fault.random > 0 ? fault.random : pool;
    if (fault.every.IsZero())
    {
        return targets;
    }
    const auto times = std::ceil(seconds / fault.every.GetSeconds());
    return targets * (fault.count > 0 ? std::min(times, static_cast<double>(fault.count)) : times);
}

} // namespace ns3::gradsync
