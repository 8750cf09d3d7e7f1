// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_DIVIDED_SURROUNDINGS_H
#define GRADSYNC_DIVIDED_SURROUNDINGS_H

#include "ns3/divided-transport.h"
#include "ns3/exchange-engine.h"
#include "ns3/fault-injector.h"
#include "ns3/link-sampler.h"
#include "ns3/part-surroundings.h"
#include "ns3/scenario.h"
#include "ns3/trace-recorder.h"
#include "ns3/traffic-generator.h"
#include "ns3/transport.h"
#include "ns3/window-protocol.h"
#include "ns3/window-simulator-impl.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace ns3::gradsync
{

/**
 * What goes on beside the jobs of a run in one of several processes. Each has all of it, at the
 * same instants, and lets only its own nodes act.
 */
class DividedSurroundings
{
  public:
    /// All must outlive it. \param processes how many there are
    DividedSurroundings(const ResolvedRun& run,
                        const WindowSimulatorImpl& simulator,
                        const WindowProtocol& protocol,
                        uint32_t processes);
    ~DividedSurroundings();
    DividedSurroundings(const DividedSurroundings&) = delete;
    DividedSurroundings& operator=(const DividedSurroundings&) = delete;

    /// Whether a run has any.
    static bool AreAny(const ResolvedRun& run);

    /// Adds who is told of messages that are of no job.
    void AddReceivers(std::vector<DividedMessages::Receiver>& receivers) const;

    /// Once the engine has its jobs.
    void Start(const Ptr<Transport>& transport, const Ptr<ExchangeEngine>& engine);

    /// After the simulation: the events that all processes have had.
    uint64_t CountEvents() const;

    /// After the simulation: why it was ended from here; empty: it was not.
    std::string GetProblem() const;

    /// After the simulation.
    PartSurroundings Describe() const;

    /// After the simulation, once: the faults, which are the same in all processes, where they are
    /// recorded.
    std::vector<FaultRecord> TakeFaults();

  private:
    const ResolvedRun& m_run;
    const WindowSimulatorImpl& m_simulator;
    Ptr<FaultInjector> m_injector; //!< null before Start
    std::optional<TraceRecorder<FaultInjector, FaultRecord>> m_faults;
    Ptr<TrafficGenerator> m_generator;
    std::optional<FlowRecorder> m_flows;
    std::unique_ptr<LinkSampler> m_sampler; //!< none unless the scenario asks for samples
};

} // namespace ns3::gradsync

#endif // GRADSYNC_DIVIDED_SURROUNDINGS_H
