// SPDX-License-Identifier: GPL-2.0-only
// The network around a program of the user: its queues, RoCE and ATP through it, ports that it
// chooses. The programs do what the exercises `ecn` and `mri` of the P4 tutorials do. Part of
// p4-engine-test.
#include "support/message-collector.h"
#include "unit/aggregation/p4-engine-fixture.h"

#include "ns3/event-order.h"
#include "ns3/p4-program-loader.h"
#include "ns3/udp-frame.h"
#include "ns3/wire-format.h"

#include <algorithm>
#include <boost/endian/conversion.hpp>
#include <fmt/format.h>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <tuple>

namespace ns3::gradsync
{
namespace
{

using boost::endian::load_big_u16;
using boost::endian::load_big_u32;

constexpr size_t IP_AT = wire::ETHERNET_BYTES;
constexpr size_t TRACE_AT = IP_AT + wire::IPV4_BYTES;
constexpr size_t TRACE_SIZE = 32;
constexpr uint8_t PROTOCOL_TRACE = 253;
/// A RoCE packet of 1,024 bytes.
constexpr uint16_t PAYLOAD_BYTES = 1024;
/// 10 Gb/s: 100 ps a bit.
constexpr TimeStepCount BYTE_PS = 800;
constexpr TimeStepCount DELAY_PS = 1'000'000;

/// A packet as it begins on a link.
struct SeenPacket
{
    TimeStepCount start;
    uint32_t port; //!< 2 * link + direction
    FabricPacket packet;
    uint32_t context; //!< of the event that sent it
};

/// Sees all packets on all links, of whatever protocol.
class PacketRecorder final : public PacketTap
{
  public:
    explicit PacketRecorder(const Ptr<FabricNetwork>& fabric)
    {
        for (LinkId link = 0; link < fabric->GetPortCount() / 2; ++link)
        {
            fabric->SetTap(link, this);
        }
    }

    void OnPacket(uint32_t portIndex, const FabricPacket& packet, TimeStepCount start) override
    {
        packets.push_back({start, portIndex, packet, Simulator::GetContext()});
    }

    /// Data packets that left by a port, in order.
    std::vector<SeenPacket> GetData(uint32_t port) const
    {
        std::vector<SeenPacket> found;
        std::ranges::copy_if(packets, std::back_inserter(found), [port](const SeenPacket& seen) {
            return seen.port == port && seen.packet.kind == PacketKind::Data;
        });
        return found;
    }

    std::vector<SeenPacket> packets;
};

bool
IsMarked(const SeenPacket& seen)
{
    return (seen.packet.flags & PacketFlag::CONGESTION_EXPERIENCED) != 0;
}

class P4Queues : public P4Engine
{
  protected:
    void SetUp() override
    {
        P4Engine::SetUp();
        m_transport->SetAttribute("Mtu", UintegerValue(PAYLOAD_BYTES));
    }

    void TearDown() override
    {
        P4Engine::TearDown();
        m_recorder.reset();
    }

    /// The router of p4-behavioral at a switch.
    void SetRouter(NodeId node, const std::string& commands, bool takesAll = true)
    {
        static const auto program = std::make_shared<const P4Program>(
            P4ProgramLoader::LoadFile(GRADSYNC_SOURCE_DIR "/p4-behavioral/compiled/queues.json"));
        GetAggregation()->SetProgram(node, {program, commands, "commands", takesAll});
    }

    /// Routes of a star: endpoint i, 10.0.0.(i + 1), is at port i.
    static std::string MakeStarRoutes(uint32_t hosts)
    {
        std::string commands;
        for (uint32_t host = 0; host < hosts; ++host)
        {
            commands += fmt::format("table_add QueueIngress.route QueueIngress.forward "
                                    "10.0.0.{}/32 => {}\n",
                                    host + 1,
                                    host);
        }
        return commands;
    }

    /// A star of three hosts with the router, two of which send packets to the first at once.
    void RunIncast(uint32_t packets, const std::string& congestion)
    {
        SetRouter(0,
                  MakeStarRoutes(3) +
                      (congestion.empty()
                           ? ""
                           : "table_set_default QueueEgress.congestion QueueEgress." + congestion));
        Install(MakeStar(3, 1));
        m_recorder = std::make_unique<PacketRecorder>(m_transport->GetFabric());
        for (const uint32_t sender : {1, 2})
        {
            m_transport->Send(
                {sender, 0, 0, uint64_t{packets} * PAYLOAD_BYTES, sender, &m_messages});
        }
        Simulator::Run();
        EXPECT_TRUE(m_messages.failed.empty());
        EXPECT_EQ(m_messages.delivered.size(), 2U);
    }

    tests::MessageCollector m_messages;
    std::unique_ptr<PacketRecorder> m_recorder;
};

/// Port from the switch of a star to a host: the second direction of its link.
constexpr uint32_t
ToHost(uint32_t host)
{
    return 2 * host + 1;
}

TEST_F(P4Queues, MarksPacketsOfRoceThatFindALongQueue)
{
    // Both senders' packets of number k come at one time, one packet leaves in the meantime: the
    // first pair finds 0 and 0 waiting (one of them starts at once), pair k finds k - 1 and k. From
    // a depth of 10 on that are 2 * 40 - 1 - 2 * 10 packets of 40 pairs.
    RunIncast(40, "markAllFrom 10");
    const auto data = m_recorder->GetData(ToHost(0));
    ASSERT_EQ(data.size(), 80U);
    EXPECT_EQ(std::ranges::count_if(data, IsMarked), 2 * 40 - 1 - 2 * 10);
    // Packet 2k + 1 is the second of pair k.
    for (uint32_t i = 0; i < data.size(); ++i)
    {
        const auto depth = i < 2 ? 0 : i / 2 - 1 + i % 2;
        EXPECT_EQ(IsMarked(data[i]), depth >= 10) << i;
    }
}

TEST_F(P4Queues, LeavesTimesOfRoceAsTheyAreWithoutAProgram)
{
    RunIncast(40, "");
    const auto with = m_recorder->packets;
    const auto delivered = m_messages.delivered;
    TearDown();
    SetUp();
    m_messages.delivered.clear();
    Install(MakeStar(3, 1));
    m_recorder = std::make_unique<PacketRecorder>(m_transport->GetFabric());
    for (const uint32_t sender : {1, 2})
    {
        m_transport->Send({sender, 0, 0, 40 * PAYLOAD_BYTES, sender, &m_messages});
    }
    Simulator::Run();
    EXPECT_EQ(m_messages.delivered, delivered);
    const auto project = [](const SeenPacket& seen) {
        return std::tuple(seen.start, seen.port, seen.packet.psn, seen.packet.kind);
    };
    ASSERT_EQ(with.size(), m_recorder->packets.size());
    for (size_t i = 0; i < with.size(); ++i)
    {
        EXPECT_EQ(project(with[i]), project(m_recorder->packets[i])) << i;
    }
}

TEST_F(P4Queues, SendersSlowDownWhenAProgramMarks)
{
    // DCQCN (the fabric itself marks nothing): what the program marks comes back as notifications.
    std::vector<Time> ends;
    std::vector<uint64_t> notifications;
    for (const std::string congestion : {"markFrom 500000", "markFrom 5"})
    {
        TearDown();
        SetUp();
        m_messages.delivered.clear();
        m_transport->SetAttribute("CongestionControl", StringValue("dcqcn"));
        m_transport->GetFabric()->SetAttribute("EcnMinBytes", UintegerValue(1U << 30));
        m_transport->GetFabric()->SetAttribute("EcnMaxBytes", UintegerValue(1U << 30));
        RunIncast(2000, congestion);
        ends.push_back(m_messages.delivered.back().second);
        notifications.push_back(std::ranges::count_if(m_recorder->packets, [](const auto& seen) {
            return seen.packet.kind == PacketKind::Cnp;
        }));
    }
    EXPECT_EQ(notifications[0], 0U);
    EXPECT_GT(notifications[1], 0U);
    EXPECT_GT(ends[1], ends[0]);
}

TEST_F(P4Queues, WhatEgressDropsIsSentAgain)
{
    RunIncast(40, "dropFrom 8");
    const auto sent = m_recorder->GetData(0 + 2).size() + m_recorder->GetData(0 + 4).size();
    const auto arrived = m_recorder->GetData(ToHost(0)).size();
    // Some are dropped behind their queue, and come again until all are there.
    EXPECT_GT(sent, 80U);
    EXPECT_LT(arrived, sent);
    EXPECT_GE(arrived, 80U);
}

/// The router, with a trace that copies each packet once, in egress, to mirroring session 1.
std::shared_ptr<const P4Program>
LoadCopyingRouter()
{
    std::ifstream file(GRADSYNC_SOURCE_DIR "/p4-behavioral/compiled/queues.json");
    auto program = nlohmann::json::parse(file);
    const auto number = [](const char* value) {
        return nlohmann::json{{"type", "hexstr"}, {"value", value}};
    };
    const nlohmann::json type{{"type", "field"}, {"value", {"standard_metadata", "instance_type"}}};
    const nlohmann::json isNormal{
        {"type", "expression"},
        {"value", {{"op", "=="}, {"left", type}, {"right", number("0x0")}}}};
    for (auto& action : program["actions"])
    {
        if (action["name"] == "QueueEgress.addTrace")
        {
            action["primitives"] = {
                {{"op", "_jump_if_zero"}, {"parameters", {isNormal, number("0x2")}}},
                {{"op", "clone_egress_pkt_to_egress"},
                 {"parameters", {number("0x1"), number("0x0")}}}};
        }
    }
    return std::make_shared<const P4Program>(P4ProgramLoader::Load(program.dump(), "copying.json"));
}

TEST_F(P4Queues, CopiesOfEgressComeInTheOrderOfTheirSwitch)
{
    // Contributions of three workers wait at the port of worker 2; as each leaves, a copy goes to
    // worker 1. It is sent by an event of its own, which is of the switch and of nobody else:
    // ns-3's own schedulers leave an event's order as its context.
    GetAggregation()->SetProgram(
        0,
        {LoadCopyingRouter(),
         "table_add QueueIngress.route QueueIngress.forward 10.128.0.0/16 => 2\n"
         "table_set_default QueueEgress.trace QueueEgress.addTrace 9\n"
         "mirroring_add 1 1\n",
         "commands",
         false});
    Set("RetryLimit", UintegerValue(1));
    Install(MakeStar(3, 1));
    m_recorder = std::make_unique<PacketRecorder>(m_transport->GetFabric());
    m_engine->AddJob(MakeJob({0, 1, 2}, 1));
    Simulator::Run();
    const auto originals = m_recorder->GetData(ToHost(2));
    const auto copies = m_recorder->GetData(ToHost(1));
    EXPECT_EQ(originals.size(), 2U * 3 * 16); // 16 slots of three workers, each sent twice
    EXPECT_EQ(copies.size(), originals.size());
    const auto count = [&copies](uint32_t context) {
        return std::ranges::count(copies, context, &SeenPacket::context);
    };
    // Not in the event by which the original left.
    EXPECT_EQ(count(EventOrder::OfDeparture(ToHost(2))), 0);
    EXPECT_GT(count(EventOrder::OfNode(0)), 20);
}

/// A trace as the program wrote it.
struct Trace
{
    uint8_t number;
    uint16_t port;
    uint32_t enqueuedUs;
    uint32_t waitedUs;
    uint32_t enqueueDepth;
    uint32_t dequeueDepth;
    uint64_t ingressUs;
    uint64_t egressUs;
};

Trace
ReadTrace(const std::vector<uint8_t>& frame, size_t index)
{
    const auto* at = frame.data() + TRACE_AT + index * TRACE_SIZE;
    const auto time = [at](size_t offset) {
        return uint64_t{load_big_u16(at + offset)} << 32 | load_big_u32(at + offset + 2);
    };
    return {at[1],
            load_big_u16(at + 2),
            load_big_u32(at + 4),
            load_big_u32(at + 8),
            load_big_u32(at + 12),
            load_big_u32(at + 16),
            time(20),
            time(26)};
}

/// Contributions are told apart by worker and slot, and by when they were sent.
std::pair<uint16_t, uint16_t>
GetKey(const std::vector<uint8_t>& frame, size_t slotAt)
{
    return {load_big_u16(&frame[slotAt + 4]), load_big_u16(&frame[slotAt + 8])};
}

TEST_F(P4Queues, TracesTheQueueThatAPacketMet)
{
    // Contributions of three workers all go to worker 2, with a trace in each: what it says follows
    // from when packets came and went.
    SetRouter(0,
              "table_add QueueIngress.route QueueIngress.forward 10.128.0.0/16 => 2\n"
              "table_set_default QueueEgress.trace QueueEgress.addTrace 9\n",
              false);
    Set("Values", StringValue("real"));
    Set("RetryLimit", UintegerValue(1));
    Install(MakeStar(3, 1));
    m_engine->AddJob(MakeJob({0, 1, 2}, 1));
    Simulator::Run();
    EXPECT_TRUE(m_engine->GetFailure()); // nobody aggregates
    std::map<std::pair<uint16_t, uint16_t>, std::vector<TimeStepCount>> arrivals;
    for (const auto& seen : m_tap->frames)
    {
        if (seen.port % 2 == 0)
        {
            const auto wireBytes =
                wire::OnWire(static_cast<uint32_t>(seen.bytes.size()) + wire::FCS_BYTES);
            arrivals[GetKey(seen.bytes, TRACE_AT + wire::UDP_BYTES)].push_back(
                seen.start + wireBytes * BYTE_PS + DELAY_PS);
        }
    }
    std::vector<std::pair<TimeStepCount, TimeStepCount>> stays; // arrival, start
    std::vector<Trace> traces;
    for (const auto& seen : m_tap->frames)
    {
        if (seen.port != ToHost(2))
        {
            continue;
        }
        EXPECT_EQ(CheckFrame(seen.bytes, 0), FrameCheck::OtherIpv4); // the checksum is right
        EXPECT_EQ(seen.bytes[IP_AT + 9], PROTOCOL_TRACE);
        EXPECT_EQ(load_big_u16(&seen.bytes[IP_AT + 2]), seen.bytes.size() - IP_AT);
        traces.push_back(ReadTrace(seen.bytes, 0));
        auto& came = arrivals[GetKey(seen.bytes, TRACE_AT + TRACE_SIZE + wire::UDP_BYTES)];
        ASSERT_FALSE(came.empty());
        stays.emplace_back(came.front(), seen.start);
        came.erase(came.begin());
    }
    ASSERT_EQ(traces.size(), 2U * 3 * 16); // 16 slots of three workers, each sent twice
    uint32_t longest = 0;
    for (size_t i = 0; i < traces.size(); ++i)
    {
        const auto [arrival, start] = stays[i];
        const auto isWaiting = [came = arrival](const auto& other) { return other.second > came; };
        const auto isBehind = [left = start](const auto& other) { return other.first < left; };
        const auto here = stays.begin() + static_cast<ptrdiff_t>(i);
        const auto before = std::count_if(stays.begin(), here, isWaiting);
        const auto behind = std::count_if(here + 1, stays.end(), isBehind);
        const auto& trace = traces[i];
        EXPECT_EQ(trace.number, 9);
        EXPECT_EQ(trace.port, 2);
        EXPECT_EQ(trace.enqueueDepth, before) << i;
        EXPECT_EQ(trace.dequeueDepth, behind) << i;
        EXPECT_EQ(trace.ingressUs, arrival / 1'000'000) << i;
        EXPECT_EQ(trace.enqueuedUs, arrival / 1'000'000) << i;
        EXPECT_EQ(trace.egressUs, start / 1'000'000) << i;
        EXPECT_EQ(trace.waitedUs, trace.egressUs - trace.enqueuedUs) << i;
        longest = std::max(longest, trace.enqueueDepth);
    }
    EXPECT_GT(longest, 20U);
}

TEST_F(P4Queues, TracesOfSwitchesInARowStandBehindEachOther)
{
    // host0-0 - leaf0 - core - leaf1 - host1-0: node 0 is the core, 1 and 3 are the leaves. Ports:
    // of the core the racks, of a leaf 0 to the core and 1 to its host.
    const auto trace = [](uint32_t port, uint32_t number) {
        return fmt::format("table_add QueueIngress.route QueueIngress.forward 10.128.0.0/16 => {}\n"
                           "table_set_default QueueEgress.trace QueueEgress.addTrace {}\n",
                           port,
                           number);
    };
    const auto topology = MakeRacks(2, 1);
    SetRouter(*topology.FindNode("leaf0"), trace(0, 1), false);
    SetRouter(*topology.FindNode("core"), trace(1, 2), false);
    SetRouter(*topology.FindNode("leaf1"), trace(1, 3), false);
    Set("RetryLimit", UintegerValue(1));
    Install(topology);
    m_engine->AddJob(MakeJob({0, 1}, 1));
    Simulator::Run();
    uint32_t whole = 0;
    for (const auto& seen : m_tap->frames)
    {
        constexpr size_t PLAIN_BYTES = 318;
        if (seen.bytes.size() == PLAIN_BYTES + 3 * TRACE_SIZE)
        {
            for (uint8_t hop = 0; hop < 3; ++hop)
            {
                EXPECT_EQ(ReadTrace(seen.bytes, hop).number, 3 - hop);
            }
            EXPECT_EQ(load_big_u16(&seen.bytes[IP_AT + 2]), seen.bytes.size() - IP_AT);
            ++whole;
        }
    }
    // Worker 0's 16 packets, each sent twice; those of worker 1 pass one switch.
    EXPECT_EQ(whole, 2U * 16);
}

/// CRC-16 of ARC, as v1model's crc16.
uint16_t
ComputeCrc16(const std::vector<uint8_t>& bytes)
{
    uint16_t crc = 0;
    for (const auto byte : bytes)
    {
        crc = static_cast<uint16_t>(crc ^ byte);
        for (int bit = 0; bit < 8; ++bit)
        {
            crc = static_cast<uint16_t>((crc & 1) != 0 ? crc >> 1 ^ 0xA001 : crc >> 1);
        }
    }
    return crc;
}

TEST_F(P4Queues, AProgramChoosesAmongPorts)
{
    // Two leaves of four hosts each between three spines. leaf0 spreads by the CRC of both
    // addresses.
    Topology topology;
    const auto leaf0 = topology.AddNode("leaf0", NodeKind::Switch, 1);
    const auto leaf1 = topology.AddNode("leaf1", NodeKind::Switch, 1);
    for (uint32_t spine = 0; spine < 3; ++spine)
    {
        const auto node = topology.AddNode(fmt::format("spine{}", spine), NodeKind::Switch, 2);
        topology.AddLink(leaf0,
                         node,
                         P4_LINK_RATE,
                         MicroSeconds(1),
                         LinkKind::Fabric); // link 2 * spine
        topology.AddLink(leaf1, node, P4_LINK_RATE, MicroSeconds(1), LinkKind::Fabric);
    }
    for (uint32_t host = 0; host < 8; ++host)
    {
        const auto node = topology.AddNode(fmt::format("host{}", host), NodeKind::Host, 0);
        topology.AddLink(node,
                         host < 4 ? leaf0 : leaf1,
                         P4_LINK_RATE,
                         MicroSeconds(1),
                         LinkKind::Host);
    }
    std::string commands = "table_add QueueIngress.route QueueIngress.spread 10.0.0.0/24 => 0 3\n";
    for (uint32_t host = 0; host < 4; ++host)
    {
        commands +=
            fmt::format("table_add QueueIngress.route QueueIngress.forward 10.0.0.{}/32 => {}\n",
                        host + 1,
                        3 + host);
    }
    SetRouter(leaf0, commands);
    Install(topology);
    m_recorder = std::make_unique<PacketRecorder>(m_transport->GetFabric());
    std::map<std::pair<uint32_t, uint32_t>, uint32_t> expected; // packets by spine and receiver
    for (uint32_t source = 0; source < 4; ++source)
    {
        for (uint32_t target = 4; target < 8; ++target)
        {
            m_transport->Send({source, target, 0, 3 * PAYLOAD_BYTES, source, &m_messages});
            const auto last = [](uint32_t endpoint) { return static_cast<uint8_t>(endpoint + 1); };
            const auto crc = ComputeCrc16({10, 0, 0, last(source), 10, 0, 0, last(target)});
            expected[{crc % 3, target}] += 3;
        }
    }
    Simulator::Run();
    EXPECT_EQ(m_messages.delivered.size(), 16U);
    std::map<std::pair<uint32_t, uint32_t>, uint32_t> seen;
    for (uint32_t spine = 0; spine < 3; ++spine)
    {
        for (const auto& one : m_recorder->GetData(2 * (2 * spine))) // from leaf0
        {
            ++seen[{spine, one.packet.destination}];
        }
    }
    EXPECT_EQ(seen, expected);
}

TEST_F(P4Queues, PacketsOfAtpPassAndAreMarked)
{
    // Two racks of three below a core that runs the router: four workers, and their parameter
    // server in the second rack. The leaves aggregate; sums and answers pass the core. Marked
    // packets halve the workers' windows, and sums stay right.
    SchemeRequest request;
    request.workers = 4;
    request.gradientBytes = uint64_t{300} * 248;
    request.parameters = MakeDefaultParameters(*FindScheme("atp"));
    Job job;
    job.name = "atp";
    job.plan = std::make_shared<Plan>(FindScheme("atp")->build(request));
    job.endpointOf = {0, 1, 3, 4, 5};
    std::string routes;
    for (uint32_t host = 0; host < 6; ++host)
    {
        routes +=
            fmt::format("table_add QueueIngress.route QueueIngress.forward 10.0.0.{}/32 => {}\n",
                        host + 1,
                        host / 3);
    }
    std::vector<Time> times;
    for (const std::string congestion : {"NoAction", "QueueEgress.markAllFrom 0"})
    {
        TearDown();
        SetUp();
        Set("Values", StringValue("real"));
        m_transport->GetFabric()->SetAttribute("EcnMinBytes", UintegerValue(1U << 30));
        m_transport->GetFabric()->SetAttribute("EcnMaxBytes", UintegerValue(1U << 30));
        const auto topology = MakeRacks(2, 3);
        SetRouter(*topology.FindNode("core"),
                  fmt::format("{}table_set_default QueueEgress.congestion {}", routes, congestion));
        Install(topology);
        m_engine->AddJob(job);
        const auto outcome = Run();
        EXPECT_EQ(outcome.sums.wrongSums, 0U);
        EXPECT_EQ(outcome.sums.checkedSums, 4U * 300);
        // The server gets one packet of all.
        EXPECT_EQ(outcome.sums.serverPackets, 300U);
        const auto isMarked = [](const SeenFrame& frame) {
            constexpr uint32_t FROM_CORE = 9; // links: of leaf0, its three hosts, of leaf1
            return frame.port == FROM_CORE && (frame.bytes[IP_AT + 1] & 3) == 3;
        };
        const auto marked = std::ranges::count_if(outcome.frames, isMarked);
        // The sums of the first rack, on their way to the server's.
        EXPECT_EQ(marked, congestion == "NoAction" ? 0 : 300);
        times.push_back(outcome.times.front());
    }
    EXPECT_GT(times[1], times[0]);
}

} // namespace
} // namespace ns3::gradsync
