// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/slowdown-parameters.h"

#include <fmt/format.h>
#include <string>
#include <utility>
#include <vector>

namespace ns3::gradsync
{

namespace
{

constexpr const char* KEY = "slowdown";
constexpr double LEAST = 1e-3;
constexpr double MOST = 1e6;
constexpr size_t MAX_VALUES = 1'000'000;

using SlowdownLaw = Slowdown::Law;

/// A parameter of a distribution.
struct LawParameter
{
    const char* name;
    double example;
    const char* help;
};

struct LawEntry
{
    SlowdownLaw law;
    const char* name;
    std::vector<LawParameter> parameters; //!< `first` and `second` of Slowdown
};

const std::vector<LawEntry>&
GetLaws()
{
    static const std::vector<LawEntry> laws{
        {SlowdownLaw::Uniform,
         "uniform",
         {{"low", 1.0, "least factor"}, {"high", 3.0, "largest factor"}}},
        {SlowdownLaw::Exponential, "exponential", {{"mean", 0.5, "of what is above 1"}}},
        {SlowdownLaw::Lognormal,
         "lognormal",
         {{"median", 1.0, "of the factor"}, {"sigma", 0.5, "deviation of the logarithm"}}},
        {SlowdownLaw::Pareto,
         "pareto",
         {{"minimum", 1.0, "least factor"}, {"shape", 2.0, "exponent of the tail"}}}};
    return laws;
}

ParameterSpec
MakeDistributionSpec(const std::string& name)
{
    return Required({"distribution", std::string("lognormal"), "law of the factors", {name}});
}

} // namespace

ParameterSpec
MakeSlowdownSpec()
{
    auto spec = Required({KEY,
                          2.5,
                          "a computation takes so many times as long: a factor, or a distribution "
                          "of factors",
                          {},
                          LEAST,
                          MOST});
    for (const auto& law : GetLaws())
    {
        std::vector<ParameterSpec> members{MakeDistributionSpec(law.name)};
        for (const auto& [name, example, help] : law.parameters)
        {
            members.push_back(Required({name, example, help, {}, LEAST, MOST}));
        }
        spec.forms.push_back(MakeObjectSpec(KEY, "", std::move(members)));
    }
    spec.forms.push_back(MakeObjectSpec(KEY,
                                        "",
                                        {MakeDistributionSpec("trace"),
                                         Required({"values",
                                                   std::vector<double>{1, 1.2, 3},
                                                   "factors, one after the other, and again",
                                                   {},
                                                   LEAST,
                                                   MOST})}));
    return spec;
}

Slowdown
MakeSlowdown(const ParameterSet& parameters)
{
    Slowdown slowdown;
    if (const auto* factor = parameters.Find<double>(KEY))
    {
        slowdown.first = *factor;
        return slowdown;
    }
    const auto& given = parameters.GetObject(KEY);
    const auto& distribution = given.Get<std::string>("distribution");
    for (const auto& entry : GetLaws())
    {
        if (entry.name == distribution)
        {
            slowdown.law = entry.law;
            slowdown.first = given.Get<double>(entry.parameters[0].name);
            slowdown.second =
                entry.parameters.size() > 1 ? given.Get<double>(entry.parameters[1].name) : 0.0;
            if (slowdown.law == SlowdownLaw::Uniform && slowdown.second < slowdown.first)
            {
                throw ParameterError::Expected("slowdown.high", "at least \"low\"");
            }
            return slowdown;
        }
    }
    slowdown.law = SlowdownLaw::Trace;
    slowdown.values = given.Get<std::vector<double>>("values");
    if (slowdown.values.empty() || slowdown.values.size() > MAX_VALUES)
    {
        throw ParameterError::Expected("slowdown.values",
                                       fmt::format("a list of 1 to {} factors", MAX_VALUES));
    }
    return slowdown;
}

} // namespace ns3::gradsync
