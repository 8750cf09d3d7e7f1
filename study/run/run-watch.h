// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_RUN_WATCH_H
#define GRADSYNC_RUN_WATCH_H

#include "ns3/exchange-engine.h"
#include "ns3/fault-injector.h"
#include "ns3/nstime.h"
#include "ns3/radix-scheduler.h"
#include "ns3/traffic-generator.h"
#include "ns3/transport.h"

#include <array>
#include <cstdint>
#include <set>
#include <string>

namespace ns3::gradsync
{

/**
 * Ends a simulation in which nothing is left but timers that set themselves again and again, as
 * those of ns3::PieQueueDisc do; ns-3 itself ends one when no event is pending.
 *
 * It looks from time to time, and without events of its own. When nothing has happened between two
 * looks (no packet moved, no operation done, no fault or flow) then events that were pending at the
 * earlier one may still do something: a timeout, the end of a computation. When all of those are
 * gone too, what is pending was set by timers that achieved nothing. So no simulation ends earlier
 * than it would, but for such timers.
 */
class RunWatch
{
  public:
    /// Watches while it lives. The simulator must use a RadixScheduler.
    RunWatch(const Ptr<ExchangeEngine>& engine,
             const Ptr<Transport>& transport,
             const Ptr<FaultInjector>& injector,
             const Ptr<TrafficGenerator>& generator);
    ~RunWatch();
    RunWatch(const RunWatch&) = delete;
    RunWatch& operator=(const RunWatch&) = delete;

    /// After Simulator::Run: the time up to which something happened.
    Time GetEnd() const;

    /// What went on when it ended the simulation, for the text of a failure; else empty.
    std::string DescribeTimers() const;

  private:
    /// Counters, some of which change whenever something happens.
    using Progress = std::array<uint64_t, 6>;

    uint64_t Look(const RadixScheduler& pending);
    Progress CountProgress() const;
    void Remember(const RadixScheduler& pending, const Progress& progress);
    bool HasEarlier(const RadixScheduler& pending) const;
    void Stop(const RadixScheduler& pending);

    void OnIteration(const IterationRecord& record);
    void OnFault(const FaultRecord& record);
    void OnFlow(const FlowRecord& record);

    Ptr<ExchangeEngine> m_engine;
    Ptr<Transport> m_transport;
    Ptr<FaultInjector> m_injector;
    Ptr<TrafficGenerator> m_generator;
    uint64_t m_instants;             //!< between two looks
    uint64_t m_reports{0};           //!< of trace sources
    Progress m_progress{UINT64_MAX}; //!< at the last look that found any; the first one does
    Time m_since;                    //!< when that was
    uint32_t m_newest{0};            //!< uid of the newest event that was pending then
    bool m_stopped{false};
    std::set<std::string> m_timers; //!< what was pending when it stopped the simulation
};

} // namespace ns3::gradsync

#endif // GRADSYNC_RUN_WATCH_H
