// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/aggregation-helper.h"

#include "ns3/object-factory.h"

#include <fmt/format.h>
#include <stdexcept>

namespace ns3::gradsync
{

AggregationHelper::AggregationHelper()
    : m_attributes(AggregationService::GetTypeId())
{
}

void
AggregationHelper::SetAttribute(const std::string& name, const AttributeValue& value)
{
    m_attributes.Set(name, value);
}

void
AggregationHelper::SetDriverAttribute(const std::string& driver,
                                      const std::string& name,
                                      const AttributeValue& value)
{
    auto found = m_settings.find(driver);
    if (found == m_settings.end())
    {
        const auto object = Create()->GetDriver(driver);
        if (!object)
        {
            throw std::invalid_argument(
                fmt::format("there is no driver of aggregations \"{}\"", driver));
        }
        found = m_settings.emplace(driver, CheckedAttributes(object->GetInstanceTypeId())).first;
    }
    found->second.Set(name, value);
}

void
AggregationHelper::AddDriver(const std::string& name,
                             const std::vector<std::string>& protocols,
                             const TypeId& type)
{
    if (!type.IsChildOf(AggregationDriver::GetTypeId()) || !type.HasConstructor())
    {
        throw std::invalid_argument(
            fmt::format("{} is no AggregationDriver that can be made", type.GetName()));
    }
    m_drivers.push_back({name, protocols, type});
}

void
AggregationHelper::SetProgram(NodeId node, const P4SwitchProgram& program)
{
    m_programs.insert_or_assign(node, program);
}

Ptr<AggregationService>
AggregationHelper::Create() const
{
    auto service = CreateObject<AggregationService>();
    m_attributes.Apply(*service);
    for (const auto& driver : m_drivers)
    {
        ObjectFactory factory;
        factory.SetTypeId(driver.type);
        service->AddDriver(driver.name, driver.protocols, factory.Create<AggregationDriver>());
    }
    for (const auto& [driver, settings] : m_settings)
    {
        settings.Apply(*service->GetDriver(driver));
    }
    for (const auto& [node, program] : m_programs)
    {
        service->SetProgram(node, program);
    }
    return service;
}

Ptr<AggregationService>
AggregationHelper::Install(const Ptr<Transport>& transport) const
{
    auto* capabilities = transport->GetCapabilities();
    if (!capabilities)
    {
        return nullptr;
    }
    auto service = Create();
    capabilities->SetAggregation(service);
    // A transport without switches that aggregate has not taken it.
    return transport->GetAggregation() ? service : nullptr;
}

} // namespace ns3::gradsync
