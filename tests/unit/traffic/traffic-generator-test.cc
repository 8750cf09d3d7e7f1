// SPDX-License-Identifier: GPL-2.0-only
#include "support/picosecond-clock.h"

#include "ns3/fluid-transport.h"
#include "ns3/rng-seed-manager.h"
#include "ns3/simulator.h"
#include "ns3/star-topology.h"
#include "ns3/traffic-generator.h"

#include <algorithm>
#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <numeric>
#include <set>
#include <vector>

namespace ns3::gradsync
{
namespace
{

constexpr uint32_t HOSTS = 16;

class TrafficGeneratorTest : public ::testing::Test
{
  protected:
    void SetUp() override
    {
        tests::UsePicoseconds();
        RngSeedManager::SetSeed(1);
    }

    /// The flows of a star of 16 hosts at 10 Gb/s that began before `end`.
    std::vector<FlowRecord> Run(TrafficSpec spec, const Time& end)
    {
        StarOptions options;
        options.hosts = HOSTS;
        options.hostLink = {DataRate("10Gbps"), MicroSeconds(1)};
        auto topology = std::make_shared<Topology>(MakeStarTopology(options));
        auto transport = CreateObject<FluidTransport>();
        transport->Install(topology, std::make_shared<RoutingTables>(*topology));
        if (spec.hosts.empty())
        {
            spec.hosts.resize(HOSTS);
            std::iota(spec.hosts.begin(), spec.hosts.end(), 0);
        }
        auto generator = CreateObject<TrafficGenerator>();
        std::vector<FlowRecord> flows;
        generator->TraceConnectWithoutContext(
            "Flow",
            Callback<void, const FlowRecord&>(
                [&flows](const FlowRecord& record) { flows.push_back(record); }));
        generator->Install({spec}, *topology, transport, [end] { return Simulator::Now() >= end; });
        Simulator::Run();
        EXPECT_EQ(generator->GetActiveFlows(), 0u);
        generator->Dispose();
        transport->Dispose();
        Simulator::Destroy();
        return flows;
    }
};

TrafficSpec
MakePoisson(double load, uint64_t bytes)
{
    TrafficSpec spec;
    spec.kind = TrafficSpec::Kind::Poisson;
    spec.load = load;
    spec.bytes = bytes;
    return spec;
}

TEST_F(TrafficGeneratorTest, PoissonFlowsAskForTheirLoad)
{
    // 16 hosts of 10 Gb/s at a load of 0.3 ask for 48 Gb/s: flows of 6,000 bytes come at 10^6 a
    // second, 20,000 in 20 ms, with a standard deviation of sqrt(20,000) = 141.
    const auto flows = Run(MakePoisson(0.3, 6000), MilliSeconds(20));
    EXPECT_NEAR(static_cast<double>(flows.size()), 20000.0, 4 * 141.0);
    for (const auto& flow : flows)
    {
        EXPECT_NE(flow.src, flow.dst);
        EXPECT_EQ(flow.bytes, 6000u);
        EXPECT_FALSE(flow.failed);
    }
}

TEST_F(TrafficGeneratorTest, PoissonGapsHaveTheirMeanAsStandardDeviation)
{
    auto flows = Run(MakePoisson(0.3, 6000), MilliSeconds(20));
    std::ranges::sort(flows, {}, &FlowRecord::start);
    double sum = 0.0;
    double squares = 0.0;
    for (size_t i = 1; i < flows.size(); ++i)
    {
        const auto gap = (flows[i].start - flows[i - 1].start).GetSeconds() * 1e6;
        sum += gap;
        squares += gap * gap;
    }
    const auto count = static_cast<double>(flows.size() - 1);
    const auto mean = sum / count;
    // Exponential: both are 1 us. The standard error of the deviation is sqrt(2 / n) = 1 %.
    EXPECT_NEAR(mean, 1.0, 0.03);
    EXPECT_NEAR(std::sqrt(squares / count - mean * mean) / mean, 1.0, 0.04);
}

TEST_F(TrafficGeneratorTest, EveryPairOfHostsIsDrawnAlike)
{
    const auto flows = Run(MakePoisson(0.3, 6000), MilliSeconds(20));
    std::map<std::pair<uint32_t, uint32_t>, double> counts;
    for (const auto& flow : flows)
    {
        ++counts[{flow.src, flow.dst}];
    }
    ASSERT_EQ(counts.size(), HOSTS * (HOSTS - 1));
    // Chi-squared of 239 degrees of freedom: mean 239, standard deviation sqrt(2 * 239) = 22.
    const auto expected = static_cast<double>(flows.size()) / (HOSTS * (HOSTS - 1));
    double chiSquared = 0.0;
    for (const auto& [pair, count] : counts)
    {
        chiSquared += (count - expected) * (count - expected) / expected;
    }
    EXPECT_NEAR(chiSquared, 239.0, 4 * 22.0);
}

TEST_F(TrafficGeneratorTest, SizesFollowTheirDistribution)
{
    auto spec = MakePoisson(0.5, 0);
    spec.sizes = FindFlowSizes("hadoop");
    // A mean of 120.4 kB: 80 Gb/s are 83,042 flows a second.
    const auto flows = Run(spec, MilliSeconds(100));
    const auto count = static_cast<double>(flows.size());
    EXPECT_NEAR(count, 8304.0, 4 * std::sqrt(8304.0));
    for (const auto& point : spec.sizes->points)
    {
        const auto share =
            static_cast<double>(std::ranges::count_if(
                flows,
                [&](const auto& f) { return static_cast<double>(f.bytes) <= point.bytes; })) /
            count;
        EXPECT_NEAR(share, point.percent / 100.0, 4 * 0.5 / std::sqrt(count)) << point.bytes;
    }
}

TEST(FlowSizes, HaveTheMeansOfTheirPoints)
{
    // Sum of share * middle of each segment, in kB. websearch: 0.15 * 5 + 0.05 * 15 + 0.1 * 25 +
    // 0.1 * 40 + 0.13 * 65 + 0.07 * 140 + 0.1 * 600 + 0.1 * 1500 + 0.1 * 3500 + 0.07 * 7500 +
    // 0.03 * 20000 = 1711.25.
    EXPECT_NEAR(FindFlowSizes("websearch")->GetMeanBytes(), 1711250.0, 1.0);
    // hadoop, in bytes: 0.01 * 50 + 0.01 * 150 + 0.03 * 250 + 0.1 * 325 + 0.05 * 375 + 0.1 * 450 +
    // 0.1 * 550 + 0.1 * 650 + 0.1 * 850 + 0.07 * 1500 + 0.03 * 4500 + 0.02 * 18500 + 0.1 * 40000 +
    // 0.05 * 65000 + 0.03 * 100000 + 0.05 * 210000 + 0.025 * 650000 + 0.015 * 1500000 +
    // 0.01 * 6000000 = 120,420.75.
    EXPECT_NEAR(FindFlowSizes("hadoop")->GetMeanBytes(), 120420.75, 1.0);
    EXPECT_EQ(FindFlowSizes("nothing"), nullptr);
}

TEST_F(TrafficGeneratorTest, IncastSendsFromDistinctHostsToOneAtTheSameTime)
{
    TrafficSpec spec;
    spec.kind = TrafficSpec::Kind::Incast;
    spec.bytes = 10000;
    spec.fanIn = 15;
    spec.every = MilliSeconds(1);
    spec.start = MicroSeconds(500);
    spec.duration = MilliSeconds(3);
    const auto flows = Run(spec, Seconds(1));
    // At 0.5, 1.5 and 2.5 ms; 3.5 ms is past the end.
    ASSERT_EQ(flows.size(), 45u);
    std::map<Time, std::vector<FlowRecord>> incasts;
    for (const auto& flow : flows)
    {
        incasts[flow.start].push_back(flow);
    }
    ASSERT_EQ(incasts.size(), 3u);
    EXPECT_EQ(incasts.begin()->first, MicroSeconds(500));
    for (const auto& [start, group] : incasts)
    {
        std::set<uint32_t> senders;
        for (const auto& flow : group)
        {
            senders.insert(flow.src);
            EXPECT_EQ(flow.dst, group[0].dst);
        }
        EXPECT_EQ(senders.size(), 15u);
        EXPECT_FALSE(senders.contains(group[0].dst));
        // 15 * 10 kB through one link of 10 Gb/s: 120 us, and 2 us of way.
        EXPECT_EQ(group.back().end - start, MicroSeconds(122));
    }
}

TEST_F(TrafficGeneratorTest, OnlyTheNamedHostsTakePart)
{
    auto spec = MakePoisson(0.1, 10000);
    spec.hosts = {3, 5, 11};
    for (const auto& flow : Run(spec, MilliSeconds(5)))
    {
        EXPECT_THAT((std::vector<uint32_t>{3, 5, 11}), ::testing::Contains(flow.src));
        EXPECT_THAT((std::vector<uint32_t>{3, 5, 11}), ::testing::Contains(flow.dst));
    }
}

TEST_F(TrafficGeneratorTest, AcceleratorsShareTheNetworkLinksOfTheirServer)
{
    // Any number of servers, accelerators and NICs ask together for the load of all NICs.
    for (const uint32_t accelerators : {1u, 2u, 4u, 8u})
    {
        for (const uint32_t nics : {1u, 2u, 4u})
        {
            StarOptions options;
            options.hosts = 3;
            options.hostLink = {DataRate("10Gbps"), MicroSeconds(1)};
            options.server.accelerators = accelerators;
            options.server.nics = nics;
            const auto topology = MakeStarTopology(options);
            auto spec = MakePoisson(0.25, 6000);
            spec.hosts.resize(topology.GetEndpoints().size());
            std::iota(spec.hosts.begin(), spec.hosts.end(), 0);
            const auto links = std::ranges::count_if(topology.GetLinks(), IsEthernet);
            EXPECT_DOUBLE_EQ(GetOfferedBitRate(spec, topology),
                             0.25 * 10e9 * static_cast<double>(links))
                << accelerators << " accelerators, " << nics << " NICs";
            spec.hosts.resize(spec.hosts.size() / 3); // those of one server
            EXPECT_DOUBLE_EQ(GetOfferedBitRate(spec, topology),
                             0.25 * 10e9 * static_cast<double>(links) / 3);
        }
    }
}

TEST_F(TrafficGeneratorTest, ImpossibleTrafficIsRefused)
{
    auto lonely = MakePoisson(0.1, 10000);
    lonely.hosts = {3};
    EXPECT_THROW(Run(lonely, MilliSeconds(1)), std::invalid_argument);
    EXPECT_THROW(Run(MakePoisson(0.0, 10000), MilliSeconds(1)), std::invalid_argument);
    TrafficSpec incast;
    incast.kind = TrafficSpec::Kind::Incast;
    incast.bytes = 1;
    incast.every = MilliSeconds(1);
    incast.fanIn = HOSTS;
    EXPECT_THROW(Run(incast, MilliSeconds(1)), std::invalid_argument);
    Simulator::Destroy();
}

} // namespace
} // namespace ns3::gradsync
