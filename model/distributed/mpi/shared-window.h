// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_SHARED_WINDOW_H
#define GRADSYNC_SHARED_WINDOW_H

#include "ns3/shared-boards.h"

#include <cstddef>
#include <mpi.h>
#include <vector>

namespace ns3::gradsync
{

/// Memory of MPI that its processes share, where all of them are of one machine.
class SharedWindow
{
  public:
    /// All processes call it.
    explicit SharedWindow(const SharedBoards::Layout& layout);
    SharedWindow(const SharedWindow&) = delete;
    SharedWindow& operator=(const SharedWindow&) = delete;

    /// All processes call it, or none.
    ~SharedWindow();

    /// \returns [process] its segment, cleared; none where processes are of several machines, or
    /// one has no memory for it
    const std::vector<std::byte*>& GetSegments() const
    {
        return m_segments;
    }

  private:
    bool Allocate(const SharedBoards::Layout& layout);

    MPI_Win m_window{MPI_WIN_NULL};
    std::vector<std::byte*> m_segments;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_SHARED_WINDOW_H
