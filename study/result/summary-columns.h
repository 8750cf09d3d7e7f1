// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_SUMMARY_COLUMNS_H
#define GRADSYNC_SUMMARY_COLUMNS_H

#include "ns3/result-columns.h"
#include "ns3/run-result.h"

#include <span>
#include <string>
#include <string_view>

namespace ns3::gradsync
{

/// A column of runs.csv and its cell. doc/results.rst defines every figure.
struct SummaryColumn
{
    ResultColumn column;
    std::string (*text)(const RunSummary& summary); //!< empty: there is no such figure
};

/// The columns of runs.csv that follow the number of the run and the swept values, `seed` first.
std::span<const SummaryColumn> GetSummaryColumns();

/// Their names and cells, with commas between them. `hasSeed`: the sweep has the column already.
std::string FormatSummaryHeader(bool hasSeed);
std::string FormatSummary(const RunSummary& summary);

/// The same row for a run that crashed: empty cells and the status.
std::string FormatCrashedSummary();

/// A row of FormatSummary without its seed.
std::string_view DropSeed(std::string_view row);

/// What came out of a run: its row without its seed, and without what it cost.
std::string_view GetOutcome(std::string_view row);

} // namespace ns3::gradsync

#endif // GRADSYNC_SUMMARY_COLUMNS_H
