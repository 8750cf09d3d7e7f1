// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_TRAINING_ROWS_H
#define GRADSYNC_TRAINING_ROWS_H

#include "ns3/run-result.h"

#include <ostream>

namespace ns3::gradsync
{

/// Rows of one run with the columns of result-columns.h, without header and the column `run`: for
/// each iteration what each rank did,
void WriteTraining(const RunResult& result, std::ostream& stream);
/// and on each of its streams;
void WriteStreams(const RunResult& result, std::ostream& stream);
/// communications of all iterations, those that are alike in one row;
void WriteCollectives(const RunResult& result, std::ostream& stream);
/// the steps of critical paths that take time.
void WriteCriticalPaths(const RunResult& result, std::ostream& stream);

} // namespace ns3::gradsync

#endif // GRADSYNC_TRAINING_ROWS_H
