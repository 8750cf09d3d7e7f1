// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_RUN_RESULT_H
#define GRADSYNC_RUN_RESULT_H

#include "ns3/asynchronous-result.h"
#include "ns3/asynchronous-summary.h"
#include "ns3/collective-bandwidth.h"
#include "ns3/critical-path.h"
#include "ns3/exchange-engine.h"
#include "ns3/fault-injector.h"
#include "ns3/iteration-breakdown.h"
#include "ns3/link-sample.h"
#include "ns3/nstime.h"
#include "ns3/plan.h"
#include "ns3/task-log.h"
#include "ns3/topology.h"
#include "ns3/traffic-generator.h"
#include "ns3/training-job-spec.h"
#include "ns3/training-summary.h"
#include "ns3/transport.h"
#include "ns3/workload.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace ns3::gradsync
{

/// One row of runs.csv, sweep and run number aside. doc/results.rst defines every figure.
struct RunSummary
{
    bool finished{false};
    std::string failure; //!< one line; empty when finished
    uint32_t seed{1};
    uint32_t workers{0}; //!< of all jobs
    double oversubscription{1.0};
    uint32_t iterations{0};          //!< done, of all jobs; 0: the times below mean nothing
    uint32_t skippedIterations{0};   //!< of these, not simulated: they are as earlier ones
    uint64_t recordedCollectives{0}; //!< likewise, of those that are
    int64_t meanIctPs{0};            //!< picoseconds, rounded down
    int64_t minIctPs{0};
    int64_t maxIctPs{0};
    double meanBoundSeconds{0.0}; //!< least time of the collectives, mean over the same iterations
    double timesBound{0.0};       //!< time of the exchanges over their bounds; 0: there is none
    /// Of the exchanges of a single job, in bytes a second; 0: there is none (CollectiveBandwidth).
    double algorithmBandwidth{0.0};
    double busBandwidth{0.0};
    uint64_t crossRackBytes{0};
    uint64_t peakReceivedBytes{0}; //!< most message bytes of an iteration that one rank receives
    uint32_t longestChain{0};      //!< transfers, of any job's plan
    /// What the scheme `auto` took, and what it took it to take, of the jobs that have it; joined
    /// by
    /// "; ".
    std::string autoChoice;
    double autoEstimateSeconds{0.0}; //!< the longest of these
    /// Where the times of its codecs come from (CodecProfile::origin), sorted and joined by "; ";
    /// empty: they take none.
    std::string codecTimes;
    uint64_t goodputBytes{0};
    uint64_t lostBytes{0}; //!< of messages that may be (TransportStatistics)
    uint64_t wireBytes{0};
    uint64_t droppedPackets{0};
    uint64_t ecnMarkedPackets{0};
    int64_t pfcPausePs{0};
    uint64_t retransmittedPackets{0};
    uint64_t retransmittedBytes{0}; //!< of messages
    AggregationStatistics aggregation;
    uint64_t fallbacks{0};  //!< of jobs whose switches did not aggregate any more
    uint64_t packetHops{0}; //!< data packets
    uint64_t events{0};
    uint64_t savedEvents{0}; //!< of these, those of collectives that are not simulated; in no table
    TrainingSummary training;
    AsynchronousSummary asynchronous;
    double wallSeconds{0.0};
    uint64_t peakRssBytes{0};
};

/// A training job as far as rows need it, and what it did; what was done with another
/// workload, as survivors have, is another result of the same job, behind it.
struct TrainingResult
{
    /// What an iteration is made of.
    struct Iteration
    {
        uint32_t iteration;
        IterationSpan span;
        Time lost;                   //!< at its start, to what was given up with a rank
        std::vector<RankTime> ranks; //!< of what is left of it
    };

    /// A run of the workload, which has one iteration, or several that overlap.
    struct Run
    {
        uint32_t firstIteration;
        IterationSpan span;
        std::vector<CriticalStep> path;
        std::optional<TaskLog> log; //!< only where trace.json is wanted
    };

    /// The rank of the job that a rank of the workload is.
    uint32_t GetRank(uint32_t rank) const
    {
        return ranks.empty() ? rank : ranks[rank];
    }

    uint32_t job;
    std::shared_ptr<const Workload> workload;
    TrainingFigures figures;
    std::vector<uint32_t> ranks;       //!< [rank of the workload] of the job; empty: the same
    std::vector<Run> runs;             //!< that have ended
    std::vector<Iteration> iterations; //!< of all of these
    CollectiveLedger collectives;      //!< likewise
};

/// All that a run found out.
struct RunResult
{
    /// A job as far as rows need it.
    struct JobInfo
    {
        std::string name;
        std::vector<uint32_t> endpointOf;
        std::shared_ptr<const Plan> plan; //!< of all ranks; nullptr: it has no single one
        std::vector<ExecutedPlan> plans;  //!< this one, then those of survivors
    };

    RunSummary summary;
    std::optional<ExchangeFailure> failure; //!< of a run that is not finished
    Time duration;                          //!< from 0 to the end of the last iteration
    std::shared_ptr<const Topology> topology;
    std::vector<JobInfo> jobs; //!< those that exchange, then those that train, then asynchronous
    std::vector<TrainingResult> trainings;
    std::vector<AsynchronousResult> asynchronous;
    std::vector<IterationRecord> iterations;
    std::vector<TransferRecord> transfers;   //!< in order of delivery; empty when not recorded
    std::vector<FaultRecord> faults;         //!< in the order in which they began and ended
    std::vector<FlowRecord> flows;           //!< foreign ones, in the order in which they ended
    std::vector<LinkSample> samples;         //!< of links over time; empty when not sampled
    Time sampleEvery;                        //!< their interval
    std::vector<ReactionRecord> reactions;   //!< in order of time
    std::vector<ComputeRecord> computations; //!< in order of their ends; empty when not recorded
    std::vector<WorkRecord> work;            //!< likewise; only where trace.json is wanted
    bool recordTrace{false};                 //!< trace.json is wanted
    std::vector<LinkStatistics> links; //!< as Transport::GetLinkStatistics; empty when not recorded
};

} // namespace ns3::gradsync

#endif // GRADSYNC_RUN_RESULT_H
