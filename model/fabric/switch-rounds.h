// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_SWITCH_ROUNDS_H
#define GRADSYNC_SWITCH_ROUNDS_H

#include "ns3/event-impl.h"
#include "ns3/fabric-packet.h"
#include "ns3/ptr.h"
#include "ns3/simulator-impl.h"
#include "ns3/switch-inbox.h"

#include <cstdint>
#include <functional>
#include <map>
#include <vector>

namespace ns3::gradsync
{

/// How much was done in rounds.
struct SwitchRoundCounts
{
    uint64_t taken{0};  //!< packets, and departures that were to be seen in time: events otherwise
    uint64_t rounds{0}; //!< events for that
};

/**
 * Runs the switches of a network in rounds, one after the other, instead of an event for each
 * packet.
 *
 * Nothing that happens elsewhere reaches a switch sooner than after the delay of a link. So from
 * the time at which a packet comes to any of them, each can go on alone for the least delay of all
 * links between nodes of which one is a switch (the lookahead; Chandy and Misra, "Distributed
 * simulation", IEEE TSE 5, 1979): what comes until then is on its links already. A round takes the
 * packets off the links of a switch, sorts them and forwards them, so that its ports are in the
 * cache once a round, no event is scheduled for them, and what comes next is known far ahead.
 *
 * Switches are ahead of the simulator by up to the lookahead then. Ports whose packets go to hosts
 * schedule their arrivals as always: hosts, and all else that is simulated, see no difference.
 * Whoever looks into the network in between, or changes it, must keep it in step
 * (FabricNetwork::KeepInStep).
 */
class SwitchRounds final : public EventImpl
{
  public:
    /// Make it as Ptr<SwitchRounds>(new SwitchRounds(...), false). \param lookahead at least 1
    SwitchRounds(SimulatorImpl& simulator, TimeStepCount lookahead);

    /// \param onFirst called as the first packet is about to come
    void SetFirstCallback(std::function<void()> onFirst)
    {
        m_onFirst = std::move(onFirst);
    }

    /// \returns the number of the switch here
    uint32_t Add(FabricSwitch& node, const std::vector<FabricPort*>& links);

    /// A link to a switch has something on its wire again.
    void Expect(uint32_t number, uint16_t port, TimeStepCount arrival);

    /// See SwitchInbox::AddDeparture.
    void AddDeparture(uint32_t number, LazySender& port, TimeStepCount at);

    /// No round goes beyond this time, from where somebody else may tell of something sooner.
    void SetBound(TimeStepCount bound)
    {
        m_bound = bound;
    }

    /// From now on rounds are no events: whoever keeps the time calls RunHeld. Before the first
    /// packet.
    void Hold()
    {
        m_isHeld = true;
    }

    /// When the switches have something to do; INT64_MAX: nothing is known.
    TimeStepCount GetNext() const
    {
        return m_next;
    }

    /// How far ahead of all else they may be.
    TimeStepCount GetLookahead() const
    {
        return m_lookahead;
    }

    /**
     * Does what is to be done before `end`.
     * \param quiet all before has happened elsewhere, and was done here; not after GetNext, and not
     * before `end` by more than the lookahead
     */
    void RunHeld(TimeStepCount quiet, TimeStepCount end);

    /// Does what comes within the lookahead from now, so that how far switches are ahead does not
    /// depend on where rounds began.
    void CatchUp();

    /// No rounds any more; what is on the links is for others to schedule.
    void Dissolve();

    bool IsDissolved() const
    {
        return m_isDissolved;
    }

    /// From now on the cache is to fetch what comes next.
    void SetFetching(bool fetches)
    {
        m_desk.fetches = fetches;
    }

    /// What was done up to now.
    SwitchRoundCounts GetCounts() const;

    /// What each switch has done, as SwitchRoundCounts::taken.
    void AddDone(std::map<NodeId, uint64_t>& counts) const;

    /// It has been ahead of the simulator.
    bool HasBegun() const
    {
        return m_rounds > 0;
    }

    /// The network goes away, while the simulator may hold the next round for longer.
    void Disconnect();

  private:
    void Notify() override;
    void Run(TimeStepCount now, TimeStepCount end);
    void ForgetDone(TimeStepCount now);
    void FetchTurns(size_t i, TimeStepCount end) const;
    void Note(uint32_t number, TimeStepCount at);
    void Schedule();
    TimeStepCount GetNow() const;

    SimulatorImpl* m_simulator; //!< null: the network is gone
    TimeStepCount m_lookahead;
    TimeStepCount m_bound{INT64_MAX};
    TimeStepCount m_next{INT64_MAX};      //!< when there is something to do
    TimeStepCount m_scheduled{INT64_MAX}; //!< the first event of its own that is pending
    std::vector<TimeStepCount> m_due;     //!< [number] when there is something to do
    std::vector<SwitchInbox> m_inboxes;   //!< [number]
    std::vector<uint32_t> m_turns;        //!< numbers of switches that have something to do
    SwitchInbox::Desk m_desk;
    std::function<void()> m_onFirst;
    uint64_t m_rounds{0}; //!< events of its own
    uint64_t m_done{0};   //!< that is not ahead of the simulator
    bool m_isRunning{false};
    bool m_isHeld{false};
    bool m_isDissolved{false};
};

} // namespace ns3::gradsync

#endif // GRADSYNC_SWITCH_ROUNDS_H
