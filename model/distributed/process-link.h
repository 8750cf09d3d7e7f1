// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_PROCESS_LINK_H
#define GRADSYNC_PROCESS_LINK_H

#include "ns3/outgoing-batch.h"

#include <cstdint>
#include <span>
#include <vector>

namespace ns3::gradsync
{

/// What each process tells all others at once, beside what it has for one of them.
struct ProcessNote
{
    int64_t nextTime;   //!< nothing happens before in it or by what it has just sent, in time steps
    int64_t nextEvent;  //!< nothing happens before in it, but for what others send it
    int64_t arrival;    //!< nothing happens before by what it has just sent
    int64_t clock;      //!< all before has happened in it
    uint32_t endCount;  //!< parts of iterations that have ended in it: first in each batch
    uint16_t isOrdered; //!< 1: the next event has an EventOrder; else it ends no part
    uint16_t isStopped; //!< 1: it ends the simulation
};

/**
 * Connects the processes that simulate one network together: as many as there are of them, numbered
 * from 0. All of them send equally often, for the k-th time when they have received what all others
 * sent before, and need it no more. Where one is gone, the others end too.
 */
class ProcessLink
{
  public:
    virtual ~ProcessLink() = default;

    virtual uint32_t GetCount() const = 0;
    virtual uint32_t GetOwn() const = 0;

    /**
     * Tells all others a note, and hands each of them a batch, that of this one aside. Waits for
     * nobody.
     * \param batches [process] for it; afterwards empty
     */
    virtual void Send(const ProcessNote& note, std::vector<OutgoingBatch>& batches) = 0;

    /// Waits for what another process has sent, of all that was not received yet the first.
    /// \returns the batch, which lasts until this process sends
    virtual std::span<const std::byte> Receive(uint32_t peer, ProcessNote& note) = 0;
};

/// What a library that links processes has under this name (ProcessLinkFactory): the only link of
/// this process, for the caller to delete when all processes have done the same.
inline constexpr const char* PROCESS_LINK_FACTORY = "GradsyncMakeProcessLink";
using ProcessLinkFactory = ProcessLink* (*)();

} // namespace ns3::gradsync

#endif // GRADSYNC_PROCESS_LINK_H
