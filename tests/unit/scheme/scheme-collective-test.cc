// SPDX-License-Identifier: GPL-2.0-only
// The collectives that are schemes of their own.
#include "unit/scheme/scheme-test-support.h"

#include <algorithm>
#include <bit>

namespace ns3::gradsync
{

namespace
{

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

Parameters
Choose(const std::string& algorithm)
{
    return {{"algorithm", algorithm}, {"pipelineChunks", int64_t{1}}};
}

/// ceil(log2 w)
uint32_t
CountDoublings(uint32_t w)
{
    return static_cast<uint32_t>(std::bit_width(w - 1));
}

/// Depth of a binomial tree of w ranks: the most bits of a number below w.
uint32_t
GetBinomialDepth(uint32_t w)
{
    int depth = 0;
    for (uint32_t rank = 0; rank < w; ++rank)
    {
        depth = std::max(depth, std::popcount(rank));
    }
    return static_cast<uint32_t>(depth);
}

class Gathering : public testing::TestWithParam<std::string>
{
};

TEST_P(Gathering, MovesAndChainsAsTheClosedForms)
{
    const auto& scheme = GetParam();
    for (uint32_t w = 2; w <= 17; ++w)
    {
        for (const auto* algorithm : {"ring", "direct"})
        {
            const auto statistics =
                ComputeStatistics(scheme,
                                  MakeRequest(scheme, w, SHARD_BYTES * w, Choose(algorithm)));
            EXPECT_THAT(statistics.sentBytes, Each(SHARD_BYTES * (w - 1))); // (w-1)K/w
            EXPECT_THAT(statistics.receivedBytes, Each(SHARD_BYTES * (w - 1)));
            EXPECT_EQ(statistics.GetLongestChain(), algorithm == std::string("ring") ? w - 1 : 1);
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Collectives, Gathering, testing::Values("all-gather", "reduce-scatter"));

TEST(AllGatherScheme, TakesLogarithmicallyManyStepsByBruck)
{
    for (uint32_t w = 2; w <= 33; ++w)
    {
        const auto request = MakeRequest("all-gather", w, SHARD_BYTES * w, Choose("bruck"));
        const auto statistics = ComputeStatistics("all-gather", request);
        EXPECT_THAT(statistics.sentBytes, Each(SHARD_BYTES * (w - 1)));
        EXPECT_EQ(statistics.GetLongestChain(), CountDoublings(w));
    }
}

/// Broadcast and reduce, and the name of the algorithm in parts of each.
struct Rooted
{
    std::string scheme;
    std::string inParts;
};

std::string
GetSchemeName(const testing::TestParamInfo<Rooted>& parameter)
{
    return parameter.param.scheme;
}

class RootedCollective : public testing::TestWithParam<Rooted>
{
};

TEST_P(RootedCollective, MovesAndChainsAsTheClosedForms)
{
    const auto& [scheme, inParts] = GetParam();
    for (uint32_t w = 2; w <= 17; ++w)
    {
        const uint64_t gradient = SHARD_BYTES * w;
        const auto chainOf = [&, &name = scheme](const std::string& algorithm) {
            const auto statistics =
                ComputeStatistics(name, MakeRequest(name, w, gradient, Choose(algorithm)));
            EXPECT_EQ(statistics.totalBytes, (w - 1) * gradient); // everybody but the root once
            return statistics.GetLongestChain();
        };
        EXPECT_EQ(chainOf("star"), 1u);
        EXPECT_EQ(chainOf("chain"), w - 1);
        // A parent's sends follow each other; what it receives need not.
        EXPECT_EQ(chainOf("binomial"),
                  scheme == "broadcast" ? CountDoublings(w) : GetBinomialDepth(w));
        // A part passes w - 1 links of the ring, or one to its owner and w - 2 of the ring.
        EXPECT_EQ(chainOf(inParts), w - 1);
    }
}

TEST_P(RootedCollective, WorksWithAnyRoot)
{
    const auto& [scheme, inParts] = GetParam();
    for (const auto& algorithm : {std::string("star"), std::string("binomial"), inParts})
    {
        for (uint32_t root = 0; root < 7; ++root)
        {
            auto parameters = Choose(algorithm);
            parameters.emplace_back("root", int64_t{root});
            const auto plan = BuildPlan(scheme, MakeRequest(scheme, 7, 10007, parameters));
            EXPECT_THAT(plan, DoesWhatItIsFor());
            const auto& collective = plan.GetCollective();
            EXPECT_EQ(scheme == "reduce" ? collective.GetTarget(0) : collective.GetSource(0), root);
        }
    }
    const auto build = [request = MakeRequest(scheme, 7, 10007, {{"root", int64_t{7}}}),
                        name = scheme] { BuildPlan(name, request); };
    EXPECT_THAT(build, ThrowsMessage<SchemeError>(HasSubstr("root is 7, but the 7 workers")));
}

INSTANTIATE_TEST_SUITE_P(Collectives,
                         RootedCollective,
                         testing::Values(Rooted{"broadcast", "scatter-all-gather"},
                                         Rooted{"reduce", "reduce-scatter-gather"}),
                         GetSchemeName);

TEST(AllToAllScheme, MovesAndChainsAsTheClosedForms)
{
    for (uint32_t w = 2; w <= 17; ++w)
    {
        for (const auto* algorithm : {"direct", "pairwise"})
        {
            auto request = MakeRequest("all-to-all",
                                       w,
                                       SHARD_BYTES * w,
                                       {{"algorithm", std::string(algorithm)}});
            const auto plan = BuildPlan("all-to-all", request);
            EXPECT_EQ(plan.GetLayout().GetTotalBytes(), SHARD_BYTES * w * w); // K at each worker
            const auto statistics = ComputePlanStatistics(plan);
            EXPECT_THAT(statistics.sentBytes, Each(SHARD_BYTES * (w - 1))); // (w-1)K/w
            EXPECT_THAT(statistics.receivedBytes, Each(SHARD_BYTES * (w - 1)));
            EXPECT_EQ(statistics.GetLongestChain(), algorithm == std::string("direct") ? 1 : w - 1);
        }
    }
}

/// Every worker has K bytes of its own whatever K is: it keeps block i of them and sends the
/// others, in all wK - K. Found by tests/referee: 14 bytes at 16 workers were 216 and not 210.
TEST(AllToAllScheme, GivesEachWorkerAllOfAnOddGradient)
{
    for (const uint64_t bytes : {1, 3, 14, 61, 1862})
    {
        for (const uint32_t w : {2, 7, 16})
        {
            const auto plan = BuildPlan("all-to-all", MakeRequest("all-to-all", w, bytes));
            EXPECT_EQ(plan.GetLayout().GetTotalBytes(), bytes * w);
            for (uint32_t worker = 0; worker < w; ++worker)
            {
                EXPECT_EQ(plan.GetLayout().GetBytes(worker * w, w), bytes);
            }
            EXPECT_EQ(ComputePlanStatistics(plan).totalBytes, bytes * (w - 1));
        }
    }
}

TEST(BarrierScheme, SendsAndChainsAsTheClosedForms)
{
    for (uint32_t w = 2; w <= 33; ++w)
    {
        const auto count = [w](const std::string& algorithm) {
            return ComputeStatistics(
                "barrier",
                MakeRequest("barrier", w, 1'000'000, {{"algorithm", algorithm}}));
        };
        const auto doublings = CountDoublings(w);
        const auto dissemination = count("dissemination");
        EXPECT_EQ(dissemination.transferCount, uint64_t{w} * doublings);
        EXPECT_EQ(dissemination.totalBytes, uint64_t{8} * w * doublings); // the gradient stays
        EXPECT_EQ(dissemination.GetLongestChain(), doublings);
        EXPECT_EQ(count("star").transferCount, uint64_t{2} * (w - 1));
        EXPECT_EQ(count("star").GetLongestChain(), 2u);
        EXPECT_EQ(count("binomial").transferCount, uint64_t{2} * (w - 1));
        EXPECT_EQ(count("binomial").GetLongestChain(), 2 * GetBinomialDepth(w));
    }
}

TEST(SparseAllGatherScheme, SendsWhatTheReferenceSaysOfDgc)
{
    // 10^6 elements, 0.1 % of 8 bytes each, 4 workers: 24,000 bytes out of every rank.
    for (const auto* algorithm : {"ring", "direct", "bruck"})
    {
        const auto request = MakeRequest("sparse-all-gather", 4, 4'000'000, Choose(algorithm));
        EXPECT_THAT(ComputeStatistics("sparse-all-gather", request).sentBytes, Each(24'000u));
    }
}

TEST(SparseAllGatherScheme, MovesEverySizeThatIsGiven)
{
    auto parameters = Choose("direct");
    parameters.emplace_back("sizes", std::vector<double>{10, 0, 7, 4001});
    const auto request = MakeRequest("sparse-all-gather", 4, 4'000'000, parameters);
    const auto statistics = ComputeStatistics("sparse-all-gather", request);
    EXPECT_THAT(statistics.sentBytes, ElementsAre(30, 0, 21, 12003));
    EXPECT_THAT(statistics.receivedBytes, ElementsAre(4008, 4018, 4011, 17));
    EXPECT_THAT(BuildPlan("sparse-all-gather", request), DoesWhatItIsFor());
}

TEST(SparseAllGatherScheme, DrawsSizesBySeedWithinTheSpread)
{
    const auto draw = [](int64_t seed) {
        auto parameters = Choose("direct");
        parameters.emplace_back("spread", 0.5);
        parameters.emplace_back("drawSeed", seed);
        const auto request = MakeRequest("sparse-all-gather", 16, 4'000'000, parameters);
        return ComputeStatistics("sparse-all-gather", request).sentBytes;
    };
    EXPECT_EQ(draw(1), draw(1));
    EXPECT_NE(draw(1), draw(2));
    // 500 to 1500 entries of 8 bytes to 15 others.
    EXPECT_THAT(draw(1), Each(testing::AllOf(testing::Ge(60'000u), testing::Le(180'000u))));
    EXPECT_THAT(draw(1), testing::Contains(testing::Lt(90'000u)));
    EXPECT_THAT(draw(1), testing::Contains(testing::Gt(150'000u)));
}

TEST(SparseAllGatherScheme, RejectsSizesThatDoNotFit)
{
    const auto build = [](std::vector<double> sizes) {
        return [request =
                    MakeRequest("sparse-all-gather", 2, 4'000'000, {{"sizes", std::move(sizes)}})] {
            BuildPlan("sparse-all-gather", request);
        };
    };
    EXPECT_THAT(build({1}), ThrowsMessage<SchemeError>(HasSubstr("1 entries, but there are 2")));
    EXPECT_THAT(build({1, 2.5}), ThrowsMessage<SchemeError>(HasSubstr("sizes has 2.5")));
    EXPECT_THAT(build({0, 0}), ThrowsMessage<SchemeError>(HasSubstr("give 0 bytes in all")));
}

} // namespace

} // namespace ns3::gradsync
