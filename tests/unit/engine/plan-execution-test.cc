// SPDX-License-Identifier: GPL-2.0-only
#include "oracles/oracle-network.h"
#include "support/picosecond-clock.h"

#include "ns3/all-reduce-bound.h"
#include "ns3/double.h"
#include "ns3/exchange-application.h"
#include "ns3/execution-table.h"
#include "ns3/fluid-transport.h"
#include "ns3/plan-builder.h"
#include "ns3/plan-execution.h"
#include "ns3/plan-protocol.h"
#include "ns3/scheme.h"
#include "ns3/simulator.h"

#include <algorithm>
#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace ns3::gradsync
{
namespace
{

using testing::ElementsAre;

/// Keeps what is told of one execution, and frees it when it has ended.
class Follower final : public PlanExecution::Listener
{
  public:
    void OnRankEnded(PlanExecution& /* execution */, uint32_t rank) override
    {
        EXPECT_FALSE(end.has_value()) << "rank " << rank << " ends after the whole";
        EXPECT_TRUE(ends.emplace(rank, Simulator::Now()).second) << "rank " << rank << " again";
    }

    void OnEnded(PlanExecution& /* execution */) override
    {
        EXPECT_FALSE(end.has_value());
        end = Simulator::Now();
        execution.reset();
        if (next)
        {
            next();
        }
    }

    void OnTransferDelivered(PlanExecution& of, OperationId id, uint64_t moved) override
    {
        sent[id] = of.GetLedger().GetSentAt(id);
        delivered[id] = Simulator::Now();
        EXPECT_EQ(moved, of.GetPlan().GetBytes(id));
        bytes += moved;
    }

    void OnTransferFailed(PlanExecution& /* execution */,
                          OperationId id,
                          const std::string& reason) override
    {
        ADD_FAILURE() << id << ": " << reason;
    }

    void OnSumWrong(PlanExecution& /* execution */,
                    OperationId id,
                    const std::string& reason) override
    {
        ADD_FAILURE() << id << ": " << reason;
    }

    /// [rank]
    std::vector<Time> ListEnds() const
    {
        std::vector<Time> list;
        for (const auto& [rank, time] : ends)
        {
            list.push_back(time);
        }
        return list;
    }

    std::unique_ptr<PlanExecution> execution;
    std::function<void()> next; //!< called when it has ended
    std::map<uint32_t, Time> ends;
    std::optional<Time> end;
    std::map<OperationId, Time> sent;
    std::map<OperationId, Time> delivered;
    uint64_t bytes{0};
};

/// Hosts below one switch, a byte a microsecond each way, no delays.
class PlanExecutionTest : public testing::Test
{
  protected:
    static void SetUpTestSuite()
    {
        tests::UsePicoseconds();
    }

    void TearDown() override
    {
        for (const auto& rank : m_ranks)
        {
            rank->Dispose();
        }
        Simulator::Destroy();
    }

    void MakeRanks(uint32_t count)
    {
        m_network =
            oracles::MakeRackNetwork(1, count, {DataRate("8Mbps"), DataRate("8Mbps"), Time(0)});
        m_transport = CreateObject<FluidTransport>();
        m_transport->Install(m_network.topology, m_network.routes);
        for (uint32_t rank = 0; rank < count; ++rank)
        {
            m_ranks.push_back(CreateObject<ExchangeApplication>());
            m_ranks.back()->Attach({rank, rank, m_transport, &m_executions, nullptr}, nullptr);
        }
    }

    static std::shared_ptr<const Plan> MakePlan(
        const std::string& name,
        uint32_t workers,
        uint64_t bytes,
        const std::map<std::string, ParameterValue>& parameters = {})
    {
        const auto* scheme = FindScheme(name);
        SchemeRequest request;
        request.workers = workers;
        request.gradientBytes = bytes;
        request.groups = oracles::MakeRackGroups(1, workers, 1);
        request.parameters = MakeDefaultParameters(*scheme);
        for (const auto& [key, value] : parameters)
        {
            request.parameters.Set(key, value);
        }
        return std::make_shared<const Plan>(scheme->build(request));
    }

    /// Of a plan whose rank i is rank first + i here, all ranks in `starts` from now on.
    void Execute(Follower& follower,
                 std::shared_ptr<const Plan> plan,
                 const std::vector<Time>& starts,
                 uint32_t firstStream = 0,
                 uint32_t first = 0)
    {
        PlanExecution::Setup setup;
        for (uint32_t rank = 0; rank < plan->GetRankCount(); ++rank)
        {
            setup.ranks.push_back(PeekPointer(m_ranks[first + rank]));
        }
        setup.plan = std::move(plan);
        setup.firstStream = firstStream;
        setup.keepsTimes = true;
        setup.tellsRanks = true;
        follower.execution =
            std::make_unique<PlanExecution>(m_executions, follower, std::move(setup));
        for (uint32_t rank = 0; rank < starts.size(); ++rank)
        {
            Simulator::Schedule(starts[rank], [&follower, rank] {
                if (follower.execution)
                {
                    follower.execution->Start(rank);
                }
            });
        }
    }

    oracles::RackNetwork m_network;
    Ptr<FluidTransport> m_transport;
    ExecutionTable m_executions;
    std::vector<Ptr<ExchangeApplication>> m_ranks;
};

const std::vector<Time> AT_ONCE(2, Time(0));

/// 0 sends 1000 bytes to 1.
std::shared_ptr<const Plan>
MakeOneCopy()
{
    PlanBuilder builder(2, 2, ChunkLayout::Even(1000, 1));
    builder.AddCopy(0, 1, 0, 1);
    return std::make_shared<const Plan>(builder.Build());
}

TEST_F(PlanExecutionTest, TwoAtOnceOnOneConnectionFollowEachOther)
{
    MakeRanks(2);
    Follower first;
    Follower second;
    Execute(first, MakeOneCopy(), AT_ONCE);
    Execute(second, MakeOneCopy(), AT_ONCE);
    Simulator::Run();
    EXPECT_EQ(first.end, MicroSeconds(1000));
    EXPECT_EQ(second.end, MicroSeconds(2000));
}

TEST_F(PlanExecutionTest, TwoAtOnceOnStreamsOfTheirOwnShareTheLink)
{
    MakeRanks(2);
    Follower first;
    Follower second;
    const auto plan = MakeOneCopy();
    Execute(first, plan, AT_ONCE, 0);
    Execute(second, plan, {MicroSeconds(500), MicroSeconds(500)}, 1);
    Simulator::Run();
    // The first has half of its bytes through at 500 us, the other half at half the rate by 1500
    // us; by then half of the second is through, the rest has the link to itself.
    EXPECT_EQ(first.end, MicroSeconds(1500));
    EXPECT_EQ(second.end, MicroSeconds(2000));
    EXPECT_THAT(second.ListEnds(), ElementsAre(MicroSeconds(2000), MicroSeconds(2000)));
}

TEST_F(PlanExecutionTest, TwoRingsAtOnceOnTheSameRanksTakeTwiceTheTime)
{
    // 4 ranks, 4000 bytes: 6 steps of 1000 bytes, each of which takes twice as long at half the
    // rate.
    MakeRanks(4);
    const auto plan = MakePlan("ring", 4, 4000);
    const std::vector<Time> starts(4);
    Follower alone;
    Execute(alone, plan, starts);
    Simulator::Run();
    EXPECT_EQ(alone.end, MicroSeconds(6000));
    Follower first;
    Follower second;
    Execute(first, plan, starts, 0);
    Execute(second, plan, starts, 1);
    Simulator::Run();
    for (const auto* follower : {&first, &second})
    {
        EXPECT_EQ(follower->end, MicroSeconds(6000 + 12000));
        EXPECT_EQ(follower->bytes, 2U * 3 * 4000);
    }
}

TEST_F(PlanExecutionTest, ALateRankOfARingDelaysWhatDependsOnItOnly)
{
    // 3 ranks, 3000 bytes: 4 steps of 1000 bytes; what rank i sends in step t has reached it in
    // step t - 1. Rank 2 starts at 1700 us.
    MakeRanks(3);
    Follower follower;
    Execute(follower, MakePlan("ring", 3, 3000), {Time(0), Time(0), MicroSeconds(1700)});
    Simulator::Run();
    const std::vector<int64_t> ends{
        // 0 -> 1 and 1 -> 2 go at once: rank 2 receives before it starts. 2 -> 0 with its start.
        1000,
        1000,
        2700,
        // 1 -> 2 needs 0 -> 1 only, and is not late. 0 -> 1 needs 2 -> 0. 2 -> 0 has what it needs
        // since 1000 us, but its connection is busy until 2700 us.
        3700,
        2000,
        3700,
        // 2 -> 0 has what it needs since 2000 us, likewise. The others need step 1 of 2 -> 0 and of
        // 0 -> 1.
        4700,
        4700,
        4700,
        5700,
        5700,
        5700};
    ASSERT_EQ(follower.delivered.size(), ends.size());
    for (OperationId id = 0; id < ends.size(); ++id)
    {
        EXPECT_EQ(follower.delivered[id], MicroSeconds(ends[id])) << id;
    }
    EXPECT_EQ(follower.sent[5], MicroSeconds(1700)); // waits for rank 2, not for its data
    EXPECT_EQ(follower.sent[4], MicroSeconds(1000));
    EXPECT_EQ(follower.end, MicroSeconds(5700));
}

TEST_F(PlanExecutionTest, ALateRankTakesTheBaseOfItsProtocolAfterItsOwnStart)
{
    // 2 ranks, 2000 bytes, 1000 us a step; 300 us before the first message of a rank and 50 us
    // after each. Rank 1 starts at 700 us, and so sends from 1000 us on. Rank 0 has that at 2050
    // us, and its second message is there at 3100 us. Rank 1 has had what it sends second since
    // 1350 us, but its connection is busy until 2000 us: 3050 us.
    MakeRanks(2);
    const MessageProtocol protocol{300'000'000, 1, 50'000'000, 1.0};
    const auto plan =
        std::make_shared<const Plan>(ApplyProtocol(*MakePlan("ring", 2, 2000), protocol, {0, 1}));
    Follower follower;
    Execute(follower, plan, {Time(0), MicroSeconds(700)});
    Simulator::Run();
    const std::vector<int64_t> ends{1350, 2050, 3100, 3050};
    for (OperationId id = 0; id < ends.size(); ++id)
    {
        EXPECT_EQ(follower.delivered[id], MicroSeconds(ends[id])) << id;
    }
    EXPECT_EQ(follower.sent[0], MicroSeconds(300));
    EXPECT_EQ(follower.sent[1], MicroSeconds(1000));
    EXPECT_EQ(follower.end, MicroSeconds(3100));
    EXPECT_THAT(follower.ListEnds(), ElementsAre(MicroSeconds(3100), MicroSeconds(3100)));
}

TEST_F(PlanExecutionTest, ARankThatWithdrawsBeforeItsFirstMessageSendsNone)
{
    MakeRanks(2);
    const MessageProtocol protocol{300'000'000, 0, 0, 1.0};
    const auto plan =
        std::make_shared<const Plan>(ApplyProtocol(*MakePlan("ring", 2, 2000), protocol, {0, 1}));
    Follower follower;
    Execute(follower, plan, {Time(0), Time(0)});
    Simulator::Schedule(MicroSeconds(299), [&follower] { follower.execution->Withdraw(1); });
    Simulator::Run();
    EXPECT_EQ(follower.delivered.size(), 1U); // of rank 0
    EXPECT_EQ(follower.delivered[0], MicroSeconds(1300));
    EXPECT_FALSE(follower.end.has_value());
}

TEST_F(PlanExecutionTest, OneThatIsHaltedBeforeItsFirstMessageDoesNotEnd)
{
    // Its ranks would have nothing to do but to meet, at 300 us.
    MakeRanks(2);
    PlanBuilder meeting(2, 2, ChunkLayout::Even(4, 1));
    meeting.AddJoin(0);
    const auto plan = std::make_shared<const Plan>(
        ApplyProtocol(meeting.Build(), {300'000'000, 0, 0, 1.0}, {0, 1}));
    for (const bool isHalted : {false, true})
    {
        Follower follower;
        Execute(follower, plan, AT_ONCE);
        Simulator::Schedule(MicroSeconds(100), [&] {
            if (isHalted)
            {
                follower.execution->Halt();
            }
        });
        Simulator::Run();
        EXPECT_EQ(follower.end.has_value(), !isHalted);
    }
}

TEST_F(PlanExecutionTest, AnExecutionThatIsGoneHearsOfNoHop)
{
    // Freed while its only message is between its last byte, at 1000 us, and the end of its hop.
    MakeRanks(2);
    const MessageProtocol protocol{0, 0, 100'000'000, 1.0};
    const auto plan = std::make_shared<const Plan>(ApplyProtocol(*MakeOneCopy(), protocol, {0, 1}));
    Follower follower;
    Execute(follower, plan, AT_ONCE);
    Simulator::Schedule(MicroSeconds(1050), [&follower] { follower.execution.reset(); });
    Simulator::Run();
    EXPECT_TRUE(follower.delivered.empty());
    EXPECT_EQ(Simulator::Now(), MicroSeconds(1100));
}

TEST_F(PlanExecutionTest, RanksOfAChainEndOneAfterTheOther)
{
    // Each ends when what it sends is delivered, the last one with what it receives.
    MakeRanks(4);
    Follower follower;
    Execute(follower,
            MakePlan("broadcast", 4, 1000, {{"pipelineChunks", int64_t{1}}}),
            std::vector<Time>(4));
    Simulator::Run();
    EXPECT_THAT(follower.ListEnds(),
                ElementsAre(MicroSeconds(1000),
                            MicroSeconds(2000),
                            MicroSeconds(3000),
                            MicroSeconds(3000)));
    EXPECT_EQ(follower.end, MicroSeconds(3000));
}

TEST_F(PlanExecutionTest, RanksOfABinomialTreeEndWithTheirOwnPart)
{
    // 0 -> 4 until 1000 us, 0 -> 2 and 4 -> 5 until 2000 us, 0 -> 1 and 2 -> 3 until 3000 us.
    MakeRanks(6);
    Follower follower;
    Execute(follower,
            MakePlan("broadcast",
                     6,
                     1000,
                     {{"pipelineChunks", int64_t{1}}, {"algorithm", std::string("binomial")}}),
            std::vector<Time>(6));
    Simulator::Run();
    EXPECT_THAT(follower.ListEnds(),
                ElementsAre(MicroSeconds(3000),
                            MicroSeconds(3000),
                            MicroSeconds(3000),
                            MicroSeconds(3000),
                            MicroSeconds(2000),
                            MicroSeconds(2000)));
}

TEST_F(PlanExecutionTest, DataWaitForARankThatHasNotStarted)
{
    // The chain above. Rank 2 has its data at 2000 us, but sends from 5000 us on; rank 3 has them
    // at 6000 us and ends with its start.
    MakeRanks(4);
    Follower follower;
    Execute(follower,
            MakePlan("broadcast", 4, 1000, {{"pipelineChunks", int64_t{1}}}),
            {Time(0), Time(0), MicroSeconds(5000), MicroSeconds(9000)});
    Simulator::Run();
    EXPECT_THAT(follower.ListEnds(),
                ElementsAre(MicroSeconds(1000),
                            MicroSeconds(2000),
                            MicroSeconds(6000),
                            MicroSeconds(9000)));
    EXPECT_EQ(follower.end, MicroSeconds(9000));
}

TEST_F(PlanExecutionTest, ASenderEndsBeforeItsReceiverHasAdded)
{
    // 1 sends 1000 bytes to 0, which adds a byte in 0.25 us.
    MakeRanks(2);
    m_ranks[0]->SetAttribute("ReduceSecondsPerByte", DoubleValue(0.25e-6));
    PlanBuilder builder(2, 2, ChunkLayout::Even(1000, 1));
    builder.AddReduce(1, 0, 0, 1);
    Follower follower;
    Execute(follower, std::make_shared<const Plan>(builder.Build()), AT_ONCE);
    Simulator::Run();
    EXPECT_THAT(follower.ListEnds(), ElementsAre(MicroSeconds(1250), MicroSeconds(1000)));
}

TEST_F(PlanExecutionTest, ExecutionsOfARankComputeOneAfterTheOther)
{
    // Both arrive at 2000 us, each having had half of the link of rank 0; they are added in turn.
    MakeRanks(3);
    m_ranks[0]->SetAttribute("ReduceSecondsPerByte", DoubleValue(0.25e-6));
    PlanBuilder builder(3, 3, ChunkLayout::Even(1000, 1));
    builder.AddReduce(1, 0, 0, 1);
    const auto plan = std::make_shared<const Plan>(builder.Build());
    Follower first;
    Follower second;
    Execute(first, plan, std::vector<Time>(3), 0);
    Execute(second, plan, std::vector<Time>(3), 1);
    Simulator::Run();
    EXPECT_EQ(first.end, MicroSeconds(2250));
    EXPECT_EQ(second.end, MicroSeconds(2500));
}

TEST_F(PlanExecutionTest, OneMayBeStartedWhereAnotherEnds)
{
    MakeRanks(4);
    const auto plan = MakePlan("ring", 4, 4000);
    std::vector<Follower> followers(5);
    for (size_t i = 0; i < followers.size(); ++i)
    {
        followers[i].next = [&, i] {
            if (i + 1 < followers.size())
            {
                Execute(followers[i + 1], plan, std::vector<Time>(4));
            }
        };
    }
    Execute(followers[0], plan, std::vector<Time>(4));
    Simulator::Run();
    EXPECT_EQ(followers.back().end, MicroSeconds(6000) * 5);
}

TEST_F(PlanExecutionTest, WhatIsLeftOfOneThatIsGoneReachesNoOther)
{
    // Destroyed with a message under way, which keeps the connection until 1000 us: the next one on
    // it is delivered, and counted, after that.
    MakeRanks(2);
    Follower gone;
    Follower next;
    Execute(gone, MakeOneCopy(), AT_ONCE);
    Simulator::Schedule(MicroSeconds(400), [&] {
        gone.execution.reset();
        Execute(next, MakeOneCopy(), AT_ONCE);
    });
    Simulator::Run();
    EXPECT_FALSE(gone.end.has_value());
    EXPECT_TRUE(gone.delivered.empty());
    EXPECT_EQ(next.bytes, 1000U);
    EXPECT_EQ(next.end, MicroSeconds(2000));
}

TEST_F(PlanExecutionTest, OneThatIsHaltedSendsNothingMore)
{
    MakeRanks(4);
    Follower follower;
    Execute(follower,
            MakePlan("broadcast", 4, 1000, {{"pipelineChunks", int64_t{1}}}),
            std::vector<Time>(4));
    Simulator::Schedule(MicroSeconds(1500), [&] { follower.execution->Halt(); });
    Simulator::Run();
    // 0 -> 1 is through, 1 -> 2 under way; 2 -> 3 is not sent.
    EXPECT_FALSE(follower.end.has_value());
    EXPECT_EQ(follower.bytes, 2000U);
    EXPECT_THAT(follower.ListEnds(), ElementsAre(MicroSeconds(1000), MicroSeconds(2000)));
    EXPECT_EQ(follower.execution->GetLedger().GetLeft(), 1U);
    follower.execution.reset();
}

TEST(ExecutionTable, NeverGivesANumberTwice)
{
    struct Nobody final : OperationObserver
    {
        void OnDelivered(OperationId /* id */) override
        {
        }

        void OnComputed(OperationId /* id */) override
        {
        }

        void OnTrained(OperationId /* id */, uint32_t /* rank */, const Time& /* since */) override
        {
        }

        void OnSkipped(OperationId /* id */) override
        {
        }

        void OnFailed(OperationId /* id */, const std::string& /* reason */) override
        {
        }

        void OnWrongSum(OperationId /* id */, const std::string& /* reason */) override
        {
        }
    };

    std::mt19937 random(7);
    ExecutionTable table;
    std::map<uint32_t, Nobody> live;
    uint32_t last = 0;
    EXPECT_EQ(table.Find(ExecutionTable::MakeTag(0, 0)), nullptr);
    for (int i = 0; i < 1000; ++i)
    {
        auto observer = std::make_unique<Nobody>();
        const auto number = table.Add(*observer);
        table.Replace(number, live[number]);
        EXPECT_TRUE(i == 0 || number > last);
        last = number;
        const auto victim = live.lower_bound(random() % (number + 1));
        if (random() % 2 == 0 && victim != live.end())
        {
            const auto removed = victim->first;
            EXPECT_EQ(table.Find(ExecutionTable::MakeTag(removed, 3)), &victim->second);
            live.erase(victim);
            table.Remove(removed);
            EXPECT_EQ(table.Find(ExecutionTable::MakeTag(removed, 3)), nullptr);
        }
        for (auto& [alive, expected] : live)
        {
            ASSERT_EQ(table.Find(ExecutionTable::MakeTag(alive, random())), &expected);
        }
    }
}

/// What holds of every plan, size and order of starts.
class PlanExecutionLaw : public PlanExecutionTest
{
  protected:
    /// A scheme, a number of ranks from 2 to 9, a size that chunks need not divide, and starts.
    struct Case
    {
        std::string scheme;
        uint32_t workers;
        uint64_t bytes;
        std::vector<Time> starts;
    };

    Case DrawCase()
    {
        const std::vector<std::string> schemes{"ring",
                                               "halving-doubling",
                                               "k-nomial",
                                               "double-binary-tree",
                                               "ps",
                                               "all-gather",
                                               "reduce-scatter",
                                               "broadcast",
                                               "all-to-all"};
        Case drawn;
        drawn.scheme = schemes[Draw(0, schemes.size() - 1)];
        drawn.workers = Draw(2, 9);
        drawn.bytes = 4 * Draw(1, 5000);
        for (uint32_t rank = 0; rank < drawn.workers; ++rank)
        {
            // Some at once, some in the midst of it, some after all others are done.
            drawn.starts.push_back(PicoSeconds(Draw(0, 2) == 0 ? 0 : Draw(0, 50'000'000'000)));
        }
        return drawn;
    }

    uint64_t Draw(uint64_t least, uint64_t most)
    {
        return least + m_random() % (most - least + 1);
    }

    void Reset()
    {
        TearDown();
        m_ranks.clear();
        m_executions = ExecutionTable();
    }

    /// Runs one alone. \param delay of all starts
    void Run(Follower& follower, const Case& drawn, const Time& delay = Time(0))
    {
        Reset();
        const auto plan = MakePlan(drawn.scheme, drawn.workers, drawn.bytes);
        MakeRanks(plan->GetRankCount());
        auto starts = drawn.starts;
        starts.resize(plan->GetRankCount()); // servers at once
        for (auto& start : starts)
        {
            start += delay;
        }
        Execute(follower, plan, starts);
        Simulator::Run();
    }

    std::mt19937_64 m_random{17};
};

TEST_F(PlanExecutionLaw, NoneEndsBeforeTheBound)
{
    for (int i = 0; i < 60; ++i)
    {
        auto drawn = DrawCase();
        const std::vector<std::string> allReduces{"ring", "halving-doubling", "k-nomial"};
        drawn.scheme = allReduces[i % allReduces.size()];
        Follower follower;
        Run(follower, drawn);
        ASSERT_TRUE(follower.end.has_value()) << drawn.scheme;
        // From the first start on as any all-reduce of that many; from the last start on the
        // gradient of that rank must leave it, a microsecond a byte.
        std::vector<uint32_t> endpoints(drawn.workers);
        std::iota(endpoints.begin(), endpoints.end(), 0U);
        const auto bound =
            ComputeAllReduceBound(*m_network.topology, endpoints, drawn.workers, drawn.bytes);
        const auto [first, last] = std::minmax_element(drawn.starts.begin(), drawn.starts.end());
        const auto end = follower.end->GetSeconds();
        EXPECT_GE(end, (first->GetSeconds() + bound) * (1 - 1e-12)) << drawn.scheme;
        EXPECT_GE(end, (last->GetSeconds() + 1e-6 * drawn.bytes) * (1 - 1e-12)) << drawn.scheme;
    }
}

TEST_F(PlanExecutionLaw, RanksEndOnceAfterTheirStartAndTheLastWithTheWhole)
{
    for (int i = 0; i < 100; ++i)
    {
        const auto drawn = DrawCase();
        Follower follower;
        Run(follower, drawn);
        ASSERT_TRUE(follower.end.has_value()) << drawn.scheme;
        const auto ends = follower.ListEnds();
        ASSERT_EQ(ends.size(), m_ranks.size()) << drawn.scheme;
        for (uint32_t rank = 0; rank < drawn.workers; ++rank)
        {
            EXPECT_GE(ends[rank], drawn.starts[rank]) << drawn.scheme << ", rank " << rank;
        }
        EXPECT_EQ(*std::max_element(ends.begin(), ends.end()), *follower.end) << drawn.scheme;
    }
}

TEST_F(PlanExecutionLaw, EqualDelaysOfAllStartsDelayEverythingAsMuch)
{
    for (int i = 0; i < 100; ++i)
    {
        const auto drawn = DrawCase();
        Follower early;
        Run(early, drawn);
        const auto delay = PicoSeconds(Draw(0, 1'000'000'000'000));
        Follower late;
        Run(late, drawn, delay);
        ASSERT_TRUE(early.end.has_value() && late.end.has_value()) << drawn.scheme;
        EXPECT_EQ(*early.end + delay, *late.end) << drawn.scheme;
        ASSERT_EQ(early.delivered.size(), late.delivered.size());
        for (const auto& [id, time] : early.delivered)
        {
            ASSERT_EQ(time + delay, late.delivered[id]) << drawn.scheme << ", operation " << id;
        }
        for (uint32_t rank = 0; rank < drawn.workers; ++rank)
        {
            EXPECT_EQ(early.ends[rank] + delay, late.ends[rank]) << drawn.scheme;
        }
    }
}

TEST_F(PlanExecutionLaw, ManyAtOnceEndEachWithItsOwnBytes)
{
    for (int round = 0; round < 10; ++round)
    {
        Reset();
        MakeRanks(12);
        std::vector<Follower> followers(40);
        std::vector<uint64_t> bytes;
        for (auto& follower : followers)
        {
            const auto drawn = DrawCase();
            const auto plan = MakePlan(drawn.scheme, drawn.workers, drawn.bytes);
            bytes.push_back(0);
            for (OperationId id = 0; id < plan->GetOperations().size(); ++id)
            {
                bytes.back() += plan->GetOperations()[id].IsTransfer() ? plan->GetBytes(id) : 0;
            }
            auto starts = drawn.starts;
            starts.resize(plan->GetRankCount());
            // Some on each other's connections, some beside them.
            const auto which = static_cast<uint32_t>(Draw(0, 3));
            const auto first = Draw(0, m_ranks.size() - plan->GetRankCount());
            Execute(follower, plan, starts, which, static_cast<uint32_t>(first));
        }
        Simulator::Run();
        for (uint32_t i = 0; i < followers.size(); ++i)
        {
            EXPECT_TRUE(followers[i].end.has_value()) << i;
            EXPECT_EQ(followers[i].bytes, bytes[i]) << i;
        }
    }
}

} // namespace
} // namespace ns3::gradsync
