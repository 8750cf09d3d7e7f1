// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_TRAFFIC_GENERATOR_H
#define GRADSYNC_TRAFFIC_GENERATOR_H

#include "ns3/event-id.h"
#include "ns3/flow-sizes.h"
#include "ns3/nstime.h"
#include "ns3/object.h"
#include "ns3/topology.h"
#include "ns3/traced-callback.h"
#include "ns3/transport.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace ns3::gradsync
{

/// Foreign flows that share the network with the jobs.
struct TrafficSpec
{
    /// When flows begin.
    enum class Kind : uint8_t
    {
        Poisson, //!< one flow at a time, exponential gaps; ends drawn evenly
        Incast   //!< `fanIn` flows at once to one host, all drawn, every `every`
    };

    Kind kind{Kind::Poisson};
    const FlowSizes* sizes{nullptr}; //!< null: all have `bytes`
    uint64_t bytes{0};
    double load{0.0}; //!< Poisson: mean share of the hosts' link rates that flows ask for
    uint32_t fanIn{0};
    Time every;
    Time start;
    std::optional<Time> duration; //!< none: until the jobs are done
    std::vector<uint32_t> hosts;  //!< endpoint indices, two at least
};

/**
 * What all flows of a Poisson spec together ask for. An endpoint without a link of the network has
 * an even share of the links of its server.
 * \returns bit/s; 0 when no host has any
 */
double GetOfferedBitRate(const TrafficSpec& spec, const Topology& topology);

/// The mean time between flows of a Poisson spec, in seconds; infinite for a rate of 0.
double GetMeanGap(const TrafficSpec& spec, const Topology& topology);

/// Flows that one run may begin: with more it is taken to have no end.
inline constexpr uint64_t MAX_FLOWS = 10'000'000;

/// Flows under way that a network is taken to catch up with; each takes some hundred bytes.
inline constexpr uint64_t MAX_ACTIVE_FLOWS = 1'000'000;

/// Flows of a spec that begin before `end`; of Poisson, on average.
double CountFlows(const TrafficSpec& spec, const Topology& topology, const Time& end);

/// A flow that ended.
struct FlowRecord
{
    uint32_t traffic; //!< index of the TrafficSpec
    uint32_t src;     //!< endpoint index
    uint32_t dst;
    uint64_t bytes;
    Time start;
    Time end;
    bool failed; //!< the transport gave up
};

/**
 * Sends foreign flows, each a message on a connection of its own as far as the Attribute Streams
 * goes, until the jobs are done. Each TrafficSpec draws from random number streams of its own: the
 * same seed gives the same flows whatever the exchange does. Flows are drawn when they begin. With
 * too many of them (Attributes MaxFlows and MaxActiveFlows) it ends the simulation.
 */
class TrafficGenerator : public Object, private MessageHandler
{
  public:
    static TypeId GetTypeId();
    TrafficGenerator();
    ~TrafficGenerator() override;

    /**
     * Schedules the first flows. Called once, before the simulation runs.
     * \param isSettled true once no flow need begin any more
     * \throws std::invalid_argument for fewer than two hosts, a load that is not positive, or a
     * fan-in that the hosts do not allow
     */
    void Install(std::vector<TrafficSpec> traffic,
                 const Topology& topology,
                 const Ptr<Transport>& transport,
                 std::function<bool()> isSettled);

    /**
     * Several processes simulate one network together: all draw all flows, and each starts those
     * from its own hosts and reports those to them. What they cannot know together, which are flows
     * that fail or very many at once, ends the simulation (GetProblem). Before Install.
     * \param isHere whether an endpoint is of this process \param count of processes
     */
    void Divide(std::function<bool(uint32_t endpoint)> isHere, uint32_t count);

    /// Is told of the messages.
    MessageHandler& GetHandler()
    {
        return *this;
    }

    /// Simulator events that it has scheduled.
    uint64_t CountEvents() const
    {
        return m_eventCount;
    }

    /// Flows that have begun and not ended.
    size_t GetActiveFlows() const
    {
        return m_flows.size();
    }

    /// When the last flow ended that did; 0: none has.
    Time GetLastEnd() const
    {
        return m_lastEnd;
    }

    /// Why it has ended the simulation; empty: it has not.
    const std::string& GetProblem() const
    {
        return m_problem;
    }

    /// Signature of the trace source "Flow".
    using FlowCallback = void (*)(const FlowRecord& record);

  protected:
    void DoDispose() override;

  private:
    struct Source
    {
        TrafficSpec spec;
        Ptr<RandomVariableStream> sizes; //!< null: all alike
        Ptr<ExponentialRandomVariable> gaps;
        Ptr<UniformRandomVariable> ends;
        EventId event;
    };

    void OnDelivered(uint64_t tag) override;
    void OnFailed(uint64_t tag, const std::string& reason) override;
    void End(uint64_t tag, bool failed);
    void CheckSpec(const TrafficSpec& spec) const;
    void AddSource(TrafficSpec spec, const Topology& topology);
    void Schedule(uint32_t index, const Time& delay);
    void Begin(uint32_t index);
    void BeginIncast(uint32_t index);
    bool IsBeyondLimits() const;
    void GiveUp(std::string problem);
    bool IsHere(uint32_t endpoint) const;
    void BeginFlow(uint32_t index, uint32_t src, uint32_t dst);
    std::vector<uint32_t> DrawHosts(Source& source, uint32_t count);

    uint32_t m_streams;
    uint64_t m_maxFlows;
    uint64_t m_maxActiveFlows;
    std::vector<Source> m_sources;
    Ptr<Transport> m_transport;
    std::function<bool()> m_isSettled;
    std::function<bool(uint32_t)> m_isHere; //!< empty: all are
    uint32_t m_processes{1};
    std::unordered_map<uint64_t, FlowRecord> m_flows; //!< under way, by tag; never iterated
    uint64_t m_flowCount{0};
    uint64_t m_eventCount{0};
    Time m_lastEnd;
    std::string m_problem;
    TracedCallback<const FlowRecord&> m_flowTrace; //!< trace source "Flow"
};

} // namespace ns3::gradsync

#endif // GRADSYNC_TRAFFIC_GENERATOR_H
