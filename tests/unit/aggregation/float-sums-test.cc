// SPDX-License-Identifier: GPL-2.0-only
// Sums of gradients in floating point. Part of slot-aggregation-test.
#include "unit/aggregation/slot-aggregation-fixture.h"

#include "ns3/float-tensor.h"
#include "ns3/plan-compressor.h"
#include "ns3/sum-error-study.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace ns3::gradsync
{
namespace
{

constexpr double NO_LIMIT = std::numeric_limits<double>::infinity();

/// Gradients of the first aggregation of the first job; values are float.
class FloatSums : public SlotAggregationTest
{
  protected:
    void SetUp() override
    {
        SlotAggregationTest::SetUp();
        Set("Values", StringValue("float"));
    }

    static FloatTensor MakeTensor(const std::string& gradients,
                                  uint32_t workers,
                                  uint16_t values,
                                  double mostSent = NO_LIMIT)
    {
        const auto found =
            std::ranges::find(GetGradientDistributions(), gradients, [](const auto& distribution) {
                return std::string(distribution.name);
            });
        return {0, {workers, values, false}, {*found, 0.0F, mostSent}};
    }

    /// As hosts would add them up without a network.
    static SumErrorStudy MakeStudy(const std::string& gradients, uint32_t workers, uint64_t packets)
    {
        const auto tensor = MakeTensor(gradients, workers, 64);
        std::vector<std::vector<float>> all(workers);
        for (uint32_t worker = 0; worker < workers; ++worker)
        {
            for (uint64_t block = 0; block < packets; ++block)
            {
                const auto gradient = tensor.GetGradient(worker, block);
                all[worker].insert(all[worker].end(), gradient.begin(), gradient.end());
            }
        }
        return SumErrorStudy(std::move(all));
    }

    /// Every worker has checked that many sums and their exponents, and they are right.
    AggregationStatistics CheckSums(uint64_t sums) const
    {
        const auto statistics = m_transport->GetAggregation()->GetStatistics();
        EXPECT_EQ(statistics.checkedSums, sums);
        EXPECT_EQ(statistics.wrongSums, 0U);
        return statistics;
    }

    static double GetRelative(const AggregationStatistics& statistics)
    {
        return std::sqrt(statistics.squaredSumErrors / statistics.squaredSums);
    }
};

/// Packets, slots and time with t = 1 us, d = 2 us.
struct ExponentsCase
{
    uint64_t packets;
    uint32_t slots;
    int64_t microseconds;
};

class ExponentsWindow : public FloatSums, public testing::WithParamInterface<ExponentsCase>
{
};

TEST_P(ExponentsWindow, CostABatchOfPacketsAtTheBeginning)
{
    // B = min(M, W) packets of exponents, and each packet of values follows the one B before it: M'
    // = M + B packets through B slots. RTT = 6: B t < RTT: floor((M'-1)/B) RTT + ((M'-1) mod B) t +
    // RTT, else (M'+1) t + 2d.
    const auto& [packets, slots, microseconds] = GetParam();
    Set("slot.Slots", UintegerValue(slots));
    InstallStar(3);
    EXPECT_EQ(Run(MakeJob(3, packets * PACKET_BYTES)).front(), MicroSeconds(microseconds));
    CheckSums(3 * packets);
    const auto batch = std::min<uint64_t>(packets, slots);
    EXPECT_EQ(m_transport->GetLinkStatistics()[0].packets, packets + batch);
    // They are packets as others are, but carry nothing of the message.
    EXPECT_EQ(m_transport->GetLinkStatistics()[0].wireBytes, (packets + batch) * 342);
    EXPECT_EQ(m_transport->GetLinkStatistics()[0].payloadBytes, packets * PACKET_BYTES);
}

INSTANTIATE_TEST_SUITE_P(Oracle,
                         ExponentsWindow,
                         testing::Values(ExponentsCase{4, 2, 19},
                                         ExponentsCase{4, 4, 15},
                                         ExponentsCase{3, 8, 14},
                                         ExponentsCase{7, 8, 19},
                                         ExponentsCase{8, 6, 19},
                                         ExponentsCase{100, 6, 111}));

/// Workers whose packets a codec makes; values are those of `Values`.
class SwitchCodecs : public SlotAggregationTest
{
  protected:
    static Job MakeCodecJob(const char* codec, uint64_t elements, int64_t pieces = 1)
    {
        auto job = MakeJob(3, 4 * elements, 1, pieces);
        job.plan = std::make_shared<Plan>(CompressPlan(*job.plan, FindCodec(codec)->defaults, {}));
        return job;
    }
};

class SharedScales : public SwitchCodecs, public testing::WithParamInterface<ExponentsCase>
{
};

TEST_P(SharedScales, OfInt8CostABatchOfPacketsAtTheBeginning)
{
    // A packet has 256 elements of 8 bits, and the exponent of all workers for a packet a batch
    // later in its header: as with ExponentsWindow.
    const auto& [packets, slots, microseconds] = GetParam();
    Set("slot.Slots", UintegerValue(slots));
    InstallStar(3);
    EXPECT_EQ(Run(MakeCodecJob("int8", packets * 256)).front(), MicroSeconds(microseconds));
    const auto batch = std::min<uint64_t>(packets, slots);
    const auto link = m_transport->GetLinkStatistics()[0];
    EXPECT_EQ(link.wireBytes, (packets + batch) * 342);
    EXPECT_EQ(link.payloadBytes, packets * 256);
}

INSTANTIATE_TEST_SUITE_P(Oracle,
                         SharedScales,
                         testing::Values(ExponentsCase{4, 2, 19},
                                         ExponentsCase{3, 8, 14},
                                         ExponentsCase{100, 6, 111}));

TEST_F(SwitchCodecs, FixedPointHasNothingToAgreeOn)
{
    // 4 bytes an element and one factor: M = 40 packets, (M + 1) t + 2 d with t = 1 us, d = 2 us.
    Set("slot.Slots", UintegerValue(8));
    InstallStar(3);
    EXPECT_EQ(Run(MakeCodecJob("fixed-point", uint64_t{40} * 64)).front(), MicroSeconds(41 + 4));
    EXPECT_EQ(m_transport->GetLinkStatistics()[0].wireBytes, 40 * 342U);
}

TEST_F(SwitchCodecs, SharedScalesSurviveLoss)
{
    SetLoss(0.1);
    Set("RetryLimit", UintegerValue(2000));
    Set("slot.Slots", UintegerValue(8));
    InstallRacks(3, 1);
    Run(MakeCodecJob("int8", uint64_t{60} * 256, 3));
    const auto statistics = m_transport->GetAggregation()->GetStatistics();
    EXPECT_GT(statistics.retransmissions, 0U);
    EXPECT_EQ(statistics.checkedSums, 3 * 60U); // those of exponents have no values
    EXPECT_EQ(statistics.wrongSums, 0U);
}

TEST_F(FloatSums, AreOffByWhatTheCodecsSay)
{
    for (const auto* gradients : {"laplace", "log-normal", "normal", "wide"})
    {
        Set("Gradients", StringValue(gradients));
        InstallStar(5);
        Run(MakeJob(5, 100 * PACKET_BYTES));
        const auto statistics = CheckSums(uint64_t{5} * 100);
        const auto expected = MakeStudy(gradients, 5, 100).MeasureExponents();
        EXPECT_DOUBLE_EQ(GetRelative(statistics), expected.relative) << gradients;
        EXPECT_EQ(statistics.largestSumError, expected.largest) << gradients;
        EXPECT_LT(expected.relative, 1e-7); // float32's own rounding
        TearDown();
        SetUp();
    }
}

TEST_F(FloatSums, HaveTheErrorOfAFactorForAll)
{
    Set("Scale", DoubleValue(1e6));
    InstallStar(5);
    EXPECT_EQ(Run(MakeJob(5, 100 * PACKET_BYTES)).front(), MicroSeconds(101 + 4)); // no exponents
    const auto expected = MakeStudy("normal", 5, 100).MeasureFactor(1e6F);
    const auto statistics = CheckSums(uint64_t{5} * 100);
    EXPECT_DOUBLE_EQ(GetRelative(statistics), expected.relative);
    // 1 / (sqrt(12) f sigma), as doc/aggregation.rst has it, of 6,400 values.
    EXPECT_NEAR(GetRelative(statistics), 1 / (std::sqrt(12) * 1e6 * 1e-3), 1e-5);
    EXPECT_EQ(statistics.overflowedSums, 0U);
}

TEST_F(FloatSums, OverflowWhereTheFactorIsTooLarge)
{
    // Sums of deviation 3 sqrt(5) = 6.7 at 10^8, where int32 ends at 21.47.
    Set("Scale", DoubleValue(1e8));
    Set("Gradients", StringValue("wide"));
    Set("Overflow", StringValue("count"));
    InstallStar(5);
    Run(MakeJob(5, 100 * PACKET_BYTES));
    const auto expected = MakeStudy("wide", 5, 100).MeasureFactor(1e8F);
    const auto statistics = CheckSums(uint64_t{5} * 100);
    EXPECT_GT(expected.overflows, 0U);
    EXPECT_GT(statistics.overflowedSums, 0U);
    EXPECT_DOUBLE_EQ(GetRelative(statistics), expected.relative);
}

class FloatSumsLoss : public FloatSums, public testing::WithParamInterface<int>
{
  protected:
    void SetUp() override
    {
        FloatSums::SetUp();
        SetLoss(GetParam() / 100.0);
        Set("Values", StringValue("float"));
        Set("RetryLimit", UintegerValue(2000));
        Set("atp.FirstTimeout", StringValue("300us"));
        Set("atp.Timeout", StringValue("100us"));
    }
};

TEST_P(FloatSumsLoss, AreTheSameWhateverIsLost)
{
    Set("slot.Slots", UintegerValue(8));
    InstallRacks(3, 2);
    Run(MakeJob(6, 60 * PACKET_BYTES, 2, 3));
    const auto statistics = CheckSums(uint64_t{2} * 6 * 60);
    EXPECT_GT(statistics.retransmissions, 0U);
    EXPECT_LT(GetRelative(statistics), 1e-7);
}

TEST_P(FloatSumsLoss, AreTheSameWhileWindowsChange)
{
    Set("slot.Slots", UintegerValue(8));
    Set("slot.PoolSlots", UintegerValue(11));
    Set("slot.Sharing", StringValue("dynamic"));
    InstallStar(6);
    auto other = MakeJob(3, 130 * PACKET_BYTES);
    other.endpointOf = {1, 3, 5};
    m_engine->AddJob(MakeJob(3, 60 * PACKET_BYTES, 2));
    m_engine->AddJob(std::move(other));
    EXPECT_EQ(Run().size(), 3U);
    EXPECT_GT(CheckSums(uint64_t{3} * (120 + 130)).resizes, 0U);
}

TEST_P(FloatSumsLoss, OfAtpAreTheSameWhateverIsLost)
{
    Set("Scale", DoubleValue(2e7));
    Set("Gradients", StringValue("wide"));
    InstallRacks(3, 2);
    SchemeRequest request;
    request.workers = 5;
    request.gradientBytes = uint64_t{100} * 248;
    request.parameters = MakeDefaultParameters(*FindScheme("atp"));
    Run(MakeJob("atp", request, 1));
    const auto statistics = CheckSums(uint64_t{5} * 100);
    EXPECT_GT(statistics.floatPackets, 0U);
    EXPECT_EQ(statistics.floatPackets % 5, 0U); // all of a block, or none
}

INSTANTIATE_TEST_SUITE_P(Percent, FloatSumsLoss, testing::Values(1, 10, 40));

/// Four workers and the server on one switch. A packet takes 1 us.
class AtpFloats : public FloatSums
{
  protected:
    static constexpr uint32_t WORKERS = 4;

    void SetUp() override
    {
        FloatSums::SetUp();
        Set("Gradients", StringValue("wide"));
        InstallLater();
    }

    void InstallLater()
    {
        // 62 values on the wire: 14 + 20 + 8 + 18 + 248 + 4 bytes, preamble and gap.
        InstallStar(WORKERS + 1, DataRate(uint64_t{8} * 332 * 1'000'000));
    }

    Time RunAtp(uint64_t packets)
    {
        SchemeRequest request;
        request.workers = WORKERS;
        request.gradientBytes = packets * 248;
        request.parameters = MakeDefaultParameters(*FindScheme("atp"));
        return Run(MakeJob("atp", request, 1)).front();
    }
};

TEST_F(AtpFloats, GoToTheServerWhereFixedPointHasNoRoom)
{
    // At 2 10^7 a worker may send up to 213 / 20 as integers: 3.55 deviations. A packet of which
    // any worker has a larger one goes as integers, once for all, and then as floats, once for
    // each.
    Set("Scale", DoubleValue(2e7));
    const auto tensor = MakeTensor("wide", WORKERS, 62, 213.0 / 20);
    uint64_t beyond = 0;
    for (uint64_t block = 0; block < 100; ++block)
    {
        bool isBeyond = false;
        for (uint32_t worker = 0; worker < WORKERS; ++worker)
        {
            isBeyond = isBeyond || tensor.IsBeyondRange(worker, block);
        }
        beyond += isBeyond ? 1 : 0;
    }
    ASSERT_GT(beyond, 0U);
    ASSERT_LT(beyond, 50U);
    RunAtp(100);
    const auto statistics = CheckSums(uint64_t{WORKERS} * 100);
    EXPECT_EQ(statistics.floatPackets, WORKERS * beyond);
    EXPECT_EQ(statistics.serverPackets, 100 + WORKERS * beyond);
    EXPECT_EQ(statistics.overflowedSums, 0U);
    EXPECT_EQ(statistics.retransmissions, 0U);
}

TEST_F(AtpFloats, TakeTheirTimeAtTheLinkOfTheServer)
{
    // At 10^9 nothing is below 0.213. One packet: t + d to the switch, to the server, and back; the
    // floats t + d to the switch, 4 t + d to the server, and 2 (t + d) back: 11 t + 8 d.
    Set("Scale", DoubleValue(1e9));
    EXPECT_EQ(RunAtp(1), MicroSeconds(11 + 8 * 2));
    const auto statistics = CheckSums(WORKERS);
    EXPECT_EQ(statistics.serverPackets, 1 + WORKERS);
    EXPECT_LT(GetRelative(statistics), 1e-7); // as floats are: nothing was scaled
}

TEST_F(AtpFloats, StayIntegersWithinTheRange)
{
    // Of ATP's own 10^6 the limit is 213; 4 (t + d), with 99 packets behind the first.
    Set("Gradients", StringValue("normal"));
    EXPECT_EQ(RunAtp(100), MicroSeconds(4 * 3 + 99));
    const auto statistics = CheckSums(uint64_t{WORKERS} * 100);
    EXPECT_EQ(statistics.floatPackets, 0U);
    EXPECT_EQ(statistics.serverPackets, 100U);
    // 1 / (sqrt(12) f sigma) = 2.9e-4, of 6,200 values.
    EXPECT_NEAR(GetRelative(statistics), 1 / (std::sqrt(12) * 1e6 * 1e-3), 1e-5);
}

} // namespace
} // namespace ns3::gradsync
