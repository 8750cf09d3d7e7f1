// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/shared-window.h"

#include <cstdint>

namespace ns3::gradsync
{

namespace
{

/// Whether it is so in all processes.
bool
IsEverywhere(bool isHere)
{
    int isSo = isHere ? 1 : 0;
    MPI_Allreduce(MPI_IN_PLACE, &isSo, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
    return isSo != 0;
}

bool
AreOnOneMachine(int count)
{
    MPI_Comm here = MPI_COMM_NULL;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &here);
    int countHere = 0;
    MPI_Comm_size(here, &countHere);
    MPI_Comm_free(&here);
    return IsEverywhere(countHere == count);
}

/// From a place in shared memory to the next that is aligned: as far in all processes, which have
/// it at the same place of a page each.
size_t
GetPadding(const std::byte* place)
{
    constexpr auto ALIGNMENT = SharedBoards::SEGMENT_ALIGNMENT;
    return (ALIGNMENT - reinterpret_cast<uintptr_t>(place) % ALIGNMENT) % ALIGNMENT;
}

} // namespace

SharedWindow::SharedWindow(const SharedBoards::Layout& layout)
{
    const auto count = static_cast<int>(layout.processes);
    if (count == 1 || !AreOnOneMachine(count) || !Allocate(layout))
    {
        return;
    }
    for (int process = 0; process < count; ++process)
    {
        MPI_Aint bytes = 0;
        int unit = 0;
        std::byte* segment = nullptr;
        MPI_Win_shared_query(m_window, process, &bytes, &unit, static_cast<void*>(&segment));
        m_segments.push_back(segment + GetPadding(segment));
    }
    int own = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &own);
    SharedBoards::Clear(m_segments[static_cast<size_t>(own)], layout);
    MPI_Barrier(MPI_COMM_WORLD); // all segments are clear
}

/// \returns whether all processes have their memory
bool
SharedWindow::Allocate(const SharedBoards::Layout& layout)
{
    std::byte* own = nullptr;
    const auto bytes = SharedBoards::GetSegmentBytes(layout) + SharedBoards::SEGMENT_ALIGNMENT;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    const auto error = MPI_Win_allocate_shared(static_cast<MPI_Aint>(bytes),
                                               1,
                                               MPI_INFO_NULL,
                                               MPI_COMM_WORLD,
                                               static_cast<void*>(&own),
                                               &m_window);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    return IsEverywhere(error == MPI_SUCCESS);
}

SharedWindow::~SharedWindow()
{
    if (!m_segments.empty())
    {
        MPI_Win_free(&m_window);
    }
}

} // namespace ns3::gradsync
