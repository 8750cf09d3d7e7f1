// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_PART_REPORT_H
#define GRADSYNC_PART_REPORT_H

#include "ns3/byte-batch.h"
#include "ns3/part-failures.h"
#include "ns3/part-records.h"
#include "ns3/part-surroundings.h"
#include "ns3/run-result.h"
#include "ns3/transport.h"
#include "ns3/window-protocol.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace ns3::gradsync
{

/// What one of several processes found out of a run.
struct PartReport
{
    const RunResult* result; //!< its own part: iterations, transfers, computations, work
    const RecordOrders* orders;
    std::vector<LinkStatistics> links; //!< of what its own nodes sent; empty when not recorded
    TransportStatistics statistics;    //!< likewise
    AggregationStatistics aggregation; //!< likewise, of its switches too
    uint64_t events;                   //!< of its own
    std::vector<WindowProtocol::SharedEvent> sharedEvents;       //!< that it had, ascending
    std::vector<std::vector<WindowProtocol::UnderWay>> underWay; //!< [job] transfers that are timed
    std::vector<std::vector<uint64_t>> endOrders;                //!< [job] see WindowProtocol
    PartSurroundings surroundings;
    std::vector<PartFailure> failures; //!< of its jobs that are not finished
    int64_t end;                       //!< when the last thing happened, in time steps
    bool isStopped;                    //!< then, as no job was left to go on with
    std::string problem; //!< why it was ended from outside of the jobs; empty: it was not
};

/// For process 0.
ByteBatch PackReport(const PartReport& report);

/// What all processes found out together.
struct MergedReport
{
    std::vector<uint64_t> endOrders; //!< [iteration] among those that end at one instant
    TransportStatistics statistics;
    AggregationStatistics aggregation;
    uint64_t events{0};
    std::optional<ExchangeFailure> failure; //!< the first one, of jobs that have failed if any has
    Time end;                               //!< when the last thing happened
    bool isStopped{false};                  //!< then, as no job was left to go on with
    std::string problem;                    //!< as of the first PartReport that has one
};

/// Puts all reports in the place of the records of one of them, in the order in which one process
/// alone would have made them. \param batches [process] as of PackReport
MergedReport MergeReports(std::span<const ByteBatch> batches, RunResult& result);

} // namespace ns3::gradsync

#endif // GRADSYNC_PART_REPORT_H
