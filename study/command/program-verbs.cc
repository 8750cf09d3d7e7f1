// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/program-verbs.h"

#include "ns3/file-error.h"
#include "ns3/nearest-name.h"
#include "ns3/old-command-line.h"
#include "ns3/program-commands.h"
#include "ns3/program-version.h"
#include "ns3/scenario-error.h"
#include "ns3/shown-text.h"
#include "ns3/verb-table.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fmt/format.h>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

namespace ns3::gradsync
{

namespace
{

std::string
NameVerbs()
{
    std::vector<std::string> names;
    std::ranges::transform(GetVerbs(), std::back_inserter(names), &VerbRow::name);
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
        std::ranges::transform(GetVerbs(), std::back_inserter(names), &VerbRow::name);
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
    for (const auto& row : GetVerbs())
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
