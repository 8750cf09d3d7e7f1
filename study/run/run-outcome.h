// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_RUN_OUTCOME_H
#define GRADSYNC_RUN_OUTCOME_H

#include "ns3/exchange-engine.h"
#include "ns3/fault-injector.h"
#include "ns3/planned-run.h"
#include "ns3/recorder.h"
#include "ns3/run-result.h"
#include "ns3/run-watch.h"
#include "ns3/scenario.h"
#include "ns3/traffic-generator.h"

namespace ns3::gradsync
{

/// What was planned and where: the part of a result that does not depend on the simulation.
void DescribeRun(const ResolvedRun& run, const PlannedRun& planned, RunResult& result);

/// What the engine did.
void TakeRecords(const Recorder& recorder, const ExchangeEngine& engine, RunResult& result);

/// How the simulation ended.
void TakeEnd(const ExchangeEngine& engine,
             const FaultInjector& injector,
             const TrafficGenerator& generator,
             const RunWatch& watch,
             RunResult& result);

} // namespace ns3::gradsync

#endif // GRADSYNC_RUN_OUTCOME_H
