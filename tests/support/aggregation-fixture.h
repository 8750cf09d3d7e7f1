// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_TESTS_AGGREGATION_FIXTURE_H
#define GRADSYNC_TESTS_AGGREGATION_FIXTURE_H

#include "support/picosecond-clock.h"

#include "ns3/aggregation-service.h"
#include "ns3/exchange-engine.h"
#include "ns3/rng-seed-manager.h"
#include "ns3/roce-transport.h"
#include "ns3/simulator.h"

#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <utility>

namespace ns3::gradsync::tests
{

/// 64 values of 4 bytes.
inline constexpr uint64_t PACKET_BYTES = 256;

/// RoCE over a network whose switches aggregate, and an engine for jobs.
class AggregationFixture : public testing::Test
{
  protected:
    void SetUp() override
    {
        UsePicoseconds();
        RngSeedManager::SetSeed(1);
        m_transport = CreateObject<RoceTransport>();
        m_transport->SetAggregation(CreateObject<AggregationService>());
    }

    void TearDown() override
    {
        if (m_engine)
        {
            m_engine->Dispose();
        }
        m_transport->Dispose();
        Simulator::Destroy();
    }

    /// An attribute of the service, or of a driver (`atp.Window`); before Install().
    void Set(const std::string& name, const AttributeValue& value)
    {
        const auto dot = name.find('.');
        if (dot == std::string::npos)
        {
            GetAggregation()->SetAttribute(name, value);
            return;
        }
        GetAggregation()->GetDriver(name.substr(0, dot))->SetAttribute(name.substr(dot + 1), value);
    }

    /// The part of a node in the protocol of a driver, which is there.
    template <typename Part>
    const Part& GetPart(NodeId node, const std::string& driver) const
    {
        return dynamic_cast<const Part&>(*GetAggregation()->FindPart(node, driver));
    }

    Ptr<AggregationService> GetAggregation() const
    {
        return DynamicCast<AggregationService>(
            Ptr<NetworkAggregation>(m_transport->GetAggregation()));
    }

    void Install(std::shared_ptr<const Topology> topology)
    {
        m_topology = std::move(topology);
        m_transport->Install(m_topology, std::make_shared<RoutingTables>(*m_topology));
        m_engine = CreateObject<ExchangeEngine>();
        m_engine->SetTransport(m_transport);
    }

    Ptr<RoceTransport> m_transport;
    Ptr<ExchangeEngine> m_engine;
    std::shared_ptr<const Topology> m_topology;
};

} // namespace ns3::gradsync::tests

#endif // GRADSYNC_TESTS_AGGREGATION_FIXTURE_H
