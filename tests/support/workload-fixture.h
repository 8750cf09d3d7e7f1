// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_WORKLOAD_FIXTURE_H
#define GRADSYNC_WORKLOAD_FIXTURE_H

#include "oracles/oracle-network.h"
#include "support/picosecond-clock.h"

#include "ns3/exchange-application.h"
#include "ns3/execution-table.h"
#include "ns3/fluid-transport.h"
#include "ns3/scheme-choice.h"
#include "ns3/scheme.h"
#include "ns3/simulator.h"
#include "ns3/workload-builder.h"
#include "ns3/workload-execution.h"

#include <gtest/gtest.h>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace ns3::gradsync::tests
{

constexpr uint64_t MICROSECOND = 1'000'000; // in picoseconds

// Resources of every rank.
constexpr uint32_t COMPUTES = 0;
constexpr uint32_t COMMUNICATES = 1;

/// A scheme with default parameters.
inline SchemeChoice
Choose(const std::string& name)
{
    const auto* scheme = FindScheme(name);
    return {scheme, MakeDefaultParameters(*scheme)};
}

inline std::shared_ptr<const Plan>
MakePlan(const std::string& name, uint32_t workers, uint64_t bytes)
{
    const auto* scheme = FindScheme(name);
    SchemeRequest request;
    request.workers = workers;
    request.gradientBytes = bytes;
    request.elementBytes = 1;
    request.groups = oracles::MakeRackGroups(1, workers, 1);
    request.parameters = MakeDefaultParameters(*scheme);
    return std::make_shared<const Plan>(scheme->build(request));
}

/// Hosts below one switch; unless a test says otherwise fluid, a byte a microsecond each way, no
/// delays.
class WorkloadFixture : public testing::Test, private WorkloadExecution::Owner
{
  protected:
    static void SetUpTestSuite()
    {
        tests::UsePicoseconds();
    }

    void TearDown() override
    {
        Reset();
    }

    void Reset()
    {
        m_execution.reset();
        for (const auto& rank : m_ranks)
        {
            rank->Dispose();
        }
        m_ranks.clear();
        Simulator::Destroy();
        m_end.reset();
        m_failure.clear();
    }

    virtual oracles::RackNetworkRates GetRates() const
    {
        return {DataRate("8Mbps"), DataRate("8Mbps"), Time(0)};
    }

    virtual Ptr<Transport> MakeTransport() const
    {
        return CreateObject<FluidTransport>();
    }

    /// \param starts [rank]; empty: all at 0 \returns when all is done
    Time Run(Workload workload, const std::vector<Time>& starts = {})
    {
        const auto count = workload.GetRankCount();
        m_network = oracles::MakeRackNetwork(1, count, GetRates());
        m_transport = MakeTransport();
        m_transport->Install(m_network.topology, m_network.routes);
        std::vector<ExchangeApplication*> ranks;
        for (uint32_t rank = 0; rank < count; ++rank)
        {
            m_ranks.push_back(CreateObject<ExchangeApplication>());
            m_ranks.back()->Attach({rank, rank, m_transport, &m_executions, nullptr}, nullptr);
            ranks.push_back(PeekPointer(m_ranks.back()));
        }
        m_workload = std::make_shared<const Workload>(std::move(workload));
        WorkloadExecution::Owner& owner = *this;
        m_execution = std::make_unique<WorkloadExecution>(m_executions,
                                                          m_aggregations,
                                                          owner,
                                                          m_workload,
                                                          ranks);
        for (uint32_t rank = 0; rank < count; ++rank)
        {
            Simulator::Schedule(starts.empty() ? Time(0) : starts[rank],
                                [this, rank] { m_execution->Start(rank); });
        }
        Simulator::Run();
        EXPECT_TRUE(m_end.has_value()) << m_failure;
        return m_end.value_or(Time(0));
    }

    uint64_t Draw(uint64_t least, uint64_t most)
    {
        return std::uniform_int_distribution<uint64_t>(least, most)(m_random);
    }

    const TaskLog& GetLog() const
    {
        return m_execution->GetLog();
    }

    std::unique_ptr<WorkloadExecution> m_execution;
    std::shared_ptr<const Workload> m_workload;
    std::string m_failure;

    std::mt19937_64 m_random{21};

  private:
    void OnWorkloadEnded(WorkloadExecution& execution) override
    {
        EXPECT_FALSE(m_end.has_value());
        EXPECT_EQ(execution.GetLeft(), 0);
        EXPECT_EQ(execution.CountRunning(), 0);
        m_end = Simulator::Now();
    }

    void OnWorkloadFailed(WorkloadExecution& /* execution */,
                          const std::string& reason,
                          bool /* isOfNetwork */) override
    {
        m_failure = reason;
    }

    oracles::RackNetwork m_network;
    Ptr<Transport> m_transport;
    ExecutionTable m_executions;
    WorkloadAggregations m_aggregations;
    std::vector<Ptr<ExchangeApplication>> m_ranks;
    std::optional<Time> m_end;
};

} // namespace ns3::gradsync::tests

#endif // GRADSYNC_WORKLOAD_FIXTURE_H
