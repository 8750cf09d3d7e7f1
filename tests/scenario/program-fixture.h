// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_TESTS_SCENARIO_PROGRAM_FIXTURE_H
#define GRADSYNC_TESTS_SCENARIO_PROGRAM_FIXTURE_H

#include "unit/study/scenario-test-support.h"

#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <set>
#include <sstream>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace ns3::gradsync::tests
{

inline std::string
ReadFile(const std::filesystem::path& path)
{
    std::ostringstream text;
    text << std::ifstream(path, std::ios::binary).rdbuf();
    return text.str();
}

inline std::set<std::string>
ListNames(const std::filesystem::path& folder)
{
    std::set<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder))
    {
        names.insert(entry.path().filename().string());
    }
    return names;
}

inline std::vector<std::string>
SplitLines(const std::string& text)
{
    std::vector<std::string> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);)
    {
        lines.push_back(line);
    }
    return lines;
}

/// runs.csv without wall_s and peak_rss_bytes, the two columns that depend on the machine.
inline std::string
StripWallClock(const std::string& csv)
{
    std::string stripped;
    for (const auto& line : SplitLines(csv))
    {
        std::vector<std::string> fields;
        std::istringstream stream(line);
        for (std::string field; std::getline(stream, field, ',');)
        {
            fields.push_back(field);
        }
        // ..., wall_s, peak_rss_bytes, status
        fields.erase(fields.end() - 3, fields.end() - 1);
        for (const auto& field : fields)
        {
            stripped += field + ",";
        }
        stripped += "\n";
    }
    return stripped;
}

/// Calls the program as its users do.
class ProgramTest : public testing::Test
{
  protected:
    struct Outcome
    {
        int code;
        std::string out;
        std::string err;
    };

    /// Starts the program with its output in files of the temporary folder, out and err, or
    /// others for several at once.
    pid_t Start(std::vector<std::string> arguments, const std::string& suffix = "")
    {
        const pid_t process = fork();
        if (process == 0)
        {
            const auto redirect = [&](const std::string& name, int stream) {
                const int file = open((m_folder.Get() / (name + suffix)).c_str(),
                                      O_CREAT | O_TRUNC | O_WRONLY,
                                      0600);
                dup2(file, stream);
            };
            redirect("out", STDOUT_FILENO);
            redirect("err", STDERR_FILENO);
            std::string program = GRADSYNC_PROGRAM;
            std::vector<char*> argv{program.data()};
            for (auto& argument : arguments)
            {
                argv.push_back(argument.data());
            }
            argv.push_back(nullptr);
            execv(GRADSYNC_PROGRAM, argv.data());
            _exit(127);
        }
        return process;
    }

    Outcome Finish(pid_t process, const std::string& suffix = "")
    {
        int status = 0;
        waitpid(process, &status, 0);
        return {WIFEXITED(status) ? WEXITSTATUS(status) : -1,
                ReadFile(m_folder.Get() / ("out" + suffix)),
                ReadFile(m_folder.Get() / ("err" + suffix))};
    }

    Outcome Call(const std::vector<std::string>& arguments)
    {
        return Finish(Start(arguments));
    }

    std::string Write(const std::string& name, const std::string& text)
    {
        std::ofstream(m_folder.Get() / name, std::ios::binary) << text;
        return (m_folder.Get() / name).string();
    }

    std::filesystem::path Out(const std::string& name = "results") const
    {
        return m_folder.Get() / name;
    }

    Outcome RunScenarioFile(const std::string& file,
                            const std::string& out = "results",
                            std::vector<std::string> more = {})
    {
        more.insert(more.begin(), {"run", file});
        more.push_back("--out=" + Out(out).string());
        return Call(more);
    }

    TemporaryFolder m_folder;
};

/// Two rack sizes, two schemes, packet by packet: some milliseconds each.
inline constexpr const char* SWEEP = R"({
  "title": "small sweep",
  "topology": {"kind": "spine-leaf", "spines": 2, "leaves": 2, "hostsPerLeaf": 2,
               "hostLink": {"rate": "10Gbps"}, "fabricLink": {"rate": "10Gbps"}},
  "job": {"gradient": "200kB", "iterations": 2}, "scheme": "ring",
  "sweep": {"topology.hostsPerLeaf": [2, 3], "scheme.kind": ["ps", "rat"]}})";

} // namespace ns3::gradsync::tests

#endif // GRADSYNC_TESTS_SCENARIO_PROGRAM_FIXTURE_H
