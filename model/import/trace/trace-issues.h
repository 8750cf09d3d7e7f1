// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_TRACE_ISSUES_H
#define GRADSYNC_TRACE_ISSUES_H

#include <cstdint>
#include <string>
#include <vector>

namespace ns3::gradsync
{

/// What of a trace cannot be simulated: named once, and counted.
class TraceIssues
{
  public:
    struct Issue
    {
        std::string what;  //!< in the plural, as "loads from memory"
        std::string first; //!< where the first one is
        uint64_t count{0};
    };

    void Add(const std::string& what, const std::string& where, uint64_t count = 1);

    /// Those of a file, for each rank that runs it. \param ranks at least 1
    void Add(const TraceIssues& others, uint64_t ranks = 1);

    bool IsEmpty() const
    {
        return m_issues.empty();
    }

    /// In the order in which they were first found.
    const std::vector<Issue>& GetAll() const
    {
        return m_issues;
    }

    /// "3 loads from memory (the first: node 5 "x" of rank0.et); 1 ..."
    std::string Describe() const;

  private:
    std::vector<Issue> m_issues;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_TRACE_ISSUES_H
