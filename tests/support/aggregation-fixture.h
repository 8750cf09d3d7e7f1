// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_TESTS_AGGREGATION_FIXTURE_H
#define GRADSYNC_TESTS_AGGREGATION_FIXTURE_H

#include "support/picosecond-clock.h"

#include "ns3/exchange-engine.h"
#include "ns3/rng-seed-manager.h"
#include "ns3/roce-transport.h"
#include "ns3/simulator.h"
#include "ns3/slot-aggregation.h"

#include <gtest/gtest.h>
#include <memory>
#include <utility>

namespace ns3::gradsync::tests
{

/// 64 values of 4 bytes.
inline constexpr uint64_t PACKET_BYTES = 256;

/// RoCE over a network whose switches add up, and an engine for jobs.
class AggregationFixture : public testing::Test
{
  protected:
    void SetUp() override
    {
        UsePicoseconds();
        RngSeedManager::SetSeed(1);
        m_transport = CreateObject<RoceTransport>();
        m_transport->SetAggregation(CreateObject<SlotAggregation>());
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

    /// An attribute of the aggregation; before Install().
    void Set(const char* name, const AttributeValue& value)
    {
        m_transport->GetAggregation()->SetAttribute(name, value);
    }

    Ptr<SlotAggregation> GetAggregation() const
    {
        return DynamicCast<SlotAggregation>(Ptr<NetworkAggregation>(m_transport->GetAggregation()));
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
