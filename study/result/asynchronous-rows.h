// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_ASYNCHRONOUS_ROWS_H
#define GRADSYNC_ASYNCHRONOUS_ROWS_H

#include "ns3/run-result.h"

#include <ostream>

namespace ns3::gradsync
{

/// Rows of one run with the columns of result-columns.h, without header and the column `run`: the
/// updates of asynchronous jobs,
void WriteUpdates(const RunResult& result, std::ostream& stream);
/// and their workers.
void WriteWorkers(const RunResult& result, std::ostream& stream);

} // namespace ns3::gradsync

#endif // GRADSYNC_ASYNCHRONOUS_ROWS_H
