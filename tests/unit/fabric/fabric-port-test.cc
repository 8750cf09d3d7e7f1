// SPDX-License-Identifier: GPL-2.0-only
#include "support/picosecond-clock.h"

#include "ns3/fabric-node.h"
#include "ns3/fabric-port.h"
#include "ns3/packet-pool.h"
#include "ns3/simulator.h"

#include <algorithm>
#include <deque>
#include <gtest/gtest.h>
#include <random>
#include <vector>

namespace ns3::gradsync
{
namespace
{

/// Keeps the arrival times in the order of arrival.
class RecordingNode : public FabricNode
{
  public:
    void Receive(FabricPacket* packet, uint16_t, TimeStepCount now) override
    {
        arrivals.emplace_back(packet->psn, now);
    }

    std::vector<std::pair<uint32_t, TimeStepCount>> arrivals;
};

class FabricPortTest : public ::testing::Test
{
  protected:
    void SetUp() override
    {
        tests::UsePicoseconds();
        // 8 Gb/s: one byte takes 1 ns; the far end is 500 ns away.
        m_port->Install(PeekPointer(Simulator::GetImplementation()),
                        DataRate("8Gbps"),
                        NanoSeconds(500),
                        &m_peer,
                        0);
    }

    void TearDown() override
    {
        Simulator::Destroy();
    }

    /// Sends a packet at a time given in ns.
    void SendAt(int64_t ns, PacketKind kind, uint32_t id, uint16_t bytes)
    {
        auto* packet = &m_packets.emplace_back();
        packet->kind = kind;
        packet->psn = id;
        packet->wireBytes = bytes;
        Simulator::Schedule(NanoSeconds(ns), &FabricPortTest::Send, this, packet);
    }

    void Send(FabricPacket* packet)
    {
        const auto now = Simulator::Now().GetTimeStep();
        if (packet->kind != PacketKind::Data)
        {
            m_port->SendControl(packet, now);
            return;
        }
        m_port->Sync(now);
        if (m_port->IsFree(now))
        {
            m_port->StartNow(packet, now);
        }
        else
        {
            m_port->QueueData(packet, now);
        }
    }

    std::deque<FabricPacket> m_packets;
    RecordingNode m_peer;
    Ptr<FabricPort> m_port{new FabricPort, false};
};

using Arrivals = std::vector<std::pair<uint32_t, TimeStepCount>>;

TEST_F(FabricPortTest, PacketArrivesAfterSerialisationAndPropagation)
{
    SendAt(100, PacketKind::Data, 1, 1000);
    Simulator::Run();
    // 100 ns + 1000 B * 1 ns/B + 500 ns
    EXPECT_EQ(m_peer.arrivals, (Arrivals{{1, 1600000}}));
}

TEST_F(FabricPortTest, ControlOvertakesWaitingDataButNotThePacketOnTheWire)
{
    SendAt(0, PacketKind::Data, 1, 1000);
    SendAt(10, PacketKind::Data, 2, 1000);
    SendAt(20, PacketKind::Ack, 3, 100);
    SendAt(30, PacketKind::Pause, 4, 50);
    Simulator::Run();
    // 1 until 1000, then PFC until 1050, acknowledgement until 1150, 2 until 2150; all + 500
    EXPECT_EQ(m_peer.arrivals, (Arrivals{{1, 1500000}, {4, 1550000}, {3, 1650000}, {2, 2650000}}));
}

TEST_F(FabricPortTest, PauseStopsDataAtThePacketBoundaryAndControlGoesOn)
{
    SendAt(0, PacketKind::Data, 1, 1000);
    SendAt(0, PacketKind::Data, 2, 1000);
    Simulator::Schedule(NanoSeconds(400), [this] { m_port->SetPaused(true, 400000); });
    SendAt(1500, PacketKind::Ack, 3, 100);
    Simulator::Schedule(NanoSeconds(5000), [this] { m_port->SetPaused(false, 5000000); });
    Simulator::Run();
    EXPECT_EQ(m_peer.arrivals, (Arrivals{{1, 1500000}, {3, 2100000}, {2, 6500000}}));
    EXPECT_EQ(m_port->GetCounters(9000000).pausedFor, 4600000);
}

TEST_F(FabricPortTest, FlushDropsWhatWaitsAndEndsAPauseByPfc)
{
    PacketPool pool;
    auto* waiting = pool.Take();
    waiting->kind = PacketKind::Data;
    waiting->wireBytes = 1000;
    waiting->flags = 0;
    m_port->SetPaused(true, 0);
    m_port->QueueData(waiting, 0);
    Simulator::Schedule(NanoSeconds(700), [&] { m_port->Flush(pool, 700000); });
    SendAt(2000, PacketKind::Data, 7, 1000);
    Simulator::Run();
    EXPECT_EQ(m_peer.arrivals, (Arrivals{{7, 3500000}}));
    EXPECT_EQ(m_port->GetCounters(9000000).pausedFor, 700000);
    EXPECT_EQ(m_port->GetQueueBytes(), 0U);
}

/// Has packets of 1000 B without end, but for a number of them.
class ListedSource : public PacketSource
{
  public:
    FabricPacket* Pull(TimeStepCount& /* start */, TimeStepCount /* now */) override
    {
        if (m_next == packets.size())
        {
            return nullptr;
        }
        return packets[m_next++];
    }

    std::vector<FabricPacket*> packets;

  private:
    size_t m_next{0};
};

TEST_F(FabricPortTest, WhatAHostSendsBesideItsSourceComesAfterWhatHasStarted)
{
    ListedSource source;
    for (uint32_t id = 1; id <= 3; ++id)
    {
        auto* packet = &m_packets.emplace_back();
        packet->psn = id;
        packet->wireBytes = 1000;
        source.packets.push_back(packet);
    }
    m_port->SetSource(&source);
    m_port->SourceReady(0);
    auto* other = &m_packets.emplace_back();
    other->psn = 9;
    other->wireBytes = 1000;
    Simulator::Schedule(NanoSeconds(1200), [&] { m_port->SendData(other, 1200000); });
    Simulator::Run();
    // 1 until 1000 and 2 until 2000, though nobody looked at the port in between; then 9, which is
    // before those that the source still has.
    EXPECT_EQ(m_peer.arrivals, (Arrivals{{1, 1500000}, {2, 2500000}, {9, 3500000}, {3, 4500000}}));
    m_port->SetSource(nullptr);
}

/// When it is told of packets.
class ToldTap : public PacketTap
{
  public:
    void OnPacket(uint32_t, const FabricPacket&, TimeStepCount start) override
    {
        told.emplace_back(start, Simulator::Now().GetTimeStep());
    }

    std::vector<std::pair<TimeStepCount, TimeStepCount>> told;
};

TEST_F(FabricPortTest, AnEagerPortSeesDeparturesWhenTheyHappen)
{
    for (const bool isEager : {false, true})
    {
        const auto base = Simulator::Now().GetTimeStep();
        ToldTap tap;
        m_port->SetTap(&tap);
        m_port->SetEager(isEager, base);
        SendAt(0, PacketKind::Data, 1, 1000);
        SendAt(0, PacketKind::Data, 2, 1000);
        Simulator::Run();
        // The second one starts after 1000 ns; lazily that is seen when the first one arrives.
        using Told = std::vector<std::pair<TimeStepCount, TimeStepCount>>;
        const auto seen = isEager ? 1000000 : 1500000;
        EXPECT_EQ(tap.told, (Told{{base, base}, {base + 1000000, base + seen}}));
        m_port->SetTap(nullptr);
    }
}

TEST_F(FabricPortTest, OneEventPerPacketWhileDeparturesAreLazy)
{
    const auto before = Simulator::GetEventCount();
    for (uint32_t i = 0; i < 50; ++i)
    {
        SendAt(0, PacketKind::Data, i, 1000);
    }
    Simulator::Run();
    EXPECT_EQ(m_peer.arrivals.size(), 50u);
    EXPECT_EQ(Simulator::GetEventCount() - before,
              50u + 50u); // the 50 sends of the test, one a packet
}

/// What a port must do, written the slow and obvious way: one decision at each instant the wire
/// falls free.
Arrivals
ComputeReference(std::vector<std::tuple<int64_t, bool, uint32_t, uint16_t>> sends)
{
    std::stable_sort(sends.begin(), sends.end(), [](const auto& a, const auto& b) {
        return std::get<0>(a) < std::get<0>(b);
    });
    Arrivals arrivals;
    std::deque<size_t> classes[2]; // control, data
    int64_t freeAt = 0;
    size_t next = 0;
    while (next < sends.size() || !classes[0].empty() || !classes[1].empty())
    {
        if (classes[0].empty() && classes[1].empty())
        {
            freeAt = std::max(freeAt, std::get<0>(sends[next]));
        }
        // At the same instant the wire falls free before new packets are seen, unless nothing
        // waits.
        const bool waits = !classes[0].empty() || !classes[1].empty();
        while (next < sends.size() && (std::get<0>(sends[next]) < freeAt ||
                                       (!waits && std::get<0>(sends[next]) == freeAt)))
        {
            classes[std::get<1>(sends[next]) ? 0 : 1].push_back(next);
            ++next;
            if (!waits && std::get<0>(sends[next - 1]) == freeAt)
            {
                break; // starts at once
            }
        }
        auto& queue = classes[0].empty() ? classes[1] : classes[0];
        const auto& [at, isControl, id, bytes] = sends[queue.front()];
        queue.pop_front();
        freeAt += bytes;
        arrivals.emplace_back(id, (freeAt + 500) * 1000);
    }
    return arrivals;
}

TEST_F(FabricPortTest, LazyAndEagerDeparturesEqualAnObviousReference)
{
    std::mt19937 random(7);
    std::vector<std::tuple<int64_t, bool, uint32_t, uint16_t>> sends;
    int64_t at = 0;
    for (uint32_t id = 0; id < 2000; ++id)
    {
        at += static_cast<int64_t>(random() % 900); // mean load 1.1: the queue grows and drains
        const bool isControl = random() % 4 == 0;
        sends.emplace_back(at,
                           isControl,
                           id,
                           static_cast<uint16_t>(isControl ? 90 : 60 + random() % 1200));
    }
    for (const auto& [when, isControl, id, bytes] : sends)
    {
        SendAt(when, isControl ? PacketKind::Ack : PacketKind::Data, id, bytes);
    }
    // Half of the time departures are seen by events: nothing may change.
    for (int64_t toggle = 1; toggle < 40; ++toggle)
    {
        Simulator::Schedule(NanoSeconds(toggle * 20011), [this, toggle] {
            const auto now = Simulator::Now().GetTimeStep();
            m_port->Sync(now);
            m_port->SetEager(toggle % 2 == 1, now);
        });
    }
    Simulator::Run();
    EXPECT_EQ(m_peer.arrivals, ComputeReference(sends));
}

} // namespace
} // namespace ns3::gradsync
