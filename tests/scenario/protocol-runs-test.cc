// SPDX-License-Identifier: GPL-2.0-only
// Jobs whose messages have a protocol, from scenario to result.
#include "scenario/scenario-runs.h"

#include "ns3/job-planner.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <random>
#include <string>
#include <vector>

namespace ns3::gradsync
{
namespace
{

using testing::HasSubstr;

constexpr int64_t NS = 1000;          //!< in picoseconds
constexpr int64_t PS_PER_BYTE = 8000; //!< of 1 Gb/s

/// A protocol in whole nanoseconds, with an efficiency of `num` sixteenths.
struct Drawn
{
    int64_t baseNs;
    int64_t hopNs;
    int64_t networkNs;
    int64_t sixteenths;

    std::string GetText() const
    {
        return fmt::format(R"({{"kind": "simple", "baseLatency": "{}ns", "hopLatency": "{}ns",
                                "networkHopLatency": "{}ns", "efficiency": {}}})",
                           baseNs,
                           hopNs,
                           networkNs,
                           static_cast<double>(sixteenths) / 16.0);
    }

    int64_t GetWireBytes(int64_t payload) const
    {
        return (payload * 16 + sixteenths - 1) / sixteenths;
    }
};

Drawn
DrawProtocol(std::mt19937_64& random)
{
    const auto draw = [&random](uint64_t most) { return static_cast<int64_t>(random() % most); };
    return {draw(50'000), draw(5'000), draw(20'000), 1 + draw(16)};
}

std::vector<ScenarioOverride>
MakeProtocolJob(const Drawn& drawn, int64_t bytes, const std::string& scheme)
{
    return {
        {"scheme", scheme},
        {"job", fmt::format(R"({{"gradient": "{}B", "protocol": {}}})", bytes, drawn.GetText())}};
}

// n hosts with links of a delay d each, all alike: a step takes its hop, the way through the
// switch and its bytes, T = base + 2(n-1) (hop + 2d + chunk/(eB)), all in whole picoseconds.
TEST(ProtocolRuns, ARingTakesItsClosedForm)
{
    std::mt19937_64 random(3);
    for (int trial = 0; trial < 60; ++trial)
    {
        const auto hosts = static_cast<int64_t>(2 + random() % 9);
        const auto delayNs = static_cast<int64_t>(random() % 2'000);
        const auto chunk = static_cast<int64_t>(4 * (1 + random() % 20'000));
        const auto drawn = DrawProtocol(random);
        auto job = MakeProtocolJob(drawn, hosts * chunk, "ring");
        job.push_back({"topology.hosts", std::to_string(hosts)});
        job.push_back({"topology.hostLink.delay", fmt::format("{}ns", delayNs)});
        const auto summary = Simulate(job).summary;
        const auto wire = drawn.GetWireBytes(chunk);
        const auto step = (drawn.networkNs + 2 * delayNs) * NS + wire * PS_PER_BYTE;
        EXPECT_EQ(summary.meanIctPs, drawn.baseNs * NS + 2 * (hosts - 1) * step) << trial;
        EXPECT_EQ(summary.goodputBytes, static_cast<uint64_t>(2 * (hosts - 1) * hosts * wire));
    }
}

/// When a ring is over whose edge i, from rank i, takes `wire[i]` for the bytes of a message and
/// `late[i]` after them. Edge i may send its message t when its link has sent message t - 1, and
/// message t - 1 of the edge before has arrived.
int64_t
WalkRing(const std::vector<int64_t>& wire, const std::vector<int64_t>& late)
{
    const auto ranks = wire.size();
    std::vector<int64_t> sent(ranks, 0);
    std::vector<int64_t> arrived(ranks, 0);
    for (size_t step = 0; step < 2 * (ranks - 1); ++step)
    {
        auto next = arrived;
        for (size_t i = 0; i < ranks; ++i)
        {
            sent[i] = std::max(sent[i], arrived[(i + ranks - 1) % ranks]) + wire[i];
            next[i] = sent[i] + late[i];
        }
        arrived = next;
    }
    return *std::ranges::max_element(arrived);
}

// Servers of two accelerators on NVLink of 8 Gb/s, a NIC of 1 Gb/s for each: every second hop of
// the ring leaves a server.
TEST(ProtocolRuns, HopsInsideServersTakeTheirOwnTime)
{
    std::mt19937_64 random(4);
    for (int trial = 0; trial < 30; ++trial)
    {
        const auto servers = static_cast<int64_t>(2 + random() % 4);
        const auto chunk = static_cast<int64_t>(4 * (1 + random() % 5'000));
        const auto drawn = DrawProtocol(random);
        const auto ranks = static_cast<size_t>(2 * servers);
        auto job = MakeProtocolJob(drawn, 2 * servers * chunk, "ring");
        job.push_back({"topology",
                       fmt::format(R"({{"kind": "star", "hosts": {},
                         "hostLink": {{"rate": "1Gbps", "delay": "0s"}},
                         "server": {{"accelerators": 2, "nics": 2, "pcieSwitches": 2,
                                     "pcie": {{"rate": "16Gbps", "delay": "0s"}},
                                     "upi": {{"rate": "16Gbps", "delay": "0s"}},
                                     "nvlink": {{"rate": "8Gbps", "delay": "0s"}}}}}})",
                                   servers)});
        std::vector<int64_t> wire(ranks);
        std::vector<int64_t> late(ranks);
        for (size_t i = 0; i < ranks; ++i)
        {
            const bool isInside = i % 2 == 0;
            wire[i] = drawn.GetWireBytes(chunk) * (isInside ? PS_PER_BYTE / 8 : PS_PER_BYTE);
            late[i] = (isInside ? drawn.hopNs : drawn.networkNs) * NS;
        }
        EXPECT_EQ(Simulate(job).summary.meanIctPs, drawn.baseNs * NS + WalkRing(wire, late));
    }
}

// A packet sees no protocol: a step of the same bytes takes what it took, and begins later. Only
// acknowledgements, of which a step without latency may meet those of the step before, differ: one
// of at most 100 bytes at both links of each step.
TEST(ProtocolRuns, PacketsTakeTheSameTimesLater)
{
    std::mt19937_64 random(5);
    for (int trial = 0; trial < 12; ++trial)
    {
        const auto hosts = static_cast<int64_t>(2 + random() % 5);
        const auto chunk = static_cast<int64_t>(4 * (1 + random() % 10'000));
        auto drawn = DrawProtocol(random);
        const std::vector<ScenarioOverride> network{{"transport", "roce"},
                                                    {"topology.hosts", std::to_string(hosts)}};
        auto with = MakeProtocolJob(drawn, hosts * chunk, "ring");
        with.insert(with.begin(), network.begin(), network.end());
        const Drawn bare{0, 0, 0, drawn.sixteenths};
        auto without = MakeProtocolJob(bare, hosts * chunk, "ring");
        without.insert(without.begin(), network.begin(), network.end());
        const auto late = Simulate(with).summary;
        const auto early = Simulate(without).summary;
        const auto steps = 2 * (hosts - 1);
        const auto added = (drawn.baseNs + steps * drawn.networkNs) * NS;
        EXPECT_NEAR(static_cast<double>(late.meanIctPs - early.meanIctPs),
                    static_cast<double>(added),
                    static_cast<double>(steps * 2 * 100 * PS_PER_BYTE))
            << trial;
        EXPECT_EQ(late.goodputBytes, early.goodputBytes);
        EXPECT_EQ(early.goodputBytes,
                  static_cast<uint64_t>(steps * hosts * drawn.GetWireBytes(chunk)));
    }
}

// LL sends each byte twice, whatever the scheme.
TEST(ProtocolRuns, EverySchemeSendsItsBytesByTheProtocol)
{
    UsePicoseconds();
    for (const auto* scheme : {"ps",
                               "ring",
                               "rat",
                               "hierarchical",
                               "k-nomial",
                               "butterfly",
                               "double-binary-tree",
                               "multi-ring",
                               "all-gather",
                               "all-to-all",
                               "broadcast",
                               "blueconnect"})
    {
        const auto count = [scheme](const char* protocol) {
            const auto scenario =
                ParseScenario(STAR, "x.json", {{"scheme", scheme}, {"job.protocol", protocol}});
            return CheckRun(ResolveRun(scenario, 0), true).bytes;
        };
        const auto bare = count("none");
        EXPECT_GT(bare, 0U);
        EXPECT_EQ(count("simple"), bare) << scheme;
        EXPECT_EQ(count("ll"), 2 * bare) << scheme;
    }
}

// One block that is all backward pass, and one bucket: what a job takes that computes and then
// exchanges (TrainingRuns.OneBlockTakesWhatAJobTakes), with the protocol too.
TEST(ProtocolRuns, TrainingTakesWhatAJobTakes)
{
    std::mt19937_64 random(6);
    for (const auto* transport : {"fluid", "roce"})
    {
        for (const auto* scheme : {"ring", "double-binary-tree", "halving-doubling"})
        {
            const auto bytes = 4 * (1 + random() % 100'000);
            const auto protocol = DrawProtocol(random).GetText();
            const std::vector<ScenarioOverride> both{{"transport", transport}, {"scheme", scheme}};
            auto exchange = both;
            exchange.push_back({"job",
                                fmt::format(R"({{"gradient": "{}B", "compute": "70us",
                                                 "iterations": 2, "protocol": {}}})",
                                            bytes,
                                            protocol)});
            auto training = both;
            training.push_back({"job",
                                fmt::format(R"({{"training": {{"blocks": [{{"backward": "70us",
                                 "gradient": "{}B"}}], "bucket": "1GB", "firstBucket": "1GB"}},
                                 "iterations": 2, "protocol": {}}})",
                                            bytes,
                                            protocol)});
            const auto expected = Simulate(exchange).summary;
            const auto found = Simulate(training).summary;
            EXPECT_TRUE(found.finished);
            EXPECT_EQ(found.meanIctPs, expected.meanIctPs) << transport << ' ' << scheme;
            EXPECT_EQ(found.goodputBytes, expected.goodputBytes);
        }
    }
}

// Two stages of a block each, of 1 and 2 ms, and one microbatch: forward, a message, forward,
// backward, a message, backward. A message of 1 kB at 1 Gb/s takes 8 us, twice that by LL, whose
// base of 6.6 us and hop of 2.7 us between servers come to each.
TEST(ProtocolRuns, MessagesOfPipelinesHaveTheProtocolToo)
{
    const auto result = Simulate(
        {{"job", R"({"training": {"blocks": [{"count": 2, "forward": "1ms", "backward": "2ms"}],
                     "activation": "1kB", "pipeline": 2, "microbatches": 1},
                     "endpoints": [0, 1], "protocol": "ll"})"}});
    EXPECT_EQ(result.summary.meanIctPs, int64_t{6'000'000 + 2 * (16'000 + 6'600 + 2'700)} * NS);
    EXPECT_EQ(result.summary.goodputBytes, 4'000U);
}

// `auto` counts with the protocol: its estimate is that of the fluid network, which has neither
// headers nor turns here, so that a ring's closed form holds.
TEST(ProtocolRuns, AutoEstimatesWithTheProtocol)
{
    UsePicoseconds();
    const std::vector<ScenarioOverride> common{{"scheme", "auto"}, {"job.gradient", "40kB"}};
    const auto choose = [&common](const std::string& protocol) {
        auto overrides = common;
        overrides.push_back({"job.protocol", protocol});
        const auto run = ResolveRun(ParseScenario(STAR, "x.json", overrides), 0);
        const auto planned = PlanJob(run.jobs.front(), *run.topology);
        const auto simulated = Simulate(overrides).summary.meanIctPs;
        EXPECT_NEAR(planned.choice->GetSeconds() * 1e12,
                    static_cast<double>(simulated),
                    1e-3 * static_cast<double>(simulated));
        return *planned.choice;
    };
    // Hops of 1 ms each: the length of the chain counts, of which the shortest is 2, to an owner
    // and back; without them it is the bytes, 1.5 x 0.32 ms of four ranks.
    const auto slow = choose(R"({"kind": "simple", "networkHopLatency": "1ms"})");
    const auto fast = choose("none");
    EXPECT_GT(slow.GetSeconds(), fast.GetSeconds() + 1e-3);
    EXPECT_LT(slow.GetSeconds(), 3e-3);
}

std::string
ErrorOfProtocolRun(const std::vector<ScenarioOverride>& overrides)
{
    UsePicoseconds();
    return ErrorOf([&] {
        const auto scenario = ParseScenario(STAR, "x.json", overrides);
        CheckRun(ResolveRun(scenario, 0), true);
    });
}

TEST(ProtocolRuns, BadInputIsNamed)
{
    EXPECT_THAT(ErrorOfProtocolRun({{"job.protocol", "ll126"}}),
                testing::AllOf(HasSubstr("job.protocol.kind"), HasSubstr("ll128")));
    EXPECT_THAT(ErrorOfProtocolRun({{"job.protocol", "ll"}, {"job.protocol.efficiency", "0"}}),
                HasSubstr("job.protocol.efficiency"));
    EXPECT_THAT(ErrorOfProtocolRun({{"job.protocol", "ll"}, {"job.protocol.efficiency", "1.1"}}),
                HasSubstr("job.protocol.efficiency"));
    EXPECT_THAT(ErrorOfProtocolRun({{"job.protocol", "ll"}, {"job.protocol.baseLatency", "2s"}}),
                HasSubstr("job.protocol.baseLatency"));
    EXPECT_THAT(ErrorOfProtocolRun({{"job.protocol", "none"}, {"job.protocol.efficiency", "1"}}),
                HasSubstr("efficiency"));
    EXPECT_THAT(
        ErrorOfProtocolRun({{"transport", "roce"}, {"scheme", "switchml"}, {"job.protocol", "ll"}}),
        testing::AllOf(HasSubstr("switchml"), HasSubstr("switches aggregate")));
    EXPECT_THAT(ErrorOfProtocolRun({{"scheme", R"({"kind": "federated", "roundTimeout": "1s"})"},
                                    {"job.protocol", "ll"}}),
                testing::AllOf(HasSubstr("federated"), HasSubstr("protocol")));
    EXPECT_THAT(ErrorOfProtocolRun({{"job", R"({"protocol": "ll", "asynchronous": {}})"}}),
                testing::AllOf(HasSubstr("\"protocol\""), HasSubstr("asynchronous")));
}

TEST(ProtocolRuns, FiguresAreOverriddenOneByOne)
{
    // 2 hosts: base, then two steps of half of 1 MB, 4 ms each, twice that by LL.
    const auto take = [](std::vector<ScenarioOverride> more) {
        more.insert(more.begin(), {{"topology.hosts", "2"}, {"job.protocol", "ll"}});
        return Simulate(more).summary.meanIctPs / NS;
    };
    EXPECT_EQ(take({}), 6'600 + 2 * (8'000'000 + 2'700));
    EXPECT_EQ(take({{"job.protocol.baseLatency", "1us"}}), 1'000 + 2 * (8'000'000 + 2'700));
    EXPECT_EQ(take({{"job.protocol.efficiency", "1.0"}}), 6'600 + 2 * (4'000'000 + 2'700));
    EXPECT_EQ(take({{"job.protocol.networkHopLatency", "0s"}}), 6'600 + 2 * 8'000'000);
    EXPECT_EQ(take({{"job.protocol.hopLatency", "1ms"}}), take({}));
}

} // namespace
} // namespace ns3::gradsync
