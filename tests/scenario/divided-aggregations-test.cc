// SPDX-License-Identifier: GPL-2.0-only
/*
 * Switches that aggregate, with their members and other switches in other processes: all tables are
 * those of one process, the sums too.
 */
#include "scenario/divided-runs.h"
#include "scenario/drawn-surroundings.h"
#include "support/in-order.h"

#include "ns3/scenario-error.h"

#include <cstdint>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <initializer_list>
#include <iterator>
#include <string>
#include <unistd.h>
#include <utility>

namespace ns3::gradsync
{

namespace
{

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

/// The racks, with these settings of aggregations.
std::string
MakeAggregating(const std::string& scheme,
                const std::string& settings,
                const std::string& job = R"("iterations": 2)")
{
    return MakeRacks(
        scheme,
        job,
        fmt::format(R"(, "transport": {{"kind": "roce", "aggregation": {{{}}}}})", settings));
}

TEST(DividedAggregationsTest, SumsCrossWithTheirPackets)
{
    // 200 kB are 782 packets of 64 integers: each of the eight workers checks all of them, twice.
    const auto text = MakeAggregating("switchml", R"("values": "real")");
    UsePicoseconds();
    const auto alone = RunScenario(ResolveText(text));
    EXPECT_EQ(alone.summary.aggregation.checkedSums, 8U * 782 * 2);
    EXPECT_NE(alone.summary.aggregation.sumPrint, 0U);
    ExpectSameInAnyNumber(text, 4);
}

TEST(DividedAggregationsTest, PacketsWithoutContentsAreThoseOfOneProcess)
{
    for (const auto* scheme : {"switchml", "passing", "libra"})
    {
        ExpectSameInAnyNumber(MakeAggregating(scheme, R"("values": "sizes")"), 4);
    }
}

TEST(DividedAggregationsTest, ErrorsOfFloatsAreMeasuredInOneProcess)
{
    for (const auto* scheme : {"switchml", "passing", "libra"})
    {
        ExpectSameInAnyNumber(MakeAggregating(scheme, R"("values": "float")"), 4);
    }
}

TEST(DividedAggregationsTest, WorkersSendAgainWhatALateOneHoldsUp)
{
    // Longer than the timeout: the others send again until the last rank has computed.
    const auto text =
        MakeAggregating("switchml",
                        R"("values": "real", "slot": {"timeout": "20us", "slots": 16})",
                        R"("iterations": 2, "compute": ["0s", "0s", "0s", "0s", "0s", "0s",
                                                        "0s", "300us"])");
    UsePicoseconds();
    const auto alone = RunScenario(ResolveText(text));
    EXPECT_GT(alone.summary.aggregation.retransmissions, 0U);
    ExpectSameInAnyNumber(text, 4);
}

TEST(DividedAggregationsTest, FormatsOfSwitchMl)
{
    for (const auto* format : {"slot", "switchml"})
    {
        ExpectSameInAnyNumber(
            MakeAggregating("switchml",
                            fmt::format(R"("values": "real", "slot": {{"format": "{}"}})", format)),
            4);
    }
}

TEST(DividedAggregationsTest, TreesOfSwitches)
{
    for (const auto* values : {"real", "float"})
    {
        const auto settings = fmt::format(R"("values": "{}")", values);
        for (const auto* scheme : {R"("sharp")",
                                   R"({"kind": "sharp", "tree": "llt"})",
                                   R"({"kind": "flare", "sum": "single"})",
                                   R"({"kind": "flare", "sum": "multiple"})",
                                   R"({"kind": "flare", "sum": "tree"})"})
        {
            ExpectSameInAnyNumber(MakeAggregating(scheme, settings), 4);
        }
    }
}

TEST(DividedAggregationsTest, SparseSumsAreAsLongInAnyProcess)
{
    for (const auto* values : {"sizes", "real", "float"})
    {
        ExpectSameInAnyNumber(
            MakeAggregating(
                "flare",
                fmt::format(R"("values": "{}", "flare": {{"density": 0.05, "cores": 8}})", values)),
            4);
    }
}

TEST(DividedAggregationsTest, ServersOfAtpAndTheirSwitches)
{
    // Half of the aggregators are taken: what finds none goes to the server, in other processes
    // too.
    for (const auto* values : {"sizes", "real", "float"})
    {
        const auto text =
            MakeAggregating(R"({"kind": "atp", "servers": 2})",
                            fmt::format(R"("values": "{}", "atp": {{"busyShare": 0.5}})", values),
                            R"("iterations": 2, "workers": 6)");
        UsePicoseconds();
        EXPECT_GT(RunScenario(ResolveText(text)).summary.aggregation.serverPackets, 0U);
        ExpectSameInAnyNumber(text, 4);
    }
}

TEST(DividedAggregationsTest, BoxesOfNetReduceOnTheWayOfMessages)
{
    for (const auto* values : {"sizes", "real", "float"})
    {
        ExpectSameInAnyNumber(
            MakeAggregating(
                "netreduce",
                fmt::format(R"("values": "{}", "netreduce": {{"messagePackets": 8}})", values)),
            4);
    }
}

/// Four servers of four accelerators at one switch.
std::string
MakeNvServers(const std::string& scheme, const std::string& job)
{
    return fmt::format(R"({{
      "topology": {{"kind": "star", "hosts": 4,
                    "hostLink": {{"rate": "100Gbps", "delay": "500ns"}},
                    "server": {{"accelerators": 4, "nics": 4, "sockets": 1, "pcieSwitches": 4,
                               "nvlink": {{"rate": "400Gbps", "delay": "100ns"}}}}}},
      "transport": {{"kind": "roce", "aggregation": {{"values": "real", "nvls": {{"window": 16}}}}}},
      "job": {{"gradient": "256kB", {}}},
      "scheme": {}, "results": {{"trace": true}}}})",
                       job,
                       scheme);
}

TEST(DividedAggregationsTest, AnNvSwitchIsOfTheProcessOfItsServer)
{
    ExpectSameInAnyNumber(MakeNvServers(R"({"kind": "nvls", "pipelineChunks": 3})",
                                        R"("iterations": 2, "workers": 4)"),
                          4);
}

TEST(DividedAggregationsTest, WhoWaitsForAnNvSwitchOfAnotherProcessIsNamed)
{
    // An accelerator may send once one of another server has what its own NVSwitch gave it.
    EXPECT_THAT(
        [] { CheckDivision(ResolveText(MakeNvServers("\"nvls\"", R"("iterations": 1)")), 2); },
        ThrowsMessage<ScenarioError>(
            ::testing::AllOf(HasSubstr("an aggregation"), HasSubstr("--ranks"))));
}

TEST(DividedAggregationsTest, PlannersMayHaveLookedAtNetworksOfTheirOwn)
{
    const auto text = MakeAggregating("auto", R"("values": "real", "slot": {"slots": 64})");
    UsePicoseconds();
    EXPECT_GT(RunScenario(ResolveText(text)).summary.aggregation.checkedSums,
              0U); // it has chosen them
    ExpectSameInAnyNumber(text, 3);
}

TEST(DividedAggregationsTest, CodecsThatSwitchesAdd)
{
    for (const auto* codec : {"fixed-point", "int8"})
    {
        ExpectSameInAnyNumber(MakeAggregating("switchml",
                                              R"("values": "real")",
                                              fmt::format(R"("iterations": 2, "codec": "{}",
                                        "profile": "{}/profiles/h100-sxm-estimate-5us.profile.json")",
                                                          codec,
                                                          GRADSYNC_SOURCE_DIR)),
                              3);
    }
}

TEST(DividedAggregationsTest, SwitchesByAP4Program)
{
    ExpectSameInAnyNumber(MakeAggregating("switchml", R"("engine": "p4", "values": "real")"), 4);
}

/// A file that lasts as long as this.
class WrittenFile
{
  public:
    explicit WrittenFile(const std::string& text)
        : m_path(std::filesystem::temp_directory_path() / fmt::format("commands-{}.cli", getpid()))
    {
        std::ofstream(m_path) << text;
    }

    ~WrittenFile()
    {
        std::filesystem::remove(m_path);
    }

    WrittenFile(const WrittenFile&) = delete;
    WrittenFile& operator=(const WrittenFile&) = delete;

    std::string GetPath() const
    {
        return m_path.string();
    }

  private:
    std::filesystem::path m_path;
};

/// Two racks under one spine, with a program of p4-behavioral at a switch. \param hosts of the
/// racks \param packets that pass it
std::string
MakeProgrammed(const std::string& hosts,
               const std::string& node,
               const std::string& program,
               const WrittenFile& commands,
               const std::string& packets = "aggregation")
{
    return fmt::format(
        R"({{
      "topology": {{"kind": "spine-leaf", "spines": 1, "leaves": 2, "hostsOfLeaf": [{}],
                    "hostLink": {{"rate": "10Gbps", "delay": "1us"}},
                    "fabricLink": {{"rate": "5Gbps", "delay": "1us"}}}},
      "transport": {{"kind": "roce", "aggregation": {{"values": "real", "programs": [
        {{"switches": ["{}"], "packets": "{}", "configuration": "{}",
          "program": "{}/p4-behavioral/compiled/{}.json"}}]}}}},
      "job": {{"gradient": "50kB", "iterations": 2}},
      "scheme": {{"kind": "switchml", "fallback": "none"}}}})",
        hosts,
        node,
        packets,
        commands.GetPath(),
        GRADSYNC_SOURCE_DIR,
        program);
}

TEST(DividedAggregationsTest, ASpineMayAddByAProgramOfTheUser)
{
    // Addresses as doc/p4.rst has them: job 0 (10.128.0.0) of four workers, the leaves being its
    // workers 5 and 6 (10.144.0.5 and .6) at ports 0 and 1; MACs are 02:00 and the number of the
    // node.
    std::string commands;
    for (const int leaf : {0, 1})
    {
        commands += fmt::format(
            "table_add SlotIngress.worker SlotIngress.partialSum 0 {1} {0} => {2} 3 0 128 1 "
            "02:00:00:00:00:02 10.128.0.0\n"
            "table_add SlotEgress.receiver SlotEgress.addressResult 0 {1} => "
            "02:00:00:00:00:0{0} 10.144.0.{1}\n"
            "mc_node_create {0} {0}\n",
            leaf,
            leaf + 5,
            leaf + 1);
    }
    commands += "mc_mgrp_create 1\nmc_node_associate 1 0\nmc_node_associate 1 1\n";
    const WrittenFile file(commands);
    ExpectSameInAnyNumber(MakeProgrammed("2, 2", "spine0", "slot-aggregation", file), 2);
    const auto takesAll = MakeProgrammed("2, 2", "spine0", "slot-aggregation", file, "all");
    EXPECT_THAT([&] { CheckDivision(ResolveText(takesAll), 2); },
                ThrowsMessage<ScenarioError>(HasSubstr("spine0 runs one for all packets")));
}

TEST(DividedAggregationsTest, AProgramSeesItsQueuesBeforeALinkToAnotherProcess)
{
    // The only host of the second rack sends at twice the rate of the link behind its leaf, which
    // routes: to the job, 10.128.0.0, by port 0, and to host 2, 10.0.0.3, by port 1.
    const WrittenFile file("table_add QueueIngress.route QueueIngress.forward 10.128.0.0/16 => 0\n"
                           "table_add QueueIngress.route QueueIngress.forward 10.0.0.3/32 => 1\n");
    ExpectSameInAnyNumber(MakeProgrammed("2, 1", "leaf1", "queues", file), 2);
}

TEST(DividedAggregationsTest, WhatSwitchesShareAtOnceIsNamed)
{
    const auto expect = [](const std::string& text, const std::string& named) {
        EXPECT_THAT(
            [&] { CheckDivision(ResolveText(text), 2); },
            ThrowsMessage<ScenarioError>(::testing::AllOf(HasSubstr(named), HasSubstr("--ranks"))))
            << text;
    };
    expect(MakeAggregating("switchml", R"("slot": {"sharing": "dynamic"})"), "Sharing is dynamic");
    // Nine pieces of the gradient that each want a tree of the same switches.
    expect(MakeAggregating(R"({"kind": "switchml", "fallback": "ring"})",
                           R"("switchMemoryBytes": "1kB")"),
           "switches have room");
}

TEST(DividedAggregationsTest, AJobThatGivesUpItsSwitchesEndsTheRun)
{
    // The last worker computes longer than the others ask.
    const auto text = MakeAggregating(R"({"kind": "switchml", "fallback": "ring"})",
                                      R"("retryLimit": 2, "slot": {"timeout": "5us"})",
                                      R"("iterations": 1, "compute": ["0s", "0s", "0s", "0s", "0s",
                                                                      "0s", "0s", "300us"])");
    UsePicoseconds();
    EXPECT_EQ(RunScenario(ResolveText(text)).summary.fallbacks, 1U);
    EXPECT_THAT(SimulateDivided(text, 2),
                ::testing::AllOf(testing::StartsWith("error: "),
                                 HasSubstr("would go on without switches that aggregate")));
}

/// Protocols with the settings that are their own.
struct DrawnProtocol
{
    const char* scheme;
    const char* settings;
};

constexpr DrawnProtocol DRAWN_PROTOCOLS[] = {
    {R"("switchml")", R"("slot": {"slots": 16})"},
    {R"("switchml")", R"("slot": {"slots": 64, "timeout": "15us"})"},
    {R"("switchml")", R"("slot": {"slots": 32, "format": "switchml", "timeout": "200us"})"},
    {R"({"kind": "passing", "pipelineChunks": 3})", R"("slot": {"slots": 40})"},
    {R"({"kind": "libra", "servers": 2})", R"("slot": {"slots": 24})"},
    {R"("sharp")", R"("sharp": {"streamPackets": 16})"},
    {R"({"kind": "sharp", "tree": "llt"})", R"("sharp": {"timeout": "20us"})"},
    {R"("atp")", R"("atp": {"window": 20})"},
    {R"({"kind": "atp", "servers": 2, "pipelineChunks": 2})",
     R"("atp": {"aggregators": 16, "busyShare": 0.3, "firstTimeout": "100us", "timeout": "30us"})"},
    {R"("netreduce")", R"("netreduce": {"messagePackets": 4, "window": 2})"},
    {R"({"kind": "netreduce", "pipelineChunks": 2})", R"("netreduce": {"messagePackets": 16})"},
    {R"({"kind": "flare", "sum": "single"})", R"("flare": {"cores": 4, "credits": 32})"},
    {R"({"kind": "flare", "sum": "multiple"})", R"("flare": {"cores": 16, "timeout": "30us"})"},
    {R"({"kind": "flare", "sum": "tree"})", R"("flare": {"cores": 64, "density": 0.1})"}};

/// A scenario drawn at random, of a job for which switches aggregate.
std::string
DrawAggregating(Draw& draw)
{
    std::string hosts;
    const auto leaves = draw.Between(2, 6);
    for (size_t i = 0; i < leaves; ++i)
    {
        hosts += fmt::format("{}{}", i == 0 ? "" : ", ", draw.Between(1, 4));
    }
    const auto& [scheme, settings] =
        DRAWN_PROTOCOLS[draw.Between(0, std::size(DRAWN_PROTOCOLS) - 1)];
    const auto control = draw.Of({"none", "none", "timely", "dctcp", "dcqcn"});
    const auto balancing = draw.Of({"hash", "destination", "spray", "adaptive", "flowlet"});
    const bool isOrdered = std::string(scheme).find("netreduce") != std::string::npos;
    return InOrder{
        R"({{
      "topology": {{"kind": "spine-leaf", "spines": {}, "leaves": {}, "hostsOfLeaf": [{}],
                    {}{}}},
      "jobs": [{{"gradient": "{}kB", "iterations": {}, "compute": "{}"{}}}{}],
      "scheme": {},
      "transport": {{"kind": "roce", "congestionControl": "{}", "mtu": "1kB"{},
                     "keptQueuePairs": {}, "aggregation": {{"values": "{}"{}, {}}}}},
      "fabric": {{"loadBalancing": "{}", "bufferBytes": "{}",
                  "ecnMinBytes": "30kB", "ecnMaxBytes": "400kB", "ecnMaxProbability": 0.1{}}},
      {}, "seed": {}}})",
        draw.Between(1, 3),
        leaves,
        hosts,
        DrawLinks(draw),
        draw.Of({"", "", R"(, "server": {"accelerators": 2})"}),
        draw.Between(1, 60),
        draw.Between(1, 3),
        draw.Of({"0s", "1ns", "700ns", "20us"}),
        draw.Of({"", R"(, "reduceRate": "20Gbps")"}),
        draw.Of({"", "", R"(, {"gradient": "70kB", "iterations": 2, "scheme": "ring"})"}),
        scheme,
        control,
        isOrdered ? "" : R"(, "recovery": "selective-repeat", "reorderTolerance": 4000)",
        draw.Of({"131072", "0"}),
        draw.Of({"sizes", "real", "float"}),
        draw.Of({"",
                 "",
                 R"(, "processingDelay": "300ns")",
                 R"(, "pipelines": 2, "pipelinePacketRate": 20000000)"}),
        settings,
        isOrdered ? "hash" : balancing,
        draw.Of({"200kB", "1MB", "16MB"}),
        draw.Of({"", "", R"(, "lossRate": 0.001)", R"(, "lossRate": 0.02)", R"(, "pfc": false)"}),
        draw.IsOneIn(2) ? DrawSurroundings(draw, false, true)
                        : std::string(draw.Of({R"("results": {"trace": true})",
                                               R"("results": {"messages": false})"})),
        draw.Between(1, 1000)}
        .text;
}

TEST(DividedAggregationsTest, RandomRunsAreTheSameInAnyNumberOfProcesses)
{
    EXPECT_GE(CompareDrawnRuns({.count = tests::CountDrawn(60),
                                .seed = 29,
                                .drawText = DrawAggregating,
                                .excuses = {"at most that many ranks", "were sent again"},
                                .mayFail = true}), // ATP, for one, has bits for so many workers
              tests::CountDrawn(30));
}

} // namespace

} // namespace ns3::gradsync
