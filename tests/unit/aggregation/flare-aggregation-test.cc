// SPDX-License-Identifier: GPL-2.0-only
// FLARE: bytes, sums whatever is lost, bits whatever the order, memory. Part of aggregation-tests.
#include "support/message-collector.h"
#include "unit/aggregation/flare-fixture.h"

#include "ns3/rng-seed-manager.h"

#include <gmock/gmock.h>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace ns3::gradsync
{
namespace
{

using testing::HasSubstr;
using testing::ThrowsMessage;

TEST_F(FlareTest, SendsTheGradientOnceOverEachLinkOfItsTree)
{
    Set("Values", StringValue("real"));
    SetCosts(0, 0, 0);
    InstallFlareRacks(3, 2);
    // Four links, each t + d, and one t for each packet after the first.
    EXPECT_EQ(Run(MakeFlareJob(6, 100, "tree")).front(), MicroSeconds(99 + 4 * 3));
    ExpectOnEachLink(100 * FLARE_PAYLOAD, 100 * (FLARE_PAYLOAD + 86));
    ExpectExactSums(6U * 100);
}

TEST_F(FlareTest, GivesExactSumsWhateverIsLost)
{
    for (const auto* values : {"real", "float"})
    {
        for (const auto& sum : SUMS)
        {
            for (const double rate : {0.01, 0.1, 0.4})
            {
                Restart();
                SetLoss(rate);
                Set("Values", StringValue(values));
                Set("flare.Timeout", StringValue("50us"));
                Set("flare.Credits", UintegerValue(8));
                Set("flare.Cores", UintegerValue(3));
                SetCosts(200, 1, 2);
                InstallFlareRacks(2, 3);
                Run(MakeFlareJob(6, 60, sum, 5, 2));
                ExpectExactSums(6U * 2 * 60);
                EXPECT_GT(GetAggregated().retransmissions, 0U);
            }
        }
    }
}

TEST_F(FlareTest, ReproducesBitsOnlyByATree)
{
    // Seven workers of two racks begin at times by chance, and packets get lost.
    constexpr uint64_t PACKETS = 20;
    for (const auto& sum : SUMS)
    {
        std::set<uint64_t> prints;
        std::mt19937 random(11);
        for (int run = 0; run < 8; ++run)
        {
            Restart();
            RngSeedManager::SetRun(run + 1); // each link draws its losses for itself
            SetLoss(0.05);
            Set("Values", StringValue("float"));
            Set("flare.Timeout", StringValue("50us"));
            SetCosts(100, 1, 2);
            InstallFlareRacks(2, 5);
            auto* aggregation = m_transport->GetAggregation();
            const auto group = aggregation->OpenAggregation(
                {.endpoints = {0, 1, 2, 3, 4, 5, 6}, .protocol = "flare-" + sum});
            tests::MessageCollector done;
            for (uint32_t member = 0; member < 7; ++member)
            {
                Simulator::Schedule(NanoSeconds(random() % 20'000), [&, member] {
                    aggregation->Aggregate(
                        {group, member, 0, PACKETS * FLARE_PAYLOAD, member, &done});
                });
            }
            Simulator::Run();
            ASSERT_EQ(done.delivered.size(), 7U);
            ExpectExactSums(7 * PACKETS);
            prints.insert(GetAggregated().sumPrint);
        }
        if (sum == "tree")
        {
            EXPECT_EQ(prints.size(), 1U);
        }
        else
        {
            EXPECT_EQ(prints.size(), 8U) << sum; // of 5,120 sums each
        }
    }
    RngSeedManager::SetRun(1);
}

TEST_F(FlareTest, MeasuresTheErrorOfFloat32)
{
    Set("Values", StringValue("float"));
    InstallStar(6, FLARE_RATE);
    Run(MakeFlareJob(6, 50, "tree"));
    ExpectExactSums(6U * 50);
    const auto sums = GetAggregated();
    // Three roundings of at most 2^-24 of partial sums, which may be larger than the sum.
    EXPECT_GT(sums.squaredSumErrors, 0.0);
    EXPECT_LT(std::sqrt(sums.squaredSumErrors / sums.squaredSums), 3 * 0x1p-24);
}

TEST_F(FlareTest, TakesMemoryForTheBuffersOfItsWindow)
{
    // 256 credits of 1,024 bytes, and n = 6: with buffers of packets that are not complete, and one
    // for each whose sum is kept.
    struct Case
    {
        std::string sum;
        uint64_t buffers;
    };

    for (const auto& [sum, buffers] : {Case{"single", 1}, Case{"multiple", 4}, Case{"tree", 6}})
    {
        Restart();
        const auto bytes = 256 * (buffers + 1) * 1024;
        Set("SwitchMemoryBytes", UintegerValue(bytes - 1));
        InstallStar(6, FLARE_RATE);
        EXPECT_THAT(([this, protocol = "flare-" + sum] {
                        m_transport->GetAggregation()->OpenAggregation(
                            {.endpoints = {0, 1, 2, 3, 4, 5}, .protocol = protocol});
                    }),
                    ThrowsMessage<AggregationDenied>(
                        HasSubstr("which needs " + std::to_string(bytes) + " ")));
    }
}

TEST_F(FlareTest, FailsByNameWhenTheSwitchDoesNotAnswer)
{
    Set("RetryLimit", UintegerValue(3));
    Set("flare.Timeout", StringValue("10us"));
    InstallStar(3, FLARE_RATE);
    m_transport->GetAggregation()->SetAggregatorState(*m_topology->FindNode("leaf0"), false);
    m_engine->AddJob(MakeFlareJob(3, 10, "tree"));
    Simulator::Run();
    ASSERT_TRUE(m_engine->GetFailure());
    EXPECT_THAT(m_engine->GetFailure()->reason, HasSubstr("no result of FLARE"));
}

} // namespace
} // namespace ns3::gradsync
