// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/program-verbs.h"

#include "ns3/file-error.h"
#include "ns3/nearest-name.h"
#include "ns3/old-command-line.h"
#include "ns3/program-commands.h"
#include "ns3/program-version.h"
#include "ns3/scenario-error.h"
#include "ns3/scenario-reader.h"
#include "ns3/shown-text.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fmt/format.h>
#include <functional>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

namespace ns3::gradsync
{

namespace
{

/// What a verb does once its options are read.
using Action = std::function<int()>;

/// What most verbs have in common.
struct ScenarioArguments
{
    std::string file;
    std::vector<std::string> sets;

    std::vector<ScenarioOverride> GetOverrides() const
    {
        std::vector<ScenarioOverride> overrides;
        std::ranges::transform(sets, std::back_inserter(overrides), ParseOverride);
        return overrides;
    }
};

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

/// For the verbs that simulate.
struct ResultArguments
{
    std::string out;
    uint32_t jobs{std::max(1U, std::thread::hardware_concurrency())};

    std::filesystem::path GetFolder(const std::string& file) const
    {
        return out.empty() ? std::filesystem::path("results") / std::filesystem::path(file).stem()
                           : std::filesystem::path(out);
    }
};

void
AddResults(CLI::App& verb, ResultArguments& arguments)
{
    verb.add_option("--out", arguments.out, "Results folder (default: results/NAME, as SCENARIO)")
        ->type_name("DIR");
    verb.add_option("--jobs", arguments.jobs, "Runs at a time (default: every core)")
        ->type_name("N")
        ->check(CLI::Range(1U, 4096U));
}

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

struct RunArguments
{
    ScenarioArguments scenario;
    ResultArguments results;
    std::string progress{"auto"};
    bool noResume{false};
    bool noSkip{false};
    bool trace{false};
    std::vector<std::string> captures;
    std::string points;
    uint32_t ranks{0};
    std::optional<uint32_t> rankOf;
    bool prepare{false};
    bool assemble{false};
    bool where{false};
};

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

/// "a:b" as the list that results.pcap is made of.
Json
ParseCaptures(const std::vector<std::string>& captures)
{
    Json links = Json::array();
    for (const auto& capture : captures)
    {
        const auto colon = capture.find(':');
        if (colon == std::string::npos)
        {
            throw ScenarioError("--pcap", fmt::format("found \"{}\", expected NODE:NODE", capture));
        }
        links.push_back({capture.substr(0, colon), capture.substr(colon + 1)});
    }
    return links;
}

RunPart
GetPart(const RunArguments& arguments)
{
    return arguments.rankOf            ? RunPart::Rank
           : arguments.prepare         ? RunPart::Prepare
           : arguments.assemble        ? RunPart::Assemble
           : !arguments.points.empty() ? RunPart::Points
                                       : RunPart::Whole;
}

int
CarryOutRun(const RunArguments& arguments)
{
    RunOptions options;
    options.part = GetPart(arguments);
    options.points = arguments.points;
    options.file = arguments.scenario.file;
    options.folder = arguments.results.GetFolder(arguments.scenario.file);
    options.overrides = arguments.scenario.GetOverrides();
    if (arguments.trace)
    {
        options.overrides.push_back({"results.trace", "true"});
    }
    if (!arguments.captures.empty())
    {
        options.overrides.push_back({"results.pcap", ParseCaptures(arguments.captures).dump()});
    }
    options.parallel = arguments.results.jobs;
    options.progress = ParseProgress(arguments.progress);
    options.resume = !arguments.noResume;
    options.repeats = arguments.noSkip || arguments.ranks > 0 ? Repeats::Simulate : Repeats::Skip;
    if (arguments.ranks > 1)
    {
        options.ranks = arguments.ranks;
        options.parallel = std::max(1U, options.parallel / options.ranks);
    }
    options.rankOf = arguments.rankOf.value_or(0);
    if (arguments.where)
    {
        const bool hasTables = options.part == RunPart::Whole || options.part == RunPart::Assemble;
        std::cout << (hasTables ? options.folder.string() + "\n" : "");
        return exit_code::OK;
    }
    return RunCommand(options, std::cout, std::cerr);
}

Action
AddRun(CLI::App& verb)
{
    const auto arguments = std::make_shared<RunArguments>();
    AddScenario(verb, arguments->scenario);
    AddResults(verb, arguments->results);
    verb.add_option("--progress", arguments->progress, "auto, always or never")->type_name("WHEN");
    verb.add_flag("--no-resume", arguments->noResume, "Repeat runs that are done");
    verb.add_flag("--no-skip",
                  arguments->noSkip,
                  "Simulate iterations and collectives that are the same as earlier ones, too");
    verb.add_option("--pcap",
                    arguments->captures,
                    "Capture the link between two nodes to pcap files; may be repeated")
        ->type_name("NODE:NODE")
        ->expected(1)
        ->take_all();
    verb.add_flag("--trace", arguments->trace, "Write trace.json for Perfetto");
    auto* prepare = verb.add_flag("--prepare",
                                  arguments->prepare,
                                  "Check all runs, print as JSON what is missing");
    auto* points =
        verb.add_option("--points", arguments->points, "Do only these runs, beside other programs")
            ->type_name("A-B,C");
    auto* assemble = verb.add_flag("--assemble",
                                   arguments->assemble,
                                   "Do no run, write the files of those there are");
    prepare->excludes(points)->excludes(assemble);
    points->excludes(assemble);
    verb.add_option("--ranks",
                    arguments->ranks,
                    "Simulate each run by so many processes together, with --no-skip")
        ->type_name("N")
        ->check(CLI::Range(1U, 4096U));
    // For the processes of --ranks. Not in the help.
    verb.add_option("--rank-of", arguments->rankOf, "Do a share of this run")->group("");
    // For the launcher, which plots what is there. Not in the help.
    verb.add_flag("--where", arguments->where, "Print the folder that tables are written to")
        ->group("");
    verb.footer("A second start goes on with the runs that are missing; --no-resume starts over.\n"
                "Exit codes: 0 done, 1 internal error, 2 bad input, 3 an exchange did not finish,\n"
                "130 interrupted.");
    return [arguments] { return CarryOutRun(*arguments); };
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

/// A verb: to add one, add its row.
struct VerbRow
{
    const char* name;
    const char* help;
    Action (*add)(CLI::App& verb); //!< its options
};

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

std::string
NameVerbs()
{
    std::vector<std::string> names;
    std::ranges::transform(VERBS, std::back_inserter(names), &VerbRow::name);
    return "a verb (" + JoinNames(names) + ")";
}

/// CLI11 knows no nearest names. \throws ScenarioError for what is left over
void
CheckExtras(const CLI::App& app)
{
    const auto chosen = app.get_subcommands();
    const auto extras = chosen.empty() ? app.remaining() : chosen.front()->remaining();
    if (extras.empty())
    {
        return;
    }
    const auto name = extras.front().substr(0, extras.front().find('='));
    if (!name.starts_with('-') && !chosen.empty())
    {
        throw ScenarioError(name, "one argument too many");
    }
    std::vector<std::string> names;
    if (name.starts_with('-'))
    {
        for (const auto* option : (chosen.empty() ? app : *chosen.front()).get_options())
        {
            // Positional ones have no long name; those without a group are not in the help.
            if (!option->get_lnames().empty() && !option->get_group().empty())
            {
                names.push_back("--" + option->get_lnames().front());
            }
        }
    }
    else
    {
        std::ranges::transform(VERBS, std::back_inserter(names), &VerbRow::name);
    }
    throw ScenarioError(name,
                        fmt::format("unknown {}{} ({}s: {})",
                                    name.starts_with('-') ? "option" : "verb",
                                    SuggestName(name, names),
                                    name.starts_with('-') ? "option" : "verb",
                                    JoinNames(names)));
}

/// What was printed may wait for its device still. \returns the code, or that of a full one
int
FlushOutput(int code)
{
    if (std::cout.flush())
    {
        return code;
    }
    std::cerr << "gradsync: error: standard output: cannot be written\n";
    return code == exit_code::OK ? exit_code::FAILED : code;
}

/// Parses and carries out. \throws CLI::ParseError, ScenarioError
int
CarryOut(CLI::App& app, std::vector<std::string> arguments)
{
    app.allow_extras(); // inherited by the verbs
    app.require_subcommand(1);
    app.set_version_flag("--version",
                         fmt::format("gradsync {} (commit {}, ns-3 {}, {})",
                                     GetProgramVersion(),
                                     GetProgramCommit(),
                                     GetNs3Version(),
                                     GetCompilerVersion()));
    std::vector<std::pair<CLI::App*, Action>> verbs;
    for (const auto& row : VERBS)
    {
        auto* verb = app.add_subcommand(row.name, row.help);
        verbs.emplace_back(verb, row.add(*verb));
    }
    std::ranges::reverse(arguments); // as CLI11 takes them
    try
    {
        app.parse(std::move(arguments));
    }
    catch (const CLI::RequiredError&)
    {
        CheckExtras(app); // a name that was mistyped is why something is missing
        if (app.get_subcommands().empty())
        {
            throw ScenarioError("command line", "expected " + NameVerbs());
        }
        throw;
    }
    CheckExtras(app);
    const auto chosen = std::ranges::find(verbs,
                                          app.get_subcommands().front(),
                                          &decltype(verbs)::value_type::first);
    return chosen->second();
}

} // namespace

int
RunProgram(int argc, char* argv[])
{
    CLI::App app{"gradsync: how long a gradient exchange takes, packet by packet"};
    // The launcher says how the user called it.
    const char* caller = std::getenv("GRADSYNC_CALLED_AS");
    app.name(caller != nullptr ? caller : "gradsync");
    try
    {
        const auto renamed = RenameOldCommand({argv + 1, argv + argc});
        if (!renamed.old.empty())
        {
            std::cerr << fmt::format("gradsync: warning: {} is now: gradsync {}\n",
                                     renamed.old,
                                     renamed.now);
        }
        return FlushOutput(CarryOut(app, renamed.arguments));
    }
    catch (const CLI::ParseError& error)
    {
        // --help and --version come this way too, with exit code 0.
        if (error.get_exit_code() == 0)
        {
            return FlushOutput(app.exit(error));
        }
        std::cerr << "gradsync: error: " << ShowMessage(error.what()) << '\n';
        return exit_code::BAD_INPUT;
    }
    catch (const ScenarioError& error)
    {
        std::cerr << "gradsync: error: " << ShowMessage(error.what()) << '\n';
        return exit_code::BAD_INPUT;
    }
    catch (const FileError& error)
    {
        std::cerr << "gradsync: error: " << ShowMessage(error.what()) << '\n';
        return exit_code::FAILED;
    }
    catch (const std::filesystem::filesystem_error& error)
    {
        std::cerr << fmt::format("gradsync: error: {}: {}\n",
                                 ShowMessage(error.path1().string()),
                                 error.code().message());
        return exit_code::FAILED;
    }
    catch (const std::exception& error)
    {
        std::cerr << "gradsync: internal error: " << ShowMessage(error.what()) << '\n';
        return exit_code::INTERNAL_ERROR;
    }
}

} // namespace ns3::gradsync
