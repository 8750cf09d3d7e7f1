// SPDX-License-Identifier: GPL-2.0-only
/*
 * Planes of a network that stand for equal ones must change no byte of a result, wherever they turn
 * out to differ too. Whole results, traces and counted events are compared with those of the same
 * runs simulated whole.
 */
#include "scenario/repeated-runs.h"
#include "support/in-order.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <string>

namespace ns3::gradsync
{

namespace
{

/// Servers on rails, one leaf a rail and unit; accelerators of a server on an NVSwitch.
struct Rails
{
    uint32_t units{1};
    uint32_t serversPerUnit{4};
    uint32_t spines{8};
    uint32_t accelerators{4};
    const char* hostRate{"100Gbps"};
    const char* loadBalancing{"destination"};
    const char* servers{"fluid"};
    std::string fabric{}; //!< more keys of it
    std::string transport{R"({"kind": "roce"})"};

    std::string Make(const std::string& training, uint32_t iterations) const
    {
        return fmt::format(
            R"({{"topology": {{"kind": "rail-optimised", "units": {}, "serversPerUnit": {},
                 "spines": {}, "hostLink": {{"rate": "{}", "delay": "500ns"}},
                 "fabricLink": {{"rate": "100Gbps", "delay": "500ns"}},
                 "server": {{"accelerators": {}, "nics": {}, "directNics": true,
                     "pcie": {{"rate": "120Gbps", "delay": "250ns"}},
                     "nvlink": {{"rate": "3600Gbps", "delay": "100ns"}}}}}},
                 "transport": {}, "fidelity": {{"server": "{}"}},
                 "fabric": {{"loadBalancing": "{}"{}}},
                 "job": {{"iterations": {}, "training": {}}}, "results": {{"trace": true}}}})",
            units,
            serversPerUnit,
            spines,
            hostRate,
            accelerators,
            accelerators,
            transport,
            servers,
            loadBalancing,
            fabric,
            iterations,
            training);
    }
};

constexpr const char* TWIN_LAYERS =
    R"("blocks": [{"count": 4, "forward": "30us", "backward": "50us",
    "gradient": "200kB", "tensorForward": "300kB", "tensorBackward": "300kB"}],
    "activation": "100kB")";

TEST(TwinPlanes, OfEqualRailsOneIsSimulated)
{
    // Four servers of four, tensor-parallel inside, data-parallel on four rails: the gradients of 4
    // layers are 4 buckets of a ring on each rail. Three rails are not simulated.
    const auto training =
        fmt::format(R"({{{}, "tensor": 4, "bucket": "1B", "firstBucket": "1B"}})", TWIN_LAYERS);
    EXPECT_EQ(CompareRepeats(Rails{}.Make(training, 1)).recordedCollectives, 3U * 4);
    // Nor what goes from stage to stage: of 2 stages and 2 microbatches 2 messages forward and 2
    // back, from each of two servers, and the gradients of 2 layers a stage, on each rail.
    const auto stages = fmt::format(
        R"({{{}, "tensor": 4, "pipeline": 2, "microbatches": 2, "bucket": "1B", "firstBucket": "1B"}})",
        TWIN_LAYERS);
    EXPECT_EQ(CompareRepeats(Rails{}.Make(stages, 1)).recordedCollectives,
              3U * (2 * (2 + 2) + 2 * 2));
}

TEST(TwinPlanes, CollectivesInsideServersAreRecordedBesides)
{
    // Of packets inside servers, too, each all-reduces 2 * 4 times, of which the first is simulated
    // and the last one of an iteration (CollectiveRecords.TensorGroups...); of 4 buckets each,
    // three rails are not.
    const auto training =
        fmt::format(R"({{{}, "tensor": 4, "bucket": "1B", "firstBucket": "1B"}})", TWIN_LAYERS);
    const auto rails = Rails{.servers = "packets"};
    EXPECT_EQ(CompareRepeats(rails.Make(training, 1)).recordedCollectives,
              4U * (2 * 4 - 2) + 3U * 4);
}

TEST(TwinPlanes, IterationsThatRepeatAreLeftOutToo)
{
    const auto training =
        fmt::format(R"({{{}, "tensor": 4, "bucket": "1B", "firstBucket": "1B"}})", TWIN_LAYERS);
    const auto summary = CompareRepeats(Rails{}.Make(training, 9));
    EXPECT_EQ(summary.skippedIterations, 7U);
    EXPECT_EQ(summary.recordedCollectives, 2 * 3U * 4);
}

TEST(TwinPlanes, RailsThatMeetAtSpinesAreSimulated)
{
    // By a hash of the connection all rails use all spines; inside a unit they meet at none.
    const auto training = fmt::format(R"({{{}, "tensor": 4}})", TWIN_LAYERS);
    auto rails = Rails{.units = 2, .serversPerUnit = 2, .loadBalancing = "hash"};
    EXPECT_EQ(CompareRepeats(rails.Make(training, 1)).recordedCollectives, 0U);
    rails.units = 1;
    EXPECT_GT(CompareRepeats(rails.Make(training, 1)).recordedCollectives, 0U);
    // By destinations each rail has every fourth spine, of eight to itself, of five not.
    rails = {.units = 2, .serversPerUnit = 2};
    EXPECT_GT(CompareRepeats(rails.Make(training, 1)).recordedCollectives, 0U);
    rails.spines = 5;
    EXPECT_EQ(CompareRepeats(rails.Make(training, 1)).recordedCollectives, 0U);
}

TEST(TwinPlanes, WhatIsDrawnForEachRailIsSimulated)
{
    // Servers send to one of them at once. Packets wait at its leaf, which marks by chance, for
    // each port by numbers of its own. Until then rails are equal.
    const auto training = fmt::format(R"({{{}, "tensor": 4, "pipeline": 2, "microbatches": 2,
                                          "gradientScheme": "ps"}})",
                                      TWIN_LAYERS);
    auto rails = Rails{.fabric = R"(, "ecnMinBytes": "5kB", "ecnMaxBytes": "100kB")",
                       .transport = R"({"kind": "roce", "congestionControl": "dcqcn"})"};
    EXPECT_EQ(CompareRepeats(rails.Make(training, 1)).recordedCollectives, 0U);
    rails.fabric = R"(, "ecnMinBytes": "5MB", "ecnMaxBytes": "10MB")"; // of no queue here
    EXPECT_GT(CompareRepeats(rails.Make(training, 1)).recordedCollectives, 0U);
}

TEST(TwinPlanes, RunsThatDoNotEndAreSimulatedWhole)
{
    // No answer comes within a microsecond.
    const auto training = fmt::format(R"({{{}, "tensor": 4}})", TWIN_LAYERS);
    const auto rails = Rails{.transport = R"({"kind": "roce", "timeout": "1us", "retryLimit": 1})"};
    const auto text = rails.Make(training, 1);
    EXPECT_FALSE(RunWith(text, Repeats::Skip).summary.finished);
    EXPECT_EQ(CompareRepeats(text).recordedCollectives, 0U);
}

std::string
DrawTransport(Draw& draw)
{
    return InOrder{R"({{"kind": "roce", "congestionControl": "{}", "mtu": "{}B",
                            "ackEvery": {}, "windowPackets": {}, "timeout": "{}us"}})",
                   draw.Of({"none", "none", "none", "dcqcn", "dctcp", "swift"}),
                   draw.Between(500, 4096),
                   draw.Between(1, 20),
                   draw.IsOneIn(4) ? draw.Between(20, 60) : 0,
                   draw.IsOneIn(5) ? draw.Between(50, 500) : 67'000}
        .text;
}

/// Hybrids on rails, of which the tensor-parallel groups are servers, or parts of them.
std::string
DrawRails(Draw& draw)
{
    Rails rails;
    rails.accelerators = 2 * draw.Between(1, 2);
    rails.units = draw.Between(1, 3);
    rails.serversPerUnit = draw.Between(2, 4);
    rails.spines = draw.IsOneIn(3) ? draw.Between(1, 6) : 4 * draw.Between(1, 2);
    rails.hostRate = draw.Of({"100Gbps", "40Gbps", "200Gbps"});
    rails.loadBalancing = draw.Of({"destination", "destination", "destination", "hash", "flowlet"});
    rails.fabric =
        draw.IsOneIn(3) ? fmt::format(R"(, "bufferBytes": "{}kB")", draw.Between(1, 4) * 500) : "";
    rails.transport = DrawTransport(draw);
    rails.servers = draw.Of({"fluid", "packets"});
    const auto servers = rails.units * rails.serversPerUnit;
    const auto pipeline = servers % 2 == 0 ? draw.Between(1, 2) : 1;
    const auto tensor = draw.IsOneIn(6) ? rails.accelerators / 2 : rails.accelerators;
    const auto training =
        InOrder{
            R"({{"blocks": [{{"count": {}, "forward": "{}ns", "backward": "{}ns", "gradient": "{}B",
             "tensorForward": "{}B", "tensorBackward": "{}B"}}], "activation": "{}B",
             "tensor": {}, "pipeline": {}, "microbatches": {}, "bucket": "{}kB",
             "firstBucket": "100kB", {}}})",
            pipeline * draw.Between(1, 3),
            draw.Between(0, 20'000),
            draw.Between(0, 20'000),
            4 * draw.Between(1, 60'000),
            4 * draw.Between(0, 20'000),
            4 * draw.Between(0, 20'000),
            draw.Between(0, 100'000),
            tensor,
            pipeline,
            pipeline * draw.Between(1, 3),
            draw.Between(1, 400),
            draw.Of({R"("zero": 1)",
                     R"("gradientScheme": "ring")",
                     R"("gradientScheme": "halving-doubling")",
                     R"("gradientScheme": "ps")"})}
            .text;
    return rails.Make(training, draw.IsOneIn(4) ? 4 : 1);
}

TEST(TwinPlanes, RandomHybridsOnRailsAreTheSameWithAndWithout)
{
    uint32_t standing = 0;
    constexpr uint32_t SEEDS = 200;
    for (uint32_t seed = 0; seed < SEEDS && !HasFailure(); ++seed)
    {
        Draw draw(seed);
        const auto text = DrawRails(draw);
        SCOPED_TRACE(fmt::format("seed {}: {}", seed, text));
        standing += CompareRepeats(text).recordedCollectives > 0 ? 1 : 0;
    }
    // Else it would show nothing.
    EXPECT_GT(standing, SEEDS / 4);
    EXPECT_LT(standing, SEEDS);
}

} // namespace

} // namespace ns3::gradsync
