// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/rank-processes.h"

#include "ns3/captured-words.h"
#include "ns3/process-link-loader.h"
#include "ns3/regular-expression.h"
#include "ns3/scenario-error.h"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>

#ifdef __linux__
#include <sys/prctl.h>
#endif

namespace ns3::gradsync
{

namespace
{

constexpr const char* MPIRUN = "mpirun";

bool
IsOnPath(const std::string& program)
{
    const char* path = std::getenv("PATH");
    std::istringstream folders(path != nullptr ? path : "");
    for (std::string folder; std::getline(folders, folder, ':');)
    {
        if (access((std::filesystem::path(folder) / program).c_str(), X_OK) == 0)
        {
            return true;
        }
    }
    return false;
}

/// Whether the environment says nothing to Open MPI, neither of other machines nor how to talk to
/// them: no variable of its own, and none of those by which batch systems tell it what they gave.
bool
IsMpiAsItComes()
{
    for (auto variable = environ; *variable != nullptr; ++variable)
    {
        const std::string_view text(*variable);
        for (const auto* prefix : {"OMPI_MCA_", "SLURM_", "PBS_", "LSB_", "PE_HOSTFILE="})
        {
            if (text.starts_with(prefix))
            {
                return false;
            }
        }
    }
    return true;
}

std::vector<std::string>
MakeCommand(const RankProcesses& processes)
{
    // Several runs go on at once: bound to cores, they would all be bound to the first ones.
    std::vector<std::string> command{MPIRUN,
                                     "--oversubscribe",
                                     "--bind-to",
                                     "none",
                                     "-n",
                                     fmt::format("{}", processes.ranks)};
    if (IsMpiAsItComes())
    {
        // To look for networks that are faster than Ethernet takes as long as a run of 256 hosts.
        command.insert(command.end(), {"--mca", "pml", "ob1"});
    }
    if (geteuid() == 0)
    {
        command.emplace_back("--allow-run-as-root"); // as in containers, where nothing else is
    }
    command.push_back(FindProgram().string());
    command.insert(command.end(), processes.arguments.begin(), processes.arguments.end());
    return command;
}

/// In the child: becomes mpirun.
[[noreturn]] void
Become(const std::vector<std::string>& command, const CapturedWords& words, pid_t parent)
{
#ifdef __linux__
    prctl(PR_SET_PDEATHSIG, SIGTERM); // on which mpirun ends its processes
#endif
    if (getppid() != parent)
    {
        _exit(EXIT_FAILURE);
    }
    const int nothing = open("/dev/null", O_RDONLY);
    dup2(nothing, STDIN_FILENO);
    dup2(words.GetDescriptor(), STDOUT_FILENO);
    dup2(words.GetDescriptor(), STDERR_FILENO);
    std::vector<char*> arguments;
    arguments.reserve(command.size() + 1);
    for (const auto& argument : command)
    {
        arguments.push_back(const_cast<char*>(argument.c_str()));
    }
    arguments.push_back(nullptr);
    execvp(arguments.front(), arguments.data());
    _exit(EXIT_FAILURE);
}

/**
 * What matters of what was printed: the last line before Open MPI's own words, which stand between
 * lines of dashes, and the first of these; the rest of them is advice.
 */
std::string
Summarise(const std::string& words)
{
    std::istringstream lines(words);
    std::string before;
    std::string first;
    bool isBox = false;
    for (std::string line; first.empty() && std::getline(lines, line);)
    {
        if (line.find_first_not_of(" -") == std::string::npos)
        {
            isBox = isBox || line.starts_with("--");
            continue;
        }
        (isBox ? first : before) = line;
    }
    return before + (before.empty() || first.empty() ? "" : "; ") + first;
}

} // namespace

void
RequireRankProcesses()
{
    if (!IsOnPath(MPIRUN))
    {
        throw ScenarioError(
            "--ranks",
            "mpirun is not on the PATH; Debian has it in openmpi-bin, which ./ns3 run "
            "installs");
    }
    if (const auto library = FindProcessLinkLibrary(); !std::filesystem::exists(library))
    {
        throw ScenarioError(
            "--ranks",
            fmt::format("{} is not there; the build makes it with GRADSYNC_MPI on, as "
                        "./ns3 run does, from libopenmpi-dev",
                        library.string()));
    }
}

std::string
DescribeRankFailure(const std::string& words, int status)
{
    const auto found = FindGroups("process rank ([0-9]+) [^\n]*exited on signal ([0-9]+)", words);
    if (!found.empty())
    {
        const auto signal = std::stoi(found[2]);
        return fmt::format("rank {} crashed: signal {} ({})", found[1], signal, strsignal(signal));
    }
    const auto summary = Summarise(words);
    return fmt::format("mpirun ended with exit code {}{}{}",
                       WIFEXITED(status) ? WEXITSTATUS(status) : -1,
                       summary.empty() ? "" : ": ",
                       summary);
}

void
RunRankProcesses(const RankProcesses& processes)
{
    const CapturedWords words;
    const auto command = MakeCommand(processes);
    const auto parent = getpid();
    const auto child = fork();
    if (child < 0)
    {
        throw std::system_error(errno, std::generic_category(), "fork");
    }
    if (child == 0)
    {
        Become(command, words, parent);
    }
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
    {
    }
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
    {
        return;
    }
    std::ifstream problem(processes.folder / RANK_PROBLEM_FILE);
    std::string text;
    throw std::runtime_error(
        std::getline(problem, text) ? text : DescribeRankFailure(words.ReadAll(), status));
}

} // namespace ns3::gradsync
