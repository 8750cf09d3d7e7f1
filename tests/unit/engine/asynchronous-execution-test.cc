// SPDX-License-Identifier: GPL-2.0-only
#include "oracles/oracle-network.h"
#include "support/picosecond-clock.h"

#include "ns3/asynchronous-execution.h"
#include "ns3/exchange-engine.h"
#include "ns3/fluid-transport.h"
#include "ns3/recorder.h"
#include "ns3/scheme.h"
#include "ns3/simulator.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <vector>

namespace ns3::gradsync
{
namespace
{

constexpr uint32_t HOSTS = 12;

/// Hosts below one switch, a byte a microsecond each way, no delays.
class AsynchronousExecutionTest : public testing::Test
{
  protected:
    static void SetUpTestSuite()
    {
        tests::UsePicoseconds();
    }

    void SetUp() override
    {
        Begin();
    }

    void TearDown() override
    {
        End();
    }

    void Begin()
    {
        m_network =
            oracles::MakeRackNetwork(1, HOSTS, {DataRate("8Mbps"), DataRate("8Mbps"), Time(0)});
        m_transport = CreateObject<FluidTransport>();
        m_transport->Install(m_network.topology, m_network.routes);
        m_engine = CreateObject<ExchangeEngine>();
        m_engine->SetTransport(m_transport);
        m_updates.clear();
        m_engine->TraceConnectWithoutContext(
            "Update",
            Callback<void, const UpdateRecord&>(
                [this](const UpdateRecord& record) { m_updates.push_back(record); }));
    }

    void End()
    {
        m_engine->Dispose();
        Simulator::Destroy();
    }

    /// One stage.
    static AsynchronousJob MakeJob(uint32_t workers,
                                   uint32_t servers,
                                   uint64_t bytes,
                                   const Time& compute,
                                   uint32_t steps)
    {
        AsynchronousJob job;
        job.name = "downpour";
        job.workers = workers;
        job.servers = servers;
        job.bytes = bytes;
        job.stages = {{workers, steps, compute}};
        job.endpointOf.resize(workers + servers);
        std::iota(job.endpointOf.begin(), job.endpointOf.end(), 0);
        return job;
    }

    /// \returns the ends of its iterations
    std::vector<Time> Run()
    {
        const Recorder recorder(m_engine, Recorder::Detail::Iterations);
        Simulator::Run();
        EXPECT_TRUE(m_engine->IsFinished());
        std::vector<Time> ends;
        for (const auto& record : recorder.GetIterations())
        {
            EXPECT_EQ(record.iteration, ends.size());
            EXPECT_EQ(record.start, ends.empty() ? Time(0) : ends.back());
            ends.push_back(record.end);
        }
        return ends;
    }

    uint64_t Draw(uint64_t least, uint64_t most)
    {
        return std::uniform_int_distribution<uint64_t>(least, most)(m_random);
    }

    oracles::RackNetwork m_network;
    Ptr<FluidTransport> m_transport;
    Ptr<ExchangeEngine> m_engine;
    std::vector<UpdateRecord> m_updates;
    std::mt19937_64 m_random{21};
};

// Push and fetch at each step and nobody ahead of anybody: what synchronous parameter servers do.
TEST_F(AsynchronousExecutionTest, WithoutStalenessIsSynchronous)
{
    for (int round = 0; round < 20; ++round)
    {
        const auto servers = static_cast<uint32_t>(Draw(0, 4)); // 0: each worker serves
        const auto workers = static_cast<uint32_t>(Draw(servers == 0 ? 2 : 1, 6));
        const auto shards = servers == 0 ? workers : servers;
        const auto bytes = uint64_t{4} * shards * Draw(1, 50);
        const auto compute = MicroSeconds(Draw(1, 100));
        const auto secondsPerByte = 1e-7 * static_cast<double>(Draw(0, 3));
        auto job = MakeJob(workers, servers, bytes, compute, 3);
        job.bound = 0;
        job.reduceSecondsPerByte = secondsPerByte;
        m_engine->AddAsynchronous(job);
        const auto ends = Run();
        EXPECT_EQ(m_engine->GetDeliveredBytes(), m_engine->GetTotalBytes());
        ASSERT_EQ(m_updates.size(), 3 * workers);
        for (const auto& update : m_updates)
        {
            EXPECT_LT(update.staleness, workers);
            EXPECT_LE(update.ahead, 1U);
        }
        End();
        Begin();
        const auto* scheme = FindScheme("ps");
        SchemeRequest request;
        request.workers = workers;
        request.gradientBytes = bytes;
        request.parameters = MakeDefaultParameters(*scheme);
        request.parameters.Set("servers", int64_t{servers});
        Job synchronous;
        synchronous.plan = std::make_shared<const Plan>(scheme->build(request));
        synchronous.endpointOf = job.endpointOf;
        synchronous.compute = compute;
        synchronous.iterations = 3;
        synchronous.reduceSecondsPerByte = secondsPerByte;
        m_engine->AddJob(synchronous);
        EXPECT_EQ(Run(), ends) << workers << " workers, " << servers << " servers";
        if (secondsPerByte == 0)
        {
            // K bytes in S shards: W/S K through a server's link, or K through a worker's, each
            // way; where each worker serves, without its own part.
            const auto own = servers == 0 ? 1.0 / workers : 0.0;
            const auto way =
                static_cast<double>(bytes) * (std::max(1.0 * workers / shards, 1.0) - own);
            EXPECT_NEAR((ends[0] - compute).ToDouble(Time::US), 2 * way, 1e-3);
        }
        End();
        Begin();
    }
}

// One worker, one server: c a step, K a push and a fetch, r a request.
TEST_F(AsynchronousExecutionTest, IntervalsTakeTheirTimes)
{
    const auto run = [this](uint32_t pushEvery, uint32_t fetchEvery, uint64_t c, uint32_t steps) {
        End();
        Begin();
        auto job = MakeJob(1, 1, 40, MicroSeconds(c), steps);
        job.pushEvery = pushEvery;
        job.fetchEvery = fetchEvery;
        job.requestBytes = 3;
        m_engine->AddAsynchronous(job);
        const auto ends = Run();
        EXPECT_EQ(ends.size(), steps);
        for (const auto& update : m_updates)
        {
            EXPECT_EQ(update.staleness, 0U); // nobody else updates
        }
        return ends.back().GetMicroSeconds();
    };
    // n_push = n_fetch = n: 2 K every n steps.
    EXPECT_EQ(run(1, 1, 10, 6), 6 * (10 + 80));
    EXPECT_EQ(run(3, 3, 10, 6), 6 * 10 + 2 * 80);
    // n_push = 2, n_fetch = 1: r + K at odd steps, 2 K at even ones.
    EXPECT_EQ(run(2, 1, 10, 4), 4 * 10 + 2 * (3 + 40) + 2 * 80);
    // n_push = 1, n_fetch = 2: the first push hides behind the second step, if that is as long.
    EXPECT_EQ(run(1, 2, 50, 2), 2 * 50 + 80);
    EXPECT_EQ(run(1, 2, 10, 2), 10 + 40 + 80);
    // What is accumulated at the end is pushed: 5 steps, pushes after 4 and 5, and one fetch.
    EXPECT_EQ(run(4, 4, 10, 5), 5 * 10 + 80 + 40);
    ASSERT_EQ(m_updates.size(), 2);
    EXPECT_EQ(m_updates[1].clock, 5);
}

// One worker, one server, n_push = n_fetch = n, and it goes on while it fetches. After each n
// steps, n c, it pushes K and asks with r. These share its link, so that the request takes 2 r;
// then comes the answer, K. The next fetch begins when that is there and the next n steps are done:
// m rounds take n c + (m - 1) max(n c, 2 r + K) + 2 r + K, where the push is long enough to share
// the link with all of the request (K >= r), also one that begins before the fetch does (n c >= 3
// r).
TEST_F(AsynchronousExecutionTest, FetchesBesideComputations)
{
    uint32_t hidden = 0;
    for (int round = 0; round < 40; ++round)
    {
        const auto n = Draw(1, 3);
        const auto m = Draw(2, 6);
        const auto r = Draw(1, 5);
        const auto k = r + Draw(0, 60);
        const auto c = 3 * r + Draw(0, 40);
        End();
        Begin();
        auto job = MakeJob(1, 1, k, MicroSeconds(c), static_cast<uint32_t>(n * m));
        job.pushEvery = static_cast<uint32_t>(n);
        job.fetchEvery = static_cast<uint32_t>(n);
        job.overlapsFetches = true;
        job.requestBytes = r;
        m_engine->AddAsynchronous(job);
        const auto expected = n * c + (m - 1) * std::max(n * c, 2 * r + k) + 2 * r + k;
        EXPECT_NEAR(Run().back().ToDouble(Time::US), static_cast<double>(expected), 1e-3)
            << "n " << n << ", m " << m << ", r " << r << ", K " << k << ", c " << c;
        hidden += n * c >= 2 * r + k ? 1 : 0;
    }
    EXPECT_GT(hidden, 5U); // both cases are there
    EXPECT_LT(hidden, 35U);
}

// A step beside a fetch is computed with the parameters that were there when it began. Two workers,
// K = 40, c = 50, r = 1: after 50 both push and ask; the requests are there after 50 + 4, the
// answers after 54 + 80 = 134, when the second steps, from 50 to 100, are long computed, with the
// parameters of the beginning. So the second update of a worker is older than the first by what the
// other one has pushed: 0 and 1, then 1 and 2.
TEST_F(AsynchronousExecutionTest, StalenessIsThatOfWhatAStepWasComputedWith)
{
    auto job = MakeJob(2, 1, 40, MicroSeconds(50), 2);
    job.overlapsFetches = true;
    job.requestBytes = 1;
    m_engine->AddAsynchronous(job);
    Run();
    ASSERT_EQ(m_updates.size(), 4);
    std::vector<uint32_t> staleness;
    for (const auto& update : m_updates)
    {
        staleness.push_back(update.staleness);
    }
    EXPECT_THAT(staleness, testing::ElementsAre(0, 1, 1, 2));
}

// Nobody begins step c (from 0) unless c - s steps of all have been applied: an update that brings
// a worker to clock c + 1 is at most s + 1 ahead.
TEST_F(AsynchronousExecutionTest, NobodyIsFurtherAheadThanTheBound)
{
    uint32_t furthest = 0;
    for (int round = 0; round < 40; ++round)
    {
        const auto workers = static_cast<uint32_t>(Draw(2, 6));
        const auto pushEvery = static_cast<uint32_t>(Draw(1, 3));
        const auto bound = pushEvery - 1 + static_cast<uint32_t>(Draw(0, 3));
        const bool isBound = round % 4 != 0;
        const auto servers = static_cast<uint32_t>(Draw(0, 4));
        auto job = MakeJob(workers, servers, Draw(1, 200), MicroSeconds(20), 20);
        job.overlapsFetches = round % 3 == 0;
        job.pushEvery = pushEvery;
        job.fetchEvery = static_cast<uint32_t>(Draw(1, 5));
        if (isBound)
        {
            job.bound = bound;
        }
        m_engine->AddAsynchronous(job);
        for (uint32_t worker = 0; worker < workers; ++worker)
        {
            m_engine->SetSlowdown(worker, [this, worker] {
                return static_cast<double>(Draw(1, 100)) * (worker == 0 ? 0.3 : 0.05);
            });
        }
        Run();
        ASSERT_EQ(m_updates.size(), workers * ((20 + pushEvery - 1) / pushEvery));
        for (const auto& update : m_updates)
        {
            if (isBound)
            {
                EXPECT_LE(update.ahead, bound + 1);
            }
            else
            {
                furthest = std::max(furthest, update.ahead);
            }
        }
        End();
        Begin();
    }
    EXPECT_GT(furthest, 6U); // without a bound they are
}

// Three steps of two workers, then two of one: S = 1, each step of two c + 4 K, of one c + 2 K; the
// second stage begins with a fetch, r + K.
TEST_F(AsynchronousExecutionTest, StagesHaveWorkersOfTheirOwn)
{
    auto job = MakeJob(2, 1, 40, MicroSeconds(10), 3);
    job.stages.push_back({1, 2, MicroSeconds(25)});
    job.bound = 0;
    job.requestBytes = 3;
    m_engine->AddAsynchronous(job);
    const auto ends = Run();
    ASSERT_EQ(ends.size(), 5);
    EXPECT_EQ(ends[2], MicroSeconds(3 * (10 + 160)));
    EXPECT_EQ(ends[4], MicroSeconds(3 * (10 + 160) + 3 + 40 + 2 * (25 + 80)));
    ASSERT_EQ(m_updates.size(), 8);
    EXPECT_EQ(m_updates.back().stage, 1);
    EXPECT_EQ(m_updates.back().clock, 2);
    EXPECT_EQ(m_updates.back().staleness, 0);
}

// A stage with more workers: all of them fetch first, what the first one changed.
TEST_F(AsynchronousExecutionTest, StagesMayGrow)
{
    auto job = MakeJob(3, 1, 40, MicroSeconds(10), 1);
    job.stages = {{1, 2, MicroSeconds(10)}, {3, 1, MicroSeconds(10)}};
    job.requestBytes = 1;
    m_engine->AddAsynchronous(job);
    const auto ends = Run();
    // Requests of three share the server's link: 3; then all pull, push and pull 3 K each.
    EXPECT_EQ(ends.back(), MicroSeconds(2 * (10 + 80) + 3 + 120 + 10 + 120 + 120));
}

TEST_F(AsynchronousExecutionTest, GoesOnWithoutAWorkerThatCrashed)
{
    // It computes its first step when it crashes. The other one has pushed, K = 20, and is answered
    // when the crash is noticed; then it is alone: c + 2 K.
    auto job = MakeJob(2, 1, 20, MicroSeconds(10), 3);
    job.bound = 0;
    m_engine->AddAsynchronous(job);
    Simulator::Schedule(MicroSeconds(1), [this] { m_engine->CrashEndpoint(1); });
    Simulator::Schedule(MicroSeconds(100), [this] { m_engine->NoticeCrash(1); });
    EXPECT_EQ(Run().back(), MicroSeconds(100 + 20 + 2 * (10 + 40)));
    EXPECT_EQ(m_updates.size(), 3);
}

TEST_F(AsynchronousExecutionTest, NamesAServerThatCrashed)
{
    m_engine->AddAsynchronous(MakeJob(2, 2, 20, MicroSeconds(10), 3));
    Simulator::Schedule(MicroSeconds(15), [this] { m_engine->CrashEndpoint(3); });
    Simulator::Schedule(MicroSeconds(100), [this] { m_engine->NoticeCrash(3); });
    Simulator::Run();
    ASSERT_TRUE(m_engine->GetFailure().has_value());
    EXPECT_EQ(m_engine->GetFailure()->reason,
              "job \"downpour\", iteration 0: rank 3, the server of shard 1, has crashed; worker 0 "
              "has done 1 of 3 steps of stage 0");
}

TEST_F(AsynchronousExecutionTest, NamesAWorkerThatServedAndCrashed)
{
    m_engine->AddAsynchronous(MakeJob(3, 0, 24, MicroSeconds(10), 3));
    Simulator::Schedule(MicroSeconds(15), [this] { m_engine->CrashEndpoint(1); });
    Simulator::Schedule(MicroSeconds(100), [this] { m_engine->NoticeCrash(1); });
    Simulator::Run();
    ASSERT_TRUE(m_engine->GetFailure().has_value());
    EXPECT_THAT(m_engine->GetFailure()->reason,
                testing::HasSubstr("rank 1, the server of shard 1, has crashed"));
}

// Nobody notices: the other one waits for the bound until its time is over.
TEST_F(AsynchronousExecutionTest, TimesOut)
{
    auto job = MakeJob(2, 1, 20, MicroSeconds(10), 3);
    job.bound = 0;
    job.timeout = MicroSeconds(500);
    m_engine->AddAsynchronous(job);
    Simulator::Schedule(MicroSeconds(1), [this] { m_engine->CrashEndpoint(1); });
    Simulator::Run();
    ASSERT_TRUE(m_engine->GetFailure().has_value());
    EXPECT_THAT(m_engine->GetFailure()->reason,
                testing::HasSubstr("iteration 0: timed out, not done 0.0005 s after it began"));
    EXPECT_EQ(Simulator::Now(), MicroSeconds(500));
}

// Worker 1 takes six times as long. With s = 0 the first one's fetches lie at the server until the
// other one's push is there: at 10 + 40 its own is, at 60 + 40 that one's. Then both pull, 80; the
// next round is the same.
TEST_F(AsynchronousExecutionTest, TellsOfTimesHeldForTheBound)
{
    std::vector<WorkerStepRecord> steps;
    m_engine->TraceConnectWithoutContext(
        "WorkerStep",
        Callback<void, const WorkerStepRecord&>(
            [&steps](const WorkerStepRecord& record) { steps.push_back(record); }));
    auto job = MakeJob(2, 1, 40, MicroSeconds(10), 2);
    job.stages[0].computeOf = {MicroSeconds(10), MicroSeconds(60)};
    job.bound = 0;
    m_engine->AddAsynchronous(job);
    Run();
    ASSERT_EQ(steps.size(), 4);
    for (const auto& step : steps)
    {
        const bool isFirst = step.worker == 0;
        EXPECT_EQ(step.compute, MicroSeconds(isFirst ? 10 : 60));
        EXPECT_EQ(step.held, MicroSeconds(isFirst ? 50 : 0)); // 60 + 40 - (10 + 40)
        EXPECT_EQ(step.end - step.start, MicroSeconds(60 + 40 + 80));
        EXPECT_EQ(step.fetches, 1U);
        EXPECT_EQ(step.requests, 0U);
    }
}

TEST_F(AsynchronousExecutionTest, RefusesWhatDoesNotFit)
{
    const auto job = MakeJob(2, 1, 20, MicroSeconds(10), 3);
    const auto error = [this](AsynchronousJob wrong) -> std::string {
        try
        {
            m_engine->AddAsynchronous(std::move(wrong));
            return "";
        }
        catch (const std::invalid_argument& thrown)
        {
            return thrown.what();
        }
    };
    auto wrong = job;
    wrong.pushEvery = 4;
    wrong.bound = 2;
    EXPECT_EQ(
        error(wrong),
        "job \"downpour\": a bound of 2 steps with a push every 4 is a deadlock: all wait for "
        "what nobody has pushed");
    wrong = job;
    wrong.stages[0].workers = 3;
    EXPECT_THAT(error(wrong), testing::HasSubstr("a stage has 1 to 2 workers"));
    wrong = job;
    wrong.fetchEvery = 0;
    EXPECT_THAT(error(wrong), testing::HasSubstr("every so many steps, at least 1"));
    wrong = job;
    wrong.endpointOf = {0, 1};
    EXPECT_THAT(error(wrong), testing::HasSubstr("2 workers and 1 servers, but 2 endpoints"));
    wrong.endpointOf = {0, 1, 1};
    EXPECT_THAT(error(wrong), testing::HasSubstr("endpoint 1 is given to two ranks"));
    wrong = job;
    wrong.stages[0].computeOf = {MicroSeconds(1)};
    EXPECT_THAT(error(wrong), testing::HasSubstr("a time for each of its 2 workers"));
    wrong = MakeJob(1, 0, 20, MicroSeconds(10), 3);
    EXPECT_THAT(error(wrong), testing::HasSubstr("has nobody to exchange with"));
}

} // namespace
} // namespace ns3::gradsync
