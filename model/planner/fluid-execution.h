// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_FLUID_EXECUTION_H
#define GRADSYNC_FLUID_EXECUTION_H

#include "ns3/aggregation-gate.h"
#include "ns3/aggregation-pace.h"
#include "ns3/network-model.h"
#include "ns3/path-catalogue.h"
#include "ns3/plan-estimator.h"
#include "ns3/served-paths.h"

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <queue>
#include <span>
#include <utility>
#include <vector>

namespace ns3::gradsync
{

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
        uint32_t path;                   //!< in m_served
        std::deque<OperationId> waiting; //!< the first is served
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

    /// Wire bytes of all transfers of a path.
    struct PathBytes
    {
        double sent{0.0};
        double acknowledging{0.0}; //!< what these cost on the way back
    };

    std::vector<PathBytes> PrepareConnections();
    void PreparePaths(std::span<const PathBytes> bytes);
    void PrepareGroups();
    double FinishAggregation(OperationId id);
    void Queue(OperationId id, double sign);
    double GetQueueing(uint32_t group) const;
    void MakeReady(OperationId id, std::vector<OperationId>& done);
    void StartReady();
    bool BeginSeries(uint32_t group);
    double TakeWindow(uint32_t connection);
    double TakeTurn(uint32_t connection, bool isFirst);
    void StartTurns();
    void Serve(uint32_t connection, double base);
    void FinishServed();
    void FinishService(uint32_t path, const ServedPaths::Service& service);
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
    ServedPaths m_served;
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
    std::vector<uint32_t> m_pathOf;    //!< [path in m_served] in the catalogue; NONE: of a group
    std::vector<Connection> m_connections;
    std::vector<double> m_addingUntil;    //!< [rank]
    std::vector<double> m_computingUntil; //!< [rank]
    std::vector<double> m_nextTurn;       //!< [link direction] of NICs
    /// (time, connection): idle ones whose NIC has not come round to them yet.
    std::priority_queue<Turn, std::vector<Turn>, std::greater<>> m_turns;
    std::priority_queue<Arrival, std::vector<Arrival>, std::greater<>> m_arrivals;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_FLUID_EXECUTION_H
