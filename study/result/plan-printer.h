// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_PLAN_PRINTER_H
#define GRADSYNC_PLAN_PRINTER_H

#include "ns3/json-document.h"
#include "ns3/plan-graph.h"

#include <cstdint>
#include <ostream>
#include <vector>

namespace ns3::gradsync
{

/// A plan for people, as a table, and for programs, as JSON.
class PlanPrinter
{
  public:
    /// The plan must outlive the printer.
    explicit PlanPrinter(const Plan& plan);

    /// One row an operation; of more than `maxRows`, the first ones.
    void PrintTable(size_t maxRows, std::ostream& stream) const;
    /// All of it, so that the scheme `import` makes the same plan of it (doc/import.rst).
    Json ToJson() const;

  private:
    Json OperationToJson(OperationId id) const;

    const Plan& m_plan;
    PlanGraph m_graph;
    std::vector<uint32_t> m_rounds; //!< [operation]: transfers in the longest chain before it
};

} // namespace ns3::gradsync

#endif // GRADSYNC_PLAN_PRINTER_H
