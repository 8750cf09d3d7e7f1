// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/auto-planner.h"

#include "ns3/parameter-text.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <limits>
#include <type_traits>
#include <utility>
#include <variant>

namespace ns3::gradsync
{

namespace
{

/// Operations of all plans together after which only the defaults of further schemes are looked
/// at: building and bounding a plan takes about a microsecond an operation.
constexpr uint64_t OPERATION_BUDGET = 4'000'000;

/// Values of a parameter that are tried, the default first.
std::vector<ParameterValue>
GetValues(const ParameterSpec& spec)
{
    std::vector<ParameterValue> values{spec.defaultValue};
    const auto add = [&values](const ParameterValue& value) {
        if (std::find(values.begin(), values.end(), value) == values.end())
        {
            values.push_back(value);
        }
    };
    for (const auto& allowed : spec.allowed)
    {
        add(allowed);
    }
    for (const auto& value : spec.alternatives)
    {
        add(value);
    }
    return values;
}

/// All combinations, the defaults first.
std::vector<ParameterSet>
Combine(const Scheme& scheme)
{
    std::vector<ParameterSet> sets{MakeDefaultParameters(scheme)};
    for (const auto& spec : scheme.parameters)
    {
        if (!spec.isTried)
        {
            continue;
        }
        const auto count = sets.size();
        for (const auto& value : GetValues(spec))
        {
            for (size_t i = 0; i < count && value != spec.defaultValue; ++i)
            {
                auto changed = sets[i];
                changed.Set(spec.name, value);
                sets.push_back(std::move(changed));
            }
        }
    }
    return sets;
}

PlacedPlan
Place(const AutoRequest& request, const Plan& plan, const AutoCandidate& candidate)
{
    return {plan, request.endpointOf, request.reduceSecondsPerByte, candidate.loads};
}

bool
IsBetter(const AutoCandidate& a, const AutoCandidate& b)
{
    if (a.estimateSeconds.has_value() != b.estimateSeconds.has_value())
    {
        return a.estimateSeconds.has_value();
    }
    // Of equal ones the plan with fewer transfers, which has less to go wrong.
    return std::pair(a.GetSeconds(), a.operations) < std::pair(b.GetSeconds(), b.operations);
}

} // namespace

std::string
AutoCandidate::Describe() const
{
    std::string text = scheme->name;
    for (const auto& spec : scheme->parameters)
    {
        const auto& value = parameters.GetAll().at(spec.name);
        if (value == spec.defaultValue)
        {
            continue;
        }
        text += ' ' + spec.name + '=';
        std::visit(
            [&text](const auto& content) {
                if constexpr (std::is_same_v<std::decay_t<decltype(content)>, std::vector<double>>)
                {
                    text += fmt::format("{}", fmt::join(content, ":"));
                }
                else
                {
                    text += ShowPlainly(content);
                }
            },
            value);
    }
    return text;
}

AutoPlanner::AutoPlanner(const Topology& topology, const NetworkModel& model)
    : m_estimator(topology, model)
{
}

Plan
AutoPlanner::Build(const AutoRequest& request, const AutoCandidate& candidate)
{
    auto exchange = request.exchange;
    exchange.parameters = candidate.parameters;
    return MakeWithinLimits([&] {
        return request.build ? request.build(*candidate.scheme, exchange)
                             : candidate.scheme->build(exchange);
    });
}

/// \returns false when the plan asks more of the network than it can
bool
AutoPlanner::FindLoads(const AutoRequest& request, const Plan& plan, AutoCandidate& candidate)
{
    if (!plan.HasAggregations())
    {
        return true;
    }
    auto loads = request.findLoads ? request.findLoads(plan, request.endpointOf) : std::nullopt;
    const bool isKnown = loads.has_value();
    candidate.loads = std::move(loads).value_or(std::vector<AggregationLoad>());
    return isKnown;
}

void
AutoPlanner::AddCandidate(const AutoRequest& request,
                          const Scheme& scheme,
                          ParameterSet parameters,
                          std::vector<AutoCandidate>& candidates)
{
    AutoCandidate candidate;
    candidate.scheme = &scheme;
    candidate.parameters = std::move(parameters);
    try
    {
        if (scheme.countServers(candidate.parameters) > 0)
        {
            return; // the job has workers only
        }
        const auto plan = Build(request, candidate);
        if (!plan.GetCollective().IsAllReduce() || !FindLoads(request, plan, candidate))
        {
            return;
        }
        if (plan.SelectsSums())
        {
            return; // its result is not that of the others
        }
        candidate.operations = plan.GetOperations().size();
        candidate.boundSeconds = m_estimator.GetLowerBound(Place(request, plan, candidate));
        candidates.push_back(std::move(candidate));
    }
    catch (const SchemeError&)
    {
        return; // these parameters do not fit the request
    }
}

std::vector<AutoCandidate>
AutoPlanner::FindCandidates(const AutoRequest& request)
{
    std::vector<AutoCandidate> candidates;
    uint64_t operations = 0;
    for (const auto& scheme : GetSchemes())
    {
        bool isDefault = true;
        for (auto& parameters : Combine(scheme))
        {
            if (isDefault || operations < OPERATION_BUDGET)
            {
                const auto count = candidates.size();
                AddCandidate(request, scheme, std::move(parameters), candidates);
                operations += candidates.size() > count ? candidates.back().operations : 0;
            }
            isDefault = false;
        }
    }
    return candidates;
}

std::vector<AutoCandidate>
AutoPlanner::Rank(const AutoRequest& request)
{
    auto candidates = FindCandidates(request);
    if (candidates.empty())
    {
        throw SchemeError("no scheme can run here without dedicated servers");
    }
    std::sort(candidates.begin(), candidates.end(), IsBetter);
    auto best = std::numeric_limits<double>::infinity();
    for (auto& candidate : candidates)
    {
        if (candidate.boundSeconds >= best)
        {
            break; // so are those of all that follow
        }
        const auto plan = Build(request, candidate);
        candidate.estimateSeconds = m_estimator.Estimate(Place(request, plan, candidate), best);
        best = candidate.estimateSeconds.value_or(best);
    }
    std::stable_sort(candidates.begin(), candidates.end(), IsBetter);
    return candidates;
}

} // namespace ns3::gradsync
