// SPDX-License-Identifier: GPL-2.0-only
/*
 * The command-line program: reads options, leaves the work to study/.
 */
#include "ns3/nearest-name.h"
#include "ns3/program-commands.h"
#include "ns3/program-version.h"
#include "ns3/scenario-error.h"
#include "ns3/scenario-reader.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <exception>
#include <fmt/format.h>
#include <iostream>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

namespace
{

using namespace ns3::gradsync;

struct Arguments
{
    std::string scenario;
    std::string validate;
    std::string describe;
    std::string resolve;
    std::string compareAuto;
    PlanOptions plan;
    CodecOptions codec;
    std::string out;
    std::vector<std::string> sets;
    uint32_t jobs{std::max(1U, std::thread::hardware_concurrency())};
    std::string progress{"auto"};
    bool noResume{false};
    std::string points;
    bool prepare{false};
    bool assemble{false};
    bool trace{false};
    bool list{false};
    bool sumErrors{false};
};

void
AddOptions(CLI::App& app, Arguments& arguments)
{
    app.add_option("--scenario", arguments.scenario, "Run a scenario and write its results")
        ->type_name("FILE");
    app.add_option("--validate", arguments.validate, "Check a scenario, simulate nothing")
        ->type_name("FILE");
    app.add_option("--describe", arguments.describe, "Tell what can be known before simulating")
        ->type_name("FILE");
    app.add_option("--resolve", arguments.resolve, "Print the expanded runs as JSON")
        ->type_name("FILE");
    app.add_option(
           "--compare-auto",
           arguments.compareAuto,
           "Simulate all that the scheme auto chooses from, and tell how good its choice is")
        ->type_name("FILE");
    app.add_option("--plan", arguments.plan.file, "Print the plan of one job of a scenario")
        ->type_name("FILE");
    app.add_option("--run", arguments.plan.run, "Of --plan: which run of the sweep (default: 0)")
        ->type_name("N");
    app.add_option("--job", arguments.plan.job, "Of --plan: which job (default: the first)")
        ->type_name("NAME");
    app.add_flag("--json", arguments.plan.json, "Of --plan: print JSON, all operations");
    app.add_flag("--verify", arguments.plan.verify, "Of --plan: prove that it does what it is for");
    app.add_option("--draw", arguments.plan.drawing, "Of --plan: draw a space-time diagram")
        ->type_name("SVG");
    app.add_option("--export", arguments.plan.goal, "Of --plan: write a GOAL schedule")
        ->type_name("GOAL");
    app.add_flag("--list", arguments.list, "List schemes, topologies and transports");
    app.add_flag("--sum-errors",
                 arguments.sumErrors,
                 "Print how far sums of integers in switches are from those of gradients, as CSV");
    app.add_option("--codec",
                   arguments.codec.codec,
                   "Pass gradients from standard input through this codec, see doc/gradients.rst")
        ->type_name("JSON");
    app.add_option("--workers", arguments.codec.workers, "Of --codec: whose gradients come in turn")
        ->type_name("N")
        ->check(CLI::Range(1U, 65536U));
    app.add_option("--tensors", arguments.codec.tensors, "Of --codec: elements of each tensor")
        ->type_name("N,N,...")
        ->delimiter(',');
    app.add_flag("--feedback", arguments.codec.feedback, "Of --codec: with error feedback");
    app.add_option("--out", arguments.out, "Results folder (default: results/NAME of the scenario)")
        ->type_name("DIR");
    app.add_option("--set", arguments.sets, "Override a value, may be repeated")
        ->type_name("PATH=VALUE")
        ->expected(1)
        ->take_all();
    app.add_option("--jobs", arguments.jobs, "Runs at a time (default: all cores)")
        ->type_name("N")
        ->check(CLI::Range(1U, 4096U));
    app.add_option("--progress", arguments.progress, "auto, always or never")->type_name("WHEN");
    app.add_flag("--trace", arguments.trace, "Write trace.json (sets results.trace)");
    app.add_flag("--no-resume", arguments.noResume, "Repeat runs that are done");
    app.add_flag("--prepare", arguments.prepare, "Check all runs, print as JSON what is missing");
    app.add_option("--points", arguments.points, "Do only these runs, beside other programs")
        ->type_name("A-B,C");
    app.add_flag("--assemble", arguments.assemble, "Do no run, write the files of those there are");
    app.set_version_flag("--version",
                         fmt::format("gradsync {} (commit {}, ns-3 {})",
                                     GetProgramVersion(),
                                     GetProgramCommit(),
                                     GetNs3Version()));
    app.allow_extras();
}

/// CLI11 knows no nearest names.
void
CheckExtras(const CLI::App& app)
{
    const auto extras = app.remaining();
    if (extras.empty())
    {
        return;
    }
    std::vector<std::string> names;
    for (const auto* option : app.get_options())
    {
        names.push_back("--" + option->get_lnames().front());
    }
    const std::string name = extras.front().substr(0, extras.front().find('='));
    throw ScenarioError(
        name,
        fmt::format("unknown option{} (options: {})", SuggestName(name, names), JoinNames(names)));
}

ProgressStyle
ParseProgress(const std::string& text)
{
    const bool terminal = isatty(STDERR_FILENO) == 1;
    if (text == "auto")
    {
        return terminal ? ProgressStyle::Bar : ProgressStyle::Lines;
    }
    if (text == "always")
    {
        return ProgressStyle::Bar;
    }
    if (text != "never")
    {
        const std::vector<std::string> allowed{"auto", "always", "never"};
        throw ScenarioError("--progress",
                            fmt::format("found \"{}\"{} (allowed: {})",
                                        text,
                                        SuggestName(text, allowed),
                                        JoinNames(allowed)));
    }
    return ProgressStyle::None;
}

RunPart
GetPart(const Arguments& arguments)
{
    const int parts = (arguments.prepare ? 1 : 0) + (arguments.points.empty() ? 0 : 1) +
                      (arguments.assemble ? 1 : 0);
    if (parts > 1)
    {
        throw ScenarioError("command line",
                            "--prepare, --points and --assemble exclude each other");
    }
    return arguments.prepare           ? RunPart::Prepare
           : arguments.assemble        ? RunPart::Assemble
           : !arguments.points.empty() ? RunPart::Points
                                       : RunPart::Whole;
}

int
Dispatch(const Arguments& arguments)
{
    const int commands =
        (arguments.scenario.empty() ? 0 : 1) + (arguments.validate.empty() ? 0 : 1) +
        (arguments.describe.empty() ? 0 : 1) + (arguments.resolve.empty() ? 0 : 1) +
        (arguments.plan.file.empty() ? 0 : 1) + (arguments.compareAuto.empty() ? 0 : 1) +
        (arguments.list ? 1 : 0) + (arguments.sumErrors ? 1 : 0) +
        (arguments.codec.codec.empty() ? 0 : 1);
    if (commands != 1)
    {
        throw ScenarioError(
            "command line",
            "expected one of --scenario=FILE, --validate=FILE, --describe=FILE, "
            "--resolve=FILE, --plan=FILE, --compare-auto=FILE, --list, --sum-errors, --codec=JSON, "
            "--version, --help");
    }
    std::vector<ScenarioOverride> overrides;
    for (const auto& text : arguments.sets)
    {
        overrides.push_back(ParseOverride(text));
    }
    if (arguments.trace)
    {
        overrides.push_back({"results.trace", "true"});
    }
    if (arguments.list)
    {
        return ListCommand(std::cout);
    }
    if (arguments.sumErrors)
    {
        return SumErrorsCommand(std::cout);
    }
    if (!arguments.codec.codec.empty())
    {
        return CodecCommand(arguments.codec, std::cin, std::cout);
    }
    if (!arguments.validate.empty())
    {
        return ValidateCommand(arguments.validate, overrides, std::cout);
    }
    if (!arguments.describe.empty())
    {
        return DescribeCommand(arguments.describe, overrides, std::cout);
    }
    if (!arguments.resolve.empty())
    {
        return ResolveCommand(arguments.resolve, overrides, std::cout);
    }
    if (!arguments.plan.file.empty())
    {
        auto options = arguments.plan;
        options.overrides = overrides;
        return PlanCommand(options, std::cout);
    }
    if (!arguments.compareAuto.empty())
    {
        const std::filesystem::path file(arguments.compareAuto);
        return AutoCommand({file,
                            arguments.out.empty() ? std::filesystem::path("results") / file.stem()
                                                  : std::filesystem::path(arguments.out),
                            overrides,
                            arguments.jobs},
                           std::cout,
                           std::cerr);
    }
    RunOptions options;
    options.part = GetPart(arguments);
    options.points = arguments.points;
    options.file = arguments.scenario;
    options.folder = arguments.out.empty() ? std::filesystem::path("results") / options.file.stem()
                                           : std::filesystem::path(arguments.out);
    options.overrides = overrides;
    options.parallel = arguments.jobs;
    options.progress = ParseProgress(arguments.progress);
    options.resume = !arguments.noResume;
    return RunCommand(options, std::cout, std::cerr);
}

} // namespace

int
main(int argc, char* argv[])
{
    CLI::App app{"gradsync: how long a gradient exchange takes, packet by packet"};
    app.name("gradsync");
    Arguments arguments;
    try
    {
        AddOptions(app, arguments);
        app.parse(argc, argv);
        CheckExtras(app);
        return Dispatch(arguments);
    }
    catch (const CLI::ParseError& error)
    {
        // --help and --version come this way too, with exit code 0.
        if (error.get_exit_code() == 0)
        {
            return app.exit(error);
        }
        std::cerr << "gradsync: error: " << error.what() << '\n';
        return exit_code::BAD_INPUT;
    }
    catch (const ScenarioError& error)
    {
        std::cerr << "gradsync: error: " << error.what() << '\n';
        return exit_code::BAD_INPUT;
    }
    catch (const std::exception& error)
    {
        std::cerr << "gradsync: internal error: " << error.what() << '\n';
        return exit_code::INTERNAL_ERROR;
    }
}
