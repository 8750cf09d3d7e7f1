// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_TRACE_PROGRAM_BUILDER_H
#define GRADSYNC_TRACE_PROGRAM_BUILDER_H

#include "ns3/trace-issues.h"
#include "ns3/trace-program.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace ns3::gradsync
{

/// The beginning of a name, printable and without what separates fields of tables.
std::string CleanTraceName(std::string_view name);

/// Collects the nodes of one file, whose dependencies name nodes by their ids.
class TraceProgramBuilder
{
  public:
    /// Different labels that are kept; nodes with others are called after what they do.
    static constexpr size_t MAX_LABELS = 65'536;

    /// \param file for messages
    explicit TraceProgramBuilder(std::string file);

    /// Throws an ImportError with the file before the text.
    [[noreturn]] void Fail(const std::string& text) const;

    /// "node 5 "x" of rank0.et"
    std::string Locate(uint64_t id, std::string_view name) const;

    /// The place of a group's name in the program.
    uint32_t AddGroup(const std::string& name);

    /// \param dependencies ids, of nodes that may come later \throws ImportError for too many nodes
    void Add(uint64_t id,
             std::string_view name,
             TraceNode node,
             std::span<const uint64_t> dependencies);

    size_t CountNodes() const
    {
        return m_program.nodes.size();
    }

    TraceIssues& GetIssues()
    {
        return m_issues;
    }

    /**
     * Dependencies on nodes that are not there, on the node itself and in circles become issues and
     * are left out. \throws ImportError for an id that two nodes have
     */
    TraceProgram Finish();

  private:
    uint32_t AddLabel(std::string_view name, TraceAction action);
    void Resolve();

    std::string m_file;
    TraceProgram m_program;
    TraceIssues m_issues;
    std::unordered_map<std::string, uint32_t> m_labels;
    std::vector<uint64_t> m_ids;           //!< [node]
    std::vector<uint64_t> m_dependencies;  //!< ids, of all nodes
    std::vector<uint32_t> m_dependencyEnd; //!< [node] end of its own ones
};

} // namespace ns3::gradsync

#endif // GRADSYNC_TRACE_PROGRAM_BUILDER_H
