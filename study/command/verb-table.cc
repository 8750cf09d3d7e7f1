// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/verb-table.h"

#include "ns3/nearest-name.h"
#include "ns3/program-commands.h"
#include "ns3/scenario-error.h"
#include "ns3/scenario-reader.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

namespace ns3::gradsync
{

namespace
{

/// For those that take a scenario and nothing else.
template <typename Command>
Action
AddInspection(CLI::App& verb, Command command)
{
    const auto scenario = std::make_shared<ScenarioArguments>();
    AddScenario(verb, *scenario);
    return [scenario, command] {
        return command(scenario->file, scenario->GetOverrides(), std::cout, std::cerr);
    };
}

Action
AddPlan(CLI::App& verb)
{
    const auto scenario = std::make_shared<ScenarioArguments>();
    const auto options = std::make_shared<PlanOptions>();
    AddScenario(verb, *scenario);
    verb.add_option("--run", options->run, "Which run of the sweep (default: 0)")->type_name("N");
    verb.add_option("--job", options->job, "Which job (default: the first)")->type_name("NAME");
    verb.add_flag("--json", options->json, "JSON in place of a table, all operations");
    verb.add_flag("--verify", options->verify, "Prove that it does what it is for");
    verb.add_option("--draw", options->drawing, "Draw a space-time diagram")->type_name("SVG");
    verb.add_option("--export",
                    options->exported,
                    "Write a GOAL schedule, or Chakra traces of a plan or of training: x.{rank}.et")
        ->type_name("FILE");
    return [scenario, options] {
        options->file = scenario->file;
        options->overrides = scenario->GetOverrides();
        return PlanCommand(*options, std::cout);
    };
}

Action
AddAuto(CLI::App& verb)
{
    const auto scenario = std::make_shared<ScenarioArguments>();
    const auto results = std::make_shared<ResultArguments>();
    AddScenario(verb, *scenario);
    AddResults(verb, *results);
    return [scenario, results] {
        return AutoCommand({scenario->file,
                            results->GetFolder(scenario->file),
                            scenario->GetOverrides(),
                            results->jobs},
                           std::cout,
                           std::cerr);
    };
}

Action
AddTrees(CLI::App& verb)
{
    const auto scenario = std::make_shared<ScenarioArguments>();
    AddScenario(verb, *scenario);
    return [scenario] { return TreesCommand(scenario->file, scenario->GetOverrides(), std::cout); };
}

Action
AddList(CLI::App& verb)
{
    const auto format = std::make_shared<ListFormat>(ListFormat::Lines);
    const auto choose = [&verb, format](const char* name, const char* help, ListFormat chosen) {
        return verb.add_flag_callback(
            name,
            [format, chosen] { *format = chosen; },
            help);
    };
    choose("--json", "JSON, for other programs", ListFormat::Objects)
        ->excludes(choose("--schema",
                          "scenarios/scenario.schema.json, the JSON schema of scenarios",
                          ListFormat::Schema));
    return [format] { return ListCommand(std::cout, *format); };
}

Action
AddCodec(CLI::App& verb)
{
    const auto options = std::make_shared<CodecOptions>();
    verb.add_option("CODEC", options->codec, "As a job's codec, see doc/gradients.rst")
        ->required()
        ->type_name("JSON");
    verb.add_option("--workers", options->workers, "Whose gradients come in turn")
        ->type_name("N")
        ->check(CLI::Range(1U, 65536U));
    verb.add_option("--tensors", options->tensors, "Elements of each tensor")
        ->type_name("N,N,...")
        ->delimiter(',');
    verb.add_flag("--feedback", options->feedback, "With error feedback");
    verb.add_option("--momentum", options->momentum, "With momentum before the codec")
        ->type_name("M")
        ->check(CLI::Range(0.0, 1.0));
    verb.add_option("--seed", options->seed, "Of codecs that draw random numbers")->type_name("N");
    return [options] { return CodecCommand(*options, std::cin, std::cout); };
}

struct P4Arguments
{
    std::string action;
    P4PlayOptions play;
};

int
CarryOutP4(const P4Arguments& arguments)
{
    const std::vector<std::string> actions{"play", "describe"};
    if (arguments.action == "describe")
    {
        if (!arguments.play.vectors.empty() || !arguments.play.configuration.empty() ||
            !arguments.play.p4info.empty())
        {
            throw ScenarioError("p4 describe", "found more than the program");
        }
        return P4DescribeCommand(arguments.play.program, std::cout);
    }
    if (arguments.action != "play")
    {
        throw ScenarioError("p4",
                            fmt::format("found \"{}\"{} (allowed: {})",
                                        arguments.action,
                                        SuggestName(arguments.action, actions),
                                        JoinNames(actions)));
    }
    if (arguments.play.vectors.empty())
    {
        throw ScenarioError("p4 play", "expected a vector: p4 play PROGRAM.json FILE.stf");
    }
    return P4PlayCommand(arguments.play, std::cout);
}

Action
AddP4(CLI::App& verb)
{
    const auto arguments = std::make_shared<P4Arguments>();
    verb.add_option("ACTION", arguments->action, "play or describe")->required()->type_name("TEXT");
    verb.add_option("PROGRAM", arguments->play.program, "What p4c-bm2-ss made of it (JSON)")
        ->required()
        ->type_name("FILE");
    verb.add_option("VECTORS", arguments->play.vectors, "To play: files in p4c's STF language")
        ->type_name("FILE ...");
    verb.add_option("--configuration",
                    arguments->play.configuration,
                    "To play: commands of simple_switch_CLI or entries that come first")
        ->type_name("FILE");
    verb.add_option("--p4info",
                    arguments->play.p4info,
                    "To play: p4info, which entries of P4Runtime need")
        ->type_name("FILE");
    verb.footer("Exit codes of play: 0 all as expected, 1 not all, 2 bad input.");
    return [arguments] { return CarryOutP4(*arguments); };
}

constexpr std::array<VerbRow, 11> VERBS{{
    {"run", "Simulate a scenario and write its results", AddRun},
    {"describe",
     "Tell what can be known before simulating",
     [](CLI::App& verb) { return AddInspection(verb, DescribeCommand); }},
    {"validate",
     "Check a scenario and its plans, simulate nothing",
     [](CLI::App& verb) { return AddInspection(verb, ValidateCommand); }},
    {"resolve",
     "Print the expanded runs as JSON",
     [](CLI::App& verb) { return AddInspection(verb, ResolveCommand); }},
    {"plan", "Print, verify, draw or export the plan of one job", AddPlan},
    {"auto",
     "Simulate all that the scheme auto chooses from, and tell how good its choice is",
     AddAuto},
    {"trees", "Print by which trees of switches jobs could aggregate, as JSON", AddTrees},
    {"list", "List what a scenario can name", AddList},
    {"sum-errors",
     "Print how far sums of integers in switches are from those of gradients, as CSV",
     [](CLI::App& /* verb */) { return Action([] { return SumErrorsCommand(std::cout); }); }},
    {"codec", "Pass gradients from standard input through a codec", AddCodec},
    {"p4", "Play vectors on a P4 program, or describe it", AddP4},
}};

} // namespace

std::vector<ScenarioOverride>
ScenarioArguments::GetOverrides() const
{
    std::vector<ScenarioOverride> overrides;
    std::ranges::transform(sets, std::back_inserter(overrides), ParseOverride);
    return overrides;
}

std::filesystem::path
ResultArguments::GetFolder(const std::string& file) const
{
    return out.empty() ? std::filesystem::path("results") / std::filesystem::path(file).stem()
                       : std::filesystem::path(out);
}

void
AddScenario(CLI::App& verb, ScenarioArguments& arguments)
{
    verb.add_option("SCENARIO", arguments.file, "Scenario file (JSON)")
        ->required()
        ->type_name("FILE");
    verb.add_option("--set",
                    arguments.sets,
                    "Override a value, e.g. topology.hostsPerLeaf=24; may be repeated")
        ->type_name("PATH=VALUE")
        ->expected(1)
        ->take_all();
}

void
AddResults(CLI::App& verb, ResultArguments& arguments)
{
    verb.add_option("--out", arguments.out, "Results folder (default: results/NAME, as SCENARIO)")
        ->type_name("DIR");
    verb.add_option("--jobs", arguments.jobs, "Runs at a time (default: every core)")
        ->type_name("N")
        ->check(CLI::Range(1U, 4096U));
}

std::span<const VerbRow>
GetVerbs()
{
    return VERBS;
}

} // namespace ns3::gradsync
