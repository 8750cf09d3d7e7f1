// SPDX-License-Identifier: GPL-2.0-only
// FLARE: the time that handlers take against closed forms and a queue by hand, bytes, sums whatever
// is lost, and bits whatever the order. Part of aggregation-tests.
#include "support/message-collector.h"
#include "unit/aggregation/slot-aggregation-fixture.h"

#include "ns3/flare-tensor.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <gmock/gmock.h>
#include <queue>
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

/// 1,024 and 86 bytes take t = 1 us; d = 2 us.
const DataRate FLARE_RATE(uint64_t{8} * 1110 * 1'000'000);
constexpr uint64_t FLARE_PAYLOAD = 1024;
const Time ONE_WAY = MicroSeconds(1 + 2);

const std::vector<std::string> SUMS{"single", "multiple", "tree"};

/// What handlers take, of full packets.
struct Costs
{
    Time fixed;
    Time copy; //!< of 256 values
    Time add;  //!< likewise
};

class FlareTest : public SlotAggregationTest
{
  protected:
    static Job MakeFlareJob(uint32_t workers,
                            uint64_t packets,
                            const std::string& sum,
                            int64_t pieces = 1,
                            uint32_t iterations = 1)
    {
        SchemeRequest request;
        request.workers = workers;
        request.gradientBytes = packets * FLARE_PAYLOAD;
        request.parameters = MakeDefaultParameters(*FindScheme("flare"));
        request.parameters.Set("sum", sum);
        request.parameters.Set("pipelineChunks", pieces);
        return MakeJob("flare", request, iterations);
    }

    /// Nanoseconds of a packet, and of each of its 256 values.
    Costs SetCosts(int64_t fixed, int64_t copy, int64_t add)
    {
        Set("flare.HandlerTime", TimeValue(NanoSeconds(fixed)));
        Set("flare.CopyTime", TimeValue(NanoSeconds(copy)));
        Set("flare.AddTime", TimeValue(NanoSeconds(add)));
        return {NanoSeconds(fixed), NanoSeconds(256 * copy), NanoSeconds(256 * add)};
    }

    void Restart()
    {
        TearDown();
        SetUp();
    }

    void InstallFlareRacks(uint32_t racks, uint32_t hostsPerRack)
    {
        Install(
            oracles::MakeRackNetwork(racks, hostsPerRack, {FLARE_RATE, FLARE_RATE, MicroSeconds(2)})
                .topology);
    }

    AggregationStatistics GetAggregated() const
    {
        return m_transport->GetAggregation()->GetStatistics();
    }

    void ExpectExactSums(uint64_t sums) const
    {
        EXPECT_EQ(GetAggregated().checkedSums, sums);
        EXPECT_EQ(GetAggregated().wrongSums, 0U);
    }
};

/// From 0 to below that.
int64_t
Draw(std::mt19937& random, uint64_t end)
{
    return static_cast<int64_t>(random() % end);
}

/// Least k with 2^k >= n.
int64_t
CountLevels(uint32_t n)
{
    return std::bit_width(n - 1);
}

TEST_F(FlareTest, APacketOfEachTakesTheTimeOfItsHandlers)
{
    // All arrive at once and have a core each, with which they wait for the buffer: the first
    // copies its values, the others add theirs one after another; so in each of B buffers, with
    // ceil(n/B) packets in the first, and then B - 1 times for the sum of all; in a tree level by
    // level.
    for (uint32_t n = 2; n <= 9; ++n)
    {
        for (const auto& sum : SUMS)
        {
            Restart();
            Set("Values", StringValue("real"));
            Set("flare.Buffers", UintegerValue(3));
            const auto costs = SetCosts(100, 1, 3);
            InstallStar(n, FLARE_RATE);
            const auto time = Run(MakeFlareJob(n, 1, sum)).front();
            const uint32_t buffers = std::min(n, 3U);
            const int64_t adds = sum == "single"     ? n - 1
                                 : sum == "multiple" ? (n + buffers - 1) / buffers - 1 + buffers - 1
                                                     : CountLevels(n);
            EXPECT_EQ(time, ONE_WAY * 2 + costs.fixed + costs.copy + costs.add * adds)
                << n << " " << sum;
            ExpectExactSums(n);
        }
    }
}

TEST_F(FlareTest, OneCoreIsAsFastAsItsHandlersOrTheLinks)
{
    // A block takes S: n f + c + (n - 1) a, in a tree n (f + c) + (n - 1) a, and n packets come
    // each t. The last block is done max(t, S) (M - 1) after the first came, and S.
    std::mt19937 random(24);
    for (int run = 0; run < 60; ++run)
    {
        Restart();
        Set("Values", StringValue("real"));
        const auto n = static_cast<uint32_t>(2 + random() % 6);
        const auto packets = static_cast<int64_t>(1 + random() % 40);
        const auto& sum = SUMS[random() % 3];
        const auto costs = SetCosts(Draw(random, 300), Draw(random, 2), Draw(random, 3));
        Set("flare.Cores", UintegerValue(1));
        InstallStar(n, FLARE_RATE);
        const auto time = Run(MakeFlareJob(n, packets, sum)).front();
        const auto block = costs.fixed * int64_t{n} +
                           costs.copy * (sum == "tree" ? int64_t{n} : int64_t{1}) +
                           costs.add * int64_t{n - 1};
        EXPECT_EQ(time, ONE_WAY * 2 + std::max(MicroSeconds(1), block) * (packets - 1) + block)
            << sum << n << packets;
        EXPECT_EQ(GetAggregated().busiestCores, block * packets);
        EXPECT_EQ(GetAggregated().handlers, n * static_cast<uint64_t>(packets));
    }
}

/// When all have the sums of M packets of n workers through one buffer for each: cores in a queue,
/// and a buffer that one handler has at a time, whose core waits with it.
Time
QueueByHand(uint32_t n, int64_t packets, uint32_t cores, const Costs& costs)
{
    std::priority_queue<Time, std::vector<Time>, std::greater<>> free;
    for (uint32_t core = 0; core < cores; ++core)
    {
        free.push(Time(0));
    }
    std::vector<Time> ends;
    for (int64_t packet = 0; packet < packets; ++packet)
    {
        const auto arrival = ONE_WAY + MicroSeconds(1) * packet;
        Time buffer;
        for (uint32_t worker = 0; worker < n; ++worker)
        {
            const auto start = std::max(arrival, free.top());
            free.pop();
            buffer = std::max(start + costs.fixed, buffer) + (worker == 0 ? costs.copy : costs.add);
            free.push(buffer);
        }
        ends.push_back(buffer);
    }
    std::ranges::sort(ends);
    Time link; // free to send results
    for (const auto& end : ends)
    {
        link = std::max(link, end) + MicroSeconds(1);
    }
    return link + MicroSeconds(2);
}

TEST_F(FlareTest, OneBufferTakesTheTimeOfAQueueByHand)
{
    std::mt19937 random(7);
    for (int run = 0; run < 60; ++run)
    {
        Restart();
        const auto n = static_cast<uint32_t>(2 + random() % 8);
        const auto packets = static_cast<int64_t>(1 + random() % 50);
        const auto cores = static_cast<uint32_t>(1 + random() % 20);
        const auto costs = SetCosts(1 + Draw(random, 400), Draw(random, 3), 1 + Draw(random, 5));
        Set("flare.Cores", UintegerValue(cores));
        InstallStar(n, FLARE_RATE);
        EXPECT_EQ(Run(MakeFlareJob(n, packets, "single")).front(),
                  QueueByHand(n, packets, cores, costs))
            << n << " workers, " << packets << " packets, " << cores << " cores";
    }
}

TEST_F(FlareTest, CoresAreAsFastTogetherAsTheyCanBe)
{
    // In a tree no handler waits for another: with work for all of C cores, M blocks take at least
    // M S / C, and at most a handler longer (Graham's bound for lists).
    std::mt19937 random(5);
    for (int run = 0; run < 30; ++run)
    {
        Restart();
        const auto n = static_cast<uint32_t>(4 + random() % 8);
        const auto cores = static_cast<uint32_t>(2 + random() % 5);
        const auto packets = static_cast<int64_t>(20 + random() % 60);
        const auto costs = SetCosts(Draw(random, 400), 2 + Draw(random, 3), 4 + Draw(random, 3));
        Set("flare.Cores", UintegerValue(cores));
        InstallStar(n, FLARE_RATE);
        const auto time = Run(MakeFlareJob(n, packets, "tree")).front() - ONE_WAY * 2;
        const auto block = (costs.fixed + costs.copy) * int64_t{n} + costs.add * int64_t{n - 1};
        ASSERT_GT(block.GetTimeStep(), MicroSeconds(cores).GetTimeStep()); // cores bind, not links
        const Time least((block * packets).GetTimeStep() / cores);
        EXPECT_GE(time, least);
        EXPECT_LE(time, least + costs.fixed + costs.copy + costs.add * CountLevels(n));
        EXPECT_EQ(GetAggregated().busiestCores, least);
        EXPECT_GT(GetAggregated().longestHandlerQueue, 0U);
        EXPECT_GT(GetAggregated().handlerWait, Time(0));
    }
}

TEST_F(FlareTest, SendsTheGradientOnceOverEachLinkOfItsTree)
{
    Set("Values", StringValue("real"));
    SetCosts(0, 0, 0);
    InstallFlareRacks(3, 2);
    // Four links, each t + d, and one t for each packet after the first.
    EXPECT_EQ(Run(MakeFlareJob(6, 100, "tree")).front(), MicroSeconds(99 + 4 * 3));
    const auto links = m_transport->GetLinkStatistics();
    for (LinkId link = 0; link < m_topology->GetLinks().size(); ++link)
    {
        for (const auto direction : {0, 1})
        {
            EXPECT_EQ(links[size_t{2} * link + direction].payloadBytes, 100 * FLARE_PAYLOAD);
            EXPECT_EQ(links[size_t{2} * link + direction].wireBytes, 100 * (FLARE_PAYLOAD + 86));
        }
    }
    ExpectExactSums(6U * 100);
}

TEST_F(FlareTest, TakesTimeAtEachSwitchOfItsTree)
{
    // Leaves of two workers, a root of three leaves: a packet is added once, then twice; what comes
    // down is copied at the leaf.
    const auto costs = SetCosts(100, 1, 3);
    InstallFlareRacks(3, 2);
    EXPECT_EQ(Run(MakeFlareJob(6, 1, "single")).front(),
              ONE_WAY * 4 + (costs.fixed + costs.copy) * 3 + costs.add * 3);
}

TEST_F(FlareTest, AShortPacketTakesLess)
{
    // 3 values of a packet, of which the last one is one byte long: 100 + 3 (1 + 3) ns.
    SetCosts(100, 1, 3);
    InstallStar(2, FLARE_RATE);
    SchemeRequest request;
    request.workers = 2;
    request.gradientBytes = 9;
    request.elementBytes = 1;
    request.parameters = MakeDefaultParameters(*FindScheme("flare"));
    const auto wire = FLARE_RATE.CalculateBytesTxTime(86 + 9);
    const auto time = Run(MakeJob("flare", request, 1)).front();
    EXPECT_NEAR((time - (wire + MicroSeconds(2)) * 2 - NanoSeconds(112)).GetPicoSeconds(), 0, 2);
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
}

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

class SparseFlareTest : public FlareTest
{
  protected:
    static Job MakeSparseJob(uint32_t workers,
                             uint64_t bytes,
                             const std::string& sum,
                             uint32_t iterations = 1)
    {
        SchemeRequest request;
        request.workers = workers;
        request.gradientBytes = bytes;
        request.parameters = MakeDefaultParameters(*FindScheme("flare"));
        request.parameters.Set("sum", sum);
        return MakeJob("flare", request, iterations);
    }
};

TEST_F(SparseFlareTest, SendsWhatIsNotZeroInTheSumOfThoseBelow)
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
        Run(MakeSparseJob(6, blocks.CountGradientBytes(10), "tree"));
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

TEST_F(SparseFlareTest, TakesTimeForItsEntries)
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
        Run(MakeSparseJob(3, blocks.CountGradientBytes(1), "single")).front() - up - down;
    EXPECT_NEAR(
        (time - MicroSeconds(4) - costs.fixed - NanoSeconds(84 * (1 + 2 * 3))).GetPicoSeconds(),
        0,
        2);
}

TEST_F(SparseFlareTest, GivesExactSumsWhateverIsLost)
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
            Run(MakeSparseJob(6, uint64_t{4} * 210 * 40 - 100, sum, 2));
            ExpectExactSums(6U * 2 * 40);
            EXPECT_GT(GetAggregated().retransmissions, 0U);
        }
    }
}

TEST_F(SparseFlareTest, SaysThatPacketsAreTooShortForSoManyWorkers)
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

TEST_F(FlareTest, SaysWhatItCannot)
{
    struct Case
    {
        std::string attribute;
        std::string value;
        std::string text;
    };

    for (const auto& [attribute, value, text] :
         {Case{"Engine", "p4", "run no P4 programs"},
          Case{"Saturate", "true", "attribute Saturate is not for it"},
          Case{"Scale", "1000", "attribute Scale is not for it"}})
    {
        Restart();
        Set("Values", StringValue("float"));
        Set(attribute, StringValue(value));
        InstallStar(2, FLARE_RATE);
        EXPECT_THAT(
            [this] {
                m_transport->GetAggregation()->OpenAggregation(
                    {.endpoints = {0, 1}, .protocol = "flare-tree"});
            },
            ThrowsMessage<std::invalid_argument>(HasSubstr(text)));
    }
    Restart();
    Set("flare.PayloadBytes", UintegerValue(1022));
    EXPECT_THAT([this] { InstallStar(2, FLARE_RATE); },
                ThrowsMessage<std::invalid_argument>(HasSubstr("must be a multiple of 4")));
}

} // namespace
} // namespace ns3::gradsync
