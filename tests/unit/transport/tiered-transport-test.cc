// SPDX-License-Identifier: GPL-2.0-only
#include "support/message-collector.h"
#include "support/picosecond-clock.h"

#include "ns3/object-factory.h"
#include "ns3/radix-scheduler.h"
#include "ns3/roce-transport.h"
#include "ns3/simulator.h"
#include "ns3/star-topology.h"
#include "ns3/tiered-transport.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <random>
#include <stdexcept>
#include <vector>

namespace ns3::gradsync
{
namespace
{

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

constexpr uint32_t GPUS = 4; //!< of a server
constexpr uint64_t MTU = 4096;
constexpr uint64_t HEADERS = 82; //!< of a packet on the wire
constexpr uint64_t ACK = 86;
constexpr uint64_t ACK_EVERY = 16;
/// 800 Gb/s: a byte is 10 ps.
constexpr uint64_t PICOSECONDS_PER_BYTE = 10;
const Time NvlinkDelay = NanoSeconds(100);

/// Servers of four at one switch, a PCIe switch and NIC for each.
std::shared_ptr<const Topology>
MakeServers(uint32_t servers, bool hasNvlink = true)
{
    StarOptions options;
    options.hosts = servers;
    options.hostLink = {DataRate("100Gbps"), NanoSeconds(500)};
    options.server.accelerators = GPUS;
    options.server.nics = GPUS;
    options.server.pcieSwitches = GPUS;
    options.server.nvlink = {hasNvlink ? DataRate("800Gbps") : DataRate(0), NvlinkDelay};
    return std::make_shared<const Topology>(MakeStarTopology(options));
}

/// A message and when it is sent.
struct Sending
{
    Message message;
    Time at;
};

class TieredTransportTest : public testing::Test
{
  protected:
    void SetUp() override
    {
        tests::UsePicoseconds();
    }

    void TearDown() override
    {
        Simulator::Destroy();
    }

    static Ptr<TieredTransport> MakeTiered()
    {
        auto tiered = CreateObject<TieredTransport>();
        tiered->SetNetwork(CreateObject<RoceTransport>());
        return tiered;
    }

    static void Install(Transport& transport, const std::shared_ptr<const Topology>& topology)
    {
        ObjectFactory scheduler;
        scheduler.SetTypeId(RadixScheduler::GetTypeId());
        Simulator::SetScheduler(scheduler);
        transport.Install(topology, std::make_shared<const RoutingTables>(*topology));
    }

    /// \returns when each message arrives, by its tag
    static std::map<uint64_t, Time> Run(const Ptr<Transport>& transport,
                                        const std::shared_ptr<const Topology>& topology,
                                        const std::vector<Sending>& sendings)
    {
        Install(*transport, topology);
        tests::MessageCollector collector;
        for (auto [message, at] : sendings)
        {
            message.handler = &collector;
            Simulator::Schedule(at, &Transport::Send, transport, message);
        }
        Simulator::Run();
        EXPECT_TRUE(collector.failed.empty());
        EXPECT_EQ(collector.delivered.size(), sendings.size());
        const auto statistics = transport->GetStatistics();
        uint64_t bytes = 0;
        for (const auto& sending : sendings)
        {
            bytes += sending.message.bytes;
        }
        EXPECT_EQ(statistics.goodputBytes, bytes);
        transport->Dispose();
        Simulator::Destroy();
        return {collector.delivered.begin(), collector.delivered.end()};
    }
};

/// \param src, dst endpoints; those of one server are four that follow each other
bool
StaysInside(uint32_t src, uint32_t dst)
{
    return src / GPUS == dst / GPUS;
}

TEST_F(TieredTransportTest, MessagesInsideTakeTheTimeOfAFluid)
{
    // 1,000,000 bytes of payload, of whose full packets of 4,178 bytes 4,096 are payload, at 10 ps
    // a byte: 10,200,195.3 ns, to the nearest picosecond; and two links of 100 ns.
    const auto times = Run(MakeTiered(), MakeServers(1), {{{0, 3, 0, 1'000'000, 7, nullptr}, {}}});
    EXPECT_THAT(times, ElementsAre(Pair(7, PicoSeconds(10'200'195) + 2 * NvlinkDelay)));
}

TEST_F(TieredTransportTest, MessagesBetweenServersAreThoseOfPackets)
{
    // Random messages inside servers and between: those between arrive to the picosecond as if all
    // were packets, and as if there were none inside, as they share no link.
    std::mt19937 random(1);
    const auto draw = [&](uint32_t count) { return static_cast<uint32_t>(random() % count); };
    for (uint32_t round = 0; round < 5; ++round)
    {
        const auto topology = MakeServers(3);
        std::vector<Sending> all;
        std::vector<Sending> between;
        for (uint64_t tag = 0; tag < 200; ++tag)
        {
            const auto src = draw(3 * GPUS);
            const auto dst = (src + 1 + draw(3 * GPUS - 1)) % (3 * GPUS);
            all.push_back(
                {{src, dst, draw(2), draw(200'000), tag, nullptr}, NanoSeconds(draw(20'000))});
            if (!StaysInside(src, dst))
            {
                between.push_back(all.back());
            }
        }
        auto tiered = Run(MakeTiered(), topology, all);
        auto packets = Run(CreateObject<RoceTransport>(), topology, all);
        const auto alone = Run(CreateObject<RoceTransport>(), topology, between);
        for (const auto& sending : all)
        {
            const auto tag = sending.message.tag;
            if (StaysInside(sending.message.src, sending.message.dst))
            {
                EXPECT_NE(tiered.at(tag), packets.at(tag)) << tag; // no packets
                tiered.erase(tag);
                packets.erase(tag);
            }
        }
        EXPECT_EQ(tiered, packets);
        EXPECT_EQ(tiered, alone);
    }
}

TEST_F(TieredTransportTest, DisjointMessagesInsideArriveAPacketEarlier)
{
    // A message of n bytes has P = ceil(n / 4096) packets, n + 82 P bytes on the wire. Packets
    // arrive one packet later, which the NVSwitch stores; the fluid counts 82 n / 4096 bytes of
    // headers. So packets are later by 82 (P - n / 4096) bytes and one packet: from the bytes of
    // the last packet, if it is the only one, to 4,178 + 82.
    std::mt19937 random(2);
    for (uint32_t round = 0; round < 50; ++round)
    {
        std::vector<Sending> sendings;
        for (uint32_t pair = 0; pair < GPUS / 2; ++pair)
        {
            const uint64_t bytes = 1 + random() % (round < 25 ? 10'000 : 1'000'000);
            sendings.push_back({{2 * pair, 2 * pair + 1, 0, bytes, pair, nullptr}, {}});
        }
        const auto tiered = Run(MakeTiered(), MakeServers(1), sendings);
        const auto packets = Run(CreateObject<RoceTransport>(), MakeServers(1), sendings);
        for (const auto& sending : sendings)
        {
            const auto n = sending.message.bytes;
            const auto count = (n + MTU - 1) / MTU;
            const auto stored = std::min(n, MTU) + HEADERS;
            const auto later =
                HEADERS * (static_cast<double>(count) - static_cast<double>(n) / MTU);
            const auto expected =
                static_cast<double>(PICOSECONDS_PER_BYTE) * (later + static_cast<double>(stored));
            const auto difference =
                packets.at(sending.message.tag) - tiered.at(sending.message.tag);
            // Half a step of each packet is rounded at most.
            EXPECT_NEAR(static_cast<double>(difference.GetPicoSeconds()),
                        expected,
                        0.5 * static_cast<double>(count) + 1)
                << n;
        }
    }
}

TEST_F(TieredTransportTest, StepsOfARingInsideAreNearPackets)
{
    // All send to the next at once. Acknowledgements of the other direction add to the above: one
    // for 16 packets and one for the last, on both links.
    std::mt19937 random(3);
    for (uint32_t round = 0; round < 20; ++round)
    {
        const uint64_t bytes = 1 + random() % 2'000'000;
        std::vector<Sending> sendings;
        for (uint32_t gpu = 0; gpu < GPUS; ++gpu)
        {
            sendings.push_back({{gpu, (gpu + 1) % GPUS, 0, bytes, gpu, nullptr}, {}});
        }
        const auto tiered = Run(MakeTiered(), MakeServers(1), sendings);
        const auto packets = Run(CreateObject<RoceTransport>(), MakeServers(1), sendings);
        const auto acknowledgements = (bytes + MTU - 1) / MTU / ACK_EVERY + 2;
        for (uint32_t gpu = 0; gpu < GPUS; ++gpu)
        {
            EXPECT_LT(tiered.at(gpu), packets.at(gpu));
            EXPECT_LT(packets.at(gpu) - tiered.at(gpu),
                      PicoSeconds(PICOSECONDS_PER_BYTE *
                                  (MTU + 2 * HEADERS + 2 * ACK * acknowledgements)));
        }
    }
}

TEST_F(TieredTransportTest, CountsEachLinkOnce)
{
    const auto topology = MakeServers(2);
    const auto tiered = MakeTiered();
    Install(*tiered, topology);
    tests::MessageCollector collector;
    tiered->Send({1, 2, 0, 4096, 1, &collector}); // inside server 0
    tiered->Send({1, 4, 0, 4096, 2, &collector}); // to server 1: PCIe, host link, and down again
    Simulator::Run();
    const auto links = tiered->GetLinkStatistics();
    uint64_t wireBytes = 0;
    std::map<LinkKind, uint64_t> payload;
    for (size_t i = 0; i < links.size(); ++i)
    {
        payload[topology->GetLinks()[i / 2].kind] += links[i].payloadBytes;
        wireBytes += links[i].wireBytes;
    }
    EXPECT_THAT(payload,
                ElementsAre(Pair(LinkKind::Host, 2 * 4096),
                            Pair(LinkKind::Pcie, 4 * 4096),
                            Pair(LinkKind::Nvlink, 2 * 4096)));
    const auto statistics = tiered->GetStatistics();
    EXPECT_EQ(statistics.goodputBytes, 2 * 4096U);
    EXPECT_EQ(statistics.dataPacketHops, 6U);
    // Six links of a packet and its acknowledgement; two of the fluid, with headers.
    EXPECT_EQ(statistics.wireBytes, 6 * (MTU + HEADERS + ACK) + 2 * (MTU + HEADERS));
    EXPECT_EQ(wireBytes, statistics.wireBytes);
    tiered->Dispose();
}

TEST_F(TieredTransportTest, HostsThatFailFailInside)
{
    const auto tiered = MakeTiered();
    Install(*tiered, MakeServers(2));
    tests::MessageCollector collector;
    tiered->Send({5, 6, 0, 100'000, 1, &collector});
    tiered->Send({5, 7, 0, 100'000, 2, &collector});
    // Ends of messages are those of the whole network, here as elsewhere.
    tiered->Abandon(
        [](uint32_t src, uint32_t dst, const MessageHandler*) { return src == 5 && dst == 7; });
    tiered->GetFaults()->SetEndpointState(6, {true, false});
    Simulator::Run();
    EXPECT_TRUE(collector.delivered.empty());
    tiered->GetFaults()->SetEndpointState(6, {true, true});
    Simulator::Run();
    ASSERT_EQ(collector.delivered.size(), 1U);
    EXPECT_EQ(collector.delivered[0].first, 1U);
    tiered->Dispose();
}

TEST_F(TieredTransportTest, RefusesWhatItCannot)
{
    const auto getError = [](const auto& action) -> std::string {
        try
        {
            action();
        }
        catch (const std::invalid_argument& error)
        {
            return error.what();
        }
        return {};
    };
    EXPECT_THAT(getError([] {
                    CreateObject<TieredTransport>()->SetNetwork(CreateObject<FluidTransport>());
                }),
                HasSubstr("ns3::gradsync::FluidTransport does not send"));
    EXPECT_THAT(getError([] { Install(*MakeTiered(), MakeServers(2, false)); }),
                HasSubstr("no server has links that only messages inside it use"));
    const auto tiered = MakeTiered();
    const auto topology = MakeServers(2);
    Install(*tiered, topology);
    const auto links = topology->GetLinks();
    const auto nvlink = std::ranges::find(links, LinkKind::Nvlink, &TopologyLink::kind);
    EXPECT_THAT(getError([&] {
                    tiered->GetFaults()->SetLinkState(static_cast<LinkId>(nvlink - links.begin()),
                                                      LinkState{});
                }),
                HasSubstr("link host0.gpu0-host0.nvswitch runs as a fluid"));
    EXPECT_THAT(getError([&] { tiered->RequireAggregation(); }),
                HasSubstr("while no servers run as fluids"));
    // Several processes may share it, where no server is divided.
    EXPECT_NE(tiered->GetCapabilities()->GetDivided(), nullptr);
    tiered->Dispose();
}

TEST_F(TieredTransportTest, TellsItsStateAtRestAlone)
{
    const auto tiered = MakeTiered();
    Install(*tiered, MakeServers(2));
    tests::MessageCollector collector;
    const auto getRefusal = [&] {
        StateWords words(Simulator::Now().GetTimeStep());
        tiered->AddState(words);
        return words.GetRefusal();
    };
    EXPECT_EQ(getRefusal(), "");
    tiered->Send({0, 1, 0, 1000, 1, &collector});
    EXPECT_THAT(getRefusal(), HasSubstr("as a fluid"));
    Simulator::Run();
    EXPECT_EQ(getRefusal(), "");
    tiered->Dispose();
}

TEST_F(TieredTransportTest, PartsAreOfTheNetworkAlone)
{
    const auto tiered = MakeTiered();
    Install(*tiered, MakeServers(2));
    auto& parts = *tiered->GetParts();
    EXPECT_EQ(parts.FindObstacle(), "");
    std::set<uint32_t> places;
    parts.AddPlaces(0, 1, places);
    EXPECT_TRUE(places.empty());
    parts.AddPlaces(0, 4, places);
    // Six ports; a PCIe switch and a NIC on each side and the leaf.
    EXPECT_EQ(places.size(), 6U + 5U);
    const std::vector<uint32_t> endpoints{0, 1, 4};
    EXPECT_EQ(parts.MakePart(endpoints, {{0, 1}, {0, 2}}), nullptr);
    EXPECT_NE(parts.MakePart(endpoints, {{0, 2}}), nullptr);
    tiered->Dispose();
}

} // namespace
} // namespace ns3::gradsync
