// SPDX-License-Identifier: GPL-2.0-only
/*
 * Random scenarios (topology, scheme, transport, faults drawn by seed): each must end, in a whole
 * exchange or in a named error. A failing seed is printed; GRADSYNC_CHAOS_SEED=N repeats it alone.
 */
#include "scenario/chaos-scenarios.h"

#include "ns3/plan-verifier.h"
#include "ns3/plan.h"
#include "ns3/scenario-error.h"
#include "ns3/scenario-reader.h"
#include "ns3/scenario-runner.h"
#include "ns3/time-resolution.h"

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace ns3::gradsync
{

namespace
{

using tests::DrawScenario;
using tests::DrawTcpScenario;

constexpr uint32_t CHAOS_SEEDS = 300;
constexpr uint32_t TCP_SEEDS = 48;

/// What was delivered of one iteration, and when.
struct Deliveries
{
    std::vector<uint32_t> count; //!< [operation]
    std::vector<Time> start;
    std::vector<Time> end;
};

/// Of the only job: (iteration, plan) -> what was delivered.
using AllDeliveries = std::map<std::pair<uint32_t, uint32_t>, Deliveries>;

AllDeliveries
SortDeliveries(const RunResult& result)
{
    AllDeliveries deliveries;
    for (const auto& record : result.transfers)
    {
        const auto operations = result.jobs[0].plans[record.plan].plan->GetOperations().size();
        const auto [found, isNew] = deliveries.try_emplace({record.iteration, record.plan});
        auto& part = found->second;
        if (isNew)
        {
            part = {std::vector<uint32_t>(operations),
                    std::vector<Time>(operations),
                    std::vector<Time>(operations)};
        }
        ++part.count[record.operation];
        part.start[record.operation] = record.start;
        part.end[record.operation] = record.end;
    }
    return deliveries;
}

/// No transfer began before all that the plan puts before it was at its receiver.
bool
IsInOrder(const Plan& plan, const Deliveries& iteration)
{
    auto waiting = plan.CountPredecessors();
    std::vector<Time> ready(waiting.size());
    std::vector<OperationId> next;
    for (OperationId id = 0; id < waiting.size(); ++id)
    {
        if (waiting[id] == 0)
        {
            next.push_back(id);
        }
    }
    bool inOrder = true;
    while (!next.empty())
    {
        const auto id = next.back();
        next.pop_back();
        const bool isTransfer = plan.GetOperations()[id].IsTransfer();
        inOrder = inOrder && (!isTransfer || iteration.start[id] >= ready[id]);
        const auto done = isTransfer ? iteration.end[id] : ready[id];
        for (const auto successor : plan.GetSuccessors(id))
        {
            ready[successor] = std::max(ready[successor], done);
            if (--waiting[successor] == 0)
            {
                next.push_back(successor);
            }
        }
    }
    return inOrder;
}

/// The deliveries that an executed plan speaks of: of a part of a plan, those of its operations.
Deliveries
FindDeliveries(const ExecutedPlan& executed, uint32_t plan, uint32_t iteration, AllDeliveries& all)
{
    if (!executed.whole)
    {
        auto& last = all[{iteration, plan}];
        const auto operations = executed.plan->GetOperations().size();
        last.count.resize(operations);
        last.start.resize(operations);
        last.end.resize(operations);
        return last;
    }
    const auto& whole = all[{iteration, *executed.whole}];
    Deliveries last;
    for (const auto id : executed.operations)
    {
        last.count.push_back(whole.count.at(id));
        last.start.push_back(whole.start.at(id));
        last.end.push_back(whole.end.at(id));
    }
    return last;
}

/**
 * A finished iteration executed every transfer of the plan that ended it, once and in order. The
 * verifier passed that plan: all its workers then hold what it is of with the contributions of all
 * of them, each once. It is of the whole gradient, or of what others did not deliver before.
 */
void
ExpectWhole(const RunResult& result)
{
    const auto& plans = result.jobs[0].plans;
    auto deliveries = SortDeliveries(result);
    uint64_t bytes = 0;
    bool isAwaited = true; // whether all iterations waited for all
    for (const auto& record : result.iterations)
    {
        const auto& plan = *plans[record.plan].plan;
        const auto operations = plan.GetOperations();
        const auto last =
            FindDeliveries(plans[record.plan], record.plan, record.iteration, deliveries);
        isAwaited = isAwaited && !plans[record.plan].whole;
        for (OperationId id = 0; id < operations.size(); ++id)
        {
            ASSERT_EQ(last.count[id], operations[id].IsTransfer() ? 1U : 0U) << "operation " << id;
            // Of a reduction in the network only its root gets anything.
            const bool gets = operations[id].kind == OperationKind::Aggregate
                                  ? plan.GetsFromAggregation(operations[id])
                                  : operations[id].IsTransfer();
            bytes += gets ? plan.GetBytes(id) : 0;
        }
        EXPECT_TRUE(IsInOrder(plan, last));
        EXPECT_TRUE(PlanVerifier().Verify(plan).ok);
    }
    if (result.reactions.empty() && isAwaited)
    {
        EXPECT_EQ(result.summary.goodputBytes, bytes);
    }
    EXPECT_GE(result.summary.goodputBytes, bytes);
}

/// Bytes of the chunks of which somebody who is not lost was not given all that a plan has for it.
uint64_t
CountMissing(const ExecutedPlan& executed,
             const std::vector<uint32_t>& count,
             const std::set<uint32_t>& lost)
{
    const auto operations = executed.plan->GetOperations();
    const auto& layout = executed.plan->GetLayout();
    std::vector<bool> missing(layout.GetChunkCount(), false);
    for (OperationId id = 0; id < operations.size(); ++id)
    {
        const auto& operation = operations[id];
        EXPECT_LE(count[id], 1U);
        if (operation.IsTransfer() && count[id] == 0 &&
            !lost.contains(executed.ranks[operation.dst]))
        {
            std::fill_n(missing.begin() + operation.firstChunk, operation.chunkCount, true);
        }
    }
    uint64_t bytes = 0;
    for (uint32_t chunk = 0; chunk < missing.size(); ++chunk)
    {
        bytes += missing[chunk] ? layout.GetBytes(chunk, 1) : 0;
    }
    return bytes;
}

/// A reaction leaves out only chunks of which every survivor was given all that the plan before had
/// for it, and tells how many go on: those of the plan that are not lost, without switches the
/// workers among them.
void
ExpectNothingForgotten(const RunResult& result)
{
    const auto& plans = result.jobs[0].plans;
    auto deliveries = SortDeliveries(result);
    std::map<uint32_t, std::set<uint32_t>> lostIn; // [iteration]
    for (const auto& reaction : result.reactions)
    {
        const auto& executed = plans[reaction.plan];
        if (executed.plan->GetGate())
        {
            continue; // nothing is exchanged anew
        }
        auto& lost = lostIn[reaction.iteration];
        if (reaction.kind == ReactionKind::Replan)
        {
            lost.insert(reaction.rank);
        }
        const auto workers = reaction.kind == ReactionKind::Fallback
                                 ? plans[0].plan->GetWorkerCount()
                                 : plans[0].plan->GetRankCount();
        EXPECT_EQ(reaction.survivors, std::ranges::count_if(executed.ranks, [&](uint32_t rank) {
                      return rank < workers && !lost.contains(rank);
                  }));
        if (reaction.kind == ReactionKind::Rebuild)
        {
            continue; // nor here
        }
        auto& count = deliveries[{reaction.iteration, reaction.plan}].count;
        count.resize(executed.plan->GetOperations().size());
        EXPECT_GE(reaction.bytes, CountMissing(executed, count, lost));
    }
}

void
ExpectNamedError(const RunResult& result)
{
    EXPECT_THAT(result.summary.failure, testing::HasSubstr("job \"job0\", iteration"));
    EXPECT_THAT(result.summary.failure, testing::HasSubstr("operations are not done"));
    for (const auto& [key, part] : SortDeliveries(result))
    {
        EXPECT_LE(*std::max_element(part.count.begin(), part.count.end()), 1U);
    }
}

/// How the runs ended.
struct Outcomes
{
    uint32_t finished{0};
    uint32_t reacted{0}; //!< of these, after the loss of a host
};

/// Runs one; false when it is refused, as schemes do with too few workers.
bool
RunOne(uint32_t seed, const Json& drawn, Outcomes& outcomes)
{
    const auto text = drawn.dump(2);
    SCOPED_TRACE(fmt::format("GRADSYNC_CHAOS_SEED={}\n{}", seed, text));
    const auto scenario = ParseScenario(text, "chaos.json", {});
    ResolvedRun run;
    try
    {
        run = ResolveRun(scenario, 0);
        CheckRun(run, true);
    }
    catch (const ScenarioError&)
    {
        return false;
    }
    const auto result = RunScenario(run, {});
    EXPECT_EQ(result.summary.aggregation.wrongSums, 0U);
    if (result.summary.finished)
    {
        ++outcomes.finished;
        outcomes.reacted += result.reactions.empty() ? 0 : 1;
        ExpectWhole(result);
        ExpectNothingForgotten(result);
    }
    else
    {
        ExpectNamedError(result);
    }
    if (seed % 16 == 0)
    {
        const auto again = RunScenario(run, {});
        EXPECT_EQ(again.summary.events, result.summary.events);
        EXPECT_EQ(again.duration, result.duration);
        EXPECT_EQ(again.summary.failure, result.summary.failure);
    }
    return true;
}

TEST(Chaos, EndsInAWholeExchangeOrANamedError)
{
    UsePicoseconds();
    Outcomes outcomes;
    if (const char* only = std::getenv("GRADSYNC_CHAOS_SEED"))
    {
        const auto seed = static_cast<uint32_t>(std::strtoul(only, nullptr, 10));
        EXPECT_TRUE(RunOne(seed, DrawScenario(seed), outcomes));
        return;
    }
    uint32_t ran = 0;
    for (uint32_t seed = 0; seed < CHAOS_SEEDS && !HasFailure(); ++seed)
    {
        ran += RunOne(seed, DrawScenario(seed), outcomes) ? 1 : 0;
    }
    // Else the test would look at nothing: most run, many live through their faults, some do not.
    EXPECT_GE(ran, CHAOS_SEEDS / 2);
    EXPECT_GE(outcomes.finished, ran / 3);
    EXPECT_LT(outcomes.finished, ran);
    EXPECT_GE(outcomes.reacted, 5U);
}

TEST(Chaos, EndsInAWholeExchangeOrANamedErrorOnTcpToo)
{
    UsePicoseconds();
    Outcomes outcomes;
    if (const char* only = std::getenv("GRADSYNC_CHAOS_SEED"))
    {
        const auto seed = static_cast<uint32_t>(std::strtoul(only, nullptr, 10));
        EXPECT_TRUE(RunOne(seed, DrawTcpScenario(seed), outcomes));
        return;
    }
    uint32_t ran = 0;
    for (uint32_t seed = 0; seed < TCP_SEEDS && !HasFailure(); ++seed)
    {
        ran += RunOne(seed, DrawTcpScenario(seed), outcomes) ? 1 : 0;
    }
    EXPECT_GE(ran, TCP_SEEDS / 2);
    EXPECT_GE(outcomes.finished, ran / 3);
    EXPECT_LT(outcomes.finished, ran);
}

} // namespace

} // namespace ns3::gradsync
