// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_STORED_SUMMARY_H
#define GRADSYNC_STORED_SUMMARY_H

#include "ns3/json-document.h"
#include "ns3/run-result.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ns3::gradsync
{

/// What is kept of a run's summary: its row of runs.csv, and what the program itself says of it.
struct StoredSummary
{
    std::string row; //!< FormatSummary
    bool finished{false};
    std::string failure; //!< one line; empty when finished
    int64_t meanIctPs{0};
    double timesBound{0.0};
    uint64_t crossRackBytes{0};
    uint32_t longestChain{0};
    uint64_t peakReceivedBytes{0};
    double wallSeconds{0.0};
    std::vector<std::string> training; //!< DescribeTraining, DescribeAsynchronous
};

StoredSummary Store(const RunSummary& summary);

Json ToJson(const StoredSummary& summary);
StoredSummary ToStoredSummary(const Json& json);

} // namespace ns3::gradsync

#endif // GRADSYNC_STORED_SUMMARY_H
