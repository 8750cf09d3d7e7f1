// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_PYTORCH_PROCESS_GROUPS_H
#define GRADSYNC_PYTORCH_PROCESS_GROUPS_H

#include "ns3/pytorch-trace.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace ns3::gradsync
{

/// The ranks of the largest process group that a trace tells of; at least 1.
uint32_t CountGroupRanks(const PyTorchTrace& trace);

/// Puts together what ranks say of the process groups that they are in.
class PyTorchProcessGroups
{
  public:
    /// \param file for messages \param ranks that run the trace
    PyTorchProcessGroups(std::string file, uint32_t ranks);

    /// \param groups of a rank's file, those without the rank are no matter of it
    /// \throws ImportError for a group of other ranks than there are
    void Add(uint32_t rank, const std::map<std::string, PyTorchGroup>& groups);

    /// \returns for TraceSet \throws ImportError where ranks do not agree about a group
    std::map<std::string, std::vector<std::vector<uint32_t>>> Finish() const;

  private:
    std::string m_file;
    uint32_t m_ranks;
    /// Name, rank: whom it takes for the group.
    std::map<std::string, std::map<uint32_t, std::vector<uint32_t>>> m_of;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_PYTORCH_PROCESS_GROUPS_H
