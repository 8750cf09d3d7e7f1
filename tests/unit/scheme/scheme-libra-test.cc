// SPDX-License-Identifier: GPL-2.0-only
#include "unit/scheme/scheme-test-support.h"

#include <cmath>
#include <random>

namespace ns3::gradsync
{

namespace
{

using testing::HasSubstr;
using testing::ThrowsMessage;

/// Elements of a gradient of 4,000,000 that switches aggregate.
uint64_t
CountHot(const std::vector<std::pair<std::string, ParameterValue>>& parameters)
{
    const auto plan = FindScheme("libra")->build(MakeRequest("libra", 3, 4'000'000, parameters));
    uint64_t bytes = 0;
    for (OperationId id = 0; id < plan.GetOperations().size(); ++id)
    {
        const auto operation = plan.GetOperations()[id];
        bytes += operation.IsAggregate() && operation.src == 0 ? plan.GetBytes(id) : 0;
    }
    return bytes / 4;
}

TEST(LibraScheme, IsAnAllReduceWhateverIsHot)
{
    std::mt19937 random(24);
    for (int run = 0; run < 30; ++run)
    {
        const uint32_t workers = 1 + random() % 9;
        const auto all = static_cast<int64_t>(1 + random() % 5000);
        const auto bytes = 1 + random() % 100'000;
        const auto request =
            MakeRequest("libra",
                        workers,
                        bytes,
                        {{"parameters", all},
                         {"hotParameters", static_cast<int64_t>(random() % (all + 1))},
                         {"exponent", static_cast<double>(random() % 30) / 10.0},
                         {"servers", static_cast<int64_t>(1 + random() % 4)},
                         {"pipelineChunks", static_cast<int64_t>(1 + random() % 3)}});
        EXPECT_THAT(FindScheme("libra")->build(request), DoesWhatItIsFor());
    }
}

TEST(LibraScheme, SendsTheServersWhatIsCold)
{
    // Three quarters of the updates are of two parameters: of 4,000 bytes 3,000 go by switches, and
    // each of two servers gets and answers 500 bytes of each of five workers.
    const auto statistics =
        ComputeStatistics("libra",
                          MakeRequest("libra",
                                      5,
                                      4'000,
                                      {{"popularity", std::vector<double>{1, 40, 14, 35, 10}},
                                       {"hotParameters", int64_t{2}},
                                       {"servers", int64_t{2}}}));
    EXPECT_THAT(statistics.sentBytes,
                testing::ElementsAre(4'000, 4'000, 4'000, 4'000, 4'000, 2'500, 2'500));
    EXPECT_EQ(statistics.receivedBytes, statistics.sentBytes);
    EXPECT_EQ(statistics.GetLongestChain(), 2u);
}

TEST(LibraScheme, KnowsZipfsLaw)
{
    // Of i^-s for 1 to n, the sum up to h: by itself here, by a formula in the scheme beyond 1,000.
    for (const double exponent : {0.0, 0.5, 0.99, 1.0, 1.2, 3.0})
    {
        for (const auto& [hot, all] :
             {std::pair{10, 100}, std::pair{500, 30'000}, std::pair{30'000, 1'000'000}})
        {
            double hottest = 0.0;
            double sum = 0.0;
            for (int rank = all; rank >= 1; --rank)
            {
                const auto updates = std::pow(rank, -exponent);
                sum += updates;
                hottest += rank <= hot ? updates : 0.0;
            }
            const auto found = CountHot({{"parameters", int64_t{all}},
                                         {"hotParameters", int64_t{hot}},
                                         {"exponent", exponent}});
            EXPECT_NEAR(static_cast<double>(found), 1e6 * hottest / sum, 1.0) << exponent << hot;
        }
    }
}

TEST(LibraScheme, MayHaveAllOrNothingHot)
{
    EXPECT_EQ(CountHot({{"parameters", int64_t{77}}, {"hotParameters", int64_t{77}}}), 1'000'000u);
    EXPECT_EQ(CountHot({{"hotParameters", int64_t{0}}}), 0u);
}

TEST(LibraScheme, RefusesMoreHotParametersThanThereAre)
{
    EXPECT_THAT(
        [] {
            CountHot({{"parameters", int64_t{9}}, {"hotParameters", int64_t{10}}});
        },
        ThrowsMessage<SchemeError>(HasSubstr("hotParameters is 10, but there are 9")));
    EXPECT_THAT(
        [] {
            CountHot({{"popularity", std::vector<double>{1, 2}}});
        },
        ThrowsMessage<SchemeError>(HasSubstr("popularity has 2 entries")));
    EXPECT_THAT(
        [] {
            CountHot({{"popularity", std::vector<double>{0, 0}}});
        },
        ThrowsMessage<SchemeError>(HasSubstr("not all 0")));
}

} // namespace

} // namespace ns3::gradsync
