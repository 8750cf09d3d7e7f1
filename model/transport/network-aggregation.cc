// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/network-aggregation.h"

namespace ns3::gradsync
{

NS_OBJECT_ENSURE_REGISTERED(NetworkAggregation);

TypeId
NetworkAggregation::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::gradsync::NetworkAggregation").SetParent<Object>().SetGroupName("GradSync");
    return tid;
}

} // namespace ns3::gradsync
