// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/congestion-controls.h"

#include "ns3/dcqcn-control.h"
#include "ns3/dctcp-control.h"
#include "ns3/hpcc-control.h"
#include "ns3/swift-control.h"
#include "ns3/timely-control.h"

namespace ns3::gradsync
{

const std::vector<CongestionControlEntry>&
GetCongestionControls()
{
    static const std::vector<CongestionControlEntry> entries{
        {CC_DCQCN,
         "dcqcn",
         "ECN marks, notification packets, rates (SIGCOMM 2015)",
         &DcqcnControl::GetTypeId},
        {CC_DCTCP, "dctcp", "ECN marks, windows (SIGCOMM 2010)", &DctcpControl::GetTypeId},
        {CC_HPCC, "hpcc", "in-band telemetry, windows (SIGCOMM 2019)", &HpccControl::GetTypeId},
        {CC_SWIFT, "swift", "target delay, windows (SIGCOMM 2020)", &SwiftControl::GetTypeId},
        {CC_TIMELY, "timely", "delay gradient, rates (SIGCOMM 2015)", &TimelyControl::GetTypeId}};
    return entries;
}

} // namespace ns3::gradsync
