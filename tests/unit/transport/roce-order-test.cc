// SPDX-License-Identifier: GPL-2.0-only
// What happens at one instant happens in the same order, whoever inserted it first and whoever
// looked at a port before.
#include "unit/transport/roce-fixture.h"

#include "ns3/boolean.h"
#include "ns3/double.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <array>
#include <gtest/gtest.h>
#include <map>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace ns3::gradsync
{
namespace
{

struct OrderCase
{
    const char* congestionControl;
    const char* loadBalancing;
    const char* recovery;
    bool pfc;
    uint64_t bufferBytes;
    double lossRate;
};

/// When messages arrive, by tag.
class ArrivalTimes : public MessageHandler
{
  public:
    void OnDelivered(uint64_t tag) override
    {
        at[tag] = Simulator::Now().GetTimeStep();
    }

    void OnFailed(uint64_t tag, const std::string&) override
    {
        at[tag] = -1;
    }

    std::map<uint64_t, int64_t> at;
};

/// What a run comes out as.
struct OrderOutcome
{
    std::map<uint64_t, int64_t> arrivals;
    std::vector<std::array<uint64_t, 8>> ports;
    uint64_t events;

    bool operator==(const OrderOutcome&) const = default;
};

class RoceOrderTest : public RoceTransportTest, public ::testing::WithParamInterface<OrderCase>
{
  protected:
    static constexpr uint32_t HOSTS = 12;

    /// \param insertionSeed order in which the hosts' sends are inserted; 0: by host
    /// \param looks how often somebody looks at a random port
    OrderOutcome Run(uint32_t insertionSeed, uint32_t looks);

  private:
    struct Sending
    {
        int64_t microseconds;
        uint32_t src;
        uint32_t dst;
        uint64_t bytes;
        uint64_t tag;
    };

    void Build();
    static std::vector<Sending> Draw();
    void InsertLooks(uint32_t looks);

    ArrivalTimes m_arrivals;
};

void
RoceOrderTest::Build()
{
    const auto& c = GetParam();
    UseRadixScheduler();
    SetFabric("Pfc", BooleanValue(c.pfc));
    SetFabric("BufferBytes", UintegerValue(c.bufferBytes));
    SetFabric("LossRate", DoubleValue(c.lossRate));
    SetFabric("LoadBalancing", StringValue(c.loadBalancing));
    Set("CongestionControl", StringValue(c.congestionControl));
    Set("Recovery", StringValue(c.recovery));
    Set("ReorderTolerance", UintegerValue(c.recovery == std::string("go-back-n") ? 0 : 1000));
    InstallPatientRacks();
}

/// All hosts send at the same few instants, mostly messages of one size: much happens at once.
std::vector<RoceOrderTest::Sending>
RoceOrderTest::Draw()
{
    std::mt19937 random(5);
    std::vector<Sending> sends;
    for (uint64_t tag = 0; tag < 480; ++tag)
    {
        const auto src = static_cast<uint32_t>(tag % HOSTS);
        sends.push_back({.microseconds = 50 * static_cast<int64_t>(tag / 96),
                         .src = src,
                         .dst = (src + 1 + static_cast<uint32_t>(random() % (HOSTS - 1))) % HOSTS,
                         .bytes = random() % 4 == 0 ? random() % 30000 : 8000,
                         .tag = tag});
    }
    return sends;
}

void
RoceOrderTest::InsertLooks(uint32_t looks)
{
    std::mt19937 random(17);
    const auto ports = m_transport->GetFabric()->GetPortCount();
    for (; looks > 0; --looks)
    {
        // At whole microseconds much else happens, in between nothing may.
        const auto at =
            NanoSeconds(static_cast<int64_t>(random() % 500) * 1000 +
                        (random() % 2 == 0 ? 0 : static_cast<int64_t>(random() % 1000)));
        const auto port = random() % ports;
        Simulator::Schedule(at, [this, port] { m_transport->GetFabric()->GetQueueBytes(port); });
    }
}

OrderOutcome
RoceOrderTest::Run(uint32_t insertionSeed, uint32_t looks)
{
    TearDown();
    SetUp();
    m_arrivals.at.clear();
    Build();
    InsertLooks(looks);
    const auto sends = Draw();
    std::vector<uint32_t> hosts(HOSTS);
    std::iota(hosts.begin(), hosts.end(), 0);
    std::mt19937 insertion(insertionSeed);
    if (insertionSeed != 0)
    {
        std::shuffle(hosts.begin(), hosts.end(), insertion);
    }
    for (const auto host : hosts) // what one host does stays in its order
    {
        for (const auto& send : sends)
        {
            if (send.src == host)
            {
                Simulator::Schedule(MicroSeconds(send.microseconds), [this, send] {
                    m_transport->Send({send.src, send.dst, 0, send.bytes, send.tag, &m_arrivals});
                });
            }
        }
    }
    Simulator::Run();
    OrderOutcome outcome{.arrivals = m_arrivals.at,
                         .ports = {},
                         .events = Simulator::GetEventCount()};
    for (size_t port = 0; port < m_transport->GetFabric()->GetPortCount(); ++port)
    {
        const auto counters = m_transport->GetFabric()->GetCounters(port);
        outcome.ports.push_back({counters.packets,
                                 counters.dataPackets,
                                 counters.wireBytes,
                                 counters.droppedPackets,
                                 counters.maxQueueBytes,
                                 static_cast<uint64_t>(counters.pausedFor),
                                 counters.pauses,
                                 counters.ecnMarkedPackets});
    }
    return outcome;
}

TEST_P(RoceOrderTest, TheOrderInWhichHostsAreInsertedMakesNoDifference)
{
    const auto expected = Run(0, 0);
    ASSERT_EQ(expected.arrivals.size(), 480U);
    for (uint32_t insertionSeed = 1; insertionSeed < 6; ++insertionSeed)
    {
        ASSERT_TRUE(Run(insertionSeed, 0) == expected) << insertionSeed;
    }
}

TEST_P(RoceOrderTest, LookingAtPortsMakesNoDifference)
{
    auto expected = Run(0, 0);
    auto looked = Run(0, 3000);
    expected.events = looked.events = 0; // each look is one
    EXPECT_TRUE(looked == expected);
}

INSTANTIATE_TEST_SUITE_P(
    Networks,
    RoceOrderTest,
    ::testing::Values(OrderCase{"none", "hash", "go-back-n", true, 100000, 0.0},
                      OrderCase{"none", "destination", "go-back-n", true, 16000000, 0.0},
                      OrderCase{"none", "hash", "go-back-n", false, 30000, 0.0},
                      OrderCase{"dcqcn", "hash", "go-back-n", true, 100000, 0.0},
                      OrderCase{"hpcc", "hash", "selective-repeat", true, 100000, 0.0},
                      OrderCase{"swift", "hash", "selective-repeat", false, 30000, 0.0},
                      OrderCase{"timely", "hash", "go-back-n", true, 100000, 0.0},
                      OrderCase{"none", "spray", "selective-repeat", true, 100000, 0.0},
                      OrderCase{"none", "adaptive", "selective-repeat", true, 100000, 0.01},
                      OrderCase{"dcqcn", "flowlet", "selective-repeat", true, 100000, 0.01}));

} // namespace
} // namespace ns3::gradsync
