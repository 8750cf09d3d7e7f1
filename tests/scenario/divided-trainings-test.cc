// SPDX-License-Identifier: GPL-2.0-only
/*
 * Training iterations that several processes simulate together must be those of one, to the last
 * byte of every table and of the times of every task.
 */
#include "scenario/divided-runs.h"
#include "scenario/repeated-runs.h"

#include "ns3/network-parts.h"
#include "ns3/planned-run.h"
#include "ns3/run-notices.h"
#include "ns3/scenario-error.h"
#include "ns3/simulator-guard.h"
#include "ns3/topology-division.h"
#include "ns3/transport-capabilities.h"
#include "ns3/wire-format.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <unistd.h>
#include <utility>

namespace ns3::gradsync
{

namespace
{

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

/// Four racks of two hosts. \param more keys of the job, without braces
std::string
MakeDividedTraining(const std::string& training, const std::string& more = R"("iterations": 2)")
{
    return fmt::format(R"({{
      "topology": {{"kind": "spine-leaf", "spines": 2, "leaves": 4, "hostsPerLeaf": 2,
                    "hostLink": {{"rate": "10Gbps", "delay": "1us"}}, "oversubscription": 2}},
      "transport": "roce", "job": {{"training": {{{}}}, {}}}, "results": {{"trace": true}}}})",
                       training,
                       more);
}

/// Four servers of two. \param more keys of the scenario, without braces
std::string
MakeFourServers(const std::string& more)
{
    return fmt::format(R"({{
      "topology": {{"kind": "spine-leaf", "spines": 1, "leaves": 2, "hostsPerLeaf": 2,
          "hostLink": {{"rate": "100Gbps", "delay": "500ns"}},
          "fabricLink": {{"rate": "100Gbps", "delay": "700ns"}},
          "server": {{"accelerators": 2, "nics": 2, "pcieSwitches": 2,
                      "nvlink": {{"rate": "600Gbps", "delay": "100ns"}}}}}},
      "transport": "roce", {}, "results": {{"trace": true}}}})",
                       more);
}

/// \param tensor bytes that are summed after each pass of a layer
std::string
MakeBlocks(const std::string& tensor = "0B")
{
    return fmt::format(R"("blocks": [{{"count": 4, "forward": "10us", "backward": "15us",
                           "weight": "5us", "gradient": "60kB", "tensorForward": "{0}",
                           "tensorBackward": "{0}"}}], "bucket": "100kB", "firstBucket": "60kB")",
                       tensor);
}

TEST(DividedTrainingsTest, DataParallelRanksOverlapBucketsWithComputations)
{
    ExpectSameInAnyNumber(MakeDividedTraining(MakeBlocks()), 4);
    ExpectSameInAnyNumber(MakeDividedTraining(MakeBlocks() + R"(, "slices": 2, "streams": 2)"), 4);
}

TEST(DividedTrainingsTest, GroupsCrossProcessesOrDoNot)
{
    // Tensor-parallel ranks of a rack, of two racks, and of all; the other ranks exchange gradients
    // with their like in other racks.
    for (const auto tensor : {2, 4, 8})
    {
        ExpectSameInAnyNumber(
            MakeDividedTraining(MakeBlocks("20kB") +
                                fmt::format(R"(, "tensor": {}, "microbatches": 2)", tensor)),
            4);
    }
}

TEST(DividedTrainingsTest, PipelinesSendFromProcessToProcess)
{
    for (const auto* schedule : {"gpipe", "1f1b", "zb-h1"})
    {
        ExpectSameInAnyNumber(
            MakeDividedTraining(MakeBlocks("20kB") +
                                fmt::format(R"(, "activation": "30kB", "tensor": 2, "pipeline": 2,
                                      "microbatches": 4, "schedule": "{}", "zero": 1)",
                                            schedule)),
            4);
    }
}

TEST(DividedTrainingsTest, AProcessMayHaveNoRankOfTheJob)
{
    ExpectSameInAnyNumber(MakeDividedTraining(MakeBlocks() + R"(, "data": 3)"), 4);
}

TEST(DividedTrainingsTest, WhatGoesOnBesideIsThatOfOneProcess)
{
    // Of three ranks in two racks: the processes of the others have foreign flows only.
    for (const auto* beside :
         {R"("traffic": [{"kind": "incast", "fanIn": 3, "size": "5kB", "every": "60us"}])",
          R"("faults": [{"kind": "straggler", "hosts": [1, 2],
                         "slowdown": {"distribution": "exponential", "mean": 0.5}}])",
          R"("faults": [{"kind": "link-degraded", "random": 3, "every": "50us",
                         "duration": "20us", "rateShare": 0.3, "extraDelay": "7us"}])"})
    {
        auto text = MakeDividedTraining(MakeBlocks() + R"(, "data": 3)");
        text.insert(text.rfind(R"("results")"), std::string(beside) + ", ");
        ExpectSameInAnyNumber(text, 4);
    }
}

TEST(DividedTrainingsTest, CollectivesBesideOtherJobsAreSimulated)
{
    // Equal tensor-parallel collectives within servers, whose links others use too: none is like
    // the one before.
    const auto make = [](const std::string& beside) {
        return MakeFourServers(
            fmt::format(R"("jobs": [{{"training": {{{}, "tensor": 2}}, "iterations": 2}}, {}])",
                        MakeBlocks("20kB"),
                        beside));
    };
    ExpectSameInAnyNumber(
        make(fmt::format(R"({{"training": {{{}, "tensor": 2}}, "iterations": 2}})",
                         MakeBlocks("20kB"))),
        4);
    ExpectSameInAnyNumber(make(R"({"gradient": "200kB", "scheme": "ring", "iterations": 4})"), 4);
}

TEST(DividedTrainingsTest, FloodsEndWithTheLastJob)
{
    // Begun within the job, not to end for long: what follows its end is not flooded.
    for (const auto* more : {"", R"(, "duration": "1s")"})
    {
        auto text = MakeDividedTraining(MakeBlocks() + R"(, "tensor": 2)");
        text.insert(text.rfind(R"("results")"),
                    fmt::format(R"("faults": [{{"kind": "flood", "rate": "4Gbps",
                                              "links": [["leaf1", "spine0"]], "start": "30us"{}}}], )",
                                more));
        ExpectSameInAnyNumber(text, 4);
    }
}

TEST(DividedTrainingsTest, OneThatIsNotDoneInTimeEndsTheRun)
{
    const auto make = [](const char* timeout) {
        return MakeDividedTraining(MakeBlocks(),
                                   fmt::format(R"("iterations": 2, "timeout": "{}")", timeout));
    };
    ExpectSameInAnyNumber(make("1s"), 4);
    // Its four blocks compute for 120 us, and 240 kB take 200 us at 10 Gb/s.
    EXPECT_THAT(SimulateDivided(make("100us"), 2),
                ::testing::AllOf(::testing::StartsWith("error: a job did not finish"),
                                 HasSubstr("timed out, not done 0.0001 s after it began")));
}

TEST(DividedTrainingsTest, ProtocolsReductionsAndCodecsTakeTheirTime)
{
    for (const auto* more : {R"("protocol": "simple")",
                             R"("reduceRate": "20Gbps")",
                             R"("codec": "fp16", "profile":
                                "../profiles/h100-sxm-estimate-5us.profile.json")"})
    {
        ExpectSameInAnyNumber(
            MakeDividedTraining(MakeBlocks(), fmt::format(R"("iterations": 2, {})", more)),
            4);
    }
}

TEST(DividedTrainingsTest, StreamsWithAPolicyGoWhereGroupsAreOfOneProcess)
{
    // Gradients are exchanged within a rack: by default groups are of neighbours.
    const auto text = MakeDividedTraining(MakeBlocks() + R"(, "data": 2, "streamPolicy": "priority",
                                                      "credit": "200kB")");
    ExpectSameInAnyNumber(text, 4);
    ExpectSameInAnyNumber(MakeDividedTraining(MakeBlocks() + R"(, "pipeline": 4, "microbatches": 4,
                              "activation": "30kB", "streamPolicy": "priority")"),
                          4);
    EXPECT_THAT(
        [] {
            CheckDivision(
                ResolveText(MakeDividedTraining(MakeBlocks() + R"(, "streamPolicy": "lifo")")),
                2);
        },
        ThrowsMessage<ScenarioError>(
            ::testing::AllOf(HasSubstr("--ranks"), HasSubstr("when all its ranks are ready"))));
}

TEST(DividedTrainingsTest, ServersMayRunAsFluids)
{
    // Messages between accelerators of one are fluid, all others packets.
    const auto make = [](const std::string& job) {
        return MakeFourServers(
            fmt::format(R"("fidelity": {{"server": "fluid"}}, "job": {{{}, "iterations": 3}})",
                        job));
    };
    ExpectSameInAnyNumber(make(R"("gradient": "300kB", "scheme": "ring")"), 4);
    EXPECT_THAT(
        [&] {
            const auto* job = R"("gradient": "300kB", "scheme": "hierarchical")";
            CheckDivision(ResolveText(make(job)), 2); // whose barriers wait for all
        },
        ThrowsMessage<ScenarioError>(::testing::AllOf(HasSubstr("--ranks"), HasSubstr("a fluid"))));
    ExpectSameInAnyNumber(make(fmt::format(R"("training": {{{}, "tensor": 2, "pipeline": 2,
                                              "activation": "30kB", "microbatches": 4}})",
                                           MakeBlocks("20kB"))),
                          4);
}

TEST(DividedTrainingsTest, LinksOfOneProcessAloneShortenNoWindows)
{
    // Two servers, gradients between them: the last link is PCIe, by default of 250 ns and
    // 126.03076923 Gb/s (ServerOptions). NVLinks of 10 ns, by which tensor-parallel
    // ranks exchange, are of one process each, unless somebody elsewhere waits for what they carry.
    UsePicoseconds();
    const auto find = [](const std::string& job) {
        const auto run = ResolveText(fmt::format(R"({{
          "topology": {{"kind": "spine-leaf", "spines": 1, "leaves": 2, "hostsPerLeaf": 1,
              "hostLink": {{"rate": "100Gbps", "delay": "500ns"}},
              "fabricLink": {{"rate": "100Gbps", "delay": "700ns"}},
              "server": {{"accelerators": 2, "nics": 2, "pcieSwitches": 2,
                          "nvlink": {{"rate": "600Gbps", "delay": "10ns"}}}}}},
          "transport": "roce", "job": {{{}}}}})",
                                                 job));
        const auto division = DivideTopology(*run.topology, 2, 0);
        const SimulatorGuard guard;
        UsePicoseconds();
        const auto transport = InstallTransport(run);
        auto* divided = transport->GetCapabilities()->GetDivided();
        divided->Divide(division, {});
        const auto ahead = AnnounceArrivals(FindNotices(run, PlanRun(run), division), *divided);
        transport->Dispose();
        return ahead;
    };
    constexpr auto BITS = uint64_t{8} * wire::RoceDataBytes(0);
    const auto findAhead = [](uint64_t rate, const Time& delay) {
        return delay + PicoSeconds((BITS * 1'000'000'000'000 + rate / 2) / rate);
    };
    EXPECT_EQ(find(fmt::format(R"("training": {{{}, "tensor": 2}})", MakeBlocks("20kB"))),
              findAhead(126'030'769'230, NanoSeconds(250)));
    EXPECT_EQ(find(R"("gradient": "40kB", "scheme": "hierarchical")"),
              findAhead(600'000'000'000, NanoSeconds(10)));
}

/// By two processes, of collectives that are not simulated.
uint64_t
CountSavedEvents(const std::string& text, Repeats repeats)
{
    const auto file =
        std::filesystem::temp_directory_path() / fmt::format("saved-events-{}.txt", getpid());
    tests::RunForked(2, [&](ProcessLink& link) {
        if (const auto result = RunDivided(ResolveText(text), link, repeats))
        {
            std::ofstream(file) << result->summary.savedEvents;
        }
    });
    uint64_t saved = UINT64_MAX;
    std::ifstream(file) >> saved;
    std::filesystem::remove(file);
    return saved;
}

TEST(DividedTrainingsTest, CollectivesOfOneProcessAreTakenFromRecords)
{
    // Two servers of four, a tensor-parallel group each. Ring all-reduces of 300 kB in four parts
    // of 75 kB, packets of 4,096 bytes: 19 a message, 6 messages a rank, an acknowledgement at the
    // 16th packet and at the last one, all over two links. Of each server's 4 layers, 2 passes and
    // 2 microbatches one a run is the last, after which nobody knows how long nothing begins, and
    // one of all is recorded; the others of 2 runs are taken from it.
    const auto text = fmt::format(R"({{
      "topology": {{"kind": "spine-leaf", "spines": 1, "leaves": 2, "hostsPerLeaf": 1,
          "hostLink": {{"rate": "100Gbps", "delay": "500ns"}},
          "fabricLink": {{"rate": "400Gbps", "delay": "700ns"}},
          "server": {{"accelerators": 4, "nics": 4, "pcieSwitches": 4,
                      "nvlink": {{"rate": "3600Gbps", "delay": "100ns"}}}}}},
      "transport": {{"kind": "roce", "mtu": "4096B"}},
      "job": {{"iterations": 2, "training": {{"blocks": [{{"count": 4, "forward": "30us",
          "backward": "50us", "gradient": "200kB", "tensorForward": "300kB",
          "tensorBackward": "300kB"}}], "tensor": 4, "microbatches": 2}}}},
      "results": {{"trace": true}}}})");
    ExpectSameInAnyNumber(text, 2);
    const uint64_t packetHops = 4 * 6 * (19 + 2) * 2;
    const uint64_t deliveries = 4 * 6; // by an event each
    const uint64_t taken = 2 * (2 * (4 * 2 * 2 - 1) - 1);
    EXPECT_EQ(CountSavedEvents(text, Repeats::Skip), taken * (packetHops - deliveries));
    EXPECT_EQ(CountSavedEvents(text, Repeats::Simulate), 0U);
}

/// Four racks of two hosts. \param jobs objects of JSON
std::string
MakeTrainingBeside(const std::string& jobs)
{
    return fmt::format(R"({{
      "topology": {{"kind": "spine-leaf", "spines": 2, "leaves": 4, "hostsPerLeaf": 2,
                    "hostLink": {{"rate": "10Gbps", "delay": "1us"}}, "oversubscription": 2}},
      "transport": "roce", "jobs": [{}], "results": {{"trace": true}}}})",
                       jobs);
}

TEST(DividedTrainingsTest, ExchangesGoOnBesideIt)
{
    // On hosts that it has too, and begun before and after it; of each some processes have no rank.
    for (const auto* scheme : {"ps", "ring", "rat", "barrier"})
    {
        ExpectSameInAnyNumber(
            MakeTrainingBeside(fmt::format(R"({{"training": {{{}, "tensor": 2}}, "iterations": 3,
                  "start": "15us", "endpoints": ["host0", "host1", "host4", "host5"]}},
                {{"gradient": "50kB", "scheme": "{}", "iterations": 5, "compute": "20us",
                  "endpoints": ["host1", "host2", "host6"]}})",
                                           MakeBlocks("20kB"),
                                           scheme)),
            4);
    }
}

TEST(DividedTrainingsTest, SeveralShareTheNetwork)
{
    // On hosts of their own in all racks, on the same ones, and each in a rack of its own, in step:
    // equal ones end at one instant.
    const auto make = [](const char* first, const char* second) {
        constexpr const char* JOB = R"({{"training": {{{}}}, "iterations": 3, "endpoints": [{}]}})";
        return MakeTrainingBeside(fmt::format(JOB, MakeBlocks(), first) + ", " +
                                  fmt::format(JOB, MakeBlocks(), second));
    };
    ExpectSameInAnyNumber(
        make(R"("host0", "host2", "host4", "host6")", R"("host1", "host3", "host5", "host7")"),
        4);
    ExpectSameInAnyNumber(make(R"("host0", "host3", "host6")", R"("host0", "host3", "host6")"), 4);
    ExpectSameInAnyNumber(make(R"("host0", "host1")", R"("host6", "host7")"), 4);
    ExpectSameInAnyNumber(make(R"("host0", "host4")", R"("host5", "host1")"), 4);
}

TEST(DividedTrainingsTest, OneOfSeveralThatIsNotDoneInTimeEndsTheRun)
{
    // Its gradients of 240 kB take more than 100 us at 10 Gb/s.
    const auto make = [](const char* training, const char* exchange) {
        return MakeTrainingBeside(fmt::format(R"({{"training": {{{}}}, "timeout": "{}"}},
            {{"gradient": "8kB", "scheme": "ring", "iterations": 4, "timeout": "{}"}})",
                                              MakeBlocks(),
                                              training,
                                              exchange));
    };
    ExpectSameInAnyNumber(make("1s", "1s"), 3);
    ExpectSameInAnyNumber(make("1s", "20us"), 3); // what has failed is the exchange
    EXPECT_THAT(SimulateDivided(make("100us", "1s"), 2),
                ::testing::AllOf(::testing::StartsWith("error: a job did not finish"),
                                 HasSubstr("timed out, not done 0.0001 s after it began")));
}

} // namespace

} // namespace ns3::gradsync
