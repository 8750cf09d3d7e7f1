// SPDX-License-Identifier: GPL-2.0-only
/*
 * Collectives that are taken from a record must change no byte of a result. Whole results, traces
 * and counted events are compared with those of the same runs simulated whole.
 */
#include "scenario/divided-runs.h"
#include "scenario/repeated-runs.h"
#include "support/in-order.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace ns3::gradsync
{

namespace
{

/// Servers at one leaf each or on a rail; accelerators of a server on an NVSwitch.
std::string
MakeServers(uint32_t servers, uint32_t accelerators, const std::string& nvlink)
{
    return fmt::format(R"({{"kind": "spine-leaf", "spines": 1, "leaves": 1, "hostsPerLeaf": {},
         "hostLink": {{"rate": "100Gbps", "delay": "500ns"}},
         "fabricLink": {{"rate": "100Gbps", "delay": "500ns"}},
         "server": {{"accelerators": {}, "nics": {}, "pcieSwitches": {}, "nvlink": {}}}}})",
                       servers,
                       accelerators,
                       accelerators,
                       accelerators,
                       nvlink);
}

/// \param more keys of the scenario, without braces \param job likewise, of the job
std::string
MakeTrainingOn(const std::string& topology,
               const std::string& training,
               uint32_t iterations,
               const std::string& more = R"(, "transport": "roce")",
               const std::string& job = "")
{
    return fmt::format(R"({{"topology": {}, "job": {{"iterations": {}, "training": {}{}}},
                           "results": {{"trace": true}}{}}})",
                       topology,
                       iterations,
                       training,
                       job,
                       more);
}

constexpr const char* NVLINK = R"({"rate": "3600Gbps", "delay": "100ns"})";

/// Layers with an all-reduce of tensor-parallel ranks after each pass.
constexpr const char* LAYERS = R"("blocks": [{"count": 4, "forward": "30us", "backward": "50us",
    "gradient": "200kB", "tensorForward": "300kB", "tensorBackward": "300kB"}])";

TEST(CollectiveRecords, TensorGroupsOfServersAreSimulatedOnce)
{
    // Two servers of four, which are a tensor-parallel group each. Of 4 layers and 2 microbatches
    // each group all-reduces 2 * 4 * 2 times an iteration, always the same. The last one comes at
    // the end of the iteration's computations, where gradients follow: it may be the last thing
    // that happens, and is simulated. The very first one, in both groups, is simulated to be
    // recorded.
    const auto training = fmt::format(R"({{{}, "tensor": 4, "microbatches": 2}})", LAYERS);
    const auto one = CompareRepeats(MakeTrainingOn(MakeServers(2, 4, NVLINK), training, 1));
    EXPECT_EQ(one.recordedCollectives, 2 * (2 * 4 * 2 - 1 - 1));
    // Iterations that repeat are left out all the same: nothing of a record is under way between
    // them. The first is as the second but for what is recorded.
    const auto many = CompareRepeats(MakeTrainingOn(MakeServers(2, 4, NVLINK), training, 12));
    EXPECT_EQ(many.skippedIterations, 10U);
    EXPECT_EQ(many.recordedCollectives, 2 * (2 * 4 * 2 - 1 - 1) + 2 * (2 * 4 * 2 - 1));
}

TEST(CollectiveRecords, WhatSharesLinksIsSimulated)
{
    // Tensor-parallel ranks of half a server: the data-parallel ones of the other half use the same
    // links. On hosts of a leaf all do.
    const auto training = fmt::format(R"({{{}, "tensor": 2, "microbatches": 2}})", LAYERS);
    EXPECT_EQ(
        CompareRepeats(MakeTrainingOn(MakeServers(2, 4, NVLINK), training, 2)).recordedCollectives,
        0U);
    const std::string star = R"({"kind": "star", "hosts": 4,
        "hostLink": {"rate": "100Gbps", "delay": "500ns"}})";
    EXPECT_EQ(CompareRepeats(MakeTrainingOn(star, training, 2)).recordedCollectives, 0U);
}

TEST(CollectiveRecords, AGroupAloneOnASwitchIsRecorded)
{
    // All ranks are one tensor-parallel group: nobody else is there.
    const std::string star = R"({"kind": "star", "hosts": 4,
        "hostLink": {"rate": "100Gbps", "delay": "500ns"}})";
    const auto training = fmt::format(R"({{{}, "tensor": 4, "microbatches": 3}})", LAYERS);
    EXPECT_GT(CompareRepeats(MakeTrainingOn(star, training, 1)).recordedCollectives, 0U);
}

TEST(CollectiveRecords, WhatNobodyCanSayBeforehandIsSimulated)
{
    // Little to send, as TCP takes its time for it; enough that plain RoCE takes some from records.
    const std::string training = R"({"blocks": [{"count": 2, "forward": "30us",
        "backward": "50us", "gradient": "20kB", "tensorForward": "30kB",
        "tensorBackward": "30kB"}], "tensor": 4, "microbatches": 2})";
    const auto topology = MakeServers(2, 4, NVLINK);
    EXPECT_GT(CompareRepeats(MakeTrainingOn(topology, training, 2)).recordedCollectives, 0U);
    for (const auto* more :
         {R"(, "transport": "tcp")",
          R"(, "transport": "fluid")",
          R"(, "transport": {"kind": "roce", "congestionControl": "dctcp"})",
          R"(, "transport": "roce", "fabric": {"lossRate": 0.0001})",
          R"(, "transport": "roce", "faults": [{"kind": "straggler", "hosts": [1],
               "slowdown": 1.5}])",
          R"(, "transport": "roce", "traffic": [{"kind": "incast", "fanIn": 2, "size": "64KiB",
               "every": "1ms", "start": "1us", "duration": "2ms"}])"})
    {
        SCOPED_TRACE(more);
        EXPECT_EQ(CompareRepeats(MakeTrainingOn(topology, training, 2, more)).recordedCollectives,
                  0U);
    }
}

TEST(CollectiveRecords, ComputationsThatAreTooShortLeaveNoTimeForAcknowledgements)
{
    // From no time at all between two all-reduces to more than an acknowledgement takes. Of one
    // server: another would do the same at the same times (TwinPlanes).
    uint64_t before = 0;
    for (const auto* time : {"0ns", "1ns", "100ns", "400ns", "1us", "10us"})
    {
        SCOPED_TRACE(time);
        const auto training = fmt::format(
            R"({{"blocks": [{{"count": 6, "forward": "{0}", "backward": "{0}", "gradient": "40kB",
                 "tensorForward": "80kB", "tensorBackward": "80kB"}}], "tensor": 4,
                 "microbatches": 2}})",
            time);
        const auto summary = CompareRepeats(MakeTrainingOn(MakeServers(1, 4, NVLINK), training, 2));
        EXPECT_GE(summary.recordedCollectives, before);
        before = summary.recordedCollectives;
    }
    EXPECT_GT(before, 0U);
}

std::string
DrawRecordedTransport(Draw& draw)
{
    const auto window = draw.Between(0, 3) == 0 ? draw.Between(4, 60) : 0;
    const auto* control = draw.Of({"none", "none", "dcqcn"});
    // Without acknowledgements senders learn by magic.
    const auto ackEvery = window == 0 && draw.Between(0, 5) == 0 ? 0 : draw.Between(1, 20);
    return fmt::format(R"(, "transport": {{"kind": "roce", "congestionControl": "{}", "mtu": "{}B",
                             "ackEvery": {}, "windowPackets": {}}})",
                       control,
                       draw.Between(500, 4096),
                       ackEvery,
                       window);
}

/// Messages that cost time beside their bytes.
std::string
DrawRecordedProtocol(Draw& draw)
{
    return draw.Between(0, 1) == 0
               ? ""
               : fmt::format(R"(, "protocol": "{}")", draw.Of({"simple", "ll", "ll128"}));
}

/// A hybrid of all kinds of parallelism, on servers.
std::string
DrawHybrid(uint32_t seed)
{
    Draw draw(seed);
    const auto accelerators = 2 * draw.Between(1, 4);
    const auto pipeline = draw.Between(1, 3);
    const auto servers = pipeline * draw.Between(1, 2);
    const auto tensor = draw.Between(0, 3) > 0 ? accelerators : accelerators / 2;
    const auto nvlink = InOrder{R"({{"rate": "{}", "delay": "{}ns"}})",
                                draw.Of({"3600Gbps", "600Gbps", "1000Gbps"}),
                                draw.Between(0, 400)}
                            .text;
    const auto* schedule = pipeline == 1 ? draw.Of({"gpipe", "1f1b"})
                                         : draw.Of({"gpipe", "1f1b", "interleaved", "zb-h1"});
    const bool isInterleaved = std::string(schedule) == "interleaved";
    const auto chunks = isInterleaved ? 2U : 1U;
    const auto microbatches = pipeline * draw.Between(1, 3);
    const auto training =
        InOrder{
            R"({{"blocks": [{{"count": {}, "forward": "{}ns", "backward": "{}ns", "weight": "{}ns",
             "gradient": "{}B", "tensorForward": "{}B", "tensorBackward": "{}B"}}],
             "activation": "{}B", "tensor": {}, "pipeline": {}, "schedule": "{}", "chunks": {},
             "microbatches": {}, "zero": {}, "slices": {}, "tensorScheme": "{}"}})",
            pipeline * chunks * draw.Between(1, 3),
            draw.IsOneIn(2) ? 0 : draw.Between(1, 30'000),
            draw.Between(0, 40'000),
            draw.Between(0, 20'000),
            4 * draw.Between(1, 30'000),
            4 * draw.Between(0, 40'000),
            4 * draw.Between(0, 40'000),
            draw.Between(0, 50'000),
            tensor,
            pipeline,
            schedule,
            chunks,
            microbatches,
            draw.Between(0, 3) == 0 ? 1 : 0,
            draw.Between(0, 3) == 0 ? 2 : 1,
            draw.Of({"ring", "ring", "halving-doubling", "double-binary-tree", "ps"})}
            .text;
    const auto iterations = draw.Between(1, 3);
    const auto transport = DrawRecordedTransport(draw);
    return MakeTrainingOn(MakeServers(servers, accelerators, nvlink),
                          training,
                          iterations,
                          transport,
                          DrawRecordedProtocol(draw));
}

TEST(CollectiveRecords, RandomHybridsAreTheSameWithAndWithout)
{
    uint32_t recording = 0;
    constexpr uint32_t SEEDS = 120;
    for (uint32_t seed = 0; seed < SEEDS && !HasFailure(); ++seed)
    {
        const auto text = DrawHybrid(seed);
        SCOPED_TRACE(fmt::format("seed {}: {}", seed, text));
        recording += CompareRepeats(text).recordedCollectives > 0 ? 1 : 0;
    }
    // Else it would show nothing.
    EXPECT_GT(recording, SEEDS / 4);
}

/// A transformer whose tensor-parallel ranks gather before layers and scatter after them, so that
/// collectives follow each other at once; computations of microseconds or less between those.
std::string
DrawModel(uint32_t seed)
{
    Draw draw(seed);
    const auto tensor = 2U << draw.Between(0, 2);
    const auto pipeline = draw.Between(1, 2);
    const auto zero = draw.Between(0, 2) == 2 ? 3U : draw.Between(0, 1);
    const auto training =
        InOrder{
            R"({{"model": {{"kind": "transformer", "layers": {}, "hidden": {}, "heads": 8,
             "feedForward": {}, "vocabulary": 2000, "sequence": {}}},
             "device": "../devices/a100-sxm-80gb.json", "tensor": {}, "pipeline": {},
             "microbatches": {}, "sequenceParallel": {}, "recompute": "{}", "zero": {}{}}})",
            pipeline * draw.Between(1, 3),
            64 * draw.Between(1, 8),
            64 * draw.Between(1, 16),
            64 * draw.Between(1, 8),
            tensor,
            pipeline,
            pipeline * draw.Between(1, 3),
            draw.Between(0, 3) > 0,
            draw.Of({"none", "selective", "full"}),
            zero,
            zero != 3 && draw.Between(0, 4) == 0 ? R"(, "slices": 2)" : ""}
            .text;
    const auto servers = pipeline * draw.Between(1, 2);
    const auto iterations = draw.Between(1, 3);
    const auto transport = DrawRecordedTransport(draw);
    return MakeTrainingOn(MakeServers(servers, tensor, NVLINK),
                          training,
                          iterations,
                          transport,
                          DrawRecordedProtocol(draw));
}

TEST(CollectiveRecords, RandomModelsAreTheSameWithAndWithout)
{
    uint32_t recording = 0;
    constexpr uint32_t SEEDS = 60;
    for (uint32_t seed = 0; seed < SEEDS && !HasFailure(); ++seed)
    {
        const auto text = DrawModel(seed);
        SCOPED_TRACE(fmt::format("seed {}: {}", seed, text));
        recording += CompareRepeats(text).recordedCollectives > 0 ? 1 : 0;
    }
    EXPECT_GT(recording, SEEDS / 4);
}

TEST(CollectiveRecords, RandomModelsAreTheSameInAnyNumberOfProcesses)
{
    // Each of which has records of its own. Many draws are a server or two.
    const auto drawText = [](Draw& draw) {
        const auto seed = draw.Between(1000, 1'000'000);
        return draw.IsOneIn(2) ? DrawHybrid(seed) : DrawModel(seed);
    };
    EXPECT_GE(CompareDrawnRuns({.count = tests::CountDrawn(40),
                                .seed = 31,
                                .drawText = drawText,
                                .excuses = {"at most that many ranks", "AckEvery is 0"},
                                .mostRanks = 2}),
              tests::CountDrawn(20));
}

} // namespace

} // namespace ns3::gradsync
