// SPDX-License-Identifier: GPL-2.0-only
// All of the library as ns-3's registry of types and its log know it.
#include "ns3/log.h"
#include "ns3/type-id.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace ns3::gradsync::tests
{

namespace
{

/// Every type of the library; not those that tests make.
std::vector<TypeId>
ListTypes()
{
    std::vector<TypeId> types;
    for (uint16_t i = 0; i < TypeId::GetRegisteredN(); ++i)
    {
        const auto type = TypeId::GetRegistered(i);
        const auto name = type.GetName();
        if (name.starts_with("ns3::gradsync::") && !name.starts_with("ns3::gradsync::tests::"))
        {
            types.push_back(type);
        }
    }
    return types;
}

TEST(TypeRegistry, AllTypesAreOfOneGroup)
{
    std::vector<std::string> names;
    for (const auto& type : ListTypes())
    {
        EXPECT_EQ(type.GetGroupName(), "GradSync") << type.GetName();
        names.push_back(type.GetName());
    }
    EXPECT_THAT(names,
                ::testing::IsSupersetOf({"ns3::gradsync::DcqcnControl",
                                         "ns3::gradsync::ExchangeApplication",
                                         "ns3::gradsync::ExchangeEngine",
                                         "ns3::gradsync::FabricNetwork",
                                         "ns3::gradsync::FaultInjector",
                                         "ns3::gradsync::FluidTransport",
                                         "ns3::gradsync::RoceTransport",
                                         "ns3::gradsync::TcpTransport"}));
}

TEST(TypeRegistry, EveryAttributeAndTraceSourceSaysWhatItIs)
{
    for (const auto& type : ListTypes())
    {
        for (size_t i = 0; i < type.GetAttributeN(); ++i)
        {
            const auto attribute = type.GetAttribute(i);
            EXPECT_FALSE(attribute.help.empty()) << type.GetName() << "::" << attribute.name;
        }
        for (size_t i = 0; i < type.GetTraceSourceN(); ++i)
        {
            const auto source = type.GetTraceSource(i);
            EXPECT_FALSE(source.help.empty()) << type.GetName() << "::" << source.name;
            EXPECT_TRUE(source.callback.starts_with("ns3::")) << type.GetName() << source.name;
        }
    }
}

TEST(TypeRegistry, TheRoomsHaveLogComponents)
{
    const auto* components = LogComponent::GetComponentList();
    for (const char* name : {"GradsyncFabricNetwork",
                             "GradsyncRoceSender",
                             "GradsyncRoceTransport",
                             "GradsyncTcpTransport",
                             "GradsyncFluidTransport",
                             "GradsyncAggregationService",
                             "GradsyncAggregationSession",
                             "GradsyncExchangeEngine",
                             "GradsyncFaultInjector"})
    {
        EXPECT_TRUE(components->contains(name)) << name;
    }
}

} // namespace

} // namespace ns3::gradsync::tests
