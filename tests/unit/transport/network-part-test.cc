// SPDX-License-Identifier: GPL-2.0-only
// Parts of a network that some endpoints have to themselves.
#include "oracles/oracle-network.h"
#include "support/picosecond-clock.h"

#include "ns3/event-order.h"
#include "ns3/network-part.h"
#include "ns3/object-factory.h"
#include "ns3/radix-scheduler.h"
#include "ns3/roce-transport.h"
#include "ns3/simulator.h"

#include <gtest/gtest.h>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace ns3::gradsync
{
namespace
{

/// Notes who is told, and when.
class Notes : public MessageHandler
{
  public:
    void OnDelivered(uint64_t tag) override
    {
        told.push_back(std::to_string(tag));
    }

    void OnFailed(uint64_t /* tag */, const std::string& /* reason */) override
    {
        told.emplace_back("failed");
    }

    std::vector<std::string> told;
};

/// Two racks of two hosts, and a core.
class NetworkPartTest : public testing::Test
{
  protected:
    void SetUp() override
    {
        tests::UsePicoseconds();
        ObjectFactory scheduler;
        scheduler.SetTypeId(RadixScheduler::GetTypeId()); // it alone knows the order of events
        Simulator::SetScheduler(scheduler);
        m_network =
            oracles::MakeRackNetwork(2, 2, {DataRate("8Gbps"), DataRate("8Gbps"), MicroSeconds(1)});
        m_transport = CreateObject<RoceTransport>();
        m_transport->Install(m_network.topology, m_network.routes);
    }

    void TearDown() override
    {
        m_transport->Dispose();
        Simulator::Destroy();
    }

    std::unique_ptr<NetworkPart> MakePart(const std::vector<uint32_t>& endpoints)
    {
        return m_transport->GetParts()->MakePart(endpoints, {{0, 1}});
    }

    std::set<uint32_t> FindPlaces(uint32_t src, uint32_t dst)
    {
        std::set<uint32_t> places;
        m_transport->GetParts()->AddPlaces(src, dst, places);
        return places;
    }

    oracles::RackNetwork m_network;
    Ptr<RoceTransport> m_transport;
};

TEST_F(NetworkPartTest, HostsOfARackTouchItsSwitchAlone)
{
    // There and back: two ports each, and the switch of the rack.
    EXPECT_EQ(FindPlaces(0, 1).size(), 3U);
    EXPECT_EQ(FindPlaces(1, 0).size(), 3U);
    auto both = FindPlaces(0, 1);
    both.merge(FindPlaces(2, 3));
    EXPECT_EQ(both.size(), 6U);
}

TEST_F(NetworkPartTest, WhatWasMeasuredInOnePartIsCountedInAnother)
{
    auto part = MakePart({0, 1});
    auto other = MakePart({2, 3});
    EXPECT_EQ(part->GetShape(), other->GetShape());
    EXPECT_NE(part->GetShape(), MakePart({0, 2})->GetShape());
    Notes notes;
    EXPECT_TRUE(part->IsAtRest());
    part->BeginMeasuring();
    m_transport->Send({0, 1, 0, 100'000, 1, &notes});
    EXPECT_FALSE(part->IsAtRest());
    EXPECT_TRUE(other->IsAtRest());
    Simulator::Run();
    EXPECT_TRUE(part->IsAtRest());
    const auto once = m_transport->GetStatistics();
    other->Add(part->Measure());
    const auto twice = m_transport->GetStatistics();
    EXPECT_EQ(twice.goodputBytes, 2 * 100'000U);
    EXPECT_EQ(twice.wireBytes, 2 * once.wireBytes);
    EXPECT_EQ(twice.dataPacketHops, 2 * once.dataPacketHops);
    // Each packet is an event at the end of each link.
    EXPECT_EQ(twice.savedEvents, once.dataPacketHops + once.controlPacketHops);
}

TEST_F(NetworkPartTest, AMessageComesWhereItsLastPacketWould)
{
    // Of what happens at one instant, arrivals come first, in the order of their ports, whoever was
    // inserted first. What comes to host 1 comes by the direction of its link that leads there.
    auto part = MakePart({0, 1});
    const auto links = m_network.topology->GetLinks();
    const auto host = m_network.topology->GetEndpoints()[1];
    uint32_t port = 0;
    while (links[port / 2].a != host && links[port / 2].b != host)
    {
        ++port;
    }
    port += links[port / 2].b == host ? 0 : 1;
    Notes notes;
    const auto note = [&notes](const char* text) { notes.told.emplace_back(text); };
    Simulator::Schedule(MicroSeconds(3), [&] { note("later"); });
    ScheduleInOrder(EventOrder::OfArrival(port + 1), MicroSeconds(3), [&] { note("behind"); });
    part->DeliverLater({0, 1, 0, 8, 7, &notes}, MicroSeconds(3).GetTimeStep());
    ScheduleInOrder(EventOrder::OfArrival(port - 1), MicroSeconds(3), [&] { note("before"); });
    Simulator::Run();
    EXPECT_EQ(notes.told, (std::vector<std::string>{"before", "7", "behind", "later"}));
}

} // namespace
} // namespace ns3::gradsync
