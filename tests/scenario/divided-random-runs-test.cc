// SPDX-License-Identifier: GPL-2.0-only
/*
 * Exchanges drawn at random that several processes simulate together must be those of one.
 */
#include "scenario/divided-runs.h"
#include "support/in-order.h"

#include <algorithm>
#include <cstdint>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <numeric>
#include <string>
#include <vector>

namespace ns3::gradsync
{

namespace
{

constexpr const char* OTHER_SCHEMES[] = {"ring",
                                         "ps",
                                         "rat",
                                         "halving-doubling",
                                         "plink",
                                         "all-to-all",
                                         "double-binary-tree",
                                         "byteps",
                                         "all-gather",
                                         "reduce-scatter",
                                         "broadcast"};

/// \returns it as in JSON
std::string
DrawScheme(Draw& draw)
{
    return draw.IsOneIn(2) ? draw.Of(WAITING_SCHEMES)
                           : '"' + std::string(draw.Of(OTHER_SCHEMES)) + '"';
}

/// Several jobs on hosts of their own or shared ones.
std::string
DrawJobs(Draw& draw, size_t hosts)
{
    std::string jobs;
    const auto count = draw.Between(2, 3);
    for (size_t i = 0; i < count; ++i)
    {
        std::vector<size_t> all(hosts);
        std::iota(all.begin(), all.end(), 0);
        draw.Shuffle(all);
        all.resize(std::min<size_t>(hosts, draw.Between(2, 7)));
        auto scheme = DrawScheme(draw);
        scheme = scheme == R"("blueconnect")" ? R"("ring")" : scheme; // for racks of one size only
        std::string endpoints;
        for (const auto host : all)
        {
            endpoints += fmt::format("{}\"host{}\"", endpoints.empty() ? "" : ", ", host);
        }
        jobs +=
            InOrder{
                R"({}{{"name": "j{}", "gradient": "{}kB", "iterations": {}, "compute": "{}"{}{}{}{}{},
                   "scheme": {}, "endpoints": [{}]}})",
                i == 0 ? "" : ", ",
                i,
                draw.IsOneIn(3) ? 64 : draw.Between(1, 200),
                draw.Between(1, 4),
                draw.Of({"0s", "0s", "700ns", "20us"}),
                draw.Of({"", "", R"(, "start": "15us")"}),
                draw.Of({"", "", R"(, "timeout": "70us")", R"(, "timeout": "1ms")"}),
                draw.Of({"", R"(, "reduceRate": "20Gbps")"}),
                draw.Of({"", "", R"(, "codec": "fp16")"}),
                draw.Of({"", "", R"(, "protocol": "simple")", R"(, "maxOutstandingSends": 2)"}),
                scheme,
                endpoints}
                .text;
    }
    return jobs;
}

/// A scenario drawn at random, of those that can be divided or nearly.
std::string
DrawDivided(Draw& draw)
{
    const auto scheme = DrawScheme(draw);
    const bool isGrid = scheme == R"("blueconnect")"; // which takes racks of one size only
    std::string hosts;
    const auto leaves = draw.Between(2, 6);
    const auto size = draw.Between(1, 4);
    size_t count = 0;
    for (size_t i = 0; i < leaves; ++i)
    {
        const auto own = isGrid ? size : draw.Between(1, 4);
        hosts += fmt::format("{}{}", i == 0 ? "" : ", ", own);
        count += own;
    }
    const auto several = draw.IsOneIn(2) && count > 1 ? DrawJobs(draw, count) : "";
    const auto job =
        InOrder{
            R"("job": {{"gradient": "{}kB", "iterations": {}, "compute": "{}"{}{}{}{}}}, "scheme": {})",
            draw.Between(1, 200),
            draw.Between(1, 3),
            draw.Of({"0s", "1ns", "700ns", "20us"}),
            draw.Of({"", R"(, "reduceRate": "20Gbps")"}),
            draw.Of(
                {"", "", R"(, "codec": "fp16")", R"(, "codec": {"kind": "qsgd", "levels": 4})"}),
            draw.Of({"", "", R"(, "maxOutstandingSends": 1)", R"(, "maxOutstandingSends": 4)"}),
            draw.Of({"", "", R"(, "protocol": "simple")"}),
            scheme}
            .text;
    const auto balancing = draw.Of({"hash", "hash", "destination", "spray", "adaptive", "flowlet"});
    const bool isLossy = draw.IsOneIn(3);
    const auto control = draw.Of({"none", "none", "timely", "swift", "hpcc", "dctcp", "dcqcn"});
    return InOrder{
        R"({{
      "topology": {{"kind": "spine-leaf", "spines": {}, "leaves": {}, "hostsOfLeaf": [{}],
                    {}}},
      {},
      "transport": {{"kind": "roce", "congestionControl": "{}", {}, "windowPackets": {}, "mtu": "{}",
                     "keptQueuePairs": {}}},
      "fabric": {{"loadBalancing": "{}", "bufferBytes": "{}"{},
                  "ecnMinBytes": "30kB", "ecnMaxBytes": "{}", "ecnMaxProbability": 0.1}},
      "results": {}, "seed": {}}})",
        draw.Between(1, 3),
        leaves,
        hosts,
        DrawLinks(draw),
        several.empty() ? job : fmt::format(R"("jobs": [{}])", several),
        control,
        isLossy
            ? draw.Of({R"("recovery": "go-back-n", "timeout": "80us", "retryLimit": 1000)",
                       R"("recovery": "selective-repeat", "timeout": "300us", "retryLimit": 1000)",
                       R"("recovery": "selective-repeat", "reorderTolerance": 20)"})
            : R"("recovery": "selective-repeat", "reorderTolerance": 4000)",
        draw.Of({"0", "8", "64"}),
        draw.Of({"1kB", "4096B"}),
        draw.Of({"0", "3", "131072"}),
        balancing,
        draw.Of({"200kB", "1MB", "16MB"}),
        isLossy ? draw.Of({R"(, "lossRate": 0.01)",
                           R"(, "lossRate": 0.001)",
                           R"(, "pfc": false)",
                           R"(, "pfc": false, "lossRate": 0.003)"})
                : "",
        draw.Of({"30kB", "400kB"}),
        draw.Of({R"({"trace": true})", R"({"messages": false})"}),
        draw.Between(1, 1000)}
        .text;
}

TEST(DividedRunsTest, RandomRunsAreTheSameWithAnEventForEachPacket)
{
    // Whatever one process does, also where it refuses.
    Draw draw(GetDrawnSeed(29));
    for (uint32_t round = 0; round < tests::CountDrawn(160); ++round)
    {
        const auto text = DrawDivided(draw);
        auto inStep = text;
        const std::string key = R"("fabric": {)";
        inStep.insert(inStep.find(key) + key.size(), R"("switchRounds": false, )");
        EXPECT_EQ(SimulateDivided(text, 1), SimulateDivided(inStep, 1)) << text;
    }
}

TEST(DividedRunsTest, RandomRunsAreTheSameInAnyNumberOfProcesses)
{
    EXPECT_GE(CompareDrawnRuns({.count = tests::CountDrawn(160),
                                .seed = 23,
                                .drawText = DrawDivided,
                                .excuses = {"at most that many ranks",
                                            "were sent again",
                                            "is not known ahead",
                                            "LoadBalancing reorders packets",
                                            "headroom"}}),
              tests::CountDrawn(80));
}

} // namespace

} // namespace ns3::gradsync
