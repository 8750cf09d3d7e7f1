// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_RANK_SHARE_H
#define GRADSYNC_RANK_SHARE_H

#include "ns3/execution-table.h"

#include <array>
#include <cstdint>
#include <functional>

namespace ns3::gradsync
{

/**
 * Which ranks of the jobs this process simulates, where several simulate one network together. Each
 * has all jobs with all their ranks, and lets only its own ones act: it begins their operations,
 * and hears of the transfers that are delivered to them.
 */
class RankShare
{
  public:
    /// What another process is to know ahead of an operation.
    struct Notice
    {
        int64_t at;        //!< when it happens, in time steps
        uint64_t tag;      //!< as ExecutionTable::MakeTag makes them
        uint32_t order;    //!< its EventOrder
        uint32_t endpoint; //!< of the rank that receives or does it
        uint32_t job;      //!< index of its job in the engine
        OperationNews news;
        std::array<uint8_t, 2> reserved{}; //!< no bytes without a value
    };

    /// Whether the ranks at an endpoint are of this process.
    virtual bool IsHere(uint32_t endpoint) const = 0;

    /// The number of this process.
    virtual uint32_t GetOwnPart() const = 0;

    /// The number of the process that simulates the ranks at an endpoint.
    virtual uint32_t GetPart(uint32_t endpoint) const = 0;

    /// Whether anybody Tells; if not, no end needs to be looked for.
    virtual bool AreEndsTold() const = 0;

    /// Tells another process, whose application of that rank hears of it then (OnTold). Of notices
    /// of one time and order the first ones first.
    virtual void Tell(uint32_t part, const Notice& notice) = 0;

    /**
     * All is done that this process has to do of an iteration of a job. Of a process none of whose
     * ranks takes part nobody waits for it. \param job its index in the engine, likewise below
     * \param goOn is called when all that take part say so, at the time of the last one
     */
    virtual void OnPartEnded(uint32_t job, std::function<void()> goOn) = 0;

    /// Whether all processes are told of the ends of all jobs, and take part with no rank too.
    virtual bool AreAllEndsTold() const = 0;

    /**
     * An iteration of a job begins. \param onTimeout is called if it does not end in the time that
     * the job has (SharedJob::timeout), in every process that takes part
     */
    virtual void OnPartBegun(uint32_t job, std::function<void()> onTimeout) = 0;

    /**
     * An event at this instant of all ranks of a job together: others may have it too, and one
     * process that had all ranks would have it once. \param owner whose event it is, by a number
     * that it has in any process; of several of one owner at an instant one process has as many as
     * the one that has most
     */
    virtual void OnSharedEvent(uint32_t job, uint32_t owner) = 0;

    /// The event in hand stands for one that another process has: one process alone has it once.
    virtual void OnForeignEvent() = 0;

    /// From this instant on so many more transfers of a job are under way, or fewer: those that
    /// ranks of this process have begun, without those that have come to them.
    virtual void OnUnderWay(uint32_t job, int32_t change) = 0;

  protected:
    ~RankShare() = default;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_RANK_SHARE_H
