// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/native-driver.h"

#include "ns3/aggregation-contents.h"

#include <fmt/format.h>
#include <stdexcept>
#include <utility>

namespace ns3::gradsync
{

NS_OBJECT_ENSURE_REGISTERED(NativeDriver);

TypeId
NativeDriver::GetTypeId()
{
    static TypeId tid = TypeId("ns3::gradsync::NativeDriver")
                            .SetParent<AggregationDriver>()
                            .SetGroupName("GradSync");
    return tid;
}

NativeDriver::NativeDriver(std::string name)
    : m_name(std::move(name))
{
}

void
NativeDriver::DoInstall()
{
    if (m_payloadBytes % BYTES_PER_VALUE != 0)
    {
        throw std::invalid_argument(
            fmt::format("attribute PayloadBytes is {}, but must be a multiple of {}",
                        m_payloadBytes,
                        BYTES_PER_VALUE));
    }
}

void
NativeDriver::Check(const AggregationGroup& /* group */) const
{
    const auto& network = GetNetwork();
    if (network.settings.engine == ENGINE_P4 || !network.foreign.empty())
    {
        throw std::invalid_argument(
            fmt::format("switches of {} run no P4 programs: it runs natively", m_name));
    }
    if (network.settings.saturate)
    {
        throw std::invalid_argument(
            fmt::format("{}'s sums of integers wrap around: attribute Saturate is not for it",
                        m_name));
    }
    if (network.settings.values == VALUES_FLOAT && network.settings.scale != 0.0)
    {
        throw std::invalid_argument(
            fmt::format("{} adds floating-point numbers as they are: attribute Scale is not for it",
                        m_name));
    }
}

uint32_t
NativeDriver::CountValues(const AggregationPacket& /* content */) const
{
    return GetValueCount();
}

std::vector<uint8_t>
NativeDriver::MakeFrame(const FabricPacket& /* packet */,
                        NodeId /* sender */,
                        NodeId /* receiver */)
{
    return {};
}

AggregationPacket
NativeDriver::TakeContent(FabricPacket* packet) const
{
    auto content = GetNetwork().contents.Get(*packet);
    GetNetwork().fabric->GetPool().Give(packet);
    return content;
}

} // namespace ns3::gradsync
