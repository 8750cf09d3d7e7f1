// SPDX-License-Identifier: GPL-2.0-only
// Programs that users bring for switches of the simulation. Part of p4-engine-test.
#include "unit/aggregation/p4-engine-fixture.h"

#include "ns3/p4-program-loader.h"
#include "ns3/slot-frame.h"

#include <algorithm>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <string>

namespace ns3::gradsync
{
namespace
{

using testing::HasSubstr;

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

TEST_F(P4Engine, RoutesWithAProgramThatDoesNotAggregate)
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
    // Nobody aggregates: contributions come to worker 1, which waits for results, in vain.
    ASSERT_TRUE(m_engine->GetFailure());
    EXPECT_THAT(m_engine->GetFailure()->reason, HasSubstr("no sum from the switches for slot 0"));
    const auto& frames = m_tap->frames;
    const auto routed = std::ranges::find(frames, 3U, &SeenFrame::port);
    ASSERT_NE(routed, frames.end());  // link 1 from the switch to worker 1
    EXPECT_EQ(routed->bytes[22], 63); // one hop less to live
    EXPECT_EQ(CheckFrame(routed->bytes, SLOT_UDP_PORT), FrameCheck::Protocol);
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

} // namespace
} // namespace ns3::gradsync
