// SPDX-License-Identifier: GPL-2.0-only
// PowerSGD: two sums of factors, one after the other.
#include "scenario/scenario-runs.h"

#include "ns3/job-planner.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace ns3::gradsync
{
namespace
{

using testing::HasSubstr;

/// 10^6 elements are 1000 x 1000: factors of rank 4 have 16,000 B each.
constexpr const char* LOW_RANK_JOB = R"({"gradient": "4MB", "codec": "powersgd"})";
constexpr int64_t MICROSECOND = 1'000'000; //!< in picoseconds

/// Bytes of all messages of a job's plan, which is verified.
uint64_t
CountPlanBytes(const std::string& job, const std::string& scheme)
{
    UsePicoseconds();
    const auto scenario = ParseScenario(STAR, "x.json", {{"job", job}, {"scheme", scheme}});
    const auto run = ResolveRun(scenario, 0);
    const auto planned = PlanJob(run.jobs.at(0), *run.topology);
    VerifyJob(run.jobs.at(0), planned);
    uint64_t bytes = 0;
    for (OperationId id = 0; id < planned.plan->GetOperations().size(); ++id)
    {
        bytes += planned.plan->GetOperations()[id].IsTransfer() ? planned.plan->GetBytes(id) : 0;
    }
    return bytes;
}

std::string
ErrorOfLowRank(const std::string& job, const std::string& scheme = R"("ring")")
{
    UsePicoseconds();
    return ErrorOf([&] {
        const auto scenario = ParseScenario(STAR, "x.json", {{"job", job}, {"scheme", scheme}});
        CheckRun(ResolveRun(scenario, 0), true);
    });
}

TEST(LowRankRuns, TakeTwoSumsOneAfterTheOther)
{
    // A ring of four at 1 Gb/s: 6 steps of a quarter of 16,000 B, 32 us each, are 192 us, twice.
    const auto plain = Simulate({{"job", LOW_RANK_JOB}});
    ASSERT_TRUE(plain.summary.finished) << plain.summary.failure;
    EXPECT_EQ(plain.summary.meanIctPs, 2 * 192 * MICROSECOND);
    // P = M Q takes 100 us, what follows the first sum 200 us, and decoding 50 us.
    const auto* const profile = R"("profile": {"format": 1, "origin": "measurement", "device": "a",
        "kernels": {"powersgd-encode-p": {"bytesPerElement": 4, "fixedSeconds": 0,
                                          "bytesPerSecond": 40e9},
                    "powersgd-encode-q": {"bytesPerElement": 4, "fixedSeconds": 0,
                                          "bytesPerSecond": 20e9},
                    "powersgd-decode": {"bytesPerElement": 4, "fixedSeconds": 0,
                                        "bytesPerSecond": 80e9}}})";
    const auto job = fmt::format(R"({{"gradient": "4MB", "codec": "powersgd", {}}})", profile);
    EXPECT_EQ(Simulate({{"job", job}}).summary.meanIctPs, (2 * 192 + 350) * MICROSECOND);
    // Whatever the order of the ranks, what the first sum has not brought the second cannot begin
    // with: on a tree as long as both one after the other.
    const auto tree = R"("k-nomial")";
    const auto one = Simulate({{"job", R"({"gradient": "16kB"})"}, {"scheme", tree}});
    const auto both = Simulate({{"job", LOW_RANK_JOB}, {"scheme", tree}});
    EXPECT_LE(both.summary.meanIctPs, 2 * one.summary.meanIctPs);
    EXPECT_GT(both.summary.meanIctPs, 1.5 * one.summary.meanIctPs);
}

TEST(LowRankRuns, MoveTheBytesOfTheirFactorsOnAnyScheme)
{
    for (const auto* scheme :
         {R"("ring")", R"("ps")", R"("rat")", R"("halving-doubling")", R"("k-nomial")"})
    {
        const auto factor = CountPlanBytes(R"({"gradient": "16kB"})", scheme);
        EXPECT_EQ(CountPlanBytes(LOW_RANK_JOB, scheme), 2 * factor) << scheme;
        // 250,000 elements as 125 rows of 2000, rank 1: 500 and 8000 B.
        const auto wide = R"({"gradient": "1MB", "codec": {"kind": "powersgd", "rank": 1,
                              "columns": 2000}})";
        EXPECT_EQ(CountPlanBytes(wide, scheme),
                  CountPlanBytes(R"({"gradient": "500B"})", scheme) +
                      CountPlanBytes(R"({"gradient": "8kB"})", scheme))
            << scheme;
    }
    // Tensors have matrices of their own; 64 elements stay as they are.
    const auto tensors = R"({"codec": "powersgd", "tensors": [{"elements": 1000000, "count": 2},
                             {"elements": 64}, {"elements": 1000, "codec": "fp16"}]})";
    // Of a ring of four every byte goes six times.
    EXPECT_EQ(CountPlanBytes(tensors, R"("ring")"), 6 * (4 * 16'000U + 256 + 2000));
}

TEST(LowRankRuns, SurvivorsOfACrashFinishWhatIsLeft)
{
    const auto result =
        Simulate({{"job", R"({"gradient": "4MB", "codec": "powersgd", "reaction": "replan"})"},
                  {"faults", R"([{"kind": "host-crash", "hosts": ["host2"], "start": "200us"}])"}});
    EXPECT_TRUE(result.summary.finished) << result.summary.failure;
    EXPECT_GT(result.summary.meanIctPs, 2 * 192 * MICROSECOND);
}

TEST(LowRankRuns, GoWithSchemesOfWorkersAlone)
{
    EXPECT_THAT(ErrorOfLowRank(LOW_RANK_JOB, R"("switchml")"),
                HasSubstr("a switch aggregates integers"));
    EXPECT_THAT(ErrorOfLowRank(R"({"gradient": "4MB",
                                   "codec": {"kind": "powersgd", "between": "rack"}})"),
                HasSubstr("between"));
    EXPECT_THAT(ErrorOfLowRank(R"({"gradient": "4MB", "codec": {"kind": "int8", "between": "rack",
                                   "elsewhere": "powersgd"}})"),
                HasSubstr("powersgd encodes each gradient once"));
    EXPECT_THAT(ErrorOfLowRank(LOW_RANK_JOB, R"("reduce-scatter")"),
                HasSubstr("goes with synchronous all-reduces alone, but here is a reduce-scatter"));
    EXPECT_THAT(ErrorOfLowRank(R"({"gradient": "4MB", "codec": {"kind": "powersgd", "rank": 0}})"),
                HasSubstr("rank"));
}

} // namespace
} // namespace ns3::gradsync
