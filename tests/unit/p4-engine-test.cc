// SPDX-License-Identifier: GPL-2.0-only
// The slot protocol by the P4 program inside the simulation: the same frames at the same times on
// the same links as by the native switch, and so the same results.
#include "oracles/oracle-network.h"
#include "support/picosecond-clock.h"

#include "ns3/atp-frame.h"
#include "ns3/double.h"
#include "ns3/exchange-engine.h"
#include "ns3/p4-program-loader.h"
#include "ns3/recorder.h"
#include "ns3/rng-seed-manager.h"
#include "ns3/roce-transport.h"
#include "ns3/scheme.h"
#include "ns3/simulator.h"
#include "ns3/slot-aggregation.h"
#include "ns3/slot-frame.h"
#include "ns3/star-topology.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <fstream>
#include <gmock/gmock.h>
#include <numeric>
#include <sstream>

namespace ns3::gradsync
{
namespace
{

using testing::HasSubstr;
using testing::ThrowsMessage;

const DataRate RATE("10Gbps");
constexpr uint64_t PACKET_BYTES = 256;

/// A frame as it begins on a link.
struct SeenFrame
{
    TimeStepCount start;
    uint32_t port; //!< 2 * link + direction
    std::vector<uint8_t> bytes;

    bool operator==(const SeenFrame&) const = default;
};

/// Sees all packets of aggregations on all links.
class FrameTap final : public PacketTap
{
  public:
    FrameTap(const Topology& topology, const Ptr<RoceTransport>& transport)
        : m_topology(topology),
          m_transport(transport)
    {
        for (LinkId link = 0; link < topology.GetLinks().size(); ++link)
        {
            transport->GetFabric()->SetTap(link, this);
        }
    }

    void OnPacket(uint32_t portIndex, const FabricPacket& packet, TimeStepCount start) override
    {
        if ((packet.flags & PacketFlag::PROGRAM) != 0)
        {
            const auto& link = m_topology.GetLinks()[portIndex / 2];
            const auto sender = portIndex % 2 == 0 ? link.a : link.b;
            const auto receiver = portIndex % 2 == 0 ? link.b : link.a;
            frames.push_back({start,
                              portIndex,
                              m_transport->GetAggregation()->MakeFrame(packet, sender, receiver)});
        }
    }

    std::vector<SeenFrame> frames;

  private:
    const Topology& m_topology;
    Ptr<RoceTransport> m_transport;
};

/// What a run came to.
struct Outcome
{
    std::vector<SeenFrame> frames;
    std::vector<Time> times;
    AggregationStatistics sums;
    TransportStatistics total;
    std::vector<LinkStatistics> links;
};

/// A network and its jobs.
struct Case
{
    std::string name;
    std::function<Topology()> makeTopology;
    std::vector<std::vector<uint32_t>> jobs; //!< endpoints of each
    double lossRate{0.0};
    uint32_t iterations{2};
    std::string values{"real"};
    bool saturate{false};
    uint32_t valueBits{24};
};

Topology
MakeStar(uint32_t servers, uint32_t accelerators)
{
    StarOptions options;
    options.hosts = servers;
    options.hostLink = {RATE, MicroSeconds(1)};
    options.server.accelerators = accelerators;
    return MakeStarTopology(options);
}

Topology
MakeRacks(uint32_t racks, uint32_t hosts)
{
    return *oracles::MakeRackNetwork(racks, hosts, {RATE, RATE, MicroSeconds(1)}).topology;
}

Job
MakeJob(const std::vector<uint32_t>& endpoints, uint32_t iterations)
{
    SchemeRequest request;
    request.workers = static_cast<uint32_t>(endpoints.size());
    request.gradientBytes = 60 * PACKET_BYTES + 12;
    request.parameters = MakeDefaultParameters(*FindScheme("switchml"));
    request.parameters.Set("pipelineChunks", int64_t{3});
    Job job;
    job.name = "job";
    job.plan = std::make_shared<Plan>(FindScheme("switchml")->build(request));
    job.endpointOf = endpoints;
    job.iterations = iterations;
    return job;
}

class P4Engine : public testing::Test
{
  protected:
    void SetUp() override
    {
        tests::UsePicoseconds();
        RngSeedManager::SetSeed(1);
        m_transport = CreateObject<RoceTransport>();
        m_transport->SetAggregation(CreateObject<SlotAggregation>());
        Set("Slots", UintegerValue(16));
        Set("Timeout", StringValue("100us"));
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

    void Set(const char* name, const AttributeValue& value)
    {
        m_transport->GetAggregation()->SetAttribute(name, value);
    }

    Ptr<SlotAggregation> GetAggregation() const
    {
        return DynamicCast<SlotAggregation>(m_transport->GetAggregation());
    }

    void Install(const Topology& topology)
    {
        m_topology = std::make_shared<Topology>(topology);
        m_transport->Install(m_topology, std::make_shared<RoutingTables>(*m_topology));
        m_engine = CreateObject<ExchangeEngine>();
        m_engine->SetTransport(m_transport);
        m_tap = std::make_unique<FrameTap>(*m_topology, m_transport);
    }

    Outcome Run()
    {
        Recorder recorder(m_engine, Recorder::Detail::Iterations);
        Simulator::Run();
        EXPECT_FALSE(m_engine->GetFailure()) << m_engine->GetFailure()->reason;
        Outcome outcome;
        outcome.frames = std::move(m_tap->frames);
        for (const auto& record : recorder.GetIterations())
        {
            outcome.times.push_back(record.end - record.start);
        }
        outcome.sums = m_transport->GetAggregationStatistics();
        outcome.total = m_transport->GetStatistics();
        outcome.links = m_transport->GetLinkStatistics();
        return outcome;
    }

    /// A whole run, from nothing.
    Outcome RunCase(const Case& parameters, const std::string& engine)
    {
        TearDown();
        m_engine = nullptr;
        SetUp();
        Set("Engine", StringValue(engine));
        Set("Values", StringValue(parameters.values));
        Set("Saturate", StringValue(parameters.saturate ? "true" : "false"));
        Set("ValueBits", UintegerValue(parameters.valueBits));
        Set("Overflow", StringValue("count"));
        m_transport->GetFabric()->SetAttribute("LossRate", DoubleValue(parameters.lossRate));
        Install(parameters.makeTopology());
        for (const auto& endpoints : parameters.jobs)
        {
            m_engine->AddJob(MakeJob(endpoints, parameters.iterations));
        }
        return Run();
    }

    Ptr<RoceTransport> m_transport;
    Ptr<ExchangeEngine> m_engine;
    std::shared_ptr<const Topology> m_topology;
    std::unique_ptr<FrameTap> m_tap;
};

class P4EngineCases : public P4Engine, public testing::WithParamInterface<Case>
{
};

TEST_P(P4EngineCases, SendsTheSameFramesAtTheSameTimesAsTheNativeSwitch)
{
    const auto native = RunCase(GetParam(), "native");
    const auto p4 = RunCase(GetParam(), "p4");
    constexpr uint32_t EVENT_COMPLETED = 8; // of the program
    const auto* root = GetAggregation()->GetSwitch(0);
    ASSERT_TRUE(root && root->GetEngine());
    EXPECT_GT(root->GetEngine()->GetEvents(EVENT_COMPLETED), 0U);
    ASSERT_GT(native.frames.size(), 100U);
    ASSERT_EQ(p4.frames.size(), native.frames.size());
    for (size_t i = 0; i < native.frames.size(); ++i)
    {
        ASSERT_EQ(p4.frames[i], native.frames[i]) << "frame " << i;
    }
    EXPECT_EQ(p4.times, native.times);
    EXPECT_EQ(p4.sums.results, native.sums.results);
    EXPECT_EQ(p4.sums.retransmissions, native.sums.retransmissions);
    EXPECT_EQ(p4.sums.repeatedResults, native.sums.repeatedResults);
    EXPECT_EQ(p4.sums.staleDrops, native.sums.staleDrops);
    EXPECT_EQ(p4.sums.overflows, native.sums.overflows);
    EXPECT_EQ(p4.sums.checkedSums, native.sums.checkedSums);
    EXPECT_EQ(native.sums.overflows > 0, GetParam().valueBits > 24);
    EXPECT_EQ(p4.sums.wrongSums, 0U);
    EXPECT_EQ(native.sums.retransmissions > 0, GetParam().lossRate > 0.0);
    EXPECT_EQ(native.sums.repeatedResults > 0, GetParam().lossRate > 0.0);
    EXPECT_EQ(p4.total.goodputBytes, native.total.goodputBytes);
    EXPECT_EQ(p4.total.wireBytes, native.total.wireBytes);
    EXPECT_EQ(p4.total.droppedPackets, native.total.droppedPackets);
    EXPECT_EQ(p4.total.retransmittedBytes, native.total.retransmittedBytes);
    for (size_t i = 0; i < native.links.size(); ++i)
    {
        EXPECT_EQ(p4.links[i].packets, native.links[i].packets);
        EXPECT_EQ(p4.links[i].payloadBytes, native.links[i].payloadBytes);
        EXPECT_EQ(p4.links[i].wireBytes, native.links[i].wireBytes);
        EXPECT_EQ(p4.links[i].maxQueueBytes, native.links[i].maxQueueBytes);
    }
}

const auto STAR = [] { return MakeStar(5, 1); };
const auto SERVERS = [] { return MakeStar(3, 2); };
const auto RACKS = [] { return MakeRacks(3, 2); };

INSTANTIATE_TEST_SUITE_P(
    Networks,
    P4EngineCases,
    testing::Values(
        Case{.name = "Star", .makeTopology = STAR, .jobs = {{0, 1, 2, 3, 4}}},
        Case{.name = "StarSaturating",
             .makeTopology = STAR,
             .jobs = {{4, 0, 2}},
             .lossRate = 0.05,
             .saturate = true,
             .valueBits = 31},
        Case{.name = "TwoLevelsWrapping",
             .makeTopology = RACKS,
             .jobs = {{0, 1, 2, 3, 4, 5}},
             .lossRate = 0.05,
             .valueBits = 31},
        Case{.name = "StarOnlySizes", .makeTopology = STAR, .jobs = {{0, 1, 2}}, .values = "sizes"},
        Case{.name = "StarLosing5Percent",
             .makeTopology = STAR,
             .jobs = {{0, 1, 2, 3, 4}},
             .lossRate = 0.05,
             .iterations = 4},
        Case{.name = "TwoJobsLosing20Percent",
             .makeTopology = STAR,
             .jobs = {{0, 1}, {2, 3, 4}},
             .lossRate = 0.2},
        Case{.name = "AcceleratorsBehindOneNic",
             .makeTopology = SERVERS,
             .jobs = {{0, 1, 2, 3, 4, 5}},
             .lossRate = 0.02},
        Case{.name = "TwoLevels", .makeTopology = RACKS, .jobs = {{0, 1, 2, 3, 4, 5}}},
        Case{.name = "TwoLevelsLosing10Percent",
             .makeTopology = RACKS,
             .jobs = {{5, 4, 3, 2, 1, 0}},
             .lossRate = 0.1,
             .iterations = 3},
        Case{.name = "TwoLevelsAndAWorkerOfItsOwnRack",
             .makeTopology = RACKS,
             .jobs = {{0, 1, 2}, {3, 5}},
             .lossRate = 0.4}),
    [](const auto& parameter) { return parameter.param.name; });

TEST_F(P4Engine, GivesSlotsOfAJobThatIsOverToTheNext)
{
    // Room for one job at a time: the second one takes over slots, groups and tables.
    Set("Engine", StringValue("p4"));
    Set("Values", StringValue("real"));
    Set("PoolSlots", UintegerValue(16));
    Install(MakeStar(3, 1));
    const std::vector<uint32_t> endpoints{0, 1, 2};
    for (uint32_t round = 0; round < 3; ++round)
    {
        const auto group = m_transport->OpenAggregation({.endpoints = endpoints});
        EXPECT_THAT([&] { m_transport->OpenAggregation({.endpoints = endpoints}); },
                    ThrowsMessage<std::invalid_argument>(HasSubstr("no 16 slots left of 16")));

        struct Done final : public MessageHandler
        {
            void OnDelivered(uint64_t /* tag */) override
            {
                ++count;
            }

            void OnFailed(uint64_t /* tag */, const std::string& reason) override
            {
                ADD_FAILURE() << reason;
            }

            uint32_t count{0};
        } done;

        for (uint32_t member = 0; member < 3; ++member)
        {
            // An odd number of packets leaves the two sets of slots in different epochs.
            m_transport->Aggregate({.group = group,
                                    .member = member,
                                    .index = 0,
                                    .bytes = (16 + 5 + round) * PACKET_BYTES,
                                    .tag = 0,
                                    .handler = &done});
        }
        Simulator::Run();
        EXPECT_EQ(done.count, 3U);
        m_transport->CloseAggregation(group);
    }
    EXPECT_EQ(m_transport->GetAggregationStatistics().checkedSums, 3U * (21 + 22 + 23));
    EXPECT_EQ(m_transport->GetAggregationStatistics().wrongSums, 0U);
    EXPECT_EQ(m_transport->GetAggregationStatistics().retransmissions, 0U);
}

TEST_F(P4Engine, RefusesWhatTheProgramWasNotCompiledFor)
{
    Set("Engine", StringValue("p4"));
    Set("ValuesPerPacket", UintegerValue(32));
    EXPECT_THAT([&] { Install(MakeStar(3, 1)); },
                ThrowsMessage<std::invalid_argument>(
                    HasSubstr("attribute ValuesPerPacket is 32, but the P4 program of the engine "
                              "p4 is compiled for 64")));
}

/// The program of p4-behavioral and commands for one switch, as a user would give them.
P4SwitchProgram
LoadUserProgram(const std::string& name, const std::string& commands)
{
    return {std::make_shared<const P4Program>(P4ProgramLoader::LoadFile(
                GRADSYNC_SOURCE_DIR "/p4-behavioral/compiled/" + name + ".json")),
            commands,
            "commands"};
}

TEST_F(P4Engine, RunsAProgramOfTheUserWithItsOwnConfiguration)
{
    // Written by hand from the addresses of doc/p4.rst: job 0 (10.128.0.0) of two workers at ports
    // 0 and 1 of the only switch, node 0; MACs are 02:00 and the number of the node.
    std::string commands;
    for (const int worker : {0, 1})
    {
        commands += fmt::format(
            "table_add SlotIngress.worker SlotIngress.contribution 0 {0} {0} => {1} 3 0 16 1 "
            "{2} 10.128.0.0\n"
            "table_add SlotEgress.receiver SlotEgress.addressResult 0 {0} => {3} 10.0.0.{4}\n",
            worker,
            1 << worker,
            "02:00:00:00:00:00",
            worker == 0 ? "02:00:00:00:00:01" : "02:00:00:00:00:02",
            worker + 1);
    }
    commands += "mc_mgrp_create 1\nmc_node_create 0 0\nmc_node_associate 1 0\n"
                "mc_node_create 1 1\nmc_node_associate 1 1\n";
    const auto topology = MakeStar(2, 1);
    const auto leaf = *topology.FindNode("leaf0");
    ASSERT_EQ(leaf, 0U); // the hosts are nodes 1 and 2
    Set("Values", StringValue("real"));
    GetAggregation()->SetProgram(leaf, LoadUserProgram("slot-aggregation", commands));
    Install(topology);
    m_engine->AddJob(MakeJob({0, 1}, 2));
    const auto own = Run();
    EXPECT_EQ(own.sums.wrongSums, 0U);
    // Two workers, two iterations, three pieces of 5,124 bytes in 21 packets each.
    EXPECT_EQ(own.sums.checkedSums, 2U * 2 * 3 * 21);
    const auto native =
        RunCase({.name = "", .makeTopology = [] { return MakeStar(2, 1); }, .jobs = {{0, 1}}},
                "native");
    EXPECT_EQ(own.frames, native.frames);
    EXPECT_EQ(own.times, native.times);
}

TEST_F(P4Engine, RoutesWithAProgramThatDoesNotAddUp)
{
    // The switch between a rack and the core runs a router: contributions pass it to the core, and
    // what the core sends to the workers' addresses passes it the other way.
    Set("Values", StringValue("real"));
    Set("RetryLimit", UintegerValue(2));
    const auto topology = MakeStar(2, 1);
    GetAggregation()->SetProgram(0,
                                 LoadUserProgram("atp",
                                                 "table_add AtpIngress.route AtpIngress.forward "
                                                 "10.128.0.0/16 => 1\n"));
    Install(topology);
    m_engine->AddJob(MakeJob({0, 1}, 1));
    Simulator::Run();
    // Nobody adds up: contributions come to worker 1, which waits for results, in vain.
    ASSERT_TRUE(m_engine->GetFailure());
    EXPECT_THAT(m_engine->GetFailure()->reason, HasSubstr("no sum from the switches for slot 0"));
    const auto& frames = m_tap->frames;
    const auto routed = std::ranges::find(frames, 3U, &SeenFrame::port);
    ASSERT_NE(routed, frames.end());  // link 1 from the switch to worker 1
    EXPECT_EQ(routed->bytes[22], 63); // one hop less to live
    EXPECT_EQ(CheckFrame(routed->bytes), FrameCheck::Slot);
}

TEST_F(P4Engine, DropsWhatAProgramSendsToNowhere)
{
    Set("RetryLimit", UintegerValue(1));
    GetAggregation()->SetProgram(0,
                                 LoadUserProgram("atp",
                                                 "table_add AtpIngress.route AtpIngress.forward "
                                                 "10.128.0.0/16 => 400\n"));
    Install(MakeStar(2, 1));
    m_engine->AddJob(MakeJob({0, 1}, 1));
    Simulator::Run();
    EXPECT_TRUE(m_engine->GetFailure());
    // 16 slots of two workers, each packet sent twice.
    EXPECT_EQ(m_transport->GetStatistics().droppedPackets, 2U * 16 * 2);
}

TEST_F(P4Engine, AtpIsWholeOnTheWireAndItsSumsAreThoseOfTheContributions)
{
    Set("Values", StringValue("real"));
    Install(MakeStar(4, 1)); // node 0 is the switch, link i that of worker i, 3 the server
    SchemeRequest request;
    request.workers = 3;
    request.gradientBytes = uint64_t{20} * 4 * ATP_VALUES;
    request.parameters = MakeDefaultParameters(*FindScheme("atp"));
    Job job;
    job.name = "job";
    job.plan = std::make_shared<Plan>(FindScheme("atp")->build(request));
    job.endpointOf = {0, 1, 2, 3};
    m_engine->AddJob(std::move(job));
    const auto frames = Run().frames;
    // Of 20 packets: three contributions, a sum, an answer, three copies.
    ASSERT_EQ(frames.size(), 20U * 8);
    std::map<uint16_t, std::vector<uint32_t>> sums; // modulo 2^32
    uint32_t checked = 0;
    for (const auto& [start, port, bytes] : frames)
    {
        ASSERT_EQ(bytes.size(), 308U); // NSDI 2021, section 3.2
        ASSERT_EQ(CheckFrame(bytes, ATP_UDP_PORT), FrameCheck::Slot);
        const auto header = ReadAtpHeader(bytes);
        const auto values = ReadAtpValues(bytes, ATP_VALUES);
        EXPECT_EQ(header.fanIns, (std::array<uint8_t, 2>{3, 1}));
        EXPECT_EQ(header.bitmaps[1], 1U); // the only switch
        auto& sum = sums[header.sequence];
        sum.resize(ATP_VALUES);
        const auto& link = m_topology->GetLinks()[port / 2];
        const bool isToSwitch = (port % 2 == 0 ? link.b : link.a) == 0;
        if (isToSwitch && port / 2 < 3)
        {
            EXPECT_EQ(header.bitmaps[0], 1U << port / 2);
            EXPECT_FALSE(header.ack);
            for (size_t i = 0; i < ATP_VALUES; ++i)
            {
                sum[i] += static_cast<uint32_t>(values[i]);
            }
            continue;
        }
        EXPECT_EQ(header.bitmaps[0], 7U);
        EXPECT_EQ(header.ack, isToSwitch || port / 2 < 3);
        EXPECT_TRUE(std::ranges::equal(values, sum, {}, [](int32_t value) {
            return static_cast<uint32_t>(value);
        }));
        ++checked;
    }
    EXPECT_EQ(checked, 20U * 5);
}

} // namespace
} // namespace ns3::gradsync
