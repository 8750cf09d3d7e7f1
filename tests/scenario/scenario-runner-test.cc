// SPDX-License-Identifier: GPL-2.0-only
#include "scenario/scenario-runs.h"

#include "ns3/result-rows.h"
#include "ns3/stored-summary.h"
#include "ns3/summary-columns.h"
#include "ns3/trace-writer.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <random>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace ns3::gradsync
{

namespace
{

TEST(ScenarioRunner, GivesTheTimeOfTheRing)
{
    const auto result = Simulate({{"job.iterations", "3"}});
    EXPECT_TRUE(result.summary.finished);
    EXPECT_EQ(result.summary.iterations, 3U);
    // 2 (w-1)/w tau = 1.5 * 8 ms; a fluid completion may round up by a few ps per step.
    EXPECT_NEAR(static_cast<double>(result.summary.meanIctPs), 12e9, 20.0);
    // Each of 4 hosts sends 1.5 MB in each of 3 iterations.
    EXPECT_EQ(result.summary.goodputBytes, 18'000'000U);
    EXPECT_EQ(result.summary.crossRackBytes, 0U);
    EXPECT_EQ(result.transfers.size(), 3U * 4 * 6);
    EXPECT_EQ(result.links.size(), 8U);
}

// A ring fills its links: 1 MB in 12 ms, by 2 (w - 1)/w = 1.5 the 125 MB/s of 1 Gb/s. Computation
// is no part of it.
TEST(ScenarioRunner, GivesTheBandwidthsOfNcclTests)
{
    for (const auto* compute : {"0s", "5ms"})
    {
        const auto summary = Simulate({{"job.iterations", "2"}, {"job.compute", compute}}).summary;
        EXPECT_NEAR(summary.algorithmBandwidth, 1e6 / 12e-3, 1.0);
        EXPECT_NEAR(summary.busBandwidth, 125e6, 1.0);
    }
    const auto gather = Simulate({{"scheme", "all-gather"}}).summary;
    EXPECT_NEAR(gather.busBandwidth, 125e6, 1.0);
    EXPECT_NEAR(gather.algorithmBandwidth, 125e6 * 4 / 3, 1.0);
    const auto star = Simulate({{"scheme", "barrier"}}).summary;
    EXPECT_EQ(star.busBandwidth, 0.0); // nccl-tests have no factor for it
}

// Links of hosts carry the buffer once each way, whatever nccl-tests would multiply with; headers
// take their part of the 125 MB/s.
TEST(ScenarioRunner, SumsInTheNetworkHaveAFactorOfTheirOwn)
{
    const auto summary = Simulate({{"transport", "roce"}, {"scheme", "switchml"}}).summary;
    ASSERT_GT(summary.algorithmBandwidth, 0.0);
    EXPECT_EQ(summary.busBandwidth, summary.algorithmBandwidth);
    EXPECT_LT(summary.busBandwidth, 125e6);
}

TEST(ScenarioRunner, RunsThePartiesOfAMixedSyncEachAtItsOwnPace)
{
    // Two parties of two workers and a server, 1 Gb/s inside; the links to the global server's site
    // have 1 Gb/s and 250 Mb/s, that server 10 Gb/s. With tau = 8 ms a party takes
    // 2 (2 tau + tau / 1) = 6 tau or 2 (2 tau + 4 tau) = 12 tau; full-sync is the slower one's.
    const std::string text = R"({
      "topology": {"kind": "graph",
        "nodes": [{"name": "a", "kind": "switch", "tier": 1}, {"name": "b", "kind": "switch", "tier": 1},
                  {"name": "core", "kind": "switch", "tier": 2},
                  {"name": "a0", "kind": "host"}, {"name": "a1", "kind": "host"}, {"name": "as", "kind": "host"}, {"name": "b0", "kind": "host"}, {"name": "b1", "kind": "host"},
                  {"name": "bs", "kind": "host"}, {"name": "global", "kind": "host"}],
        "links": [{"a": "a", "b": "core", "rate": "1Gbps"}, {"a": "b", "b": "core", "rate": "250Mbps"},
                  {"a": "global", "b": "core", "rate": "10Gbps"},
                  {"a": "a0", "b": "a", "rate": "1Gbps"}, {"a": "a1", "b": "a", "rate": "1Gbps"},
                  {"a": "as", "b": "a", "rate": "1Gbps"}, {"a": "b0", "b": "b", "rate": "1Gbps"},
                  {"a": "b1", "b": "b", "rate": "1Gbps"}, {"a": "bs", "b": "b", "rate": "1Gbps"}]},
      "transport": "fluid",
      "job": {"gradient": "1MB", "iterations": 3,
              "endpoints": ["a0", "a1", "b0", "b1", "as", "bs", "global"]},
      "scheme": {"kind": "geo-hips", "sync": "full"}})";
    const auto full = Simulate({}, text);
    ASSERT_EQ(full.iterations.size(), 3U);
    EXPECT_NEAR(full.duration.GetSeconds(), 3 * 12 * 8e-3, 1e-4);
    const auto mixed = Simulate({{"scheme.sync", "mixed"}}, text);
    ASSERT_EQ(mixed.iterations.size(), 6U);
    ASSERT_EQ(mixed.jobs.size(), 2U);
    EXPECT_EQ(mixed.jobs[1].name, "job0.1");
    EXPECT_NEAR(mixed.duration.GetSeconds(), 3 * 12 * 8e-3, 1e-4);
    for (const auto& record : mixed.iterations)
    {
        EXPECT_NEAR((record.end - record.start).GetSeconds(),
                    (record.job == 0 ? 6 : 12) * 8e-3,
                    1e-4);
    }
}

TEST(ScenarioRunner, CountsBytesBetweenRacks)
{
    const auto result =
        Simulate({{"topology",
                   R"({"kind": "spine-leaf", "spines": 1, "leaves": 2, "hostsPerLeaf": 2,
                                  "hostLink": {"rate": "1Gbps"}, "fabricLink": {"rate": "1Gbps"}})"}});
    // Ring, 2 racks: 2 r (1 - 1/w) K = 3 MB; the rack's two hosts share one uplink of their rate.
    EXPECT_EQ(result.summary.crossRackBytes, 3'000'000U);
    EXPECT_DOUBLE_EQ(result.summary.oversubscription, 2.0);
}

TEST(ScenarioRunner, BytesBetweenRacksAreThoseThatLeavesSendUp)
{
    // On a lossless fluid network with one spine a message between racks crosses one uplink
    // upwards, whatever a rack holds: one host, one server of two accelerators, or more.
    std::mt19937 random(3);
    const auto draw = [&random](uint32_t least, uint32_t most) {
        return std::uniform_int_distribution<uint32_t>(least, most)(random);
    };
    for (const auto* scheme : {"ring", "ps", "rat", "k-nomial", "all-to-all", "hierarchical"})
    {
        for (uint32_t round = 0; round < 8; ++round)
        {
            const auto leaves = draw(2, 6);
            const auto hosts = round < 3 ? 1 : draw(1, 4);
            const auto topology = fmt::format(
                R"({{"kind": "spine-leaf", "spines": 1, "leaves": {}, "hostsPerLeaf": {},
                    "server": {{"accelerators": {}, "nics": 1}},
                    "hostLink": {{"rate": "1Gbps"}}, "fabricLink": {{"rate": "1Gbps"}}}})",
                leaves,
                hosts,
                draw(1, 2));
            const auto result =
                Simulate({{"topology", topology},
                          {"scheme", fmt::format(R"({{"kind": "{}"}})", scheme)},
                          {"job.gradient", fmt::format("{}B", 4 * draw(1000, 5000))}});
            ASSERT_TRUE(result.summary.finished);
            uint64_t sentUp = 0;
            const auto nodes = result.topology->GetNodes();
            for (size_t direction = 0; direction < result.links.size(); ++direction)
            {
                const auto& link = result.topology->GetLinks()[direction / 2];
                const auto sender = direction % 2 == 0 ? link.a : link.b;
                const auto receiver = direction % 2 == 0 ? link.b : link.a;
                if (nodes[sender].tier == 1 && nodes[receiver].tier == 2)
                {
                    sentUp += result.links[direction].payloadBytes;
                }
            }
            EXPECT_GT(sentUp, 0U);
            EXPECT_EQ(result.summary.crossRackBytes, sentUp) << scheme << " " << topology;
        }
    }
}

TEST(ScenarioRunner, AddsComputeAndStartTimes)
{
    const auto result = Simulate({{"job.compute", "2ms"}, {"job.start", "1ms"}});
    ASSERT_EQ(result.iterations.size(), 1U);
    EXPECT_EQ(result.iterations[0].start, MilliSeconds(1));
    EXPECT_EQ(result.iterations[0].exchangeStart, MilliSeconds(3));
    // 2 ms to compute, 12 ms to exchange
    EXPECT_NEAR(static_cast<double>(result.summary.meanIctPs), 14e9, 20.0);
    std::ostringstream rows;
    WriteIterations(result, rows);
    EXPECT_THAT(rows.str(), testing::HasSubstr("job0,0,0.001000000000,0.014"));
    EXPECT_THAT(rows.str(), testing::HasSubstr(",0.002000000000,"));
}

TEST(ScenarioRunner, ReceiversTakeTimeToAdd)
{
    // Each of the 3 reduce steps adds 250 kB at 1 Gb/s: 2 ms more each.
    const auto result = Simulate({{"job.reduceRate", "1Gbps"}});
    EXPECT_NEAR(static_cast<double>(result.summary.meanIctPs), 18e9, 20.0);
}

TEST(ScenarioRunner, StragglersComputeLonger)
{
    const auto ictUs = [](const std::string& slowdown) {
        const auto result = Simulate(
            {{"job.compute", "2ms"},
             {"job.iterations", "3"},
             {"faults", R"([{"kind": "straggler", "hosts": [1], "slowdown": )" + slowdown + "}]"}});
        std::vector<double> times;
        for (const auto& record : result.iterations)
        {
            times.push_back((record.end - record.start).ToDouble(Time::US));
        }
        return times;
    };
    // 12 ms for the ring; the compute time of 2 ms becomes 5 ms, and nobody is done without it.
    const auto constant = ictUs("2.5");
    ASSERT_EQ(constant.size(), 3U);
    EXPECT_NEAR(constant[0], 17e3, 0.1);
    EXPECT_NEAR(constant[2], 17e3, 0.1);
    // One value for each computation, and again from the first.
    const auto trace = ictUs(R"({"distribution": "trace", "values": [1, 3]})");
    EXPECT_NEAR(trace[0], 14e3, 0.1);
    EXPECT_NEAR(trace[1], 18e3, 0.1);
    EXPECT_NEAR(trace[2], 14e3, 0.1);
    const auto drawn = ictUs(R"({"distribution": "exponential", "mean": 1})");
    EXPECT_GT(drawn[0], 14e3);
    EXPECT_NE(drawn[0], drawn[1]);
}

TEST(ScenarioRunner, AFloodWithoutEndDoesNotOutliveTheExchange)
{
    const std::vector<ScenarioOverride> flooded{
        {"faults", R"([{"kind": "flood", "at": "host1", "rate": "500Mbps"}])"}};
    // Half of host 1's link is gone: the ring is twice as slow, 24 ms.
    const auto fluid = Simulate(flooded);
    EXPECT_NEAR(static_cast<double>(fluid.summary.meanIctPs), 24e9, 20.0);
    auto packets = flooded;
    packets.push_back({"transport", "roce"});
    const auto flood = Simulate(packets);
    EXPECT_TRUE(flood.summary.finished);
    packets[0].value = "[]";
    const auto calm = Simulate(packets);
    // Steps of 2.2 ms become twice as long, but for the second hop of the last packet, 0.03 ms, and
    // one packet of the flood more or less, 0.01 ms.
    const auto ratio =
        static_cast<double>(flood.summary.meanIctPs) / static_cast<double>(calm.summary.meanIctPs);
    EXPECT_GT(ratio, 1.96);
    EXPECT_LT(ratio, 2.02);
    EXPECT_EQ(flood.summary.droppedPackets, 0U);
}

TEST(ScenarioRunner, LeavesRowsOutOnRequest)
{
    const auto result = Simulate({{"results", R"({"messages": false, "links": false})"}});
    EXPECT_TRUE(result.transfers.empty());
    EXPECT_TRUE(result.links.empty());
    EXPECT_TRUE(result.summary.finished);
}

TEST(ScenarioRunner, RunsPacketByPacketTheSameEveryTime)
{
    const std::vector<ScenarioOverride> lossy{{"transport", "roce"},
                                              {"job.gradient", "100kB"},
                                              {"fabric.lossRate", "0.01"},
                                              {"transport.timeout", "100us"}};
    const auto rows = [](const RunResult& result) {
        std::ostringstream text;
        WriteMessages(result, text);
        WriteLinks(result, text);
        return text.str();
    };
    const auto first = Simulate(lossy);
    const auto second = Simulate(lossy);
    EXPECT_GT(first.summary.packetHops, 0U);
    EXPECT_GT(first.summary.droppedPackets, 0U);
    EXPECT_EQ(rows(first), rows(second));
    auto other = lossy;
    other.push_back({"seed", "2"});
    EXPECT_NE(rows(first), rows(Simulate(other)));
}

TEST(ScenarioRunner, ReportsAnExchangeThatCannotFinish)
{
    const auto result =
        Simulate({{"transport", "roce"}, {"job.gradient", "100kB"}, {"fabric.lossRate", "1"}});
    EXPECT_FALSE(result.summary.finished);
    EXPECT_THAT(result.summary.failure, testing::HasSubstr("job0"));
    EXPECT_EQ(result.summary.iterations, 0U);
    EXPECT_THAT(FormatSummary(result.summary), testing::EndsWith("unfinished"));
}

TEST(ScenarioRunner, RefusesWhatTheTransportCannotBuild)
{
    UsePicoseconds();
    const auto run = ResolveRun(
        ParseScenario(STAR, "x.json", {{"transport", "roce"}, {"fabric.bufferBytes", "1kB"}}),
        0);
    EXPECT_THAT(ErrorOf([&run] { CheckRun(run, false); }), testing::HasSubstr("transport roce"));
}

TEST(ScenarioRunner, LoadsServersOfSeveralAccelerators)
{
    // 2 servers of one NIC at 1 Gb/s each: 0.5 Gb/s are flows of 10 kB at 6250 a second, 31 in 5
    // ms.
    const auto result = Simulate(
        {{"topology.hosts", "2"},
         {"topology.server", R"({"accelerators": 2, "nics": 1})"},
         {"traffic", R"([{"kind": "poisson", "size": "10kB", "load": 0.25, "duration": "5ms"}])"}});
    EXPECT_TRUE(result.summary.finished);
    EXPECT_NEAR(static_cast<double>(result.flows.size()), 31.25, 4 * 5.6);
}

TEST(ScenarioRunner, RefusesFlowsThatTheClockCannotTellApart)
{
    EXPECT_THAT(ErrorOf([] {
                    Simulate({{"topology.hostLink.rate", "100Tbps"},
                              {"traffic", R"([{"kind": "poisson", "size": "1B", "load": 1}])"}});
                }),
                testing::HasSubstr("traffic.0.load"));
}

/// Types of ns-3 that abort the program, when they are set up or at the first packet.
TEST(ScenarioRunner, RefusesWhatNs3WouldAbortOn)
{
    UsePicoseconds();
    const auto check = [](const std::string& queueDisc) {
        const auto run = ResolveRun(
            ParseScenario(STAR,
                          "x.json",
                          {{"transport", R"({"kind": "tcp", "queueDisc": ")" + queueDisc + "\"}"}}),
            0);
        return ErrorOf([&run] { CheckRun(run, false); });
    };
    for (const auto* good : {"ns3::FqCoDelQueueDisc",
                             "ns3::PieQueueDisc",
                             "ns3::RedQueueDisc[MinTh=65|MaxTh=65|UseEcn=true|MaxSize=1000p]",
                             "ns3::FifoQueueDisc"})
    {
        EXPECT_EQ(check(good), "no error") << good;
    }
    for (const auto* bad :
         {"ns3::FqCoDelQueueDisc[Flows=0]", "ns3::MqQueueDisc", "ns3::FqPieQueueDisc[Flows=0]"})
    {
        EXPECT_THAT(
            check(bad),
            testing::StartsWith(std::string("transport tcp: ns-3 cannot simulate ") + bad + ": "));
    }
}

TEST(ResultRows, SummariesSurviveTheirJson)
{
    const auto stored = Store(Simulate({}).summary);
    EXPECT_EQ(ToJson(ToStoredSummary(ToJson(stored))), ToJson(stored));
    EXPECT_EQ(ToStoredSummary(ToJson(stored)).row, stored.row);
}

/// Four hosts on each of two leaves; one spine has 3.5 Gb/s to each leaf, the other 500 Mb/s.
constexpr const char* UNEQUAL = R"({
  "topology": {"kind": "graph", "pathWeights": "even",
    "nodes": [{"name": "a", "kind": "switch", "tier": 1}, {"name": "b", "kind": "switch", "tier": 1},
              {"name": "s", "kind": "switch", "tier": 2}, {"name": "t", "kind": "switch", "tier": 2},
              {"name": "a0", "kind": "host"}, {"name": "a1", "kind": "host"},
              {"name": "a2", "kind": "host"}, {"name": "a3", "kind": "host"},
              {"name": "b0", "kind": "host"}, {"name": "b1", "kind": "host"},
              {"name": "b2", "kind": "host"}, {"name": "b3", "kind": "host"}],
    "links": [{"a": "a", "b": "s", "rate": "3500Mbps"}, {"a": "a", "b": "t", "rate": "500Mbps"},
              {"a": "b", "b": "s", "rate": "3500Mbps"}, {"a": "b", "b": "t", "rate": "500Mbps"},
              {"a": "a0", "b": "a", "rate": "1Gbps"}, {"a": "a1", "b": "a", "rate": "1Gbps"},
              {"a": "a2", "b": "a", "rate": "1Gbps"}, {"a": "a3", "b": "a", "rate": "1Gbps"},
              {"a": "b0", "b": "b", "rate": "1Gbps"}, {"a": "b1", "b": "b", "rate": "1Gbps"},
              {"a": "b2", "b": "b", "rate": "1Gbps"}, {"a": "b3", "b": "b", "rate": "1Gbps"}]},
  "transport": "fluid", "job": {"gradient": "1MB"}, "scheme": {"kind": "ps", "barrier": true}})";

TEST(ScenarioRunner, WeightedPathsUseAllOfAnAsymmetricNetwork)
{
    // 16 K/8 = 2 K cross between the leaves in each phase. Evenly, half of it goes over 500 Mb/s:
    // 2 tau with tau = 8 ms at 1 Gb/s. By capacity, 7 : 1, the hosts' 7/8 tau is what takes
    // longest.
    const auto even = Simulate({}, UNEQUAL);
    EXPECT_NEAR(static_cast<double>(even.summary.meanIctPs), 2 * (2 * 8e9 + 4e6), 1e3);
    const auto weighted = Simulate({{"topology.pathWeights", "capacity"}}, UNEQUAL);
    EXPECT_NEAR(static_cast<double>(weighted.summary.meanIctPs), 2 * (0.875 * 8e9 + 4e6), 1e3);
    // Packet by packet, sprayed: the headers' 1.02 and what queues meet.
    const auto sprayed =
        Simulate({{"topology.pathWeights", "capacity"},
                  {"transport",
                   R"({"kind": "roce", "mtu": "4096B", "recovery": "selective-repeat",
                       "reorderTolerance": 64})"},
                  {"fabric", R"({"loadBalancing": "spray"})"}},
                 UNEQUAL);
    EXPECT_LT(static_cast<double>(sprayed.summary.meanIctPs), 1.25 * 2 * 0.875 * 8e9);
}

/// Of the links, the direction from one node to another.
const LinkStatistics&
FindLink(const RunResult& result, const std::string& from, const std::string& to)
{
    const auto links = result.topology->GetLinks();
    const auto nodes = result.topology->GetNodes();
    for (size_t i = 0; i < result.links.size(); ++i)
    {
        const auto& link = links[i / 2];
        if (nodes[i % 2 == 0 ? link.a : link.b].name == from &&
            nodes[i % 2 == 0 ? link.b : link.a].name == to)
        {
            return result.links[i];
        }
    }
    throw std::invalid_argument("no such link");
}

TEST(ScenarioRunner, CountsPausesAndWhatTheyBlockForNothing)
{
    // x0 and y0, y1 push to hot behind y: y pauses x's port. The job of x1 and cold meets nothing
    // but that pause.
    const std::string text = R"({
      "topology": {"kind": "graph",
        "nodes": [{"name": "x", "kind": "switch", "tier": 1}, {"name": "y", "kind": "switch", "tier": 1},
                  {"name": "x0", "kind": "host"}, {"name": "x1", "kind": "host"},
                  {"name": "y0", "kind": "host"}, {"name": "y1", "kind": "host"},
                  {"name": "hot", "kind": "host"}, {"name": "cold", "kind": "host"}],
        "links": [{"a": "x", "b": "y", "rate": "10Gbps"}, {"a": "x0", "b": "x", "rate": "10Gbps"},
                  {"a": "x1", "b": "x", "rate": "1Gbps"}, {"a": "y0", "b": "y", "rate": "10Gbps"},
                  {"a": "y1", "b": "y", "rate": "10Gbps"}, {"a": "hot", "b": "y", "rate": "10Gbps"},
                  {"a": "cold", "b": "y", "rate": "10Gbps"}]},
      "fabric": {"bufferBytes": "200kB", "countBlocked": true},
      "scheme": {"kind": "ps", "servers": 1},
      "jobs": [{"gradient": "2MB", "endpoints": ["x0", "y0", "y1", "hot"]},
               {"gradient": "200kB", "endpoints": ["x1", "cold"], "scheme": "ring"}]})";
    const auto both = Simulate({}, text);
    const auto& port = FindLink(both, "x", "y");
    EXPECT_GT(port.pfcPauses, 0U);
    EXPECT_TRUE(port.pfcPause.IsStrictlyPositive());
    EXPECT_GT(port.blockedBytes, 0U);
    // Not counted unless asked for, and all else is the same.
    const auto plain = Simulate({{"fabric.countBlocked", "false"}}, text);
    EXPECT_EQ(FindLink(plain, "x", "y").blockedBytes, 0U);
    EXPECT_EQ(FindLink(plain, "x", "y").pfcPauses, port.pfcPauses);
    EXPECT_EQ(plain.duration, both.duration);
    // Alone, the first job only waits for itself.
    const auto alone =
        Simulate({{"jobs", R"([{"gradient": "2MB", "endpoints": ["x0", "y0", "y1", "hot"]}])"}},
                 text);
    EXPECT_GT(FindLink(alone, "x", "y").pfcPauses, 0U);
    EXPECT_EQ(FindLink(alone, "x", "y").blockedBytes, 0U);
}

TEST(ScenarioRunner, TracesHowMuchOfItsRateALinkUses)
{
    const auto result =
        Simulate({{"transport", "roce"}, {"results.trace", "true"}, {"results.every", "1ms"}});
    std::ostringstream stream;
    WriteTrace(result, stream);
    const auto trace = Json::parse(stream.str());
    double sum = 0.0; // percent times milliseconds of one link
    double last = -1.0;
    for (const auto& event : trace.at("traceEvents"))
    {
        if (event.at("ph") == "C" && event.at("name") == "link host0 -> leaf0")
        {
            EXPECT_GT(event.at("ts").get<double>(), last);
            last = event.at("ts").get<double>();
            sum += event.at("args").at("utilisation_percent").get<double>();
        }
    }
    // The ring sends 1.5 MB: 12 ms at 1 Gb/s, and the wire has 1024 B of every 1024 B + headers.
    const auto wire = FindLink(result, "host0", "leaf0").wireBytes;
    EXPECT_NEAR(sum / 100.0, static_cast<double>(wire) * 8 / 1e9 * 1e3, 0.01);
    EXPECT_GT(sum / 100.0, 12.0);
}

} // namespace

} // namespace ns3::gradsync
