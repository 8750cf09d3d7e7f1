// SPDX-License-Identifier: GPL-2.0-only
/*
 * Servers as fluids with packets between them, beside runs of packets alone: where nothing stays
 * inside a server both are the same to the last byte, else they differ by what the fluid leaves
 * out.
 */
#include "scenario/repeated-runs.h"

#include "ns3/divided-run.h"

#include <algorithm>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>

namespace ns3::gradsync
{

namespace
{

using testing::HasSubstr;

constexpr const char* FLUID_SERVERS = R"(, "fidelity": {"server": "fluid"})";

/// Servers at one leaf, each accelerator with a NIC.
std::string
MakeNvlinkServers(uint32_t servers, uint32_t accelerators, const char* nvlinkRate)
{
    return fmt::format(R"({{"kind": "star", "hosts": {},
         "hostLink": {{"rate": "100Gbps", "delay": "500ns"}},
         "server": {{"accelerators": {}, "nics": {}, "pcieSwitches": {},
                     "nvlink": {{"rate": "{}", "delay": "100ns"}}}}}})",
                       servers,
                       accelerators,
                       accelerators,
                       accelerators,
                       nvlinkRate);
}

/// \param job its keys, without braces \param more keys of the scenario, likewise
std::string
MakeTieredScenario(const std::string& topology, const std::string& job, const std::string& more)
{
    return fmt::format(R"({{"topology": {}, "transport": "roce", "job": {{{}}}{}}})",
                       topology,
                       job,
                       more);
}

TEST(FidelityRuns, WithoutMessagesInsideServersNothingChanges)
{
    // One rank of each server.
    const auto topology = MakeNvlinkServers(4, 3, "800Gbps");
    for (const auto* scheme : {"ring", "halving-doubling", "ps"})
    {
        const auto job = fmt::format(
            R"("gradient": "3MB", "endpoints": [0, 3, 6, 9], "workers": 4, "scheme": "{}")",
            scheme);
        EXPECT_EQ(
            ShowWhole(RunWith(MakeTieredScenario(topology, job, FLUID_SERVERS), Repeats::Skip)),
            ShowWhole(RunWith(MakeTieredScenario(topology, job, ""), Repeats::Skip)))
            << scheme;
    }
}

TEST(FidelityRuns, IterationsThatRepeatAreLeftOut)
{
    const auto topology = MakeNvlinkServers(2, 4, "3600Gbps");
    const auto summary = CompareRepeats(MakeTieredScenario(
        topology,
        R"("iterations": 12, "training": {"tensor": 4, "microbatches": 2, "blocks": [
           {"count": 4, "forward": "30us", "backward": "50us", "gradient": "200kB",
            "tensorForward": "300kB", "tensorBackward": "300kB"}]})",
        FLUID_SERVERS));
    // All but two that are found alike; tensor-parallel ranks exchange nothing by packets.
    EXPECT_EQ(summary.skippedIterations, 10U);
    EXPECT_EQ(summary.recordedCollectives, 0U);
}

/// What packets take longer inside servers for one step of a ring, at most: the packet that the
/// NVSwitch stores, the rest of the last packet's headers, and acknowledgements on both links
/// (TieredTransportTest.StepsOfARingInsideAreNearPackets).
double
GetRingStepBound(uint64_t bytes, double secondsPerByte)
{
    const uint64_t acknowledgements = bytes / 4096 / 16 + 2;
    return static_cast<double>(4096 + 2 * 82 + 2 * 86 * acknowledgements) * secondsPerByte;
}

TEST(FidelityRuns, IterationsDifferByWhatPacketsTakeLongerInside)
{
    // Tensor-parallel ranks all-reduce by rings after each pass, and nothing overlaps: every step
    // of a ring moves what follows it.
    Draw draw(5);
    for (uint32_t round = 0; round < 12; ++round)
    {
        const auto tensor = draw.Between(2, 5);
        const auto blocks = draw.Between(1, 4);
        const auto microbatches = draw.Between(1, 3);
        const auto bytes = draw.Between(1000, 3'000'000);
        const auto job = fmt::format(
            R"("training": {{"tensor": {}, "microbatches": {}, "overlap": false, "blocks": [
               {{"count": {}, "forward": "20us", "backward": "40us", "gradient": "{}kB",
                 "tensorForward": "{}B", "tensorBackward": "{}B"}}]}})",
            tensor,
            microbatches,
            blocks,
            draw.Between(1, 500),
            bytes,
            bytes);
        const auto topology = MakeNvlinkServers(draw.Between(1, 3), tensor, "800Gbps");
        const auto packets = RunWith(MakeTieredScenario(topology, job, ""), Repeats::Skip);
        const auto fluid = RunWith(MakeTieredScenario(topology, job, FLUID_SERVERS), Repeats::Skip);
        EXPECT_LT(fluid.summary.meanIctPs, packets.summary.meanIctPs) << job;
        const auto steps = 2.0 * blocks * microbatches * 2 * (tensor - 1);
        EXPECT_LT(static_cast<double>(packets.summary.meanIctPs - fluid.summary.meanIctPs),
                  steps * GetRingStepBound(bytes / tensor + 1, 10))
            << job;
    }
}

TEST(FidelityRuns, ServersThatFailAreReplanned)
{
    // What stays inside a server goes on without one of its ranks, as by packets.
    const auto topology = MakeNvlinkServers(2, 4, "800Gbps");
    const auto job = R"("gradient": "40MB", "iterations": 3, "scheme": "ring",
                        "reaction": "replan", "timeout": "1s")";
    const auto faults = R"(, "faults": [{"kind": "host-crash", "hosts": ["host0.gpu1"],
                                         "start": "1ms", "detectionDelay": "100us"}])";
    const auto run = [&](const std::string& more) {
        return RunWith(MakeTieredScenario(topology, job, faults + more), Repeats::Skip);
    };
    const auto packets = run("");
    const auto fluid = run(FLUID_SERVERS);
    EXPECT_TRUE(packets.summary.finished) << packets.summary.failure;
    EXPECT_TRUE(fluid.summary.finished) << fluid.summary.failure;
    ASSERT_EQ(fluid.reactions.size(), packets.reactions.size());
    ASSERT_GT(fluid.reactions.size(), 0U);
    EXPECT_EQ(fluid.reactions[0].kind, packets.reactions[0].kind);
}

TEST(FidelityRuns, WhatCannotGoWithItIsRefused)
{
    const auto servers = MakeNvlinkServers(2, 2, "800Gbps");
    const auto ring = R"("gradient": "1MB", "scheme": "ring")";
    const auto check = [](const std::string& text) {
        return ErrorOf([&] { RunWith(text, Repeats::Skip); });
    };
    const auto on = [&](const char* transport) {
        return fmt::format(R"({{"topology": {}, "transport": "{}", "job": {{{}}}{}}})",
                           servers,
                           transport,
                           ring,
                           FLUID_SERVERS);
    };
    EXPECT_THAT(check(on("tcp")), HasSubstr("fidelity.server: it goes with packets"));
    EXPECT_THAT(check(on("fluid")), HasSubstr("which the transport fluid does not send"));
    EXPECT_THAT(
        check(MakeTieredScenario(R"({"kind": "star", "hosts": 4, "hostLink": {"rate": "1Gbps"}})",
                                 ring,
                                 FLUID_SERVERS)),
        HasSubstr("fidelity.server: no server of this network has links"));
    EXPECT_THAT(check(MakeTieredScenario(servers, ring, R"(, "fidelity": {"rack": "fluid"})")),
                HasSubstr("rack"));
    EXPECT_THAT(check(MakeTieredScenario(servers, ring, R"(, "fidelity": {"server": "analytic"})")),
                HasSubstr("analytic"));
    const auto fault = [&](const std::string& where) {
        return MakeTieredScenario(
            servers,
            ring,
            fmt::format(R"({}, "faults": [{{"start": "1us", {}}}])", FLUID_SERVERS, where));
    };
    EXPECT_THAT(
        check(fault(R"("kind": "link-down", "links": [["host1.gpu0", "host1.nvswitch"]])")),
        HasSubstr("faults: link host1.gpu0-host1.nvswitch runs as a fluid (fidelity.server)"));
    EXPECT_THAT(check(MakeTieredScenario(servers,
                                         R"("gradient": "1MB", "scheme": "switchml")",
                                         FLUID_SERVERS)),
                HasSubstr("while no servers run as fluids"));
    const auto run = ResolveRun(
        ParseScenario(
            fmt::format(R"({{"topology": {}, "transport": "roce", "jobs": [{{{}}}, {{{}}}]{}}})",
                        servers,
                        ring,
                        ring,
                        FLUID_SERVERS),
            "x.json",
            {}),
        0);
    EXPECT_THAT(ErrorOf([&] { CheckDivision(run, 2); }),
                HasSubstr("fidelity.server: cannot go with --ranks: found 2 jobs"));
}

} // namespace

} // namespace ns3::gradsync
