// SPDX-License-Identifier: GPL-2.0-only
#include "oracles/oracle-network.h"

#include "ns3/codec-profile.h"
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
#include <numeric>
#include <utility>

namespace ns3::gradsync
{
namespace
{

using testing::HasSubstr;

Plan
BuildPlan(const std::string& scheme, uint32_t workers, uint64_t gradientBytes)
{
    const auto* found = FindScheme(scheme);
    SchemeRequest request;
    request.workers = workers;
    request.gradientBytes = gradientBytes;
    request.parameters = MakeDefaultParameters(*found);
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

TEST(PlanCompressor, MessagesHaveTheBytesOfTheirCodec)
{
    // A million elements, four workers: every rank receives 6 chunks of 250,000 elements. int8 has
    // ceil(250,000 / 8192) = 31 scales of 4 bytes.
    const auto ring = BuildPlan("ring", 4, 4'000'000);
    const auto receive = [&ring](const char* codec) {
        return ComputePlanStatistics(CompressPlan(ring, GetDefaults(codec), {}), {})
            .receivedBytes[0];
    };
    EXPECT_EQ(receive("fp32"), 6 * 1'000'000U);
    EXPECT_EQ(receive("fp16"), 6 * 500'000U);
    EXPECT_EQ(receive("int8"), 6 * (250'000 + 31 * 4U));
    EXPECT_EQ(receive("two-bit"), 6 * 62'500U);
}

TEST(PlanCompressor, UnionsGrowWithTheGradientsInThem)
{
    const auto ring = BuildPlan("ring", 4, 4'000'000);
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

TEST(PlanCompressor, DgcOverAllGatherSendsEachSelectionToEverybody)
{
    // Reference, section 6: 10^6 elements at 0.1 %, four workers: 24,000 B out per rank. The scheme
    // all-gather gathers parts of one tensor, so that of each worker is a quarter of 4 million.
    const auto plan = BuildPlan("all-gather", 4, 16'000'000);
    const auto statistics = ComputePlanStatistics(CompressPlan(plan, GetDefaults("dgc"), {}), {});
    for (uint32_t rank = 0; rank < 4; ++rank)
    {
        EXPECT_EQ(statistics.sentBytes[rank], 24'000U);
    }
}

TEST(PlanCompressor, EncodesOncePerStateAndPassesCopiesOn)
{
    const auto ring = CompressPlan(BuildPlan("ring", 4, 4'000'000), GetDefaults("int8"), SECONDS);
    const auto ps = CompressPlan(BuildPlan("ps", 4, 4'000'000), GetDefaults("int8"), SECONDS);
    const auto sparse = CompressPlan(BuildPlan("ring", 4, 4'000'000), GetDefaults("dgc"), SECONDS);
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

TEST(PlanCompressor, CompressedPlansOfAllSortsAreStillAllReduces)
{
    for (const char* scheme : {"ring", "ps", "rat", "butterfly", "halving-doubling", "k-nomial"})
    {
        for (const char* codec : {"int8", "dgc"})
        {
            const auto plan = BuildPlan(scheme, 6, 4'000'000);
            const auto compressed = CompressPlan(plan, GetDefaults(codec), SECONDS);
            const auto verification = PlanVerifier().Verify(compressed);
            EXPECT_TRUE(verification.ok) << scheme << ' ' << codec << ": "
                                         << testing::PrintToString(verification.violations);
            EXPECT_EQ(ComputePlanStatistics(compressed, {}).transferCount,
                      ComputePlanStatistics(plan, {}).transferCount);
        }
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
    EXPECT_EQ(GetKernelName(CodecKind::BiSparse, "decode"), "dgc-decode");
}

/// Bytes of the answers of a federated round of 4 clients, and of the models, over those of fp32.
std::pair<double, double>
GetRoundShares(const CodecSpec& codec)
{
    constexpr uint64_t ELEMENTS = 8192ULL * 1000;
    const auto plan = CompressPlan(BuildPlan("federated", 4, 4 * ELEMENTS), codec, {});
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
    const auto plan = CompressPlan(BuildPlan("federated", 3, 4000), GetDefaults("int8"), SECONDS);
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
