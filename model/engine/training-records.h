// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_TRAINING_RECORDS_H
#define GRADSYNC_TRAINING_RECORDS_H

#include "ns3/exchange-records.h"
#include "ns3/training-job.h"

#include <vector>

namespace ns3::gradsync
{

/// The iterations of a run of a workload, each from the end of the one before to its last task.
/// \param record with the log of all tasks
std::vector<IterationRecord> MakeIterationRecords(const TrainingRecord& record);

} // namespace ns3::gradsync

#endif // GRADSYNC_TRAINING_RECORDS_H
