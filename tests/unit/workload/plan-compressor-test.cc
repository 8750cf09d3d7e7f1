// SPDX-License-Identifier: GPL-2.0-only
#include "oracles/oracle-network.h"

#include "ns3/codec-profile.h"
#include "ns3/exchange-compressor.h"
#include "ns3/exchange-engine.h"
#include "ns3/fluid-transport.h"
#include "ns3/plan-builder.h"
#include "ns3/plan-compressor.h"
#include "ns3/plan-statistics.h"
#include "ns3/plan-verifier.h"
#include "ns3/recorder.h"
#include "ns3/scheme.h"
#include "ns3/simulator.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <map>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

namespace ns3::gradsync
{
namespace
{

using testing::HasSubstr;

Plan
BuildPlainPlan(const std::string& scheme,
               uint32_t workers,
               uint64_t gradientBytes,
               const std::string& parameter = {},
               int64_t value = 0)
{
    const auto* found = FindScheme(scheme);
    SchemeRequest request;
    request.workers = workers;
    request.gradientBytes = gradientBytes;
    request.parameters = MakeDefaultParameters(*found);
    if (!parameter.empty())
    {
        request.parameters.Set(parameter, value);
    }
    return found->build(request);
}

/// Every kernel takes a second, whatever it works on.
const CodecCosts SECONDS{[](uint64_t) { return 1.0; }, [](uint64_t) { return 1.0; }};

CodecSpec
GetDefaults(const char* codec)
{
    return FindCodec(codec)->defaults;
}

uint64_t
CountOperations(const Plan& plan, OperationKind kind, uint32_t rank)
{
    const auto operations = plan.GetOperations();
    return static_cast<uint64_t>(
        std::count_if(operations.begin(), operations.end(), [=](const Operation& operation) {
            return operation.kind == kind && operation.src == rank;
        }));
}

/// In picoseconds, of all operations of a kind.
std::vector<uint64_t>
GetDurations(const Plan& plan, OperationKind kind)
{
    std::vector<uint64_t> durations;
    for (OperationId id = 0; id < plan.GetOperations().size(); ++id)
    {
        if (plan.GetOperations()[id].kind == kind)
        {
            durations.push_back(plan.GetComputePicoseconds(id));
        }
    }
    return durations;
}

TEST(PlanCompressor, MessagesHaveTheBytesOfTheirCodec)
{
    // A million elements, four workers: every rank receives 6 chunks of 250,000 elements. int8 has
    // ceil(250,000 / 8192) = 31 scales of 4 bytes.
    const auto ring = BuildPlainPlan("ring", 4, 4'000'000);
    const auto receive = [&ring](const char* codec) {
        return ComputePlanStatistics(CompressPlan(ring, GetDefaults(codec), {}), {})
            .receivedBytes[0];
    };
    EXPECT_EQ(receive("fp32"), 6 * 1'000'000U);
    EXPECT_EQ(receive("fp16"), 6 * 500'000U);
    EXPECT_EQ(receive("int8"), 6 * (250'000 + 31 * 4U));
    EXPECT_EQ(receive("two-bit"), 6 * 62'500U);
    // Half a byte and 489 norms; a quarter and a scaler; 7813 words of 32 signs.
    EXPECT_EQ(receive("qsgd"), 6 * (125'000 + 489 * 4U));
    EXPECT_EQ(receive("terngrad"), 6 * (62'500 + 4U));
    EXPECT_EQ(receive("signsgd"), 6 * 7813 * 4U);
}

TEST(PlanCompressor, SumsOfASharedScalerGrowAndAreNotEncodedAgain)
{
    // The reduce-scatter of four carries sums of 1, 2 and 3 gradients, the all-gather three of 4:
    // 3, 5, 7 and 9 numbers in 2, 3, 3 and 4 bits, of 250,000 elements in whole words, and a
    // scaler.
    auto spec = GetDefaults("terngrad");
    spec.sharesScaler = 1;
    const auto ring = BuildPlainPlan("ring", 4, 4'000'000);
    const auto statistics = ComputePlanStatistics(CompressPlan(ring, spec, {}), {});
    const auto bytes = [](uint64_t bits) { return 4 + 4 * ((250'000 * bits + 31) / 32); };
    EXPECT_EQ(statistics.receivedBytes[0], bytes(2) + 2 * bytes(3) + 3 * bytes(4));
    // A rank encodes each of its four chunks once, when it sends it or adds to what came.
    const CodecCosts costs{[](uint64_t) { return 1e-6; }, [](uint64_t) { return 1e-6; }};
    EXPECT_EQ(CountOperations(CompressPlan(ring, spec, costs), OperationKind::Encode, 0), 4U);
}

TEST(PlanCompressor, UnionsGrowWithTheGradientsInThem)
{
    const auto ring = BuildPlainPlan("ring", 4, 4'000'000);
    const auto receive = [&ring](const char* codec) {
        return ComputePlanStatistics(CompressPlan(ring, GetDefaults(codec), {}), {})
            .receivedBytes[0];
    };
    // DGC, density d = 0.001 of 250,000: the reduce-scatter carries unions of 1, 2 and 3 workers,
    // three messages of the all-gather one of 4: 1 - (1 - d)^q of the elements, rounded, 8 bytes
    // each: 250, 500, 749 (749.25) and 999 (998.501).
    EXPECT_EQ(receive("dgc"), 8 * (250 + 500 + 749 + 3 * 999U));
    // BiSparse pads the union of q to q k, k = 2500.
    EXPECT_EQ(receive("bisparse"), 8 * 2500 * (1 + 2 + 3 + 3 * 4U));
    // At 30 % a union of 3 would take 65.7 % of 8 bytes: dense is shorter.
    auto spec = GetDefaults("top-k");
    spec.density = 0.3;
    const auto statistics = ComputePlanStatistics(CompressPlan(ring, spec, {}), {});
    EXPECT_EQ(statistics.receivedBytes[0], 8 * 75'000 + 5 * 1'000'000U);
}

TEST(PlanCompressor, MeasuredUnionsTakeThePlaceOfIndependence)
{
    auto spec = GetDefaults("dgc");
    spec.density = 0.01;
    EXPECT_NEAR(GetUnionDensity(spec, 4), 1 - 0.99 * 0.99 * 0.99 * 0.99, 1e-15);
    // From 2 to 4 it grows by 1.5 = 2^0.585; on to 16 by 1.5 for each doubling, and never above 1.
    spec.unions = {0.01, 0.016, 0.02, 0.024};
    EXPECT_DOUBLE_EQ(GetUnionDensity(spec, 1), 0.01);
    EXPECT_DOUBLE_EQ(GetUnionDensity(spec, 3), 0.02);
    EXPECT_NEAR(GetUnionDensity(spec, 16), 0.024 * 1.5 * 1.5, 1e-12);
    EXPECT_DOUBLE_EQ(GetUnionDensity(spec, 1U << 30), 1.0);
    EXPECT_EQ(GetMergedMessageBytes(spec, 10'000, 4), 8 * 240U);
    // BiSparse pads, whatever the union.
    spec.kind = CodecKind::BiSparse;
    spec.minimumElements = 0;
    EXPECT_EQ(GetMergedMessageBytes(spec, 10'000, 4), 4 * 8 * 100U);
}

TEST(PlanCompressor, DgcOverAllGatherSendsEachSelectionToEverybody)
{
    // Reference, section 6: 10^6 elements at 0.1 %, four workers: 24,000 B out per rank. The scheme
    // all-gather gathers parts of one tensor, so that of each worker is a quarter of 4 million.
    const auto plan = BuildPlainPlan("all-gather", 4, 16'000'000);
    const auto statistics = ComputePlanStatistics(CompressPlan(plan, GetDefaults("dgc"), {}), {});
    for (uint32_t rank = 0; rank < 4; ++rank)
    {
        EXPECT_EQ(statistics.sentBytes[rank], 24'000U);
    }
}

TEST(PlanCompressor, EncodesOncePerStateAndPassesCopiesOn)
{
    const auto ring =
        CompressPlan(BuildPlainPlan("ring", 4, 4'000'000), GetDefaults("int8"), SECONDS);
    const auto ps = CompressPlan(BuildPlainPlan("ps", 4, 4'000'000), GetDefaults("int8"), SECONDS);
    const auto sparse =
        CompressPlan(BuildPlainPlan("ring", 4, 4'000'000), GetDefaults("dgc"), SECONDS);
    for (uint32_t rank = 0; rank < 4; ++rank)
    {
        // Ring: its own chunk, two sums on the way, the last sum; the two other messages of the
        // all-gather are passed on. Everything that arrives is decoded.
        EXPECT_EQ(CountOperations(ring, OperationKind::Encode, rank), 4U);
        EXPECT_EQ(CountOperations(ring, OperationKind::Decode, rank), 6U);
        // Parameter server: three shards to push, one sum that is pulled three times.
        EXPECT_EQ(CountOperations(ps, OperationKind::Encode, rank), 4U);
        EXPECT_EQ(CountOperations(ps, OperationKind::Decode, rank), 6U);
        // DGC: each of the four chunks of its own gradient is selected from once; sums are not.
        EXPECT_EQ(CountOperations(sparse, OperationKind::Encode, rank), 4U);
        EXPECT_EQ(CountOperations(sparse, OperationKind::Decode, rank), 6U);
    }
}

/// Sums of messages take 10 s, which nothing else does.
const CodecCosts SUMS_OF_TEN{[](uint64_t) { return 1.0; },
                             [](uint64_t) { return 1.0; },
                             [](uint64_t) { return 10.0; }};

/// Seconds of a rank's accelerator in all operations of a kind.
double
AddSeconds(const Plan& plan, OperationKind kind, uint32_t rank)
{
    double seconds = 0.0;
    for (OperationId id = 0; id < plan.GetOperations().size(); ++id)
    {
        const auto& operation = plan.GetOperations()[id];
        const bool isOf = operation.kind == kind && operation.src == rank;
        seconds += isOf ? static_cast<double>(plan.GetComputePicoseconds(id)) * 1e-12 : 0.0;
    }
    return seconds;
}

TEST(AddedCodes, MessagesOfSumsAreSumsOfMessages)
{
    // THC, 10^6 elements of four workers, chunks of 250,000: 61 blocks of 4096 and one of 144,
    // padded to 256: 250,112 coordinates and 62 norms of 4 B. The first message of a chunk has 4
    // bits a coordinate, sums 8.
    constexpr uint64_t ONE = 62 * 4 + 250'112 / 2;
    constexpr uint64_t SUM = 62 * 4 + 250'112;
    const auto ring =
        CompressPlan(BuildPlainPlan("ring", 4, 4'000'000), GetDefaults("thc"), SUMS_OF_TEN);
    EXPECT_TRUE(PlanVerifier().Verify(ring).ok);
    EXPECT_EQ(ComputePlanStatistics(ring, {}).receivedBytes[0], ONE + 2 * SUM + 3 * SUM);
    const auto ps =
        CompressPlan(BuildPlainPlan("ps", 4, 4'000'000), GetDefaults("thc"), SUMS_OF_TEN);
    EXPECT_TRUE(PlanVerifier().Verify(ps).ok);
    EXPECT_EQ(ComputePlanStatistics(ps, {}).receivedBytes[0], 3 * ONE + 3 * SUM);
    for (uint32_t rank = 0; rank < 4; ++rank)
    {
        // Each chunk of the own gradient is encoded once; three messages are added, the last of
        // which completes the sum, which is decoded then; three sums of others are decoded.
        for (const auto* plan : {&ring, &ps})
        {
            EXPECT_EQ(CountOperations(*plan, OperationKind::Encode, rank), 4U);
            EXPECT_EQ(CountOperations(*plan, OperationKind::Decode, rank), 6U);
            EXPECT_DOUBLE_EQ(AddSeconds(*plan, OperationKind::Decode, rank), 3 * 10 + 1 + 3);
        }
    }
}

TEST(AddedCodes, ADedicatedServerAddsAndDecodesNothing)
{
    const auto dense = BuildPlainPlan("ps", 4, 4'000'000, "servers", 1);
    const auto plan = CompressPlan(dense, GetDefaults("thc"), SUMS_OF_TEN);
    EXPECT_TRUE(PlanVerifier().Verify(plan).ok);
    EXPECT_EQ(CountOperations(plan, OperationKind::Encode, 4), 0U);
    EXPECT_DOUBLE_EQ(AddSeconds(plan, OperationKind::Decode, 4), 4 * 10);
    EXPECT_DOUBLE_EQ(AddSeconds(plan, OperationKind::Decode, 0), 1);
    // 10^6 elements: 244 blocks and 576 more, padded to 1024. 4 bits up, 8 bits down.
    const uint64_t coordinates = uint64_t{244} * 4096 + 1024;
    const auto statistics = ComputePlanStatistics(plan, {});
    EXPECT_EQ(statistics.sentBytes[0], 245 * 4 + coordinates / 2);
    EXPECT_EQ(statistics.receivedBytes[0], 245 * 4 + coordinates);
}

TEST(AddedCodes, WorkersOfSwitchesEncodeAndDecodeEachChunkOnce)
{
    // Halves of 10^6 elements: 122 blocks and 288 more, padded to 512; a byte each, norms not with
    // them. What comes from switches is decoded by every worker.
    const auto dense = BuildPlainPlan("switchml", 4, 4'000'000, "pipelineChunks", 2);
    const auto plan = CompressPlan(dense, GetDefaults("thc"), SUMS_OF_TEN);
    EXPECT_TRUE(PlanVerifier().Verify(plan).ok);
    EXPECT_TRUE(plan.SharesExponents());
    for (OperationId id = 0; id < plan.GetOperations().size(); ++id)
    {
        if (plan.GetOperations()[id].IsAggregate())
        {
            EXPECT_EQ(plan.GetBytes(id), 122U * 4096 + 512);
        }
    }
    for (uint32_t rank = 0; rank < 4; ++rank)
    {
        EXPECT_DOUBLE_EQ(AddSeconds(plan, OperationKind::Encode, rank), 2);
        EXPECT_DOUBLE_EQ(AddSeconds(plan, OperationKind::Decode, rank), 2);
    }
}

TEST(AddedCodes, SumsThatDoNotFitAreRefused)
{
    auto codec = GetDefaults("thc");
    EXPECT_NO_THROW(CompressPlan(BuildPlainPlan("ring", 8, 4'000'000), codec, {}));
    try
    {
        CompressPlan(BuildPlainPlan("ring", 9, 4'000'000), codec, {});
        FAIL() << "9 * 30 = 270 does not fit in 8 bits";
    }
    catch (const SchemeError& error)
    {
        EXPECT_STREQ(error.what(),
                     "a sum of 9 workers' thc does not fit in 8 bits with the granularity 30: that "
                     "goes with 8 at most, the smallest, 15, with 17");
    }
    codec.granularity = 15;
    EXPECT_NO_THROW(CompressPlan(BuildPlainPlan("ring", 17, 4'000'000), codec, {}));
    EXPECT_THROW(CompressPlan(BuildPlainPlan("ring", 18, 4'000'000), codec, {}), SchemeError);
    // What is gathered is never added.
    EXPECT_NO_THROW(CompressPlan(BuildPlainPlan("all-gather", 18, 4'000'000), codec, {}));
}

TEST(PlanCompressor, CompressedPlansOfAllSortsAreStillAllReduces)
{
    for (const char* scheme :
         {"ring", "ps", "rat", "butterfly", "halving-doubling", "k-nomial", "bbtopk", "ok-topk"})
    {
        for (const char* codec : {"int8", "dgc", "thc"})
        {
            const auto plan = BuildPlainPlan(scheme, 6, 4'000'000);
            const auto compressed = CompressPlan(plan, GetDefaults(codec), SECONDS);
            const auto verification = PlanVerifier().Verify(compressed);
            EXPECT_TRUE(verification.ok) << scheme << ' ' << codec << ": "
                                         << testing::PrintToString(verification.violations);
            EXPECT_EQ(ComputePlanStatistics(compressed, {}).transferCount,
                      ComputePlanStatistics(plan, {}).transferCount);
        }
    }
}

/// Bytes of the messages that ranks send to others, by what is done with them.
std::map<OperationKind, std::vector<uint64_t>>
CountSent(const Plan& plan)
{
    std::map<OperationKind, std::vector<uint64_t>> sent;
    for (OperationId id = 0; id < plan.GetOperations().size(); ++id)
    {
        const auto& operation = plan.GetOperations()[id];
        auto& bytes = sent.try_emplace(operation.kind, plan.GetRankCount(), 0).first->second;
        bytes[operation.src] += operation.IsTransfer() ? plan.GetBytes(id) : 0;
    }
    return sent;
}

TEST(SparseExchange, OkTopKSelectsFromSumsAgain)
{
    // Reference, section 6: k = 1000 of 10^6 elements, four workers: 3/4 k entries of 8 B out of
    // each to the regions of the others, and 3 times the k/4 entries of its own region. The union
    // of four would have been 999 entries a region.
    auto codec = GetDefaults("top-k");
    codec.density = 0.001;
    const auto dense = BuildPlainPlan("ok-topk", 4, 4'000'000);
    const auto plan = CompressPlan(dense, codec, SECONDS);
    EXPECT_TRUE(PlanVerifier().Verify(plan).ok);
    auto sent = CountSent(plan);
    EXPECT_THAT(sent[OperationKind::TransferReduce], testing::Each(6000U));
    EXPECT_THAT(sent[OperationKind::TransferCopy], testing::Each(6000U));
    for (uint32_t rank = 0; rank < 4; ++rank)
    {
        // Each region of its own gradient, and the sum of its region.
        EXPECT_EQ(CountOperations(plan, OperationKind::Encode, rank), 5U);
        EXPECT_EQ(CountOperations(plan, OperationKind::Decode, rank), 6U);
    }
    // Ok-Topk's bound, 6 k (P-1)/P words of 4 B, holds for any number of workers. Regions of
    // 1,200,000 / w elements have round(1200 / w) entries, which these w divide.
    for (const uint32_t w : {2U, 3U, 8U, 16U})
    {
        sent = CountSent(CompressPlan(BuildPlainPlan("ok-topk", w, 4'800'000), codec, {}));
        const uint64_t expected = 8 * 1200 * (w - 1) / w;
        EXPECT_THAT(sent[OperationKind::TransferReduce], testing::Each(expected));
        EXPECT_THAT(sent[OperationKind::TransferCopy], testing::Each(expected));
        EXPECT_LE(2 * expected, 4 * 6 * 1200 * (w - 1) / w);
    }
}

TEST(SparseExchange, TopKAIsBbTopKOnNodesOfOneRank)
{
    // Reference, section 6: k = 1000 entries of 8 B to each of three others.
    const auto plan =
        CompressPlan(BuildPlainPlan("bbtopk", 4, 4'000'000), GetDefaults("dgc"), SECONDS);
    EXPECT_TRUE(PlanVerifier().Verify(plan).ok);
    EXPECT_THAT(CountSent(plan)[OperationKind::TransferReduce], testing::Each(24'000U));
    for (uint32_t rank = 0; rank < 4; ++rank)
    {
        EXPECT_EQ(CountOperations(plan, OperationKind::Encode, rank), 1U);
        EXPECT_EQ(CountOperations(plan, OperationKind::Decode, rank), 3U);
    }
}

TEST(SparseExchange, BbTopKCarriesUnionsOfItsNodesBetweenThem)
{
    // Three nodes of four; a slice of 25 blocks of 1024 elements each. One selection: 10 of a
    // block, 250 in all, 4 B and 10 bits each, 1000 + 312.5 B (52.5 B a block). Unions of 4 and 12:
    // 1024 (1 - (1 - 10/1024)^q) = 39.4 and 113.8 of a block: 975 and 2850 elements.
    constexpr uint64_t ONE = 1313;
    constexpr uint64_t NODE = 3900 + 1219;
    constexpr uint64_t ALL = 11'400 + 3563;
    auto codec = GetDefaults("bbtopk");
    codec.density = 10.0 / 1024;
    const auto dense = BuildPlainPlan("bbtopk", 12, uint64_t{4} * 4 * 25 * 1024, "groupSize", 4);
    const auto plan = CompressPlan(dense, codec, SECONDS);
    EXPECT_TRUE(PlanVerifier().Verify(plan).ok);
    auto sent = CountSent(plan);
    EXPECT_THAT(sent[OperationKind::TransferReduce], testing::Each(3 * ONE + 2 * NODE));
    EXPECT_THAT(sent[OperationKind::TransferCopy], testing::Each(3 * ALL));
    for (uint32_t rank = 0; rank < 12; ++rank)
    {
        // Each slice of its own gradient once. Three messages come inside, two from other nodes,
        // and three back.
        EXPECT_EQ(CountOperations(plan, OperationKind::Encode, rank), 4U);
        EXPECT_EQ(CountOperations(plan, OperationKind::Decode, rank), 8U);
    }
    // Dense, per rank: 3/4 K inside, K/4 to each of two nodes, 3/4 K inside. What is kept of a
    // node's sum is encoded once: a slice for each other, the node's sum, the whole sum.
    const auto int8 = CompressPlan(dense, GetDefaults("int8"), SECONDS);
    EXPECT_THAT(CountSent(dense)[OperationKind::TransferReduce],
                testing::Each(uint64_t{5} * 4 * 25 * 1024));
    EXPECT_EQ(CountOperations(int8, OperationKind::Encode, 0), 5U);
}

TEST(SparseExchange, BetweenNodesOnlySumsOfNodesAreSelectedFrom)
{
    // Two nodes of two, 10^6 elements, DGC between nodes only: inside half a gradient each way is
    // dense; between nodes goes one selection from 500,000 elements, 4000 B.
    const auto dense = BuildPlainPlan("bbtopk", 4, 4'000'000, "groupSize", 2);
    const auto plan =
        CompressPlan(dense, GetDefaults("dgc"), SECONDS, [](uint32_t src, uint32_t dst) {
            return src / 2 != dst / 2;
        });
    EXPECT_TRUE(PlanVerifier().Verify(plan).ok);
    EXPECT_THAT(CountSent(plan)[OperationKind::TransferReduce], testing::Each(2'004'000U));
    EXPECT_THAT(CountSent(plan)[OperationKind::TransferCopy], testing::Each(2'000'000U));
    for (uint32_t rank = 0; rank < 4; ++rank)
    {
        // The sum of its node, which it sends and to which it adds.
        EXPECT_EQ(CountOperations(plan, OperationKind::Encode, rank), 1U);
        EXPECT_EQ(CountOperations(plan, OperationKind::Decode, rank), 1U);
    }
}

TEST(SparseExchange, BiSparseIsBetweenServersAndTheirUnionComesDown)
{
    // GeoMX, section 4: 10^6 elements, two parties of two. The LAN is dense; up goes 1 % of a
    // party's sum as index and value, 80,000 B; down the union, padded to two parties' entries.
    const auto dense = BuildPlainPlan("geo-hips", 4, 4'000'000);
    const auto plan =
        CompressPlan(dense, GetDefaults("bisparse"), SECONDS, [](uint32_t src, uint32_t dst) {
            return std::min(src, dst) > 3;
        });
    EXPECT_TRUE(PlanVerifier().Verify(plan).ok);
    const auto up = CountSent(plan)[OperationKind::TransferReduce];
    const auto down = CountSent(plan)[OperationKind::TransferCopy];
    EXPECT_THAT(up, testing::ElementsAre(4e6, 4e6, 4e6, 4e6, 80e3, 80e3, 0));
    EXPECT_THAT(down, testing::ElementsAre(0, 0, 0, 0, 8e6, 8e6, 2 * 160e3));
    const auto count = [&plan](OperationKind kind) {
        std::vector<uint64_t> counts;
        for (uint32_t rank = 0; rank < 7; ++rank)
        {
            counts.push_back(CountOperations(plan, kind, rank));
        }
        return counts;
    };
    EXPECT_THAT(count(OperationKind::Encode), testing::ElementsAre(0, 0, 0, 0, 1, 1, 0));
    EXPECT_THAT(count(OperationKind::Decode), testing::ElementsAre(0, 0, 0, 0, 1, 1, 2));
}

TEST(SparseExchange, ASecondCodecTakesWhatBiSparseLeaves)
{
    // As above, with 2 B an element in the LAN. A worker encodes its gradient and decodes the sum;
    // a party decodes those of two workers and the union, selects once, and encodes the sum once
    // for both; the global server passes the union on.
    const auto inWan = [](uint32_t src, uint32_t dst) { return std::min(src, dst) > 3; };
    const CodecUse sparse{GetDefaults("bisparse"), SECONDS};
    const CodecUse half{GetDefaults("fp16"), SECONDS};
    const auto plan = CompressPlan(BuildPlainPlan("geo-hips", 4, 4'000'000), sparse, inWan, half);
    EXPECT_TRUE(PlanVerifier().Verify(plan).ok);
    const auto up = CountSent(plan)[OperationKind::TransferReduce];
    const auto down = CountSent(plan)[OperationKind::TransferCopy];
    EXPECT_THAT(up, testing::ElementsAre(2e6, 2e6, 2e6, 2e6, 80e3, 80e3, 0));
    EXPECT_THAT(down, testing::ElementsAre(0, 0, 0, 0, 4e6, 4e6, 2 * 160e3));
    const std::vector<uint64_t> encoded{1, 1, 1, 1, 2, 2, 0};
    const std::vector<uint64_t> decoded{1, 1, 1, 1, 3, 3, 2};
    for (uint32_t rank = 0; rank < 7; ++rank)
    {
        EXPECT_EQ(CountOperations(plan, OperationKind::Encode, rank), encoded[rank]) << rank;
        EXPECT_EQ(CountOperations(plan, OperationKind::Decode, rank), decoded[rank]) << rank;
    }
    // 199,999 elements are too few for BiSparse: all is of 2 B, and the sum of the global server is
    // passed on as it came.
    const auto small =
        CompressPlan(BuildPlainPlan("geo-hips", 4, 4 * 199'999), sparse, inWan, half);
    for (OperationId id = 0; id < small.GetOperations().size(); ++id)
    {
        if (small.GetOperations()[id].IsTransfer())
        {
            EXPECT_EQ(small.GetBytes(id), 2 * 199'999U);
        }
    }
    EXPECT_THROW(CompressPlan(BuildPlainPlan("ring", 4, 4000), half, {}, sparse),
                 std::invalid_argument);
}

TEST(PlanCompressor, SwitchesAddWhatWorkersEncodeOnce)
{
    // Two chunks of 500,000 elements, of 4 bytes or of 1. There are no scales beside those of int8:
    // all share the exponents that packets carry. Fixed point has one factor.
    const auto dense = BuildPlainPlan("switchml", 4, 4'000'000, "pipelineChunks", 2);
    for (const auto& [codec, bytes] :
         {std::pair{"fixed-point", 2'000'000U}, std::pair{"int8", 500'000U}})
    {
        const auto plan = CompressPlan(dense, GetDefaults(codec), SECONDS);
        EXPECT_TRUE(PlanVerifier().Verify(plan).ok) << codec;
        EXPECT_EQ(plan.GetAggregationGroups().size(), dense.GetAggregationGroups().size());
        EXPECT_EQ(plan.SharesExponents(), codec == std::string("int8"));
        EXPECT_THAT(CountSent(plan)[OperationKind::Aggregate], testing::Each(2 * bytes));
        for (uint32_t rank = 0; rank < 4; ++rank)
        {
            EXPECT_EQ(CountOperations(plan, OperationKind::Encode, rank), 2U);
            EXPECT_EQ(CountOperations(plan, OperationKind::Decode, rank), 2U);
        }
    }
    // PASSING converts what leaves a server, not what its GPUs aggregate: half of the gradient
    // each.
    const auto passing = BuildPlainPlan("passing", 4, 4'000'000, "groupSize", 2);
    const auto plan = CompressPlan(passing, GetDefaults("int8"), SECONDS);
    EXPECT_TRUE(PlanVerifier().Verify(plan).ok);
    EXPECT_EQ(CountSent(plan)[OperationKind::TransferCopy],
              CountSent(passing)[OperationKind::TransferCopy]);
    EXPECT_EQ(CountSent(plan)[OperationKind::TransferReduce],
              CountSent(passing)[OperationKind::TransferReduce]);
    EXPECT_EQ(CountOperations(plan, OperationKind::Encode, 0),
              CountOperations(passing, OperationKind::Aggregate, 0));
}

TEST(PlanCompressor, SwitchesAddByTheProtocolOfTheScheme)
{
    for (const auto* scheme : {"switchml", "passing", "atp", "netreduce"})
    {
        const auto dense = BuildPlainPlan(scheme, 4, 4'000'000);
        const auto plan = CompressPlan(dense, GetDefaults("fixed-point"), SECONDS);
        EXPECT_EQ(plan.GetAggregationProtocol(), dense.GetAggregationProtocol()) << scheme;
    }
}

/// Three hosts, a byte a microsecond on every link, no delays.
class CompressedExchange : public testing::Test
{
  protected:
    IterationRecord Run(Plan plan)
    {
        const auto network =
            oracles::MakeRackNetwork(1, 3, {DataRate("8Mbps"), DataRate("8Mbps"), Time(0)});
        auto transport = CreateObject<FluidTransport>();
        transport->Install(network.topology, network.routes);
        auto engine = CreateObject<ExchangeEngine>();
        engine->SetTransport(transport);
        Job job;
        job.name = "job";
        job.endpointOf.resize(plan.GetRankCount());
        std::iota(job.endpointOf.begin(), job.endpointOf.end(), 0U);
        job.plan = std::make_shared<Plan>(std::move(plan));
        engine->AddJob(job);
        const Recorder recorder(engine, Recorder::Detail::Iterations);
        Simulator::Run();
        EXPECT_FALSE(engine->GetFailure());
        IterationRecord record = recorder.GetIterations()[0];
        engine->Dispose();
        transport->Dispose();
        Simulator::Destroy();
        return record;
    }
};

TEST_F(CompressedExchange, TakesTheTimeOfItsPartsAndCopiesAreNotDecodedOnTheWay)
{
    // 4,000,000 B, as fp16 2,000,000 B: 2 s. Rank 0 encodes (1 s), sends to 1, which passes it on
    // at once: the last is there at 1 + 2 + 2 s and decodes until 6 s.
    PlanBuilder builder(3,
                        3,
                        ChunkLayout::Even(4'000'000, 1),
                        Collective("broadcast", {0}, {Collective::ALL}));
    const auto first = builder.AddCopy(0, 1, 0, 1);
    const auto second = builder.AddCopy(1, 2, 0, 1);
    builder.AddEdge(first, second);
    const auto record = Run(CompressPlan(builder.Build(), GetDefaults("fp16"), SECONDS));
    EXPECT_EQ(record.end, Seconds(6));
    EXPECT_EQ(record.network, Seconds(4));
    EXPECT_EQ(record.compress, Seconds(1));
    EXPECT_EQ(record.decompress, Seconds(1));
}

TEST_F(CompressedExchange, AnAcceleratorDoesOneThingAtATime)
{
    // Ranks 1 and 2 encode at the same time (1 s) and send 1,000,000 B each to rank 0 (2 s over its
    // one link), which decodes one after the other: 1 + 2 + 1 + 1 s.
    PlanBuilder builder(3, 3, ChunkLayout::Even(2'000'000, 1));
    builder.AddReduce(1, 0, 0, 1);
    builder.AddReduce(2, 0, 0, 1);
    const auto record = Run(CompressPlan(builder.Build(), GetDefaults("fp16"), SECONDS));
    EXPECT_EQ(record.end, Seconds(5));
    EXPECT_EQ(record.decompress, Seconds(2));
}

TEST_F(CompressedExchange, CodecsWorkBesideTransfersChunkByChunk)
{
    // Four chunks of 1,000,000 B as fp16: of each the encoding, the transfer and the decoding take
    // 1 s. Chunk i is encoded from i to i + 1, on the way until i + 2 and decoded until i + 3: 6 s
    // in all, where one after the other would take 12.
    PlanBuilder builder(2, 2, ChunkLayout::Even(8'000'000, 4), Collective("broadcast", {0}, {1}));
    for (uint32_t chunk = 0; chunk < 4; ++chunk)
    {
        builder.AddCopy(0, 1, chunk, 1);
    }
    const auto record = Run(CompressPlan(builder.Build(), GetDefaults("fp16"), SECONDS));
    EXPECT_EQ(record.end, Seconds(6));
    EXPECT_EQ(record.compress, Seconds(4));
    EXPECT_EQ(record.network, Seconds(4));
    EXPECT_EQ(record.decompress, Seconds(4));
}

TEST(CodecProfile, InterpolatesExtrapolatesAndRefuses)
{
    CodecProfile profile;
    profile.name = "x.profile.json";
    // 1 us + elements * 4 B / 4 GB/s.
    profile.kernels["int8-encode"] = {4.0, 1e-6, 4e9, {{1000, 3e-6}, {3000, 5e-6}}};
    EXPECT_DOUBLE_EQ(profile.GetSeconds("int8-encode", 1000), 3e-6);
    EXPECT_DOUBLE_EQ(profile.GetSeconds("int8-encode", 1500), 3.5e-6);
    EXPECT_DOUBLE_EQ(profile.GetSeconds("int8-encode", 3000), 5e-6);
    EXPECT_DOUBLE_EQ(profile.GetSeconds("int8-encode", 12'000), 13e-6);
    EXPECT_DOUBLE_EQ(profile.GetSeconds("int8-encode", 500), 1.5e-6);
    EXPECT_THROW(profile.GetSeconds("int8-encode", 12'001), ProfileError);
    try
    {
        profile.GetSeconds("fp16-encode", 1);
        FAIL() << "the profile has no such kernel";
    }
    catch (const ProfileError& error)
    {
        EXPECT_THAT(error.what(), HasSubstr("no times of fp16-encode (it has: int8-encode)"));
    }
    // 4 MB at a byte a second would take 46 days.
    profile.kernels["slow"] = {4.0, 1e-6, 1.0, {}};
    EXPECT_THROW(profile.GetSeconds("slow", 1'000'000), ProfileError);
    EXPECT_EQ(GetKernelName(FindCodec("bisparse")->defaults, "decode"), "dgc-decode");
    CodecSpec half = FindCodec("dgc")->defaults;
    half.valueBits = 16;
    EXPECT_EQ(GetKernelName(half, "encode"), "dgc-fp16-encode");
}

TEST(ExchangeCompressor, LeavesPowerSgdToTheTwoSumsThatItIs)
{
    EXPECT_THROW(CompressExchange(BuildPlainPlan("ring", 4, 16'000),
                                  *FindScheme("ring"),
                                  {GetDefaults("powersgd")},
                                  {},
                                  nullptr),
                 std::invalid_argument);
}

TEST(ExchangeCompressor, TakesTheTimesOfWhatInt8UsesInSwitches)
{
    // 1000 elements: in switches 5 us to encode and 3 us to decode, elsewhere 2 us and 1 us.
    auto profile = std::make_shared<CodecProfile>();
    profile->name = "x.profile.json";
    profile->kernels["int8-encode"] = {4.0, 1e-6, 4e9, {}};
    profile->kernels["int8-decode"] = {4.0, 0.0, 4e9, {}};
    const auto compress = [&](const char* scheme, const char* codec) {
        return CompressExchange(
            BuildPlainPlan(scheme, 4, scheme == std::string("ring") ? 16'000 : 4000),
            *FindScheme(scheme),
            {GetDefaults(codec)},
            {},
            profile);
    };
    const auto ring = compress("ring", "int8");
    EXPECT_THAT(GetDurations(ring, OperationKind::Encode), testing::Each(2'000'000U));
    EXPECT_THAT(GetDurations(ring, OperationKind::Decode), testing::Each(1'000'000U));
    try
    {
        compress("switchml", "int8");
        FAIL() << "the profile has no such kernel";
    }
    catch (const ProfileError& error)
    {
        EXPECT_STREQ(error.what(),
                     "the profile x.profile.json has no times of int8-switch-encode (it has: "
                     "int8-decode, int8-encode)");
    }
    profile->kernels["int8-switch-encode"] = {9.0, 2e-6, 3e9, {}};
    profile->kernels["int8-switch-decode"] = {5.0, 1e-6, 2.5e9, {}};
    const auto switches = compress("switchml", "int8");
    EXPECT_THAT(GetDurations(switches, OperationKind::Encode),
                testing::ElementsAre(5e6, 5e6, 5e6, 5e6));
    EXPECT_THAT(GetDurations(switches, OperationKind::Decode),
                testing::ElementsAre(3e6, 3e6, 3e6, 3e6));
    // Other codecs have one pair of kernels.
    profile->kernels["fixed-point-encode"] = {8.0, 0.0, 8e9, {}};
    profile->kernels["fixed-point-decode"] = {8.0, 0.0, 4e9, {}};
    const auto fixed = compress("switchml", "fixed-point");
    EXPECT_THAT(GetDurations(fixed, OperationKind::Encode), testing::Each(1'000'000U));
    EXPECT_THAT(GetDurations(fixed, OperationKind::Decode), testing::Each(2'000'000U));
}

/// Bytes of the answers of a federated round of 4 clients, and of the models, over those of fp32.
std::pair<double, double>
GetRoundShares(const CodecSpec& codec)
{
    constexpr uint64_t ELEMENTS = 8192ULL * 1000;
    const auto plan = CompressPlan(BuildPlainPlan("federated", 4, 4 * ELEMENTS), codec, {});
    EXPECT_TRUE(PlanVerifier().Verify(plan).ok);
    std::map<OperationKind, double> bytes;
    for (OperationId id = 0; id < plan.GetOperations().size(); ++id)
    {
        bytes[plan.GetOperations()[id].kind] += static_cast<double>(plan.GetBytes(id));
    }
    EXPECT_EQ(bytes[OperationKind::Signal], 4 * 28); // commands are never compressed
    const double dense = 4.0 * 4.0 * ELEMENTS;
    const double up = bytes[OperationKind::TransferReduce];
    const double down = bytes[OperationKind::TransferCopy];
    return {up / dense, (up + down) / (2 * dense)};
}

TEST(PlanCompressor, FederatedClientsAnswerCompressedAndGetADenseModel)
{
    // The figures of the DDS framework: int8 with a scale per 8192 elements (1 + 4/8192) / 4; the
    // top 10 % as index and value 0.1 * 8 / 4; as index and int8 0.1 * 5 / 4, and 4 bytes for each
    // 8192 of these. The model comes down in 4 bytes an element: (share + 1) / 2 of the round.
    const auto int8 = GetRoundShares(GetDefaults("int8"));
    EXPECT_NEAR(int8.first, 0.2501, 0.00005);
    EXPECT_NEAR(int8.second, 0.625, 0.0001);
    const auto sparse = GetRoundShares(GetDefaults("top-k"));
    EXPECT_NEAR(sparse.first, 0.20, 1e-6);
    EXPECT_NEAR(sparse.second, 0.60, 1e-6);
    const auto sq8 = GetRoundShares(GetDefaults("sq8"));
    EXPECT_NEAR(sq8.first, 0.125, 0.00002);
    EXPECT_NEAR(sq8.second, 0.5625, 0.00002);
}

TEST(PlanCompressor, AnswersEndWhenTheControllerHasDecodedThem)
{
    const auto plan =
        CompressPlan(BuildPlainPlan("federated", 3, 4000), GetDefaults("int8"), SECONDS);
    EXPECT_EQ(CountOperations(plan, OperationKind::Decode, 3), 3U);
    EXPECT_EQ(CountOperations(plan, OperationKind::Encode, 3), 0U); // the model is dense
    ASSERT_TRUE(plan.GetGate().has_value());
    ASSERT_EQ(plan.GetGate()->answers.size(), 3U);
    for (const auto& answer : plan.GetGate()->answers)
    {
        EXPECT_EQ(plan.GetOperations()[answer.operation].kind, OperationKind::Decode);
    }
}

} // namespace
} // namespace ns3::gradsync
