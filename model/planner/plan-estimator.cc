// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/plan-estimator.h"

#include "ns3/fluid-execution.h"
#include "ns3/plan-graph.h"

#include <algorithm>
#include <vector>

namespace ns3::gradsync
{

namespace
{

/// Of a link direction: the bytes that it carries.
void
AddAggregation(const AggregationPace& pace, uint64_t bytes, std::vector<double>& load)
{
    for (const auto& use : pace.GetUses())
    {
        load[use.link] += use.weight * pace.GetBytes(bytes);
    }
}

} // namespace

PlanEstimator::PlanEstimator(const Topology& topology, const NetworkModel& model)
    : m_model(model),
      m_paths(topology, model)
{
}

uint32_t
PlanEstimator::FindPath(const PlacedPlan& placed, const Operation& transfer)
{
    return m_paths.Find(placed.endpointOf[transfer.src],
                        placed.endpointOf[transfer.dst],
                        transfer.stream);
}

std::vector<AggregationPace>
PlanEstimator::MakePaces(const PlacedPlan& placed) const
{
    const auto capacities = m_paths.GetCapacities();
    std::vector<AggregationPace> paces;
    for (const auto& load : placed.loads)
    {
        paces.emplace_back(load, capacities);
    }
    return paces;
}

double
PlanEstimator::GetLinkBound(const PlacedPlan& placed)
{
    const auto capacities = m_paths.GetCapacities();
    const auto paces = MakePaces(placed);
    std::vector<double> bytesOf(m_paths.GetCount(), 0.0); // [path]
    std::vector<double> load(capacities.size(), 0.0);
    const auto operations = placed.plan.GetOperations();
    for (OperationId id = 0; id < operations.size(); ++id)
    {
        const auto operation = operations[id];
        if (operation.IsAggregate())
        {
            if (placed.plan.GetMembers(id).first == id) // once for each aggregation
            {
                const auto bytes = placed.plan.GetBytes(id, operation);
                AddAggregation(paces[operation.stream], bytes, load);
            }
        }
        else if (operation.IsTransfer())
        {
            const auto path = FindPath(placed, operation);
            bytesOf.resize(std::max<size_t>(bytesOf.size(), path + size_t{1}), 0.0);
            bytesOf[path] += m_model.GetWireBytes(placed.plan.GetBytes(id, operation));
        }
    }
    for (uint32_t path = 0; path < bytesOf.size(); ++path)
    {
        for (const auto& use : m_paths.Get(path).uses)
        {
            load[use.link] += use.weight * bytesOf[path];
        }
    }
    double bound = 0.0;
    for (size_t link = 0; link < load.size(); ++link)
    {
        bound = std::max(bound, load[link] / capacities[link]);
    }
    return placed.GetBaseSeconds() + bound;
}

double
PlanEstimator::GetChainBound(const PlacedPlan& placed)
{
    const auto operations = placed.plan.GetOperations();
    const PlanGraph graph(placed.plan);
    const auto paces = MakePaces(placed);
    std::vector<double> start(operations.size(), placed.GetBaseSeconds());
    double bound = 0.0;
    double together = 0.0; // when all members of an aggregation are there
    for (const auto id : graph.GetOrder())
    {
        const auto operation = operations[id];
        double end = start[id];
        if (operation.IsAggregate())
        {
            // Its members follow each other in the order, behind all that any of them waits for.
            const auto members = placed.plan.GetMembers(id);
            if (members.first == id)
            {
                together =
                    *std::max_element(start.begin() + members.first, start.begin() + members.last);
            }
            if (placed.plan.GetsFromAggregation(operation))
            {
                end = together +
                      paces[operation.stream].GetUnloadedSeconds(
                          placed.plan.GetBytes(id, operation)) +
                      placed.GetHopSeconds(id);
            }
        }
        else if (operation.IsTransfer())
        {
            const auto bytes = placed.plan.GetBytes(id, operation);
            const auto& path = m_paths.Get(FindPath(placed, operation));
            end += m_model.GetWireBytes(bytes) * path.slowestSecondsPerByte +
                   path.GetLatency(m_model, bytes) + placed.GetHopSeconds(id);
        }
        end += placed.GetWorkSeconds(id);
        bound = std::max(bound, end);
        for (const auto later : placed.plan.GetSuccessors(id))
        {
            start[later] = std::max(start[later], end);
        }
    }
    return bound;
}

double
PlanEstimator::GetLowerBound(const PlacedPlan& placed)
{
    return std::max(GetLinkBound(placed), GetChainBound(placed));
}

std::optional<double>
PlanEstimator::Estimate(const PlacedPlan& placed, double limit)
{
    const auto paces = MakePaces(placed);
    const auto fair =
        FluidExecution(placed, paces, m_model, m_paths, RateSharing::Connections).Run(limit);
    if (!fair || !m_model.pausesNics)
    {
        return fair;
    }
    // Half of the sum must stay below the limit.
    const auto paused =
        FluidExecution(placed, paces, m_model, m_paths, RateSharing::Nics).Run(2.0 * limit - *fair);
    return paused ? std::optional((*fair + std::max(*fair, *paused)) / 2.0) : std::nullopt;
}

} // namespace ns3::gradsync
