// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_WINDOW_PROTOCOL_H
#define GRADSYNC_WINDOW_PROTOCOL_H

#include "ns3/divided-transport.h"
#include "ns3/process-link.h"
#include "ns3/rank-share.h"
#include "ns3/topology-division.h"
#include "ns3/topology.h"
#include "ns3/window-simulator-impl.h"

#include <cstdint>
#include <functional>
#include <vector>

namespace ns3::gradsync
{

/**
 * Keeps processes in step that simulate one network together, in windows as ns-3's
 * DistributedSimulatorImpl does (granted time windows; Nicol, "The cost of conservative
 * synchronization in parallel discrete event simulations", J. ACM 40, 1993): none of them goes
 * farther than the shortest delay of a link between them beyond the earliest of all their next
 * events. At the end of a window they hand each other all packets of it at once.
 *
 * An iteration ends everywhere at the instant at which its last operation is done, in whatever
 * process that is. One whose own part has ended therefore waits, at each window, until the others
 * have run it or have ended too; then all know the instant, run up to it, and begin the next
 * iteration there.
 */
class WindowProtocol final : public RankShare
{
  public:
    /// What it took.
    struct Counts
    {
        uint64_t windows{0};
        uint64_t exchanges{0};   //!< of notes and packets: one a window, and more where parts end
        uint64_t sentBytes{0};   //!< by this process
        uint64_t sentBatches{0}; //!< likewise, with anything in them
        int64_t workNs{0};       //!< of this process, between exchanges
        /// Of the process that had most to do before each exchange: what all would take together on
        /// a core each if exchanges took no time.
        int64_t longestNs{0};
    };

    /// All must outlive it. \param transport divided
    WindowProtocol(WindowSimulatorImpl& simulator,
                   DividedTransport& transport,
                   ProcessLink& link,
                   const Topology& topology,
                   const TopologyDivision& division);

    /**
     * Processes Tell each other: all of them call this, before Run, with the same time. \param
     * ahead of what happens it is told at least so long \param takeNotice is called when it
     * happens, in the process that was told
     */
    void UseNotices(const Time& ahead, std::function<void(const Notice&)> takeNotice);

    /// Simulates until nothing is left to happen in any process.
    void Run();

    // RankShare
    bool IsHere(uint32_t endpoint) const override;
    uint32_t GetOwnPart() const override;
    uint32_t GetPart(uint32_t endpoint) const override;
    void Tell(uint32_t part, const Notice& notice) override;
    void OnPartEnded(std::function<void()> goOn) override;
    void OnSharedEvent() override;
    void OnUnderWay(int32_t change) override;

    const Counts& GetCounts() const
    {
        return m_counts;
    }

    /// The instants of shared events, ascending, in time steps.
    const std::vector<int64_t>& GetSharedInstants() const
    {
        return m_sharedInstants;
    }

    /// How many more transfers were under way from an instant on, or fewer.
    struct UnderWay
    {
        int64_t at; //!< in time steps
        int64_t change;
    };

    /// By ascending instants, one each.
    const std::vector<UnderWay>& GetUnderWay() const
    {
        return m_underWay;
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
    void RunTo(int64_t end);
    void Exchange();
    void CatchUp(int64_t end);
    bool IsAnyBehind() const;
    bool HaveAllEnded() const;
    int64_t GetNextTime() const;
    void FillBatch(uint32_t part);
    void TakeBatch(const ByteBatch& received);
    void ScheduleNotice(const Notice& notice);

    WindowSimulatorImpl& m_simulator;
    DividedTransport& m_transport;
    ProcessLink& m_link;
    std::vector<uint32_t> m_partOf; //!< [endpoint]
    int64_t m_lookahead;            //!< time steps
    uint32_t m_own;

    std::function<void()> m_goOn; //!< empty: the part of this process goes on
    int64_t m_endedAt{-1};
    bool m_isBehind{false};

    std::function<void(const Notice&)> m_takeNotice; //!< empty: there are none
    std::vector<std::vector<Notice>> m_told;         //!< [process] since the last exchange

    std::vector<ProcessNote> m_notes; //!< [process] of the last exchange
    std::vector<ByteBatch> m_batches;
    std::vector<ByteBatch> m_received;
    std::vector<int64_t> m_sharedInstants;
    std::vector<UnderWay> m_underWay;
    uint64_t m_sharedEvents{0};
    uint64_t m_foreignEvents{0};
    int64_t m_workSince{0}; //!< end of the last exchange
    Counts m_counts;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_WINDOW_PROTOCOL_H
