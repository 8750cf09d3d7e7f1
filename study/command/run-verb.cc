// SPDX-License-Identifier: GPL-2.0-only
// The options of the verb run.
#include "ns3/nearest-name.h"
#include "ns3/program-commands.h"
#include "ns3/scenario-error.h"
#include "ns3/verb-table.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <fmt/format.h>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <unistd.h>
#include <vector>

namespace ns3::gradsync
{

namespace
{

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
    options.partRepeats = arguments.noSkip ? Repeats::Simulate : Repeats::Skip;
    options.repeats = arguments.ranks > 0 ? Repeats::Simulate : options.partRepeats;
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

} // namespace

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

} // namespace ns3::gradsync
