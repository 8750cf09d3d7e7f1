// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_SWEPT_COLUMNS_H
#define GRADSYNC_SWEPT_COLUMNS_H

#include "ns3/result-columns.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ns3::gradsync
{

/// What is written with a unit.
enum class Quantity : uint8_t
{
    None,
    Bytes,
    Rate,
    Time
};

/// A column of runs.csv that the sweep decides: a swept value as it is written, or its number.
struct SweptColumn
{
    size_t axis;      //!< of the scenario
    std::string name; //!< the path; of a number the path and its unit: "job.gradient_bytes"
    ColumnType type;  //!< as the parameter is declared, whatever is swept over
    Quantity number{Quantity::None}; //!< None: the value as it is written
};

/// "B", "b/s" or "s", of numbers.
std::string GetUnit(const SweptColumn& column);

/// Between the number of the run and the columns of its summary: all paths, then the numbers.
std::vector<SweptColumn> ListSweptColumns(const Scenario& scenario);

/// A cell of such a column; of numbers it is empty for a value that is none, as "unlimited".
std::string FormatSwept(const SweptColumn& column, const Json& value);

/// Checks that `plot` names columns of runs.csv. \throws ScenarioError with the nearest name
void CheckPlotColumns(const Scenario& scenario);

} // namespace ns3::gradsync

#endif // GRADSYNC_SWEPT_COLUMNS_H
