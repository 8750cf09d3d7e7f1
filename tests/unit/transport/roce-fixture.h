// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_ROCE_FIXTURE_H
#define GRADSYNC_ROCE_FIXTURE_H

#include "support/picosecond-clock.h"

#include "ns3/object-factory.h"
#include "ns3/radix-scheduler.h"
#include "ns3/rng-seed-manager.h"
#include "ns3/roce-transport.h"
#include "ns3/simulator.h"
#include "ns3/spine-leaf-topology.h"
#include "ns3/star-topology.h"
#include "ns3/uinteger.h"

#include <gtest/gtest.h>
#include <map>
#include <string>
#include <utility>

namespace ns3::gradsync
{

/// Counts what arrives, by tag.
class CountingHandler final : public MessageHandler
{
  public:
    void OnDelivered(uint64_t tag) override
    {
        ++delivered[tag];
        lastDelivery = Simulator::Now();
        deliveredAt[tag] = lastDelivery;
    }

    void OnFailed(uint64_t tag, const std::string& reason) override
    {
        failures[tag] = reason;
    }

    std::map<uint64_t, int> delivered;
    std::map<uint64_t, std::string> failures;
    std::map<uint64_t, Time> deliveredAt; //!< by tag, the last time
    Time lastDelivery;
};

/// Counts what trace sources report.
struct Tally
{
    void OnDrop(uint32_t, uint32_t)
    {
        ++drops;
    }

    void OnRecovery(uint32_t, uint32_t, bool)
    {
        ++recoveries;
    }

    uint64_t drops{0};
    uint64_t recoveries{0};
};

/// A transport on a network of the test's choice.
class RoceTransportTest : public ::testing::Test
{
  protected:
    void SetUp() override
    {
        tests::UsePicoseconds();
        RngSeedManager::SetSeed(1);
        m_transport = CreateObject<RoceTransport>();
        // Networks of tests are too small for reservations else.
        Set("KeptQueuePairs", UintegerValue(0));
    }

    void TearDown() override
    {
        m_transport = nullptr;
        Simulator::Destroy();
    }

    void InstallStar(uint32_t hosts, const char* rate = "1Gbps")
    {
        StarOptions options;
        options.hosts = hosts;
        options.hostLink = {DataRate(rate), MicroSeconds(1)};
        Install(MakeStarTopology(options));
    }

    /// Only this scheduler knows the order of events and foresees them.
    static void UseRadixScheduler()
    {
        ObjectFactory scheduler;
        scheduler.SetTypeId(RadixScheduler::GetTypeId());
        Simulator::SetScheduler(scheduler);
    }

    /// 12 hosts in three racks below two spines, whose queue pairs have short packets and timeouts
    /// and do not give up. \param fabricDelay of links between switches
    void InstallPatientRacks(const Time& fabricDelay = MicroSeconds(1))
    {
        Set("Timeout", TimeValue(MilliSeconds(1)));
        Set("RetryLimit", UintegerValue(1000));
        Set("Mtu", UintegerValue(1000));
        SpineLeafOptions options;
        options.spines = 2;
        options.leaves = 3;
        options.hostsPerLeaf = 4;
        options.hostLink = {DataRate("10Gbps"), MicroSeconds(1)};
        options.fabricLink = {DataRate("10Gbps"), fabricDelay};
        Install(MakeSpineLeafTopology(options));
    }

    void Install(Topology topology)
    {
        auto shared = std::make_shared<Topology>(std::move(topology));
        m_transport->Install(shared, std::make_shared<RoutingTables>(*shared));
    }

    void Set(const char* name, const AttributeValue& value)
    {
        m_transport->SetAttribute(name, value);
    }

    void SetFabric(const char* name, const AttributeValue& value)
    {
        m_transport->GetFabric()->SetAttribute(name, value);
    }

    void Send(uint32_t src, uint32_t dst, uint64_t bytes, uint64_t tag, uint32_t stream = 0)
    {
        m_transport->Send({src, dst, stream, bytes, tag, &m_handler});
    }

    CountingHandler m_handler;
    Ptr<RoceTransport> m_transport;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_ROCE_FIXTURE_H
