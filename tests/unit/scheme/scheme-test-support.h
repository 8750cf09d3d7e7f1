// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_SCHEME_TEST_SUPPORT_H
#define GRADSYNC_SCHEME_TEST_SUPPORT_H

#include "ns3/plan-statistics.h"
#include "ns3/plan-verifier.h"
#include "ns3/scheme.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

namespace ns3::gradsync
{

/// A gradient of w shards has whole elements in any 1, 2, 3 or 5 chunks of a shard.
inline constexpr uint64_t SHARD_BYTES = 60;

/// A level whose groups hold the given numbers of contiguous ranks.
inline GroupLevel
MakeLevel(const std::string& name, const std::vector<uint32_t>& sizes, double oversubscription)
{
    GroupLevel level{name, {}, static_cast<uint32_t>(sizes.size()), oversubscription};
    for (uint32_t group = 0; group < sizes.size(); ++group)
    {
        level.groupOf.insert(level.groupOf.end(), sizes[group], group);
    }
    return level;
}

/// Ranks dealt to the groups in turn: rank i is in group i mod groups.
inline GroupLevel
MakeInterleavedLevel(uint32_t workers, uint32_t groups, double oversubscription)
{
    GroupLevel level{"rack", {}, std::min(groups, workers), oversubscription};
    for (uint32_t rank = 0; rank < workers; ++rank)
    {
        level.groupOf.push_back(rank % groups);
    }
    return level;
}

/// Even, uneven, singleton and interleaved racks over w workers.
inline std::vector<GroupLevel>
MakeRackShapes(uint32_t w, double oversubscription)
{
    std::vector<std::vector<uint32_t>> shapes = {{w}, std::vector<uint32_t>(w, 1)};
    shapes.push_back({1, w - 1});
    shapes.push_back({w - 1, 1});
    if (w >= 5)
    {
        shapes.push_back({w / 3, w - w / 3});
        shapes.push_back({1, 2, w - 4, 1});
    }
    std::vector<GroupLevel> levels;
    for (const auto& sizes : shapes)
    {
        levels.push_back(MakeLevel("rack", sizes, oversubscription));
    }
    levels.push_back(MakeInterleavedLevel(w, 2, oversubscription));
    levels.push_back(MakeInterleavedLevel(w, 3, oversubscription));
    return levels;
}

inline std::vector<uint32_t>
Repeat(uint32_t count, uint32_t size)
{
    return std::vector<uint32_t>(count, size);
}

/// A request with the default parameters of a scheme and some others.
inline SchemeRequest
MakeRequest(const std::string& scheme,
            uint32_t workers,
            uint64_t gradientBytes,
            const std::vector<std::pair<std::string, ParameterValue>>& parameters = {},
            std::vector<GroupLevel> levels = {})
{
    SchemeRequest request;
    request.workers = workers;
    request.gradientBytes = gradientBytes;
    request.groups.levels = std::move(levels);
    request.parameters = MakeDefaultParameters(*FindScheme(scheme));
    for (const auto& [name, value] : parameters)
    {
        request.parameters.Set(name, value);
    }
    return request;
}

inline Plan
BuildPlan(const std::string& scheme, const SchemeRequest& request)
{
    return FindScheme(scheme)->build(request);
}

inline PlanStatistics
ComputeStatistics(const std::string& scheme, const SchemeRequest& request)
{
    return ComputePlanStatistics(BuildPlan(scheme, request), request.groups);
}

MATCHER(IsAllReduce, "is an all-reduce without races")
{
    if (arg.GetCollective().GetName() != "all-reduce")
    {
        *result_listener << "is for " << arg.GetCollective().GetTitle();
        return false;
    }
    const auto result = PlanVerifier(3).Verify(arg);
    *result_listener << fmt::format("{}", fmt::join(result.violations, "\n"));
    return result.ok;
}

MATCHER(DoesWhatItIsFor, "does what its collective says, without races")
{
    const auto result = PlanVerifier(3).Verify(arg);
    *result_listener << fmt::format("{}", fmt::join(result.violations, "\n"));
    return result.ok;
}

/// Parameters by name, in place of the defaults.
using Parameters = std::vector<std::pair<std::string, ParameterValue>>;

/// Verifies a scheme that looks at no groups with w = 1 to 33, with as many bytes as chunks rarely
/// divide and with fewer elements than chunks.
inline void
ExpectAllReduceOfAnyCount(const std::string& scheme, const Parameters& parameters)
{
    for (uint32_t w = 1; w <= 33; ++w)
    {
        for (const uint64_t bytes : {uint64_t{10007}, uint64_t{22}})
        {
            SCOPED_TRACE(fmt::format("{} w {} bytes {}", scheme, w, bytes));
            EXPECT_THAT(BuildPlan(scheme, MakeRequest(scheme, w, bytes, parameters)),
                        IsAllReduce());
        }
    }
}

/// Verifies a scheme with w = 1 to 33 on every rack shape, with as many bytes as chunks rarely
/// divide and with fewer elements than chunks.
inline void
ExpectAllReduceOnAnyRacks(const std::string& scheme, const Parameters& parameters)
{
    for (uint32_t w = 1; w <= 33; ++w)
    {
        const auto shapes =
            w > 1 ? MakeRackShapes(w, 2.0) : std::vector<GroupLevel>{MakeLevel("rack", {1}, 1.0)};
        for (const auto& level : shapes)
        {
            for (const uint64_t bytes : {uint64_t{10007}, uint64_t{22}})
            {
                SCOPED_TRACE(fmt::format("{} w {} groups {} bytes {}",
                                         scheme,
                                         w,
                                         fmt::join(level.groupOf, ","),
                                         bytes));
                EXPECT_THAT(BuildPlan(scheme, MakeRequest(scheme, w, bytes, parameters, {level})),
                            IsAllReduce());
            }
        }
    }
}

/// Bytes that each rank sends and receives in transfers of one kind.
struct PhaseBytes
{
    std::vector<uint64_t> sent;
    std::vector<uint64_t> received;
};

inline PhaseBytes
CountPhase(const Plan& plan, OperationKind kind)
{
    PhaseBytes bytes{std::vector<uint64_t>(plan.GetRankCount()),
                     std::vector<uint64_t>(plan.GetRankCount())};
    for (OperationId id = 0; id < plan.GetOperations().size(); ++id)
    {
        const auto& operation = plan.GetOperations()[id];
        if (operation.kind == kind)
        {
            bytes.sent[operation.src] += plan.GetBytes(id);
            bytes.received[operation.dst] += plan.GetBytes(id);
        }
    }
    return bytes;
}

} // namespace ns3::gradsync

#endif // GRADSYNC_SCHEME_TEST_SUPPORT_H
