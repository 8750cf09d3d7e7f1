// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/auto-comparison.h"

#include "ns3/job-planner.h"
#include "ns3/planning-translation.h"
#include "ns3/scenario-runner.h"

#include <algorithm>
#include <limits>
#include <stdexcept>

namespace ns3::gradsync
{

namespace
{

std::optional<double>
SimulateCandidate(ResolvedRun run, const AutoCandidate& candidate)
{
    run.recordMessages = false;
    run.recordLinks = false;
    run.jobs[0].scheme = {candidate.scheme, candidate.parameters};
    const auto summary = RunScenario(run).summary;
    return summary.finished ? std::optional(static_cast<double>(summary.meanIctPs) / 1e12)
                            : std::nullopt;
}

Json
ToOptionalJson(const std::optional<double>& value)
{
    return value ? Json(*value) : Json(nullptr);
}

std::optional<double>
ToOptional(const Json& json)
{
    return json.is_null() ? std::nullopt : std::optional(json.get<double>());
}

} // namespace

const AutoComparison::Entry&
AutoComparison::GetBest() const
{
    const Entry* best = nullptr;
    for (const auto& entry : entries)
    {
        if (entry.ictSeconds && (best == nullptr || *entry.ictSeconds < *best->ictSeconds))
        {
            best = &entry;
        }
    }
    if (best == nullptr)
    {
        throw std::runtime_error("no candidate of the scheme auto finished");
    }
    return *best;
}

double
AutoComparison::GetRatio() const
{
    const auto best = *GetBest().ictSeconds;
    // A choice that does not finish is infinitely bad.
    return entries.front().ictSeconds.value_or(std::numeric_limits<double>::infinity()) / best;
}

AutoComparison
CompareAuto(const ResolvedRun& run)
{
    AutoComparison comparison;
    auto best = std::numeric_limits<double>::infinity();
    const auto ranking =
        TranslatePlanningErrors([&run] { return RankSchemes(run.jobs[0], *run.topology); });
    for (const auto& candidate : ranking)
    {
        AutoComparison::Entry entry{candidate.Describe(),
                                    candidate.operations,
                                    candidate.boundSeconds,
                                    candidate.estimateSeconds,
                                    std::nullopt};
        if (candidate.boundSeconds < best)
        {
            entry.ictSeconds = SimulateCandidate(run, candidate);
            best = std::min(best, entry.ictSeconds.value_or(best));
        }
        comparison.entries.push_back(std::move(entry));
    }
    return comparison;
}

Json
ToJson(const AutoComparison& comparison)
{
    Json json = Json::array();
    for (const auto& entry : comparison.entries)
    {
        json.push_back({{"candidate", entry.candidate},
                        {"operations", entry.operations},
                        {"bound", entry.boundSeconds},
                        {"estimate", ToOptionalJson(entry.estimateSeconds)},
                        {"ict", ToOptionalJson(entry.ictSeconds)}});
    }
    return json;
}

AutoComparison
ToAutoComparison(const Json& json)
{
    AutoComparison comparison;
    for (const auto& entry : json)
    {
        comparison.entries.push_back({entry.at("candidate").get<std::string>(),
                                      entry.at("operations").get<uint64_t>(),
                                      entry.at("bound").get<double>(),
                                      ToOptional(entry.at("estimate")),
                                      ToOptional(entry.at("ict"))});
    }
    return comparison;
}

} // namespace ns3::gradsync
