// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/aggregation-pace.h"
#include "ns3/job-planner.h"
#include "ns3/network-parts.h"
#include "ns3/plan-aggregations.h"
#include "ns3/planned-run.h"
#include "ns3/planning-translation.h"
#include "ns3/program-commands.h"
#include "ns3/scenario-error.h"
#include "ns3/scenario-reader.h"
#include "ns3/simulator-guard.h"
#include "ns3/time-resolution.h"

#include <fmt/format.h>
#include <optional>
#include <ostream>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace ns3::gradsync
{

namespace
{

/// Finds the trees by which the jobs of a run could aggregate.
class TreeListing
{
  public:
    explicit TreeListing(const ResolvedRun& run)
        : m_run(run),
          m_transport(InstallTransport(run))
    {
        for (const auto& link : run.topology->GetLinks())
        {
            m_capacities.insert(m_capacities.end(),
                                2,
                                static_cast<double>(link.rate.GetBitRate()) / 8.0);
        }
    }

    ~TreeListing()
    {
        m_transport->Dispose();
    }

    TreeListing(const TreeListing&) = delete;
    TreeListing& operator=(const TreeListing&) = delete;

    /// Of all jobs that aggregate, with the trees that they take by themselves.
    Json ListJobs()
    {
        std::vector<PlannedJob> planned;
        for (const auto& job : m_run.jobs)
        {
            planned.push_back(
                TranslatePlanningErrors([&job, this] { return PlanJob(job, *m_run.topology); }));
        }
        // All stay open at once, as in the run.
        std::vector<PlanAggregations> opened(planned.size());
        std::vector<std::vector<NodeId>> fixed; // [job][group]
        for (size_t job = 0; job < planned.size(); ++job)
        {
            fixed.push_back(FindRoots(m_run.jobs[job], *planned[job].plan, opened[job]));
        }
        for (auto& aggregations : opened)
        {
            aggregations.Close();
        }
        Json jobs = Json::array();
        for (size_t job = 0; job < planned.size(); ++job)
        {
            const auto& plan = *planned[job].plan;
            Json groups = Json::array();
            for (uint32_t group = 0; group < plan.GetAggregationGroups().size(); ++group)
            {
                groups.push_back({{"fixed", NameOf(fixed[job][group])},
                                  {"trees", ListTrees(m_run.jobs[job], plan, group, fixed[job])}});
            }
            jobs.push_back({{"name", m_run.jobs[job].name}, {"groups", std::move(groups)}});
        }
        return jobs;
    }

  private:
    /// \returns the switch that is the root of each group
    std::vector<NodeId> FindRoots(const JobSpec& job, const Plan& plan, PlanAggregations& open)
    {
        std::vector<NodeId> roots;
        if (!plan.HasAggregations())
        {
            return roots;
        }
        try
        {
            open.Open(plan, job.endpointOf, m_transport, job.aggregationRoots);
        }
        catch (const std::runtime_error& error)
        {
            throw ScenarioError(DescribeScheme(job), error.what());
        }
        for (const auto group : open.ListGroups(plan))
        {
            const auto load = m_transport->RequireAggregation().DescribeLoad(group);
            if (!load)
            {
                throw ScenarioError(DescribeScheme(job),
                                    "what its aggregations put on the network is not known");
            }
            roots.push_back(load->adders.front().node);
        }
        return roots;
    }

    const std::string& NameOf(NodeId node) const
    {
        return m_run.topology->GetNodes()[node].name;
    }

    /// One for each switch that can be the root. \param roots of all groups, otherwise
    Json ListTrees(const JobSpec& job, const Plan& plan, uint32_t group, std::vector<NodeId> roots)
    {
        Json trees = Json::array();
        const auto nodes = m_run.topology->GetNodes();
        for (NodeId node = 0; node < nodes.size(); ++node)
        {
            if (IsEndpoint(nodes[node].kind))
            {
                continue;
            }
            roots[group] = node;
            if (const auto load = FindLoad(job, plan, group, roots))
            {
                trees.push_back(ToJson(*load, plan, group));
            }
        }
        return trees;
    }

    std::optional<AggregationLoad> FindLoad(const JobSpec& job,
                                            const Plan& plan,
                                            uint32_t group,
                                            std::span<const NodeId> roots)
    {
        try
        {
            PlanAggregations aggregations;
            aggregations.Open(plan, job.endpointOf, m_transport, roots);
            auto load = m_transport->RequireAggregation().DescribeLoad(
                aggregations.ListGroups(plan)[group]);
            aggregations.Close();
            return load;
        }
        catch (const std::runtime_error&)
        {
            return std::nullopt; // it cannot be the root
        }
    }

    Json ToJson(const AggregationLoad& load, const Plan& plan, uint32_t group) const
    {
        const AggregationPace pace(load, m_capacities);
        double bytes = 0.0;
        uint64_t packets = 0;
        const auto operations = plan.GetOperations();
        for (OperationId id = 0; id < operations.size(); ++id)
        {
            const auto operation = operations[id];
            if (operation.IsAggregate() && operation.stream == group &&
                plan.GetMembers(id).first == id)
            {
                bytes += pace.GetBytes(plan.GetBytes(id));
                packets += pace.CountPackets(plan.GetBytes(id));
            }
        }
        Json links = Json::array();
        for (const auto& use : pace.GetUses())
        {
            links.push_back({{"direction", use.link}, {"bytes", use.weight * bytes}});
        }
        Json switches = Json::array();
        for (const auto& adder : load.adders)
        {
            switches.push_back({{"name", NameOf(adder.node)},
                                {"room", adder.room},
                                {"seconds", adder.busySeconds * static_cast<double>(packets)}});
        }
        return {{"root", NameOf(load.adders.front().node)},
                {"links", std::move(links)},
                {"switches", std::move(switches)}};
    }

    const ResolvedRun& m_run;
    Ptr<Transport> m_transport;
    std::vector<double> m_capacities; //!< of link directions, in bytes per second
};

Json
ListLinks(const Topology& topology)
{
    Json links = Json::array();
    for (const auto& link : topology.GetLinks())
    {
        const auto& a = topology.GetNodes()[link.a].name;
        const auto& b = topology.GetNodes()[link.b].name;
        const auto rate = static_cast<double>(link.rate.GetBitRate()) / 8.0;
        links.push_back({{"from", a}, {"to", b}, {"bytesPerSecond", rate}});
        links.push_back({{"from", b}, {"to", a}, {"bytesPerSecond", rate}});
    }
    return links;
}

} // namespace

int
TreesCommand(const std::filesystem::path& file,
             const std::vector<ScenarioOverride>& overrides,
             std::ostream& out)
{
    const auto scenario = ReadScenario(file, overrides);
    if (scenario.runCount != 1)
    {
        throw ScenarioError(
            scenario.file,
            fmt::format("found {} runs, expected a scenario of one", scenario.runCount));
    }
    UsePicoseconds();
    const auto run = ResolveRun(scenario, 0);
    const SimulatorGuard guard;
    TreeListing listing(run);
    const Json result{{"links", ListLinks(*run.topology)}, {"jobs", listing.ListJobs()}};
    out << result.dump() << '\n';
    return exit_code::OK;
}

} // namespace ns3::gradsync
