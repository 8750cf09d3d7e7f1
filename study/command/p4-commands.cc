// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/input-file.h"
#include "ns3/named-files.h"
#include "ns3/p4-error.h"
#include "ns3/p4-pipeline.h"
#include "ns3/p4-program-loader.h"
#include "ns3/p4-program-text.h"
#include "ns3/p4-runtime-commands.h"
#include "ns3/p4-runtime-text.h"
#include "ns3/p4-stf-player.h"
#include "ns3/program-commands.h"
#include "ns3/scenario-error.h"
#include "ns3/shown-text.h"

#include <fmt/format.h>
#include <memory>
#include <optional>
#include <ostream>
#include <sstream>
#include <string>

namespace ns3::gradsync
{

namespace
{

std::string
ReadNamedFile(const std::string& path)
{
    try
    {
        return *NamedFiles().Read(path);
    }
    catch (const InputFileError& error)
    {
        throw ScenarioError(path, error.what());
    }
}

/// What is shown of a vector is all that went wrong, up to so many lines.
constexpr size_t MAX_PROBLEMS = 20;

bool
Play(const std::shared_ptr<const P4Program>& program,
     const P4PlayOptions& options,
     const std::string& vector,
     std::ostream& out)
{
    P4Pipeline pipeline(program);
    if (!options.configuration.empty())
    {
        std::optional<P4NamedText> info;
        if (!options.p4info.empty())
        {
            info = {ReadNamedFile(options.p4info), options.p4info};
        }
        const auto commands =
            MakeP4Commands(*program,
                           {ReadNamedFile(options.configuration), options.configuration},
                           info);
        for (const auto& answer : P4RuntimeCommands(pipeline, options.configuration).Run(commands))
        {
            out << ShowMessage(answer) << '\n';
        }
    }
    const auto result =
        P4StfPlayer(pipeline, vector).Play(ReadP4Stf(ReadNamedFile(vector), vector));
    for (const auto& answer : result.answers)
    {
        out << ShowMessage(answer) << '\n';
    }
    for (size_t i = 0; i < result.problems.size() && i < MAX_PROBLEMS; ++i)
    {
        out << ShowMessage(result.problems[i]) << '\n';
    }
    if (result.problems.size() > MAX_PROBLEMS)
    {
        out << fmt::format("... and {} more\n", result.problems.size() - MAX_PROBLEMS);
    }
    out << fmt::format(
        "{}: {} packets in, {} of {} expectations passed, {} failed{}{}\n",
        ShowText(vector),
        result.packets,
        result.passed,
        result.expected,
        result.expected - result.passed,
        result.unexpected == 0 ? "" : fmt::format(", {} packets too many", result.unexpected),
        result.elsewhere == 0
            ? ""
            : fmt::format("; {} left by ports that it does not name", result.elsewhere));
    return result.HasPassed();
}

} // namespace

int
P4PlayCommand(const P4PlayOptions& options, std::ostream& out)
{
    try
    {
        const auto program = std::make_shared<const P4Program>(
            P4ProgramLoader::Load(ReadNamedFile(options.program), options.program));
        bool hasPassed = true;
        for (const auto& vector : options.vectors)
        {
            hasPassed &= Play(program, options, vector, out);
        }
        return hasPassed ? exit_code::OK : exit_code::FAILED;
    }
    catch (const P4Error& error)
    {
        throw ScenarioError(error.what());
    }
}

int
P4DescribeCommand(const std::string& program, std::ostream& out)
{
    try
    {
        std::istringstream lines(DescribeP4Program(ReadNamedFile(program), program));
        for (std::string line; std::getline(lines, line);)
        {
            out << EscapeText(line) << '\n';
        }
        return exit_code::OK;
    }
    catch (const P4Error& error)
    {
        throw ScenarioError(error.what());
    }
}

} // namespace ns3::gradsync
