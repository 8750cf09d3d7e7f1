// SPDX-License-Identifier: GPL-2.0-only
// FLARE with sparse gradients: bytes, times, and sums whatever is lost. Part of aggregation-tests.
#include "unit/aggregation/flare-fixture.h"

#include "ns3/flare-tensor.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <set>
#include <string>
#include <vector>

namespace ns3::gradsync
{
namespace
{

using testing::HasSubstr;
using testing::ThrowsMessage;

/// What workers of a job have in its blocks, as Density divides them: 128 entries of 8 bytes in a
/// packet are those of all workers.
class SparseBlocks
{
  public:
    SparseBlocks(uint32_t workers, double density)
        : m_entries(128 / workers),
          m_values(static_cast<uint16_t>(m_entries / density)),
          m_tensor(0,
                   {workers, m_values, false},
                   {.distribution = GetGradientDistributions()[2],
                    .arithmetic = {.addsFloats = false, .isSparse = true},
                    .entries = m_entries,
                    .valueBits = 24})
    {
    }

    /// Of a gradient with so many blocks.
    uint64_t CountGradientBytes(uint64_t blocks) const
    {
        return uint64_t{4} * m_values * blocks;
    }

    /// Of the sums of some workers, in packets: pairs, or all values where these are fewer bytes.
    uint64_t CountBytes(const std::vector<uint32_t>& workers, uint64_t blocks)
    {
        uint64_t bytes = 0;
        for (uint64_t block = 0; block < blocks; ++block)
        {
            std::set<int32_t> places;
            for (const auto worker : workers)
            {
                std::vector<int32_t> pairs;
                m_tensor.Fill(worker, block, pairs);
                for (size_t i = 0; i < pairs.size(); i += 2)
                {
                    places.insert(pairs[i]);
                }
            }
            bytes += std::min<uint64_t>(8 * places.size(), uint64_t{4} * m_values);
        }
        return bytes;
    }

  private:
    uint32_t m_entries;
    uint16_t m_values;
    FlareTensor m_tensor;
};

class FlareSparseTest : public FlareTest
{
};

TEST_F(FlareSparseTest, SendsWhatIsNotZeroInTheSumOfThoseBelow)
{
    // Three racks of two: each worker sends its own entries, each leaf those of two, and those of
    // all come down everywhere.
    for (const double density : {0.001, 0.01, 0.05, 0.2, 0.5})
    {
        Restart();
        Set("flare.Density", DoubleValue(density));
        Set("Values", StringValue("real"));
        InstallFlareRacks(3, 2);
        SparseBlocks blocks(6, density);
        Run(MakeFlareJobOf(6, blocks.CountGradientBytes(10), "tree"));
        ExpectExactSums(6U * 10);
        std::multiset<uint64_t> expected;
        const auto all = blocks.CountBytes({0, 1, 2, 3, 4, 5}, 10);
        for (uint32_t rack = 0; rack < 3; ++rack)
        {
            expected.insert(blocks.CountBytes({2 * rack, 2 * rack + 1}, 10));
            expected.insert(all);
            for (const auto worker : {2 * rack, 2 * rack + 1})
            {
                expected.insert(blocks.CountBytes({worker}, 10));
                expected.insert(all);
            }
        }
        std::multiset<uint64_t> sent;
        for (const auto& link : m_transport->GetLinkStatistics())
        {
            sent.insert(link.payloadBytes);
            EXPECT_EQ(link.wireBytes, link.payloadBytes + 10 * 86);
        }
        EXPECT_EQ(sent, expected) << density;
    }
}

TEST_F(FlareSparseTest, TakesTimeForItsEntries)
{
    // 42 entries of each of three, an index and a value each: the first are copied.
    const auto costs = SetCosts(100, 1, 3);
    Set("flare.Density", DoubleValue(0.01));
    InstallStar(3, FLARE_RATE);
    SparseBlocks blocks(3, 0.01);
    const auto up = FLARE_RATE.CalculateBytesTxTime(86 + 8 * 42);
    const auto down = FLARE_RATE.CalculateBytesTxTime(
        static_cast<uint32_t>(86 + blocks.CountBytes({0, 1, 2}, 1)));
    const auto time =
        Run(MakeFlareJobOf(3, blocks.CountGradientBytes(1), "single")).front() - up - down;
    EXPECT_NEAR(
        (time - MicroSeconds(4) - costs.fixed - NanoSeconds(84 * (1 + 2 * 3))).GetPicoSeconds(),
        0,
        2);
}

TEST_F(FlareSparseTest, GivesExactSumsWhateverIsLost)
{
    for (const auto* values : {"sizes", "real", "float"})
    {
        for (const auto& sum : SUMS)
        {
            Restart();
            SetLoss(0.1);
            Set("Values", StringValue(values));
            Set("flare.Density", DoubleValue(0.1));
            Set("flare.Timeout", StringValue("50us"));
            Set("flare.Credits", UintegerValue(8));
            Set("flare.Cores", UintegerValue(3));
            SetCosts(200, 1, 2);
            InstallFlareRacks(2, 3);
            // 21 entries of 210 values; the last block is as long as others.
            Run(MakeFlareJobOf(6, uint64_t{4} * 210 * 40 - 100, sum, 1, 2));
            ExpectExactSums(6U * 2 * 40);
            EXPECT_GT(GetAggregated().retransmissions, 0U);
        }
    }
}

TEST_F(FlareSparseTest, SaysThatPacketsAreTooShortForSoManyWorkers)
{
    Set("flare.Density", DoubleValue(0.1));
    Set("flare.PayloadBytes", UintegerValue(16));
    InstallStar(3, FLARE_RATE);
    EXPECT_THAT(
        [this] {
            m_transport->GetAggregation()->OpenAggregation(
                {.endpoints = {0, 1, 2}, .protocol = "flare-tree"});
        },
        ThrowsMessage<std::invalid_argument>(
            "a sparse sum of 3 workers needs packets of 24 bytes, but attribute PayloadBytes is "
            "16"));
}

} // namespace
} // namespace ns3::gradsync
