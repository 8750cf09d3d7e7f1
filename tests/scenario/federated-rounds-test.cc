// SPDX-License-Identifier: GPL-2.0-only
#include "scenario/scenario-runs.h"

#include "ns3/result-rows.h"

#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sstream>
#include <vector>

namespace ns3::gradsync
{

namespace
{

/// Three clients that train for 2, 5 and 20 s, and a controller. 4 B take 32 ns at 1 Gb/s.
constexpr const char* ROUNDS = R"({
  "topology": {"kind": "star", "hosts": 4, "hostLink": {"rate": "1Gbps", "delay": "0s"}},
  "transport": "fluid",
  "job": {"gradient": "4B", "compute": ["2s", "5s", "20s"], "timeout": "100s"},
  "scheme": {"kind": "federated", "roundTimeout": "10s"}})";

/// How long the iterations took, in seconds, to the microsecond that commands and models take.
std::vector<double>
GetSeconds(const RunResult& result)
{
    std::vector<double> seconds;
    for (const auto& record : result.iterations)
    {
        seconds.push_back(std::round((record.end - record.start).GetSeconds() * 1e5) / 1e5);
    }
    return seconds;
}

/// The endpoints of those with which an iteration ended.
const std::vector<uint32_t>&
GetRanks(const RunResult& result, size_t iteration)
{
    return result.jobs[0].plans[result.iterations.at(iteration).plan].ranks;
}

TEST(FederatedRounds, CloseWhenAllHaveAnsweredOrAtTheTimeout)
{
    // The oracle of the reference: replies at 2, 5 and 20 s, timeout 10 s.
    const auto all = Simulate({}, ROUNDS);
    EXPECT_THAT(GetSeconds(all), testing::ElementsAre(10.0));
    EXPECT_EQ(all.iterations[0].replies, 2U);
    EXPECT_THAT(GetRanks(all, 0), testing::ElementsAre(0, 1, 3));
    const auto patient = Simulate({{"scheme.roundTimeout", "30s"}}, ROUNDS);
    EXPECT_THAT(GetSeconds(patient), testing::ElementsAre(20.0));
    EXPECT_EQ(patient.iterations[0].replies, 3U);
}

TEST(FederatedRounds, CloseWithTheMinimumOfAnswers)
{
    const auto one = Simulate({{"scheme.closing", "minimum"}}, ROUNDS);
    EXPECT_THAT(GetSeconds(one), testing::ElementsAre(2.0));
    EXPECT_THAT(GetRanks(one, 0), testing::ElementsAre(0, 3));
    const auto two =
        Simulate({{"scheme.closing", "minimum"}, {"scheme.minimumReplies", "2"}}, ROUNDS);
    EXPECT_THAT(GetSeconds(two), testing::ElementsAre(5.0));
    EXPECT_EQ(two.iterations[0].replies, 2U);
    // A limit of transfers under way counts only those that are waited for.
    const auto limited = Simulate(
        {{"scheme.closing", "minimum"}, {"job.maxOutstandingSends", "1"}, {"job.iterations", "4"}},
        ROUNDS);
    EXPECT_THAT(GetSeconds(limited), testing::ElementsAre(2.0, 2.0, 2.0, 2.0));
}

TEST(FederatedRounds, DropAnswersThatComeLate)
{
    // Rounds take 10 s and the 96 ns of three models: the second ends at 20 s + 192 ns. Client 2
    // has its first command after 672 ns (three of 28 B), trains for 20 s and answers in 32 ns: at
    // 20 s + 704 ns, in the third round. It then trains for the newest command that it has, the
    // second, until 40 s + 672 ns, after the fourth round's end at 40 s + 384 ns.
    const auto result = Simulate({{"job.iterations", "5"}}, ROUNDS);
    EXPECT_THAT(GetSeconds(result), testing::ElementsAre(10.0, 10.0, 10.0, 10.0, 10.0));
    std::vector<uint32_t> late;
    for (const auto& record : result.iterations)
    {
        EXPECT_EQ(record.replies, 2U);
        late.push_back(record.late);
    }
    EXPECT_THAT(late, testing::ElementsAre(0, 0, 1, 0, 1));
    std::ostringstream rows;
    WriteIterations(result, rows);
    EXPECT_THAT(rows.str(), testing::HasSubstr(",2,1\n"));
}

TEST(FederatedRounds, AreSkippedByClientsThatAreBusyWhileANewerOneBegins)
{
    // Client 2 trains for 20 s, rounds take 3 s: it trains for the first, then for the one of which
    // it heard last before 20 s, which began at 18 s, and would end after the run with the next.
    const auto result = Simulate(
        {{"job.iterations", "15"}, {"scheme.roundTimeout", "3s"}, {"results.messages", "true"}},
        ROUNDS);
    std::vector<uint32_t> answered;
    for (const auto& record : result.transfers)
    {
        const auto& operation =
            result.jobs[0].plans[record.plan].plan->GetOperations()[record.operation];
        if (operation.kind == OperationKind::TransferReduce && operation.src == 2)
        {
            answered.push_back(record.iteration);
        }
    }
    EXPECT_THAT(answered, testing::ElementsAre(0, 6));
}

TEST(FederatedRounds, EndInANamedErrorWhenNobodyAnswers)
{
    const auto result = Simulate({{"scheme.roundTimeout", "1s"}}, ROUNDS);
    EXPECT_FALSE(result.summary.finished);
    EXPECT_THAT(result.summary.failure,
                testing::HasSubstr("job \"job0\", iteration 0: nobody answered within 1 s"));
}

TEST(FederatedRounds, WaitForStragglersAsLongAsTheirFaultSays)
{
    // Twice as slow: 4 instead of 2 s, and now all answer.
    const auto result = Simulate({{"faults", R"([{"kind": "straggler", "hosts": [0], "slowdown": 2,
                                                  "duration": "1s"}])"},
                                  {"job.compute", "2s"},
                                  {"job.iterations", "2"}},
                                 ROUNDS);
    EXPECT_THAT(GetSeconds(result), testing::ElementsAre(4.0, 2.0));
    EXPECT_EQ(result.iterations[0].training, Seconds(4));
}

TEST(FederatedRounds, GoOnWithoutAClientThatCrashed)
{
    // It is gone from 1 to 12 s. Nobody replans: the controller waits for it until the timeout,
    // in the second round in vain again, and has it back in the third.
    const std::vector<ScenarioOverride> crash{
        {"faults", R"([{"kind": "host-crash", "hosts": [1], "start": "1s", "duration": "11s"}])"},
        {"job.compute", "2s"},
        {"job.iterations", "3"}};
    const auto waiting = Simulate(crash, ROUNDS);
    EXPECT_TRUE(waiting.summary.finished) << waiting.summary.failure;
    EXPECT_THAT(GetSeconds(waiting), testing::ElementsAre(10.0, 10.0, 2.0));
    EXPECT_THAT(GetRanks(waiting, 0), testing::ElementsAre(0, 2, 3));
    EXPECT_EQ(waiting.iterations[2].replies, 3U);
    // With a reaction the first round ends with those that are known to live, and the next ones do
    // not even ask it.
    auto reaction = crash;
    reaction.push_back({"job.reaction", "replan"});
    const auto replanned = Simulate(reaction, ROUNDS);
    EXPECT_TRUE(replanned.summary.finished) << replanned.summary.failure;
    EXPECT_THAT(GetSeconds(replanned), testing::ElementsAre(2.0, 2.0, 2.0));
    EXPECT_EQ(replanned.reactions.size(), 1U);
    EXPECT_THAT(GetRanks(replanned, 2), testing::ElementsAre(0, 2, 3));
}

TEST(FederatedRounds, DoNotWaitForAClientThatCrashesAfterItsAnswer)
{
    // Host 0 answers at 2 s and crashes at 3 s: the sum has its part, the model goes to the others.
    const auto result =
        Simulate({{"faults", R"([{"kind": "host-crash", "hosts": [0], "start": "3s"}])"}}, ROUNDS);
    EXPECT_TRUE(result.summary.finished) << result.summary.failure;
    EXPECT_EQ(result.iterations[0].replies, 2U);
    EXPECT_THAT(GetRanks(result, 0), testing::ElementsAre(1, 3));
}

TEST(FederatedRounds, CloseByTimeoutWhenAClientIsCutOff)
{
    for (const auto* transport : {"fluid", "roce"})
    {
        const auto result = Simulate({{"faults", R"([{"kind": "link-down", "at": "host1"}])"},
                                      {"transport", transport},
                                      {"job.compute", "2s"},
                                      {"job.iterations", "2"}},
                                     ROUNDS);
        EXPECT_TRUE(result.summary.finished) << transport << ": " << result.summary.failure;
        EXPECT_THAT(GetSeconds(result), testing::ElementsAre(10.0, 10.0));
        EXPECT_THAT(GetRanks(result, 1), testing::ElementsAre(0, 2, 3));
    }
}

TEST(FederatedRounds, FailWithoutTheirController)
{
    const auto result =
        Simulate({{"faults", R"([{"kind": "host-crash", "hosts": [3], "start": "1s"}])"}}, ROUNDS);
    EXPECT_THAT(result.summary.failure, testing::HasSubstr("rank 3 has crashed"));
}

TEST(FederatedRounds, RejectMoreRepliesThanClients)
{
    EXPECT_THAT(
        ErrorOf([] {
            Simulate({{"scheme.closing", "minimum"}, {"scheme.minimumReplies", "4"}}, ROUNDS);
        }),
        testing::HasSubstr("\"minimumReplies\" is 4, but there are only 3 clients"));
    EXPECT_THAT(ErrorOf([] {
                    Simulate({{"job.compute", R"(["1s", "2s"])"}}, ROUNDS);
                }),
                testing::HasSubstr("found 2 times, expected one for each of the 3 workers"));
}

} // namespace

} // namespace ns3::gradsync
