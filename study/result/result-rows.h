// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_RESULT_ROWS_H
#define GRADSYNC_RESULT_ROWS_H

#include "ns3/run-result.h"

#include <ostream>
#include <string>

namespace ns3::gradsync
{

/// Rows of one run with the columns of result-columns.h, without header and the column `run`.
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

} // namespace ns3::gradsync

#endif // GRADSYNC_RESULT_ROWS_H
