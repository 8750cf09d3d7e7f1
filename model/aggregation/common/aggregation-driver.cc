// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/aggregation-driver.h"

namespace ns3::gradsync
{

NS_OBJECT_ENSURE_REGISTERED(AggregationDriver);

TypeId
AggregationDriver::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::gradsync::AggregationDriver").SetParent<Object>().SetGroupName("GradSync");
    return tid;
}

void
AggregationDriver::Install(AggregationHost& host, uint8_t number)
{
    m_host = &host;
    m_number = number;
    DoInstall();
}

void
AggregationDriver::DoInstall()
{
}

bool
AggregationDriver::HasFlow(AggregationFlow flow) const
{
    return flow == AggregationFlow::AllReduce;
}

std::string
AggregationDriver::FindShared() const
{
    return {};
}

bool
AggregationDriver::ReadsFrames() const
{
    return false;
}

bool
AggregationDriver::ReadFrame(std::span<const uint8_t> /* frame */,
                             AggregationPacket& /* content */) const
{
    return false;
}

} // namespace ns3::gradsync
