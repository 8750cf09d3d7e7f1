// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/transport.h"

#include "ns3/fabric-network.h"
#include "ns3/transport-capabilities.h"

#include <stdexcept>

namespace ns3::gradsync
{

NS_OBJECT_ENSURE_REGISTERED(Transport);

TypeId
Transport::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::gradsync::Transport").SetParent<Object>().SetGroupName("GradSync");
    return tid;
}

void
Transport::AddState(StateWords& words)
{
    words.Refuse("the transport does not tell its state");
}

TransportCapabilities*
Transport::GetCapabilities()
{
    return nullptr;
}

void
Transport::KeepInStep()
{
    auto* capabilities = GetCapabilities();
    const auto fabric = capabilities ? capabilities->GetFabric() : nullptr;
    if (fabric)
    {
        fabric->KeepInStep();
    }
}

TransportFaults*
Transport::GetFaults()
{
    return nullptr;
}

TransportParts*
Transport::GetParts()
{
    return nullptr;
}

TransportAggregation*
Transport::GetAggregation() const
{
    return nullptr;
}

TransportFaults&
Transport::RequireFaults()
{
    if (auto* faults = GetFaults())
    {
        return *faults;
    }
    throw std::logic_error(GetInstanceTypeId().GetName() + " cannot simulate this fault");
}

TransportAggregation&
Transport::RequireAggregation() const
{
    if (auto* aggregation = GetAggregation())
    {
        return *aggregation;
    }
    throw std::invalid_argument("switches do not aggregate under this transport; roce is one under "
                                "which they do, while no servers run as fluids");
}

} // namespace ns3::gradsync
