// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_FLUID_EXECUTION_H
#define GRADSYNC_FLUID_EXECUTION_H

#include "ns3/aggregation-gate.h"
#include "ns3/aggregation-pace.h"
#include "ns3/max-min-allocator.h"
#include "ns3/network-model.h"
#include "ns3/path-catalogue.h"
#include "ns3/plan-estimator.h"

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <queue>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

namespace ns3::gradsync
{

/// Who shares the links fairly.
enum class RateSharing
{
    Connections, //!< max-min fair among connections
    Nics         //!< among NICs, whose connections all have one rate
};

/**
 * One plan on max-min fair rates, executed in a loop of its own: ns-3's simulator is one for the
 * whole program, and an estimate must not touch what a user has scheduled there.
 *
 * The same model as FluidTransport, plus the headers of packets and the time to forward one.
 */
class FluidExecution
{
  public:
    /// The arguments must outlive the execution. \param paces of the groups of the plan
    FluidExecution(const PlacedPlan& placed,
                   std::span<const AggregationPace> paces,
                   const NetworkModel& model,
                   PathCatalogue& paths,
                   RateSharing sharing);

    /// Seconds until all is done; nothing when that is `limit` or more, or when finding it out
    /// would take too long. Call once.
    std::optional<double> Run(double limit);

  private:
    static constexpr uint32_t NONE = UINT32_MAX;

    /// Transfers with equal path and stream, or aggregations of one group, each by the operation
    /// of its first member: one is served, the others wait.
    struct Connection
    {
        uint32_t path;                   //!< in m_states
        std::deque<OperationId> waiting; //!< the first is served
    };

    /// A transfer that is served: through when its path has served `target` bytes a connection.
    struct Service
    {
        double target;
        uint32_t connection;

        bool operator<(const Service& other) const
        {
            return target != other.target ? target > other.target : connection > other.connection;
        }
    };

    /// All connections of one path have the same rate.
    struct PathState
    {
        uint32_t path;              //!< in the catalogue; NONE: the links of a group
        uint32_t nic{0};            //!< in m_nics
        double served{0.0};         //!< bytes each connection was served
        std::vector<Service> heap;  //!< least target first
        uint32_t activeIndex{NONE}; //!< in m_active
        double wireBytes{0.0};      //!< of all its transfers
        double ackBytes{0.0};       //!< that these cost on the way back
    };

    /// The aggregations of a group that follow each other without a pause.
    struct Series
    {
        double since{0.0};
        double until{0.0}; //!< the last result
        AggregationPace::Series all{};
        double served{0.0};   //!< since when the one that is served is
        double busy{0.0};     //!< how long those before it were
        double queued{0.0};   //!< bytes of those that have begun
        double underWay{0.0}; //!< of these, as many as the window lets
    };

    /// (time, operation), earliest first.
    using Arrival = std::pair<double, OperationId>;
    /// (time, connection), earliest first.
    using Turn = std::pair<double, uint32_t>;

    void PrepareConnections();
    void PreparePaths();
    void PrepareGroups();
    double FinishAggregation(OperationId id);
    void Queue(OperationId id, double sign);
    double GetQueueing(uint32_t group) const;
    uint32_t FindState(uint32_t path, std::map<uint32_t, uint32_t>& known);
    void MakeReady(OperationId id, std::vector<OperationId>& done);
    void StartReady();
    bool BeginSeries(uint32_t group);
    double TakeWindow(uint32_t connection);
    double TakeTurn(uint32_t connection, bool isFirst);
    void StartTurns();
    void Serve(uint32_t connection, double base);
    void Allocate();
    void ShareAmongNics();
    double FindNextService() const;
    void Advance(double time);
    void FinishServed();
    void FinishHead(uint32_t path);
    void FinishArrivals();
    bool TakesTime(const Operation& operation) const;
    void StartWork(OperationId id);
    std::vector<OperationId> ListEnding(OperationId id) const;
    void MarkDone(std::vector<OperationId> done);
    double GetTolerance() const;

    const PlacedPlan& m_placed;
    std::span<const AggregationPace> m_paces;
    const NetworkModel& m_model;
    PathCatalogue& m_paths;
    MaxMinAllocator m_allocator; //!< classes are paths
    double m_now{0.0};
    uint64_t m_work{0};
    uint64_t m_doneCount{0};
    bool m_changed{false}; //!< the set of connections in service, since the last allocation
    std::vector<uint32_t> m_waitsFor;
    std::vector<OperationId> m_ready;
    std::vector<uint32_t> m_connectionOf; //!< [operation]
    uint32_t m_firstGroup{0};             //!< the connection of the first group
    std::vector<Series> m_series;         //!< [group]
    AggregationGate m_gate;
    std::vector<double> m_capacities;  //!< [link direction]
    std::vector<double> m_windowBytes; //!< [link direction] under way, of groups that ask
    std::vector<Connection> m_connections;
    std::vector<PathState> m_states;
    std::vector<uint32_t> m_flowCounts; //!< [path]
    std::vector<double> m_rates;        //!< [path]
    std::vector<uint32_t> m_active;

    /// A NIC, under RateSharing::Nics.
    struct Nic
    {
        std::map<uint32_t, double> uses; //!< [link direction] by all its connections in service
        double rate{0.0};                //!< of each of them
    };

    RateSharing m_sharing;
    std::vector<Nic> m_nics;
    std::vector<std::vector<MaxMinAllocator::Use>> m_usesOf; //!< [path] of one connection
    std::vector<double> m_addingUntil;                       //!< [rank]
    std::vector<double> m_computingUntil;                    //!< [rank]
    std::vector<double> m_nextTurn;                          //!< [link direction] of NICs
    /// (time, connection): idle ones whose NIC has not come round to them yet.
    std::priority_queue<Turn, std::vector<Turn>, std::greater<>> m_turns;
    std::priority_queue<Arrival, std::vector<Arrival>, std::greater<>> m_arrivals;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_FLUID_EXECUTION_H
