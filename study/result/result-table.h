// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_RESULT_TABLE_H
#define GRADSYNC_RESULT_TABLE_H

#include "ns3/result-files.h"
#include "ns3/scenario.h"

#include <ostream>
#include <string>
#include <vector>

namespace ns3::gradsync
{

/// Rows of text under a header, columns as wide as needed; numbers to the right.
class TextTable
{
  public:
    explicit TextTable(std::vector<std::string> header);
    void AddRow(std::vector<std::string> row);
    void Print(std::ostream& stream) const;

  private:
    std::vector<std::vector<std::string>> m_rows; //!< the header first
};

/**
 * Prints one row per run: the sweep, the mean ICT in ms, its ratio to the best run that differs in
 * the series only and to the bound of any all-reduce, what the plans move, status. The series is
 * that of the plot hints, or the last swept parameter.
 */
void PrintResultTable(const Scenario& scenario,
                      const RunSummaries& summaries,
                      std::ostream& stream);

/// Prints of how many points the repetitions are all the same, whatever the seed; nothing where
/// there are none.
void PrintRepetitions(const Scenario& scenario,
                      const RunSummaries& summaries,
                      std::ostream& stream);

/// Prints what training iterations of each run are made of, and what bounds them; nothing for runs
/// without training.
void PrintTraining(const RunSummaries& summaries, std::ostream& stream);

} // namespace ns3::gradsync

#endif // GRADSYNC_RESULT_TABLE_H
