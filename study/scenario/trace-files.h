// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_TRACE_FILES_H
#define GRADSYNC_TRACE_FILES_H

#include "ns3/named-files.h"
#include "ns3/trace-program.h"

#include <cstdint>
#include <memory>
#include <string>

namespace ns3::gradsync
{

/// Whether there is a file of each rank: "{rank}" in the name.
bool HasRankMark(const std::string& name);

/// That of a rank, where there is one of each.
std::string NameTraceFile(std::string name, uint32_t rank);

/// As it is on the disk. \throws ImportError
std::shared_ptr<const std::string> ReadTraceFile(const std::string& file, NamedFiles& files);

/// The same, unpacked where it is a gzip. \throws ImportError
std::shared_ptr<const std::string> UnpackTraceFile(const std::string& file, NamedFiles& files);

/// Adds the ranks of a trace one after the other, as far as it may be large.
class RankPrograms
{
  public:
    /// \param file for messages \param set outlives it
    RankPrograms(std::string file, TraceSet& set);

    /// \throws ImportError for more nodes of all ranks than a trace may have
    void Add(std::shared_ptr<const TraceProgram> program);

    /// A rank that does what the first one does.
    void AddAsFirst();

  private:
    std::string m_file;
    TraceSet& m_set;
    uint64_t m_nodes{0};
};

} // namespace ns3::gradsync

#endif // GRADSYNC_TRACE_FILES_H
