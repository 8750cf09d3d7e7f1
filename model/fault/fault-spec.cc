// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/fault-spec.h"

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

} // namespace ns3::gradsync
