// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/congestion-controls.h"

#include "ns3/dcqcn-control.h"

namespace ns3::gradsync
{

const std::vector<CongestionControlEntry>&
GetCongestionControls()
{
    static const std::vector<CongestionControlEntry> entries{
        {CC_DCQCN,
         "dcqcn",
         "ECN marks, notification packets, rates (SIGCOMM 2015)",
         &DcqcnControl::GetTypeId}};
    return entries;
}

} // namespace ns3::gradsync
