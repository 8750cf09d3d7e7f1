// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_RANK_PROCESSES_H
#define GRADSYNC_RANK_PROCESSES_H

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace ns3::gradsync
{

/// One run in several processes that mpirun starts, each of which is this program again.
struct RankProcesses
{
    uint32_t ranks;
    /// What each of them is called with, behind the program.
    std::vector<std::string> arguments;
    /// Where whichever fails first says why, in RANK_PROBLEM_FILE.
    std::filesystem::path folder;
};

/// One line: why a process gave up.
inline constexpr const char* RANK_PROBLEM_FILE = "problem.txt";

/// \throws ScenarioError when mpirun, or the library that links processes, is not there
void RequireRankProcesses();

/// Runs them and waits until all have ended; they end with this one. \throws std::runtime_error
/// that says which one failed, and why
void RunRankProcesses(const RankProcesses& processes);

/// What mpirun has to say when a process has ended badly, in short. \param words its standard error
std::string DescribeRankFailure(const std::string& words, int status);

} // namespace ns3::gradsync

#endif // GRADSYNC_RANK_PROCESSES_H
