// SPDX-License-Identifier: GPL-2.0-only
#include "support/training-specs.h"
#include "support/workload-fixture.h"

#include "ns3/iteration-breakdown.h"
#include "ns3/plan-shelf.h"
#include "ns3/training-workload.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <random>
#include <set>
#include <vector>

namespace ns3::gradsync
{
namespace
{

using tests::Choose;
using tests::MakeBlock;
using tests::MakePipeline;
using tests::MICROSECOND;

TEST(TimeSpans, CoverWhatAnyOfTheirIntervalsCovers)
{
    const TimeSpans spans({{30, 40}, {0, 10}, {5, 12}, {12, 15}, {20, 20}, {35, 38}});
    EXPECT_EQ(spans.GetSpans(), (std::vector<TimeSpans::Span>{{0, 15}, {30, 40}}));
    EXPECT_EQ(spans.GetTotal(), TimeStep(25));
    EXPECT_EQ(spans.GetOverlap({14, 31}), TimeStep(2));
    EXPECT_EQ(spans.GetOverlap({31, 14}), TimeStep(0));
    EXPECT_EQ(TimeSpans().GetTotal(), TimeStep(0));
}

// Moment by moment.
TEST(TimeSpans, OverlapAsTheirMomentsDo)
{
    std::mt19937_64 random{21};
    const auto draw = [&random] {
        std::vector<TimeSpans::Span> intervals(random() % 8);
        for (auto& [begin, end] : intervals)
        {
            begin = static_cast<int64_t>(random() % 50);
            end = begin + static_cast<int64_t>(random() % 12);
        }
        return intervals;
    };
    const auto list = [](const std::vector<TimeSpans::Span>& intervals) {
        std::set<int64_t> moments;
        for (const auto& [begin, end] : intervals)
        {
            for (auto moment = begin; moment < end; ++moment)
            {
                moments.insert(moment);
            }
        }
        return moments;
    };
    for (int round = 0; round < 500; ++round)
    {
        const auto one = draw();
        const auto other = draw();
        const auto moments = list(other);
        const auto both = std::ranges::count_if(list(one), [&moments](int64_t moment) {
            return moments.contains(moment);
        });
        EXPECT_EQ(TimeSpans(one).GetTotal(), TimeStep(list(one).size()));
        EXPECT_EQ(TimeSpans(one).Intersect(TimeSpans(other)).GetTotal(), TimeStep(both));
        EXPECT_EQ(TimeSpans(other).Intersect(TimeSpans(one)).GetTotal(), TimeStep(both));
    }
}

class IterationBreakdownTest : public tests::WorkloadFixture
{
  protected:
    std::vector<RankTime> BreakDown(const Time& end) const
    {
        const std::vector<IterationSpan> whole{{Time(0), end}};
        return BreakDownIterations(*m_workload, GetLog(), whole).front();
    }

    std::vector<RankTime> RunTraining(const TrainingSpec& spec)
    {
        PlanShelf shelf({}, 1);
        m_length = Run(MakeTrainingWorkload(spec, shelf));
        return BreakDown(m_length);
    }

    /// What a rank does from one moment to the next at which anything begins or ends.
    RankTime LookAtMoments(uint32_t rank) const;

    Time m_length;
};

RankTime
IterationBreakdownTest::LookAtMoments(uint32_t rank) const
{
    const auto& log = GetLog();
    const auto tasks = m_workload->GetTasks();
    std::set<Time> moments{Time(0), m_length};
    std::vector<TaskId> own;
    for (TaskId id = 0; id < tasks.size(); ++id)
    {
        if (tasks[id].rank != rank)
        {
            continue;
        }
        own.push_back(id);
        moments.insert({log.GetBegin(id), log.GetEnd(id)});
        if (!tasks[id].IsCompute())
        {
            for (const auto part : m_workload->GetParts(tasks[id].communication))
            {
                moments.insert(log.GetBegin(part));
            }
        }
    }
    const auto isThere = [&](TaskId id, const Time& at) {
        return log.GetBegin(id) <= at && at < log.GetEnd(id);
    };
    const auto hasCome = [&log](const Time& at) {
        return [&log, at](TaskId id) { return log.GetBegin(id) <= at; };
    };
    RankTime time;
    time.streams.resize(m_workload->GetStreams().size());
    for (auto at = moments.begin(); std::next(at) != moments.end(); ++at)
    {
        const auto length = *std::next(at) - *at;
        bool computes = false;
        bool isAlone = true;
        std::set<uint32_t> streams;
        for (const auto id : own)
        {
            if (!isThere(id, *at))
            {
                continue;
            }
            computes = computes || tasks[id].IsCompute();
            if (tasks[id].IsCompute())
            {
                continue;
            }
            const auto sender = m_workload->GetSender(tasks[id].communication);
            if (sender && !hasCome(*at)(*sender))
            {
                continue; // a receive that nobody has sent for
            }
            streams.insert(tasks[id].stream);
            isAlone =
                isAlone && !sender &&
                !std::ranges::all_of(m_workload->GetParts(tasks[id].communication), hasCome(*at));
        }
        (computes ? time.computation : streams.empty() ? time.bubble : time.exposed) += length;
        time.hidden += computes && !streams.empty() ? length : Time(0);
        time.waiting += !computes && !streams.empty() && isAlone ? length : Time(0);
        for (const auto stream : streams)
        {
            (computes ? time.streams[stream].hidden : time.streams[stream].exposed) += length;
        }
    }
    return time;
}

TEST_F(IterationBreakdownTest, EveryMomentOfARankIsComputationOrExposedOrBubble)
{
    for (int round = 0; round < 40; ++round)
    {
        auto spec = tests::DrawHybrid(m_random);
        if (round % 2 == 1)
        {
            tests::DrawExchange(m_random, spec); // also several communications on a stream
        }
        const auto times = RunTraining(spec);
        ASSERT_EQ(times.size(), m_workload->GetRankCount());
        for (int looks = 0; looks < 4; ++looks)
        {
            const auto rank = static_cast<uint32_t>(Draw(0, times.size() - 1));
            const auto& time = times[rank];
            const auto expected = LookAtMoments(rank);
            ASSERT_EQ(time.computation + time.exposed + time.bubble, m_length);
            ASSERT_EQ(time.computation, expected.computation);
            ASSERT_EQ(time.exposed, expected.exposed);
            ASSERT_EQ(time.hidden, expected.hidden);
            ASSERT_EQ(time.waiting, expected.waiting);
            for (size_t stream = 0; stream < time.streams.size(); ++stream)
            {
                ASSERT_EQ(time.streams[stream].hidden, expected.streams[stream].hidden);
                ASSERT_EQ(time.streams[stream].exposed, expected.streams[stream].exposed);
            }
        }
        Reset();
    }
}

void
Add(RankTime& all, const RankTime& some)
{
    for (const auto time : {&RankTime::computation,
                            &RankTime::hidden,
                            &RankTime::exposed,
                            &RankTime::waiting,
                            &RankTime::bubble})
    {
        EXPECT_GE(some.*time, Time(0));
        all.*time += some.*time;
    }
}

// Iterations that overlap are told apart by time: each is what happens from the end of the one
// before to its own, and together they are the run.
TEST_F(IterationBreakdownTest, OverlappingIterationsAddUpToTheRun)
{
    for (int round = 0; round < 40; ++round)
    {
        auto spec = tests::DrawHybrid(m_random);
        tests::DrawExchange(m_random, spec);
        const auto whole = RunTraining(spec);
        const auto spans = SplitIterations(*m_workload, GetLog(), {Time(0), m_length});
        ASSERT_EQ(spans.size(), spec.iterations);
        EXPECT_EQ(spans.front().start, Time(0));
        EXPECT_EQ(spans.back().end, m_length);
        std::vector<RankTime> sums(whole.size());
        const auto times = BreakDownIterations(*m_workload, GetLog(), spans);
        for (size_t i = 0; i < spans.size(); ++i)
        {
            EXPECT_EQ(spans[i].start, i == 0 ? Time(0) : spans[i - 1].end);
            for (size_t rank = 0; rank < whole.size(); ++rank)
            {
                const auto& time = times[i][rank];
                EXPECT_EQ(time.computation + time.exposed + time.bubble,
                          spans[i].end - spans[i].start);
                Add(sums[rank], time);
            }
        }
        for (size_t rank = 0; rank < whole.size(); ++rank)
        {
            EXPECT_EQ(sums[rank].computation, whole[rank].computation);
            EXPECT_EQ(sums[rank].hidden, whole[rank].hidden);
            EXPECT_EQ(sums[rank].exposed, whole[rank].exposed);
            EXPECT_EQ(sums[rank].waiting, whole[rank].waiting);
        }
        Reset();
    }
}

// Reference 2, section 3: of m + p - 1 times F + B a stage is busy in m: (p - 1)/(m + p - 1).
TEST_F(IterationBreakdownTest, BubblesOfPipelinesAreTheClosedForms)
{
    for (int round = 0; round < 30; ++round)
    {
        const PipelineShape shape{static_cast<uint32_t>(Draw(1, 6)),
                                  static_cast<uint32_t>(Draw(1, 12))};
        const auto forward = Draw(1, 30);
        const auto block = MakeBlock(forward, Draw(1, 30));
        for (const auto schedule :
             {PipelineSchedule::GPipe, PipelineSchedule::OneForwardOneBackward})
        {
            for (const auto& time : RunTraining(MakePipeline(schedule, shape, block)))
            {
                EXPECT_EQ(time.bubble * (shape.microbatches + shape.stages - 1),
                          m_length * (shape.stages - 1));
                EXPECT_EQ(time.exposed, Time(0));
            }
            Reset();
        }
    }
}

// With v chunks a stage, of F/v and B/v: (p - 1)/(v m + p - 1).
TEST_F(IterationBreakdownTest, ChunksDivideTheBubble)
{
    for (const uint32_t stages : {1, 2, 4})
    {
        for (const uint32_t chunks : {1, 2, 3})
        {
            const PipelineShape shape{stages, 2 * stages, chunks};
            for (const auto& time :
                 RunTraining(MakePipeline(PipelineSchedule::Interleaved, shape, MakeBlock(3, 7))))
            {
                EXPECT_EQ(time.bubble * (chunks * shape.microbatches + stages - 1),
                          m_length * (stages - 1));
            }
            Reset();
        }
    }
}

// Section 3: ZB-H1 leaves (p - 1)(F + B - W), from as many microbatches as stages on.
TEST_F(IterationBreakdownTest, WeightGradientsFillTheBubble)
{
    for (const uint32_t stages : {2, 3, 4})
    {
        for (const auto& time : RunTraining(MakePipeline(PipelineSchedule::ZeroBubbleH1,
                                                         {stages, 2 * stages},
                                                         MakeBlock(2, 3, 1))))
        {
            EXPECT_EQ(time.bubble, MicroSeconds(uint64_t{stages - 1} * (2 + 3 - 1)));
        }
        Reset();
    }
}

// Section 2: L f + max(L b + c, b + L c); all of it that is no computation is exposed, and what is
// not exposed of L exchanges is hidden.
TEST_F(IterationBreakdownTest, BucketsAreHiddenAsFarAsTheBackwardPassLasts)
{
    for (int round = 0; round < 30; ++round)
    {
        const auto layers = Draw(1, 10);
        const auto forward = Draw(1, 30);
        const auto backward = Draw(1, 30);
        const auto exchange = 2 * Draw(1, 30);
        TrainingSpec spec;
        spec.data = 2;
        spec.blocks.assign(layers, MakeBlock(forward, backward, 0, exchange));
        spec.buckets = {1, 1}; // a layer each
        spec.gradientScheme = Choose("ring");
        const auto exposed = std::max(layers * backward + exchange, backward + layers * exchange) -
                             layers * backward;
        constexpr auto DATA = static_cast<size_t>(TrainingStream::Data);
        for (const auto& time : RunTraining(spec))
        {
            EXPECT_EQ(time.computation, MicroSeconds(layers * (forward + backward)));
            EXPECT_EQ(time.exposed, MicroSeconds(exposed));
            EXPECT_EQ(time.hidden, MicroSeconds(layers * exchange - exposed));
            EXPECT_EQ(time.waiting, Time(0));
            EXPECT_EQ(time.bubble, Time(0));
            EXPECT_EQ(time.streams[DATA].hidden, time.hidden);
            EXPECT_EQ(time.streams[DATA].exposed, time.exposed);
        }
        Reset();
    }
}

TEST_F(IterationBreakdownTest, WaitingForALateRankIsNotTheCollectivesOwnTime)
{
    // Rank 0 has computed at 10 us, rank 1 at 30. A ring of two sends half of 40 bytes each way,
    // twice: 40 us from when rank 1 comes, whatever rank 0 has sent before.
    WorkloadBuilder builder(2, {{"compute"}, {"communicate"}});
    const auto exchange =
        builder.AddCommunication(builder.AddGroup({0, 1}), tests::MakePlan("ring", 2, 40), "sum");
    for (uint32_t rank = 0; rank < 2; ++rank)
    {
        const auto compute =
            builder.AddCompute(rank, 0, (rank == 0 ? 10 : 30) * MICROSECOND, "pass");
        builder.AddEdge(compute, builder.AddPart(rank, 1, exchange));
    }
    const auto end = Run(builder.Build());
    ASSERT_EQ(end, MicroSeconds(70));
    const auto times = BreakDown(end);
    EXPECT_EQ(times[0].computation, MicroSeconds(10));
    EXPECT_EQ(times[0].exposed, MicroSeconds(60));
    EXPECT_EQ(times[0].waiting, MicroSeconds(20));
    EXPECT_EQ(times[1].computation, MicroSeconds(30));
    EXPECT_EQ(times[1].exposed, MicroSeconds(40));
    EXPECT_EQ(times[1].waiting, Time(0));
}

TEST_F(IterationBreakdownTest, AReceiveThatWaitsForItsSenderIsNoCommunication)
{
    // One microbatch: 30 us a stage, and 7 us a message, of which inner stages have four.
    for (const uint32_t stages : {2, 3, 5})
    {
        auto spec =
            MakePipeline(PipelineSchedule::OneForwardOneBackward, {stages, 1}, MakeBlock(10, 20));
        spec.activationBytes = 7;
        const auto times = RunTraining(spec);
        for (uint32_t stage = 0; stage < stages; ++stage)
        {
            const bool isInner = stage > 0 && stage + 1 < stages;
            EXPECT_EQ(times[stage].computation, MicroSeconds(30));
            EXPECT_EQ(times[stage].exposed, MicroSeconds(isInner ? 28 : 14));
            EXPECT_EQ(times[stage].waiting, Time(0));
        }
        Reset();
    }
}

} // namespace
} // namespace ns3::gradsync
