// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_ORACLE_RUN_H
#define GRADSYNC_ORACLE_RUN_H

#include "oracle-network.h"
#include "oracle-table.h"

#include "ns3/all-reduce-bound.h"
#include "ns3/exchange-engine.h"
#include "ns3/recorder.h"
#include "ns3/simulator.h"

#include <memory>
#include <numeric>
#include <string>
#include <utility>

namespace ns3::gradsync::oracles
{

/// What an oracle's exchange took.
struct OracleResult
{
    std::string failure; //!< empty: it finished
    Time time;
    double timeInTau{0};
    double boundInTau{0}; //!< of any all-reduce there
    uint64_t crossRackBytes{0};
};

/// The network and gradient on which an oracle is run.
struct OracleScale
{
    uint64_t gradientBytes;
    uint64_t hostBitsPerSecond; //!< times w_r, a multiple of the oversubscription
    Time delay;                 //!< of every link
};

/**
 * A gradient that all chunk counts of the table divide, on links of one byte a microsecond: minutes
 * of simulated time, so that rounding to the clock (nanoseconds too) is far below 1e-9.
 */
inline OracleScale
MakeExactScale(uint32_t workers)
{
    constexpr uint64_t highlyDivisible = 16 * 720720;
    return {4 * highlyDivisible * workers, 8'000'000, Time(0)};
}

inline std::shared_ptr<const Plan>
BuildOraclePlan(const Oracle& oracle, uint64_t gradientBytes)
{
    const auto* scheme = FindScheme(oracle.scheme);
    if (scheme == nullptr)
    {
        throw std::invalid_argument("no scheme " + oracle.scheme);
    }
    SchemeRequest request;
    request.workers = oracle.workers;
    request.gradientBytes = gradientBytes;
    request.groups = MakeRackGroups(oracle.racks,
                                    oracle.workers / oracle.racks,
                                    static_cast<double>(oracle.oversubscription));
    request.parameters = MakeDefaultParameters(*scheme);
    for (const auto& [name, value] : oracle.parameters)
    {
        request.parameters.Set(name, value);
    }
    return std::make_shared<Plan>(scheme->build(request));
}

/// Rank i at endpoint i.
inline Job
MakeOracleJob(std::string name, std::shared_ptr<const Plan> plan)
{
    Job job;
    job.name = std::move(name);
    job.endpointOf.resize(plan->GetRankCount());
    std::iota(job.endpointOf.begin(), job.endpointOf.end(), 0U);
    job.plan = std::move(plan);
    return job;
}

/// Runs one iteration of a job on an installed transport; the simulation has ended then.
inline OracleResult
RunJob(Job job, Ptr<Transport> transport)
{
    auto engine = CreateObject<ExchangeEngine>();
    engine->SetTransport(transport);
    engine->AddJob(std::move(job));
    OracleResult result;
    Recorder recorder(engine, Recorder::Detail::Iterations);
    Simulator::Run();
    if (const auto failure = engine->GetFailure())
    {
        result.failure = failure->reason;
    }
    else
    {
        result.time = recorder.GetIterations()[0].end;
    }
    engine->Dispose();
    return result;
}

/// Runs one iteration on a transport that is not installed yet, and ends the simulation.
inline OracleResult
RunOracle(const Oracle& oracle, Ptr<Transport> transport, const OracleScale& scale)
{
    const auto plan = BuildOraclePlan(oracle, scale.gradientBytes);
    // Dedicated servers sit in the one rack of their oracles.
    const auto hosts = plan->GetRankCount() / oracle.racks;
    const auto network =
        MakeRackNetwork(oracle.racks,
                        hosts,
                        {DataRate(scale.hostBitsPerSecond),
                         DataRate(scale.hostBitsPerSecond * hosts / oracle.oversubscription),
                         scale.delay});
    transport->Install(network.topology, network.routes);
    auto result = RunJob(MakeOracleJob(oracle.name, plan), transport);
    const auto tau = 8.0 * static_cast<double>(scale.gradientBytes) /
                     static_cast<double>(scale.hostBitsPerSecond);
    result.timeInTau = result.time.GetSeconds() / tau;
    result.boundInTau = ComputeAllReduceBound(*network.topology,
                                              MakeOracleJob("", plan).endpointOf,
                                              oracle.workers,
                                              scale.gradientBytes) /
                        tau;
    result.crossRackBytes = CountCrossRackBytes(network, *transport);
    transport->Dispose();
    Simulator::Destroy();
    return result;
}

} // namespace ns3::gradsync::oracles

#endif // GRADSYNC_ORACLE_RUN_H
