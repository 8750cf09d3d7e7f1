// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/aggregation-drivers.h"

#include "ns3/atp-driver.h"
#include "ns3/flare-driver.h"
#include "ns3/netreduce-driver.h"
#include "ns3/nvls-driver.h"
#include "ns3/sharp-driver.h"
#include "ns3/slot-driver.h"

namespace ns3::gradsync
{

const std::vector<AggregationDriverEntry>&
GetAggregationDrivers()
{
    static const std::vector<AggregationDriverEntry> drivers{
        {"slot",
         {"switchml", "passing"},
         &SlotDriver::GetTypeId,
         SlotDriver::GetCompiledLimits(),
         SlotDriver::GetCompiledChoices()},
        {"atp", {"atp"}, &AtpDriver::GetTypeId},
        {"flare", {"flare-single", "flare-multiple", "flare-tree"}, &FlareDriver::GetTypeId},
        {"netreduce", {"netreduce"}, &NetReduceDriver::GetTypeId},
        {"nvls", {"nvls"}, &NvlsDriver::GetTypeId},
        {"sharp", {"sharp-sat", "sharp-llt"}, &SharpDriver::GetTypeId}};
    return drivers;
}

} // namespace ns3::gradsync
