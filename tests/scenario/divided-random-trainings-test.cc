// SPDX-License-Identifier: GPL-2.0-only
/*
 * Training iterations drawn at random that several processes simulate together must be those of
 * one.
 */
#include "scenario/divided-runs.h"
#include "scenario/drawn-surroundings.h"
#include "support/in-order.h"

#include <algorithm>
#include <cstdint>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <string>

namespace ns3::gradsync
{

namespace
{

/// Racks of hosts, or servers on a leaf each. \param ranks at least so many
std::string
DrawNetwork(Draw& draw, uint32_t ranks, bool hasServers)
{
    const auto* rate = draw.Of({"10Gbps", "25Gbps", "100Gbps"});
    if (!hasServers)
    {
        const auto size = draw.Between(1, 4);
        return InOrder{R"({{"kind": "spine-leaf", "spines": {}, "leaves": {},
             "hostsPerLeaf": {}, "hostLink": {{"rate": "{}", "delay": "{}"}},
             "fabricLink": {{"rate": "{}", "delay": "{}"}}}})",
                       draw.Between(1, 3),
                       std::max(2U, (ranks + size - 1) / size),
                       size,
                       rate,
                       draw.Of({"0s", "100ns", "1us"}),
                       draw.Of({"10Gbps", "40Gbps", "7Gbps"}),
                       draw.Of({"200ns", "1us", "1.5us", "10us"})}
            .text;
    }
    const auto accelerators = draw.Between(2, 4);
    return fmt::format(R"({{"kind": "spine-leaf", "spines": 1, "leaves": {}, "hostsPerLeaf": {},
         "hostLink": {{"rate": "{}", "delay": "500ns"}},
         "fabricLink": {{"rate": "100Gbps", "delay": "700ns"}},
         "server": {{"accelerators": {}, "nics": {}, "pcieSwitches": {},
                     "nvlink": {{"rate": "600Gbps", "delay": "{}ns"}}}}}})",
                       1,
                       std::max(2U, (ranks + accelerators - 1) / accelerators),
                       rate,
                       accelerators,
                       accelerators,
                       accelerators,
                       draw.Between(0, 400));
}

/// Computations of no time too, and what meets at one instant: all ranks of a kind take as long.
std::string
DrawBlocks(Draw& draw, uint32_t stages)
{
    const auto* unit = draw.Of({"ns", "us"});
    const auto most = *unit == 'n' ? 3000U : 30U;
    return InOrder{R"("blocks": [{{"count": {}, "forward": "{}{}", "backward": "{}{}",
             "weight": "{}{}", "gradient": "{}B", "tensorForward": "{}B",
             "tensorBackward": "{}B"}}], "activation": "{}B")",
                   stages * draw.Between(1, 3),
                   draw.IsOneIn(2) ? 0 : draw.Between(1, most),
                   unit,
                   draw.Between(0, most),
                   unit,
                   draw.Between(0, most),
                   unit,
                   4 * draw.Between(1, 20'000),
                   4 * draw.Between(0, 10'000),
                   4 * draw.Between(0, 10'000),
                   draw.Between(0, 50'000)}
        .text;
}

/// How gradients are exchanged.
std::string
DrawGradients(Draw& draw)
{
    switch (draw.Between(0, 5))
    {
    case 0:
        return R"(, "zero": 3)";
    case 1:
        return R"(, "zero": 1)";
    case 2:
        return fmt::format(R"(, "slices": {})", draw.Between(1, 3));
    default:
        return InOrder{R"(, "bucket": "{0}kB", "firstBucket": "{0}kB", "streams": {1},
                               "overlap": {2}, "gradientScheme": "{3}")",
                       draw.Between(1, 200),
                       draw.Between(1, 3),
                       draw.Between(0, 3) > 0,
                       draw.Of({"ring",
                                "ring",
                                "halving-doubling",
                                "double-binary-tree",
                                "ps",
                                "rat",
                                "butterfly",
                                "multi-ring"})}
            .text;
    }
}

/// One, or one with others beside it: exchanges, or its like in step with it or not.
/// \param job an object of JSON \returns a key of the scenario
std::string
DrawTrainingJobs(Draw& draw, const std::string& job)
{
    const auto exchange =
        InOrder{R"({{"gradient": "{}kB", "iterations": {}, "compute": "{}", "scheme": "{}"{}}})",
                draw.Between(1, 100),
                draw.Between(1, 4),
                draw.Of({"0s", "700ns", "20us"}),
                draw.Of({"ring", "ps", "halving-doubling", "all-to-all", "barrier"}),
                draw.Of({"", "", R"(, "start": "15us")", R"(, "maxOutstandingSends": 2)"})}
            .text;
    switch (draw.Between(0, 5))
    {
    case 0:
        return fmt::format(R"("jobs": [{}, {}])", exchange, job);
    case 1:
        return fmt::format(R"("jobs": [{}, {}])", job, exchange);
    case 2:
        return fmt::format(R"("jobs": [{}, {}, {}{}])",
                           job,
                           exchange,
                           job.substr(0, job.rfind('}')),
                           draw.Of({"}", "}", R"(, "start": "4us"})"}));
    default:
        return R"("job": )" + job;
    }
}

/// All kinds of parallelism.
std::string
DrawTraining(Draw& draw)
{
    const bool hasServers = draw.Between(0, 2) == 0;
    const auto tensor = 1U << draw.Between(0, 2);
    const auto pipeline = draw.Between(1, 3);
    const auto data = draw.Between(1, 4);
    const auto* schedule = pipeline == 1 ? draw.Of({"gpipe", "1f1b"})
                                         : draw.Of({"gpipe", "1f1b", "interleaved", "zb-h1"});
    const auto chunks = std::string(schedule) == "interleaved" ? 2U : 1U;
    const auto training = InOrder{R"({}, "tensor": {}, "pipeline": {}, "data": {},
             "schedule": "{}", "chunks": {}, "microbatches": {}, "tensorScheme": "{}"{})",
                                  DrawBlocks(draw, pipeline * chunks),
                                  tensor,
                                  pipeline,
                                  data,
                                  schedule,
                                  chunks,
                                  pipeline * draw.Between(1, 3),
                                  draw.Of({"ring", "ring", "halving-doubling", "ps"}),
                                  DrawGradients(draw)}
                              .text;
    const auto surroundings = draw.IsOneIn(2)
                                  ? DrawSurroundings(draw, draw.IsOneIn(3), true)
                                  : std::string(draw.Of({R"("results": {"trace": true})",
                                                         R"("results": {"messages": false})"}));
    const auto job = InOrder{R"({{"iterations": {}, "training": {{{}}}{}{}}})",
                             draw.Between(1, 3),
                             training,
                             draw.Of({"", "", R"(, "reduceRate": "20Gbps")"}),
                             draw.Of({"", "", R"(, "protocol": "simple")"})}
                         .text;
    return InOrder{R"({{"topology": {}, {},
      "transport": {{"kind": "roce", "congestionControl": "{}", "recovery": "selective-repeat",
                     "reorderTolerance": 4000, "windowPackets": {}, "mtu": "{}",
                     "keptQueuePairs": {}}},
      "fabric": {{"loadBalancing": "{}", "bufferBytes": "{}", "ecnMinBytes": "30kB",
                  "ecnMaxBytes": "400kB", "ecnMaxProbability": 0.1}},
      {}, "seed": {}{}}})",
                   DrawNetwork(draw, tensor * pipeline * data, hasServers),
                   DrawTrainingJobs(draw, job),
                   draw.Of({"none", "none", "timely", "swift", "hpcc", "dctcp", "dcqcn"}),
                   draw.Of({"0", "8", "64"}),
                   draw.Of({"1kB", "4096B"}),
                   draw.Of({"131072", "0"}),
                   draw.Of({"hash", "hash", "destination", "spray", "adaptive", "flowlet"}),
                   draw.Of({"1MB", "16MB"}),
                   surroundings,
                   draw.Between(1, 1000),
                   hasServers ? draw.Of({"", R"(, "fidelity": {"server": "fluid"})"}) : ""}
        .text;
}

TEST(DividedTrainingsTest, RandomTrainingsAreTheSameInAnyNumberOfProcesses)
{
    EXPECT_GE(CompareDrawnRuns({.count = tests::CountDrawn(80),
                                .seed = 23,
                                .drawText = DrawTraining,
                                .excuses = {"at most that many ranks",
                                            "were sent again",
                                            "may be done before that rank begins",
                                            "goes as a fluid",
                                            "beside servers that are fluid",
                                            "jobs, expected one",
                                            "ahead could be lost",
                                            "move their connections",
                                            "headroom"},
                                .mayFail = true}), // more faults at random than there are switches
              tests::CountDrawn(30));
}

} // namespace

} // namespace ns3::gradsync
