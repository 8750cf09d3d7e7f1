// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_RESULT_ROWS_H
#define GRADSYNC_RESULT_ROWS_H

#include "ns3/json-document.h"
#include "ns3/run-result.h"

#include <ostream>
#include <string>
#include <string_view>

namespace ns3::gradsync
{

/// A CSV field, quoted where RFC 4180 asks for it.
std::string QuoteCsv(std::string_view text);

/// The columns that follow the sweep's in runs.csv; `hasSeed`: the sweep has a column `seed`
/// already.
std::string GetSummaryHeader(bool hasSeed);
std::string FormatSummary(const RunSummary& summary, bool hasSeed);

/// The same row for a run that crashed: empty fields and the status.
std::string FormatCrashedSummary(bool hasSeed);

/// Headers of the other files, without the leading column `run`.
inline constexpr const char* ITERATION_HEADER =
    "job,iteration,start_s,ict_s,compute_s,compress_s,network_s,decompress_s,overlap_s,"
    "replies,late";
inline constexpr const char* LINK_HEADER =
    "from,to,kind,rate_bps,payload_bytes,wire_bytes,packets,utilisation,dropped,ecn,pfc_pause_s,"
    "max_queue_bytes,pfc_pauses,blocked_bytes";
inline constexpr const char* FAULT_HEADER = "time_s,fault,kind,target,event,recovery_s";
inline constexpr const char* BLOCKED_HEADER = "time_s,job,blocked_workers";
inline constexpr const char* FLOW_HEADER = "traffic,src,dst,bytes,start_s,end_s,status";
inline constexpr const char* SAMPLE_HEADER = "time_s,from,to,wire_bytes,queue_bytes,pfc_pause_s";
inline constexpr const char* UNFINISHED_HEADER = "job,iteration,operation,what,src,dst,bytes,state";
inline constexpr const char* MESSAGE_HEADER = "job,iteration,operation,src,dst,bytes,start_s,end_s";

/// Rows of one run, without header and without the column `run`.
void WriteIterations(const RunResult& result, std::ostream& stream);
void WriteLinks(const RunResult& result, std::ostream& stream);
void WriteSamples(const RunResult& result, std::ostream& stream);
/// "job0 without host3": to what a job reacts, and how. \param verb after the name of the job
std::string DescribeReaction(const RunResult& result,
                             const ReactionRecord& reaction,
                             const std::string& verb = "");

void WriteFaults(const RunResult& result, std::ostream& stream);
void WriteFlows(const RunResult& result, std::ostream& stream);
void WriteBlocked(const RunResult& result, std::ostream& stream);
void WriteMessages(const RunResult& result, std::ostream& stream);
/// The transfers that a run did not finish.
void WriteUnfinished(const RunResult& result, std::ostream& stream);

/// A summary as JSON and back, for the folder of a run.
Json ToJson(const RunSummary& summary);
RunSummary ToSummary(const Json& json);

} // namespace ns3::gradsync

#endif // GRADSYNC_RESULT_ROWS_H
