// SPDX-License-Identifier: GPL-2.0-only
#include "unit/scheme/scheme-test-support.h"

#include <algorithm>
#include <cmath>

namespace ns3::gradsync
{

namespace
{

using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(SchemeRegistry, ListsTheSchemesByName)
{
    std::vector<std::string> names;
    for (const auto& scheme : GetSchemes())
    {
        names.push_back(scheme.name);
        EXPECT_FALSE(scheme.summary.empty());
        EXPECT_FALSE(scheme.source.empty());
    }
    EXPECT_TRUE(std::ranges::is_sorted(names));
    EXPECT_THAT(names, testing::IsSupersetOf({"hierarchical", "ps", "rat", "ring"}));
}

TEST(SchemeRegistry, FindsSchemesByTheirExactName)
{
    ASSERT_NE(FindScheme("rat"), nullptr);
    EXPECT_EQ(FindScheme("rat")->name, "rat");
    EXPECT_EQ(FindScheme("RAT"), nullptr);
    EXPECT_EQ(FindScheme(""), nullptr);
}

TEST(SchemeRegistry, PlansThatAreTooLargeAreTheUsersBusiness)
{
    const auto fail = [](const auto& error) {
        return MakeWithinLimits([&error]() -> Plan { throw error; });
    };
    EXPECT_THAT([&] { fail(std::length_error("plan: more than 4294967295 operations")); },
                ThrowsMessage<SchemeError>(HasSubstr("more than 4294967295 operations")));
    EXPECT_THAT([&] { fail(std::bad_alloc()); },
                ThrowsMessage<SchemeError>(HasSubstr("not enough memory")));
}

TEST(SchemeRegistry, HasDefaultsThatItsOwnSpecsAllow)
{
    for (const auto& scheme : GetSchemes())
    {
        const auto defaults = MakeDefaultParameters(scheme);
        const auto optional =
            std::ranges::count(scheme.parameters, Presence::Optional, &ParameterSpec::presence);
        EXPECT_EQ(defaults.GetAll().size() + static_cast<size_t>(optional),
                  scheme.parameters.size());
        for (const auto& spec : scheme.parameters)
        {
            SCOPED_TRACE(scheme.name + "." + spec.name);
            EXPECT_FALSE(spec.help.empty());
            if (spec.presence == Presence::Optional)
            {
                EXPECT_FALSE(defaults.GetAll().contains(spec.name));
                continue;
            }
            EXPECT_EQ(defaults.GetAll().at(spec.name), spec.defaultValue);
            if (const auto* number = std::get_if<int64_t>(&spec.defaultValue))
            {
                EXPECT_GE(static_cast<double>(*number), spec.minimum);
                EXPECT_LE(static_cast<double>(*number), spec.maximum);
            }
            const auto* text = std::get_if<std::string>(&spec.defaultValue);
            if (text != nullptr && !spec.allowed.empty())
            {
                EXPECT_THAT(spec.allowed, testing::Contains(*text));
            }
        }
    }
}

TEST(SchemeRegistry, CountsDedicatedServers)
{
    auto parameters = MakeDefaultParameters(*FindScheme("ps"));
    EXPECT_EQ(FindScheme("ps")->countServers(parameters), 0u);
    parameters.Set("servers", int64_t{5});
    EXPECT_EQ(FindScheme("ps")->countServers(parameters), 5u);
    const auto request = MakeRequest("ps", 3, 100, {{"servers", int64_t{5}}});
    EXPECT_EQ(BuildPlan("ps", request).GetRankCount(), 8u);
    for (const auto* name : {"ring", "rat", "hierarchical"})
    {
        EXPECT_EQ(FindScheme(name)->countServers(MakeDefaultParameters(*FindScheme(name))), 0u);
    }
}

TEST(SchemeRegistry, RejectsRequestsThatNoSchemeCanMeet)
{
    for (const auto& scheme : GetSchemes())
    {
        SCOPED_TRACE(scheme.name);
        EXPECT_THROW(scheme.build(MakeRequest(scheme.name, 0, 100)), SchemeError);
        EXPECT_THROW(scheme.build(MakeRequest(scheme.name, 4, 0)), SchemeError);
        const auto misfit = MakeRequest(scheme.name, 4, 100, {}, {MakeLevel("rack", {2, 1}, 2.0)});
        EXPECT_THAT([&] { scheme.build(misfit); },
                    ThrowsMessage<SchemeError>(HasSubstr("do not fit 4 workers")));
        if (!MakeDefaultParameters(scheme).GetAll().contains("pipelineChunks"))
        {
            continue;
        }
        for (const auto chunks : {int64_t{0}, int64_t{-3}, int64_t{1} << 40})
        {
            EXPECT_THAT(
                [&] {
                    scheme.build(MakeRequest(scheme.name, 4, 100, {{"pipelineChunks", chunks}}));
                },
                ThrowsMessage<SchemeError>(HasSubstr("pipelineChunks")));
        }
        const auto huge = MakeRequest(scheme.name, 64, 100, {{"pipelineChunks", int64_t{1} << 20}});
        EXPECT_THAT([&] { scheme.build(huge); },
                    ThrowsMessage<SchemeError>(HasSubstr("at most 16777216")));
    }
}

/// The default parameters, and one set for each other value of a choice or a switch.
std::vector<Parameters>
ListVariants(const Scheme& scheme)
{
    std::vector<Parameters> variants = {{}};
    for (const auto& spec : scheme.parameters)
    {
        for (const auto& allowed : spec.allowed)
        {
            variants.push_back({{spec.name, allowed}});
        }
        if (const auto* flag = std::get_if<bool>(&spec.defaultValue))
        {
            variants.push_back({{spec.name, !*flag}});
        }
    }
    return variants;
}

/// A plan that does what it is for, or a message for the user.
void
ExpectPlanOrRefusal(const Scheme& scheme, const SchemeRequest& request, bool mayRefuse)
{
    try
    {
        EXPECT_THAT(scheme.build(request), DoesWhatItIsFor());
    }
    catch (const SchemeError& error)
    {
        EXPECT_TRUE(mayRefuse) << error.what();
        EXPECT_GT(std::string(error.what()).size(), 30u); // more than "bad"
    }
}

TEST(SchemeRegistry, PlansAwkwardNumbersOfWorkersOrRefusesThem)
{
    // These need n^h workers, equal groups, or a worker for each of their servers.
    const std::vector<std::string> picky = {"bcube-hips",
                                            "blueconnect",
                                            "geo-hips",
                                            "parameter-hub"};
    for (const auto& scheme : GetSchemes())
    {
        const bool mayRefuse = std::ranges::count(picky, scheme.name) > 0;
        for (const auto& variant : ListVariants(scheme))
        {
            for (const uint32_t w : {1u, 2u, 3u, 6u, 7u, 12u, 13u})
            {
                auto levels = w > 1 ? MakeRackShapes(w, 3.0)
                                    : std::vector<GroupLevel>{MakeLevel("rack", {1}, 1.0)};
                for (const auto& level : levels)
                {
                    SCOPED_TRACE(fmt::format("{} w {} groups {} variant {}",
                                             scheme.name,
                                             w,
                                             fmt::join(level.groupOf, ","),
                                             variant.empty() ? "" : variant.front().first));
                    // Fewer elements than chunks, and a number that nothing divides.
                    for (const uint64_t bytes : {uint64_t{5}, uint64_t{10007}})
                    {
                        ExpectPlanOrRefusal(scheme,
                                            MakeRequest(scheme.name, w, bytes, variant, {level}),
                                            mayRefuse);
                    }
                }
            }
        }
    }
}

/// doc/schemes.rst: parts without elements are not sent. 9 bytes in 4 pieces are 2 elements: two
/// pieces are empty, which switchml and atp exchanged all the same (found by tests/referee).
TEST(SchemeRegistry, ExchangesNothingThatIsEmpty)
{
    for (const auto& scheme : GetSchemes())
    {
        auto request = MakeRequest(scheme.name, 4, 9);
        for (const auto& parameter : scheme.parameters)
        {
            if (parameter.name == "pipelineChunks")
            {
                request.parameters.Set("pipelineChunks", int64_t{4});
            }
        }
        const auto plan = scheme.build(request);
        for (OperationId id = 0; id < plan.GetOperations().size(); ++id)
        {
            if (plan.GetOperations()[id].IsMove())
            {
                EXPECT_GT(plan.GetBytes(id), 0U) << scheme.name << " #" << id;
            }
        }
    }
}

TEST(SchemeRegistry, BuildsTheSamePlanEveryTime)
{
    for (const auto& scheme : GetSchemes())
    {
        const auto request =
            MakeRequest(scheme.name, 16, 12345, {}, {MakeInterleavedLevel(16, 4, 2.0)});
        const auto a = scheme.build(request);
        const auto b = scheme.build(request);
        ASSERT_EQ(a.GetOperations().size(), b.GetOperations().size());
        for (OperationId id = 0; id < a.GetOperations().size(); ++id)
        {
            EXPECT_EQ(a.GetOperations()[id].src, b.GetOperations()[id].src);
            EXPECT_EQ(a.GetOperations()[id].dst, b.GetOperations()[id].dst);
            EXPECT_EQ(a.GetOperations()[id].firstChunk, b.GetOperations()[id].firstChunk);
            EXPECT_TRUE(std::ranges::equal(a.GetSuccessors(id), b.GetSuccessors(id)));
        }
    }
}

} // namespace

} // namespace ns3::gradsync
