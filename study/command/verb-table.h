// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_VERB_TABLE_H
#define GRADSYNC_VERB_TABLE_H

#include "ns3/scenario.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <thread>
#include <vector>

namespace CLI
{
class App;
}

namespace ns3::gradsync
{

/// What a verb does once its options are read.
using Action = std::function<int()>;

/// A verb of the program.
struct VerbRow
{
    const char* name;
    const char* help;
    Action (*add)(CLI::App& verb); //!< its options
};

/// To add one, add its row.
std::span<const VerbRow> GetVerbs();

/// What most verbs have in common.
struct ScenarioArguments
{
    std::string file;
    std::vector<std::string> sets;

    /// \throws ScenarioError for what is no PATH=VALUE
    std::vector<ScenarioOverride> GetOverrides() const;
};

void AddScenario(CLI::App& verb, ScenarioArguments& arguments);

/// For the verbs that simulate.
struct ResultArguments
{
    std::string out;
    uint32_t jobs{std::max(1U, std::thread::hardware_concurrency())};

    /// \param file the scenario, whose name the folder has unless the user gave one
    std::filesystem::path GetFolder(const std::string& file) const;
};

void AddResults(CLI::App& verb, ResultArguments& arguments);

/// The verb `run`, which has most options.
Action AddRun(CLI::App& verb);

} // namespace ns3::gradsync

#endif // GRADSYNC_VERB_TABLE_H
