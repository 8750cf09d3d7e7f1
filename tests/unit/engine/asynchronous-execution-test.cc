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
        const auto workers = static_cast<uint32_t>(Draw(1, 6));
        const auto servers = static_cast<uint32_t>(Draw(1, 4));
        const auto bytes = 4UL * servers * Draw(1, 50);
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
            // way.
            const auto way = static_cast<double>(bytes) * std::max(1.0 * workers / servers, 1.0);
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
        auto job =
            MakeJob(workers, static_cast<uint32_t>(Draw(1, 4)), Draw(1, 200), MicroSeconds(20), 20);
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
}

} // namespace
} // namespace ns3::gradsync
