// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_FAULT_INJECTOR_H
#define GRADSYNC_FAULT_INJECTOR_H

#include "ns3/event-id.h"
#include "ns3/exchange-engine.h"
#include "ns3/fault-spec.h"
#include "ns3/network-condition.h"
#include "ns3/object.h"
#include "ns3/random-variable-stream.h"
#include "ns3/traced-callback.h"

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace ns3::gradsync
{

/// A fault that took hold of a target, or let go, as the trace source reports it.
struct FaultRecord
{
    Time time;
    uint32_t fault; //!< index of the FaultSpec
    FaultKind kind;
    uint32_t target; //!< as GetTarget of the kind says
    bool begins;
};

/**
 * Makes the faults of a list happen.
 *
 * Ends come before beginnings at the same instant, and the transport hears only of the difference.
 * Each FaultSpec draws from a random number stream of its own, so that the same seed gives the same
 * targets at the same times whatever the exchange does. What comes next of a fault is drawn when
 * the one before it begins: a list without end takes no memory. It stops when there is nothing left
 * to disturb: a list without end does not keep a simulation alive. It ends the simulation after
 * too many (Attribute MaxBeginnings).
 */
class FaultInjector : public Object
{
  public:
    static TypeId GetTypeId();
    FaultInjector();
    ~FaultInjector() override;

    /**
     * Schedules the faults. Called once, before the simulation runs.
     * \param engine whose ranks are hit; nullptr: there are none, and the faults never stop
     * \throws std::invalid_argument for an empty pool, more random targets than the pool has, or
     * occurrences that overlap
     */
    void Install(std::vector<FaultSpec> faults,
                 std::shared_ptr<const Topology> topology,
                 const Ptr<Transport>& transport,
                 const Ptr<ExchangeEngine>& engine);

    /// "link-down leaf0-spine1" for each fault that holds now, in the order of the list.
    std::vector<std::string> DescribeActive() const;

    /// Why it has ended the simulation (Attribute MaxBeginnings); empty: it has not.
    const std::string& GetProblem() const
    {
        return m_problem;
    }

    /// Simulator events that it has scheduled.
    uint64_t CountEvents() const
    {
        return m_eventCount;
    }

    /// Signature of the trace source "Fault".
    using FaultCallback = void (*)(const FaultRecord& record);

  protected:
    void DoDispose() override;

  private:
    enum class Step : uint8_t // in the order in which they happen at one instant
    {
        Include,
        End,
        Begin,
        Exclude,
        Notice
    };

    struct Entry
    {
        uint32_t fault;
        Step step;
        std::vector<uint32_t> targets; //!< of a Begin that draws them: empty
        uint64_t occurrence;           //!< of Begin
    };

    using Holding = std::pair<uint32_t, uint32_t>; //!< (fault, target)

    void CancelEvent();
    void CheckSpec(const FaultSpec& fault) const;
    void InstallFault(uint32_t index);
    void Add(const Time& time, Entry entry);
    void ScheduleNext();
    void Advance();
    void Do(const Entry& entry);
    void Begin(const Entry& entry);
    void BeginDrawn(const Entry& entry);
    void Schedule(uint32_t fault, const std::vector<uint32_t>& targets, const Time& duration);
    void Hold(uint32_t fault, uint32_t target, bool begins);
    void UpdateSlowdown(uint32_t endpoint);
    void UpdateCrash(uint32_t endpoint, bool begins);
    void OnIteration(const IterationRecord& record);
    void OnTraining(const TrainingRecord& record);
    void FinishIfSettled();
    void Finish();
    void GiveUp();
    std::vector<uint32_t> Draw(uint32_t fault);
    Time DrawTime(uint32_t fault, const Time& mean);

    std::vector<FaultSpec> m_faults;
    std::vector<Ptr<UniformRandomVariable>> m_random; //!< [fault]
    std::set<Holding> m_active;                       //!< that hold now
    std::map<Holding, SlowdownSource> m_slowdowns;    //!< of stragglers, once they were any
    std::map<std::pair<Time, Step>, std::vector<Entry>> m_timeline;
    std::shared_ptr<const Topology> m_topology;
    std::unique_ptr<NetworkCondition> m_condition;
    std::map<uint32_t, uint32_t> m_crashes; //!< endpoint -> crashes of it that hold now
    Ptr<ExchangeEngine> m_engine;
    EventId m_event;
    uint64_t m_maxBeginnings;
    uint64_t m_beginnings{0};
    uint64_t m_eventCount{0};
    std::string m_problem;
    TracedCallback<const FaultRecord&> m_faultTrace; //!< trace source "Fault"
};

/// "host3", "leaf0-spine1" or "spine0": a target as people name it.
std::string NameTarget(const Topology& topology, FaultKind kind, uint32_t target);

} // namespace ns3::gradsync

#endif // GRADSYNC_FAULT_INJECTOR_H
