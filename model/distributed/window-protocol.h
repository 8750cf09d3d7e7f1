// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_WINDOW_PROTOCOL_H
#define GRADSYNC_WINDOW_PROTOCOL_H

#include "ns3/divided-transport.h"
#include "ns3/part-ends.h"
#include "ns3/process-link.h"
#include "ns3/rank-share.h"
#include "ns3/switch-rounds.h"
#include "ns3/topology-division.h"
#include "ns3/topology.h"
#include "ns3/window-simulator-impl.h"

#include <compare>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace ns3::gradsync
{

/**
 * Keeps processes in step that simulate one network together, in windows as ns-3's
 * DistributedSimulatorImpl does (granted time windows; Nicol, "The cost of conservative
 * synchronization in parallel discrete event simulations", J. ACM 40, 1993): none of them goes
 * farther than the shortest delay of a link between them (the lookahead) beyond the earliest of all
 * their next events. In a window they hand each other all packets of it at once.
 *
 * Switches, where they can be held (DividedTransport), go on first in a window: what hosts do comes
 * to them no sooner than after the delay of a link. What they send is all that others wait for: it
 * is handed over at once, and what hosts do comes after. So a process that has more to do in one
 * window than the others makes them wait only where it falls behind by more than their hosts take.
 *
 * An iteration of a job ends everywhere at the instant at which its last operation is done, in
 * whatever process that is. One whose own part has ended goes no farther than that may be, as far
 * as it knows (PartEnds); when all know that all have ended, the next iteration begins there.
 */
class WindowProtocol final : public RankShare
{
  public:
    /// What it took.
    struct Counts
    {
        uint64_t windows{0};
        uint64_t aheadWindows{0}; //!< in which switches went on first
        uint64_t sentBytes{0};    //!< by this process
        uint64_t sentBatches{0};  //!< likewise, with anything in them
        int64_t waitNs{0};        //!< of this process, for others
    };

    /// All must outlive it. \param transport divided
    WindowProtocol(WindowSimulatorImpl& simulator,
                   DividedTransport& transport,
                   ProcessLink& link,
                   const Topology& topology,
                   const TopologyDivision& division);

    /**
     * Processes Tell each other: all of them call this, before Run, with the same time.
     * \param ahead of what happens it is told at least so long
     * \param takeNotice is called when it happens, in the process that was told
     */
    void UseNotices(const Time& ahead, std::function<void(const Notice&)> takeNotice);

    /// Before Run, in all of them. \param jobs as the engine numbers them \param tellsAll processes
    /// without ranks of a job are told of its ends too
    void UseJobs(std::span<const SharedJob> jobs, bool tellsAll);

    /// Calls back at an instant that is not over, after what has an EventOrder there. No event of
    /// one process.
    void CallAt(const Time& at, std::function<void()> action);

    /// Simulates until nothing is left to happen in any process.
    void Run();

    // RankShare
    bool IsHere(uint32_t endpoint) const override;
    uint32_t GetOwnPart() const override;
    uint32_t GetPart(uint32_t endpoint) const override;
    bool AreEndsTold() const override;
    bool AreAllEndsTold() const override;
    void Tell(uint32_t part, const Notice& notice) override;
    void OnPartEnded(uint32_t job, std::function<void()> goOn) override;
    void OnPartBegun(uint32_t job, std::function<void()> onTimeout) override;
    void OnSharedEvent(uint32_t job, uint32_t owner) override;
    void OnForeignEvent() override;
    void OnUnderWay(uint32_t job, int32_t change) override;

    const Counts& GetCounts() const
    {
        return m_counts;
    }

    /// An event of ranks together.
    struct SharedEvent
    {
        int64_t at; //!< in time steps
        uint64_t owner;

        auto operator<=>(const SharedEvent&) const = default;
    };

    /// Ascending.
    std::vector<SharedEvent> GetSharedEvents() const;

    /// How many more transfers were under way from an instant on, or fewer.
    struct UnderWay
    {
        int64_t at; //!< in time steps
        int64_t change;
    };

    /// Of each job by ascending instants, one each.
    const std::vector<std::vector<UnderWay>>& GetUnderWay() const
    {
        return m_underWay;
    }

    /// [job] The EventOrders of the ends of the iterations in which this process took part, and how
    /// those of one order follow each other, in the order of the ends.
    const std::vector<std::vector<uint64_t>>& GetEndOrders() const
    {
        return m_endOrders;
    }

    /// When the last job failed, if none is left to go on: nothing is simulated from then on.
    std::optional<int64_t> GetLastFailure() const
    {
        return m_ends.GetLastFailure();
    }

    /// Events of this process, without foreign and shared ones.
    uint64_t CountOwnEvents() const;

    /// An event of something that another process simulates has happened here too.
    void CountForeignEvents(uint64_t count)
    {
        m_foreignEvents += count;
    }

  private:
    bool RunWindow();
    bool AreSwitchesHeld() const;
    RunBound RunSwitches(const RunBound& bound);
    int64_t ScheduleNextIterations();
    void ScheduleIteration(PartEnds::Iteration iteration);
    void FailTimedOut();
    RunBound FindBound(int64_t next) const;
    void RunTo(const RunBound& bound);
    ProcessNote MakeNote() const;
    void TellAll();
    void HearAll();
    int64_t GetNextTime() const;
    int64_t GetFirstArrival() const;
    void FillBatch(uint32_t part, std::span<const PartEnd> ends);
    void TakeBatch(uint32_t part, BatchReader& batch);
    void ScheduleNotice(const Notice& notice);

    WindowSimulatorImpl& m_simulator;
    DividedTransport& m_transport;
    ProcessLink& m_link;
    std::vector<uint32_t> m_partOf; //!< [endpoint]
    int64_t m_lookahead;            //!< time steps
    uint32_t m_own;

    bool m_tellsAllEnds{false};
    PartEnds m_ends;
    SwitchRounds* m_switches{nullptr}; //!< that are held; null: they are events as all else
    int64_t m_end{0};                  //!< of the window
    int64_t m_clock{0};                //!< all before has happened, but for held switches
    /// Where the first iterations begin that were scheduled last.
    int64_t m_begin{INT64_MAX};
    std::vector<std::vector<uint64_t>> m_endOrders; //!< [job]

    std::function<void(const Notice&)> m_takeNotice; //!< empty: there are none
    std::vector<std::vector<Notice>> m_told;         //!< [process] and not sent

    /// What this process has told and not heard yet.
    struct Told
    {
        ProcessNote note;
        std::vector<PartEnd> ends;
    };

    std::vector<ProcessNote> m_notes; //!< [process] of the last window
    Told m_ownNote;                   //!< that comes after
    std::vector<OutgoingBatch> m_batches;
    std::vector<SharedEvent> m_sharedEvents;       //!< by ascending instants
    std::vector<std::vector<UnderWay>> m_underWay; //!< [job]
    uint64_t m_foreignEvents{0};
    Counts m_counts;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_WINDOW_PROTOCOL_H
