// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_PROCESS_LINK_H
#define GRADSYNC_PROCESS_LINK_H

#include "ns3/byte-batch.h"

#include <cstdint>
#include <vector>

namespace ns3::gradsync
{

/// What each process tells all others at once, beside what it has for one of them.
struct ProcessNote
{
    int64_t nextTime;  //!< of what happens next in it, in time steps; INT64_MAX: nothing
    int64_t endedAt;   //!< when its part of an iteration ended; -1: it goes on
    int64_t isBehind;  //!< 1: not all before the end of the window has happened in it
    int64_t isStopped; //!< 1: it ends the simulation
    int64_t workNs;    //!< wall-clock time since its last exchange, in nanoseconds
};

/**
 * Connects the processes that simulate one network together: as many as there are of them, numbered
 * from 0. All of them call Exchange equally often. Where one is gone, the others end too.
 */
class ProcessLink
{
  public:
    virtual ~ProcessLink() = default;

    virtual uint32_t GetCount() const = 0;
    virtual uint32_t GetOwn() const = 0;

    /**
     * Tells all others a note, and hands each of them a batch, that of this one aside.
     * \param batches [process] for it; afterwards empty, with their memory
     * \param[out] notes [process] \param[out] received [process] from it
     */
    virtual void Exchange(const ProcessNote& note,
                          std::vector<ByteBatch>& batches,
                          std::vector<ProcessNote>& notes,
                          std::vector<ByteBatch>& received) = 0;
};

/// What a library that links processes has under this name (ProcessLinkFactory): the only link of
/// this process, for the caller to delete when all processes have done the same.
inline constexpr const char* PROCESS_LINK_FACTORY = "GradsyncMakeProcessLink";
using ProcessLinkFactory = ProcessLink* (*)();

} // namespace ns3::gradsync

#endif // GRADSYNC_PROCESS_LINK_H
