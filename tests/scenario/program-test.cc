// SPDX-License-Identifier: GPL-2.0-only
// The program as its users see it: exit codes, messages, files.
#include "unit/study/scenario-test-support.h"

#include "ns3/json-document.h"

#include <algorithm>
#include <csignal>
#include <fcntl.h>
#include <fmt/format.h>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace ns3::gradsync
{

namespace
{

using testing::AllOf;
using testing::HasSubstr;

std::string
ReadFile(const std::filesystem::path& path)
{
    std::ostringstream text;
    text << std::ifstream(path, std::ios::binary).rdbuf();
    return text.str();
}

std::set<std::string>
ListNames(const std::filesystem::path& folder)
{
    std::set<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder))
    {
        names.insert(entry.path().filename().string());
    }
    return names;
}

std::vector<std::string>
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
std::string
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
constexpr const char* SWEEP = R"({
  "title": "small sweep",
  "topology": {"kind": "spine-leaf", "spines": 2, "leaves": 2, "hostsPerLeaf": 2,
               "hostLink": {"rate": "10Gbps"}, "fabricLink": {"rate": "10Gbps"}},
  "job": {"gradient": "200kB", "iterations": 2}, "scheme": "ring",
  "sweep": {"topology.hostsPerLeaf": [2, 3], "scheme.kind": ["ps", "rat"]}})";

TEST_F(ProgramTest, WritesWholeResults)
{
    const auto outcome = RunScenarioFile(Write("sweep.json", SWEEP));
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_THAT(
        outcome.out,
        AllOf(HasSubstr("small sweep"), HasSubstr("topology.hostsPerLeaf"), HasSubstr("ok")));
    const auto runs = SplitLines(ReadFile(Out() / "runs.csv"));
    ASSERT_EQ(runs.size(), 5U);
    EXPECT_EQ(
        runs[0],
        "run,topology.hostsPerLeaf,scheme.kind,seed,workers,oversubscription,ict_mean_s,ict_min_s,"
        "ict_max_s,bound_s,times_bound,algbw_bytes_per_s,busbw_bytes_per_s,"
        "cross_rack_bytes,peak_received_bytes,longest_chain,auto_choice,auto_estimate_s,codec_"
        "times,"
        "goodput_bytes,lost_bytes,wire_bytes,dropped_packets,ecn_marked_packets,pfc_pause_s,"
        "retransmitted_packets,retransmitted_bytes,sum_packets,sum_overflows,overflowed_sums,"
        "wrong_sums,sum_relative_error,sum_largest_error,float_packets,"
        "server_packets,sum_print,core_busy_s,core_wait_s,core_queue_max,fallbacks,tree_rebuilds,"
        "iteration_mean_s,computation_s,hidden_s,exposed_s,bubble_s,mfu,samples_per_s,"
        "tokens_per_s,device_memory_bytes,"
        "updates,steps_per_s,staleness_mean,staleness_max,ahead_max,held_s,"
        "packet_hops,events,skipped_iterations,recorded_collectives,wall_s,peak_rss_bytes,"
        "status");
    // Run 3: 3 hosts in each of 2 racks with 2 uplinks of the hosts' rate.
    EXPECT_THAT(runs[4],
                AllOf(testing::StartsWith("3,3,rat,1,6,1.5,0.000"), testing::EndsWith(",ok")));
    // 4 runs of 2 iterations
    EXPECT_EQ(SplitLines(ReadFile(Out() / "iterations.csv")).size(), 1U + 8);
    // Two directions of 4 uplinks and 4 or 6 host links, twice each.
    EXPECT_EQ(SplitLines(ReadFile(Out() / "links.csv")).size(), 1U + 2 * (2 * 8 + 2 * 10));
    EXPECT_THAT(
        ReadFile(Out() / "messages.csv"),
        testing::StartsWith("run,job,iteration,operation,src,dst,bytes,start_s,end_s\n0,job0,0,"));
    const Json manifest = LoadJson(Out() / "manifest.json");
    EXPECT_EQ(manifest["runs"].size(), 4U);
    EXPECT_EQ(manifest["runs"][1]["values"]["scheme.kind"], "rat");
    EXPECT_EQ(manifest["scenario"]["sweep"]["topology.hostsPerLeaf"], Json::parse("[2, 3]"));
    EXPECT_EQ(manifest["program"]["name"], "gradsync");
}

TEST_F(ProgramTest, GivesTheSameBytesWithOneAndTwoProcesses)
{
    const auto file = Write("sweep.json", SWEEP);
    ASSERT_EQ(RunScenarioFile(file, "one", {"--jobs=1"}).code, 0);
    ASSERT_EQ(RunScenarioFile(file, "two", {"--jobs=2"}).code, 0);
    for (const auto* name : {"iterations.csv", "links.csv", "messages.csv"})
    {
        EXPECT_EQ(ReadFile(Out("one") / name), ReadFile(Out("two") / name)) << name;
    }
    EXPECT_EQ(StripWallClock(ReadFile(Out("one") / "runs.csv")),
              StripWallClock(ReadFile(Out("two") / "runs.csv")));
}

TEST_F(ProgramTest, RepeatsOnlyWhatChanged)
{
    const auto file = Write("sweep.json", SWEEP);
    ASSERT_EQ(RunScenarioFile(file).code, 0);
    const auto first = ReadFile(Out() / "runs.csv");
    // Nothing is run again: even the wall-clock columns stay.
    EXPECT_THAT(RunScenarioFile(file).err, HasSubstr("4 of 4 runs are done already"));
    EXPECT_EQ(ReadFile(Out() / "runs.csv"), first);
    // A value in front renumbers the runs, and a title changes nothing.
    EXPECT_THAT(
        RunScenarioFile(file,
                        "results",
                        {"--set", "sweep.topology.hostsPerLeaf=[4, 2]", "--set", "title=other"})
            .err,
        HasSubstr("2 of 4 runs are done already"));
    EXPECT_THAT(SplitLines(ReadFile(Out() / "runs.csv"))[3], testing::StartsWith("2,2,ps,"));
    EXPECT_THAT(RunScenarioFile(file, "results", {"--set=job.gradient=100kB"}).err,
                testing::Not(HasSubstr("done already")));
    EXPECT_THAT(RunScenarioFile(file, "results", {"--set=job.gradient=100kB", "--no-resume"}).err,
                testing::Not(HasSubstr("done already")));
}

/// Twelve runs of some megabytes: long enough to be killed in the middle.
constexpr const char* LONG_SWEEP = R"({
  "topology": {"kind": "star", "hosts": 8, "hostLink": {"rate": "10Gbps"}},
  "job": {"gradient": "4MB", "iterations": 4}, "scheme": "ring",
  "sweep": {"seed": [1, 2, 3, 4, 5, 6], "scheme.kind": ["ps", "ring"]}})";

TEST_F(ProgramTest, GoesOnAfterAKill)
{
    const auto file = Write("long.json", LONG_SWEEP);
    const auto process = Start({"run", file, "--out=" + Out().string(), "--jobs=1"});
    const auto isWhole = [](const std::filesystem::path& path) {
        return std::filesystem::exists(path / "summary.json") && path.filename().string()[0] != '.';
    };
    const auto countWhole = [&] {
        std::error_code none;
        const std::filesystem::directory_iterator runs(Out() / ".runs", none);
        return none ? 0 : std::count_if(begin(runs), end(runs), [&](const auto& entry) {
            return isWhole(entry.path());
        });
    };
    while (countWhole() < 2 && waitpid(process, nullptr, WNOHANG) == 0)
    {
        usleep(1000);
    }
    kill(process, SIGKILL);
    waitpid(process, nullptr, 0);
    ASSERT_FALSE(std::filesystem::exists(Out() / "runs.csv"))
        << "finished before it could be killed";
    const auto kept = countWhole();
    EXPECT_GE(kept, 2);
    const auto outcome = RunScenarioFile(file, "results", {"--jobs=2"});
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr(fmt::format("{} of 12 runs are done already", kept)));
    ASSERT_EQ(RunScenarioFile(file, "whole", {"--jobs=2"}).code, 0);
    EXPECT_EQ(StripWallClock(ReadFile(Out() / "runs.csv")),
              StripWallClock(ReadFile(Out("whole") / "runs.csv")));
    EXPECT_EQ(ReadFile(Out() / "messages.csv"), ReadFile(Out("whole") / "messages.csv"));
}

TEST_F(ProgramTest, ProgramsThatDoTheSameRunsAtOnceLoseNoRow)
{
    const auto file = Write("sweep.json", SWEEP);
    ASSERT_EQ(RunScenarioFile(file, "whole").code, 0);
    for (int round = 0; round < 12; ++round)
    {
        SCOPED_TRACE(round);
        std::filesystem::remove_all(Out());
        const std::vector<std::string> points{"run",
                                              file,
                                              "--out=" + Out().string(),
                                              "--points=0-3",
                                              "--jobs=2"};
        const auto one = Start(points, "1");
        const auto two = Start(points, "2");
        const auto first = Finish(one, "1");
        const auto second = Finish(two, "2");
        ASSERT_EQ(first.code, 0) << first.err;
        ASSERT_EQ(second.code, 0) << second.err;
        const auto assembled = RunScenarioFile(file, "results", {"--assemble"});
        ASSERT_EQ(assembled.code, 0) << assembled.err;
        EXPECT_EQ(assembled.err, "");
        for (const auto* name : {"iterations.csv", "links.csv", "messages.csv"})
        {
            ASSERT_EQ(ReadFile(Out() / name), ReadFile(Out("whole") / name)) << name;
        }
        ASSERT_EQ(StripWallClock(ReadFile(Out() / "runs.csv")),
                  StripWallClock(ReadFile(Out("whole") / "runs.csv")));
        for (const auto& name : ListNames(Out() / ".runs"))
        {
            EXPECT_FALSE(name.starts_with(".tmp")) << name;
        }
    }
}

TEST_F(ProgramTest, ARunHasFilesForItsRowsAlone)
{
    ASSERT_EQ(RunScenarioFile(Write("sweep.json", SWEEP)).code, 0);
    for (const auto& name : ListNames(Out() / ".runs"))
    {
        if (!name.starts_with("."))
        {
            const auto files = ListNames(Out() / ".runs" / name);
            EXPECT_THAT(files,
                        testing::IsSupersetOf(
                            {"checksums.json", "iterations.csv", "messages.csv", "summary.json"}));
            EXPECT_THAT(files, testing::Not(testing::Contains("faults.csv")));
            for (const auto& file : files)
            {
                EXPECT_GT(std::filesystem::file_size(Out() / ".runs" / name / file), 0U) << file;
            }
        }
    }
    // The result has all tables, those without rows too.
    EXPECT_EQ(SplitLines(ReadFile(Out() / "faults.csv")).size(), 1U);
    EXPECT_GT(SplitLines(ReadFile(Out() / "messages.csv")).size(), 1U);
}

TEST_F(ProgramTest, NamesDamagedRunsAndSimulatesThemAgain)
{
    const auto file = Write("sweep.json", SWEEP);
    ASSERT_EQ(RunScenarioFile(file).code, 0);
    const auto before = StripWallClock(ReadFile(Out() / "runs.csv"));
    const auto iterations = ReadFile(Out() / "iterations.csv");
    const auto findRun = [&](int run) {
        for (const auto& name : ListNames(Out() / ".runs"))
        {
            if (name.starts_with(fmt::format("{}-", run)))
            {
                return Out() / ".runs" / name;
            }
        }
        throw std::runtime_error("no such run");
    };
    const auto flip = [](const std::filesystem::path& path) {
        auto text = ReadFile(path);
        text.at(text.size() / 2) ^= 1;
        std::ofstream(path, std::ios::binary) << text;
    };
    flip(findRun(0) / "iterations.csv");
    std::filesystem::resize_file(findRun(1) / "messages.csv", 20);
    std::filesystem::remove(findRun(2) / "links.csv");
    std::filesystem::resize_file(findRun(3) / "checksums.json", 0);
    const auto again = RunScenarioFile(file);
    EXPECT_EQ(again.code, 0) << again.err;
    for (const auto* said : {"run 0 is damaged and simulated again: \"iterations.csv\"",
                             "run 1 is damaged and simulated again: \"messages.csv\"",
                             "run 2 is damaged and simulated again: \"links.csv\"",
                             "run 3 is damaged and simulated again: checksums.json"})
    {
        EXPECT_THAT(again.err, HasSubstr(said));
    }
    EXPECT_EQ(StripWallClock(ReadFile(Out() / "runs.csv")), before);
    EXPECT_EQ(ReadFile(Out() / "iterations.csv"), iterations);
    // The parts of a sweep do so too.
    flip(findRun(2) / "summary.json");
    const auto prepared = RunScenarioFile(file, "results", {"--prepare"});
    EXPECT_THAT(prepared.err, HasSubstr("run 2 is damaged"));
    EXPECT_EQ(ParseJson(prepared.out, "prepared")[2]["done"], false);
    const auto assembled = RunScenarioFile(file, "results", {"--assemble"});
    EXPECT_EQ(assembled.code, 0) << assembled.err;
    EXPECT_THAT(assembled.err, HasSubstr("run 2 is damaged"));
    EXPECT_EQ(StripWallClock(ReadFile(Out() / "runs.csv")), before);
    EXPECT_THAT(RunScenarioFile(file).err, HasSubstr("4 of 4 runs are done already"));
}

TEST_F(ProgramTest, StopsOnAnInterruptWith130)
{
    const auto file = Write("long.json", LONG_SWEEP);
    const auto process = Start({"run", file, "--out=" + Out().string(), "--jobs=1"});
    // The folder is made after the signals are in hand or before: both must end it. Wait for the
    // first run.
    while (ReadFile(m_folder.Get() / "err").find("run 0") == std::string::npos)
    {
        usleep(1000);
    }
    kill(process, SIGINT);
    const auto outcome = Finish(process);
    EXPECT_EQ(outcome.code, 130);
    EXPECT_THAT(outcome.err, HasSubstr("interrupted"));
    EXPECT_FALSE(std::filesystem::exists(Out() / "runs.csv"));
}

TEST_F(ProgramTest, NamesAnUnfinishedRunAndFinishesTheOthers)
{
    const auto outcome = RunScenarioFile(Write(
        "lossy.json",
        R"({"topology": {"kind": "star", "hosts": 2, "hostLink": {"rate": "10Gbps"}}, "scheme": "ring",
                  "job": {"gradient": "10kB"}, "sweep": {"fabric.lossRate": [1, 0]}})"));
    EXPECT_EQ(outcome.code, 3);
    EXPECT_THAT(outcome.err, HasSubstr("error: run 0 (fabric.lossRate=1) unfinished: "));
    const auto runs = SplitLines(ReadFile(Out() / "runs.csv"));
    ASSERT_EQ(runs.size(), 3U);
    EXPECT_THAT(runs[1], testing::EndsWith(",unfinished"));
    EXPECT_THAT(runs[2], testing::EndsWith(",ok"));
}

/// Bad input: a file's content and a part of the message.
struct BadInput
{
    const char* name;
    std::string content;
    std::string message;
};

std::string
WithTopology(const std::string& topology)
{
    return R"({"scheme": "ring", "topology": )" + topology + "}";
}

std::vector<BadInput>
ListBadInputs()
{
    return {
        {"truncated", R"({"scheme": "ring", "topology": {"kind")", "truncated"},
        {"empty", "", "the file is empty"},
        {"invalid UTF-8", "{\"title\": \"\xc3\x28\"}", "invalid UTF-8"},
        {"duplicate key", R"({"scheme": "ring", "scheme": "ps"})", "duplicate key \"scheme\""},
        {"wrong type", WithTopology("\"star\""), "topology: found \"star\""},
        {"missing field",
         WithTopology(R"({"kind": "star", "hosts": 3})"),
         "\"hostLink\" is missing"},
        {"unknown name", R"({"schem": "ring"})", "did you mean \"scheme\"?"},
        {"negative size",
         R"({"scheme": "ring", "job": {"gradient": "-1MB"},
             "topology": {"kind": "star", "hosts": 3, "hostLink": {"rate": "1Gbps"}}})",
         "job.gradient: found \"-1MB\": negative"},
        {"zero hosts",
         WithTopology(R"({"kind": "star", "hosts": 0, "hostLink": {"rate": "1Gbps"}})"),
         "topology.hosts: found 0"},
        {"rate without unit",
         WithTopology(R"({"kind": "star", "hosts": 3, "hostLink": {"rate": "40"}})"),
         "topology.hostLink.rate: found \"40\": no unit"},
        {"unconnected graph",
         WithTopology(
             R"({"kind": "graph", "nodes": [{"name": "a", "kind": "host"}, {"name": "b", "kind": "host"}],
                          "links": []})"),
         "topology: "},
        {"sweep path",
         R"({"scheme": "ring", "topology": {"kind": "star", "hosts": 3, "hostLink": {"rate": "1Gbps"}},
             "sweep": {"topology.host": [3, 4]}})",
         "did you mean \"topology.hosts\"?"},
        {"scheme that cannot run",
         R"({"scheme": {"kind": "rat", "weights": [1, 2, 3, 4, 5]},
             "topology": {"kind": "star", "hosts": 3, "hostLink": {"rate": "1Gbps"}}})",
         "bad.json: job0: scheme rat: "}};
}

TEST_F(ProgramTest, RefusesBadInputWithOneMessageAndWritesNothing)
{
    for (const auto& input : ListBadInputs())
    {
        SCOPED_TRACE(input.name);
        const auto outcome = RunScenarioFile(Write("bad.json", input.content));
        EXPECT_EQ(outcome.code, 2);
        EXPECT_EQ(outcome.out, "");
        EXPECT_THAT(outcome.err,
                    AllOf(testing::StartsWith("gradsync: error: "), HasSubstr(input.message)));
        EXPECT_EQ(SplitLines(outcome.err).size(), 1U) << outcome.err;
        EXPECT_FALSE(std::filesystem::exists(Out()));
    }
}

TEST_F(ProgramTest, RefusesWhatIsNoScenarioFile)
{
    const auto huge = Write("huge.json", "{");
    std::filesystem::resize_file(huge, 200'000'000);
    EXPECT_THAT(RunScenarioFile(huge).err, HasSubstr("has 200000000 bytes"));
    EXPECT_THAT(RunScenarioFile(m_folder.Get().string()).err, HasSubstr("is a directory"));
    const auto missing = RunScenarioFile((m_folder.Get() / "hug.json").string());
    EXPECT_EQ(missing.code, 2);
    EXPECT_THAT(missing.err, HasSubstr("did you mean \"huge.json\"?"));
    EXPECT_FALSE(std::filesystem::exists(Out()));
}

TEST_F(ProgramTest, RefusesAResultsFolderThatIsAFile)
{
    const auto outcome = RunScenarioFile(Write("sweep.json", SWEEP), "sweep.json");
    EXPECT_EQ(outcome.code, 2);
    EXPECT_THAT(outcome.err, HasSubstr("cannot be made a results folder"));
}

TEST_F(ProgramTest, CapturesStayInTheirFolderWhateverNodesAreCalled)
{
    // Up three folders from pcap/ is the results folder, up four is the one beside it.
    const auto file = Write("names.json", R"({
      "topology": {"kind": "graph",
        "nodes": [{"name": "../../../../evil", "kind": "host"}, {"name": "rack1/h0", "kind": "host"},
                  {"name": "s", "kind": "switch", "tier": 1}],
        "links": [{"a": "../../../../evil", "b": "s", "rate": "1Gbps", "delay": "1us"},
                  {"a": "rack1/h0", "b": "s", "rate": "1Gbps", "delay": "1us"}]},
      "scheme": "ring", "job": {"gradient": "10kB"},
      "results": {"pcap": [["../../../../evil", "s"], ["rack1/h0", "s"]]},
      "sweep": {"transport.kind": ["roce", "tcp"]}})");
    const auto outcome = RunScenarioFile(file);
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    const std::set<std::string> captures{"%2E.%2F..%2F..%2F..%2Fevil-s.pcap",
                                         "s-%2E.%2F..%2F..%2F..%2Fevil.pcap",
                                         "rack1%2Fh0-s.pcap",
                                         "s-rack1%2Fh0.pcap"};
    EXPECT_EQ(ListNames(Out() / "pcap" / "run-0"), captures);
    auto withEvents = captures;
    withEvents.insert({"%2E.%2F..%2F..%2F..%2Fevil-s.tr", "rack1%2Fh0-s.tr"});
    EXPECT_EQ(ListNames(Out() / "pcap" / "run-1"), withEvents);
    EXPECT_EQ(ListNames(m_folder.Get()),
              (std::set<std::string>{"err", "names.json", "out", "results"}));
}

/// [path] all files below a folder.
std::map<std::string, std::string>
ReadAll(const std::filesystem::path& folder)
{
    std::map<std::string, std::string> files;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    {
        files[entry.path().string()] = entry.is_directory() ? "" : ReadFile(entry.path());
    }
    return files;
}

/// Captures a link in the first run, and none in the second.
constexpr const char* CAPTURES = R"({
  "topology": {"kind": "star", "hosts": 2, "hostLink": {"rate": "10Gbps"}},
  "job": {"gradient": "10kB"}, "scheme": "ring",
  "sweep": {"results.pcap": [[["leaf0", "host0"]], []]}})";

TEST_F(ProgramTest, NeitherWritesNorRemovesWhenAForeignFileIsInTheWay)
{
    const auto file = Write("captures.json", CAPTURES);
    for (const auto* name : {"links.csv",
                             "runs.csv",
                             "manifest.json",
                             "trace-1.json",
                             "pcap/run-0/mine.pcap",
                             ".runs/1-2"})
    {
        SCOPED_TRACE(name);
        std::filesystem::create_directories((Out() / name).parent_path());
        Write(std::string("results/") + name, "mine");
        const auto before = ReadAll(Out());
        for (const auto* part :
             {"--jobs=1", "--prepare", "--points=0", "--assemble", "--no-resume"})
        {
            const auto outcome = RunScenarioFile(file, "results", {"--trace", part});
            EXPECT_EQ(outcome.code, 2) << outcome.err;
            EXPECT_EQ(outcome.out, "");
            EXPECT_EQ(SplitLines(outcome.err).size(), 1U) << outcome.err;
            EXPECT_THAT(outcome.err, HasSubstr("is in the way"));
            EXPECT_EQ(ReadAll(Out()), before);
        }
        std::filesystem::remove_all(Out());
    }
}

TEST_F(ProgramTest, ReplacesItsOwnFilesAndLeavesForeignOnes)
{
    const auto file = Write("captures.json", CAPTURES);
    std::filesystem::create_directories(Out() / "pcap");
    Write("results/pcap/mine.pcap", "mine");
    Write("results/notes.txt", "mine");
    ASSERT_EQ(RunScenarioFile(file).code, 0);
    const auto captures = Out() / "pcap" / "run-0";
    EXPECT_EQ(ListNames(captures), (std::set<std::string>{"host0-leaf0.pcap", "leaf0-host0.pcap"}));
    EXPECT_THAT(RunScenarioFile(file).err, HasSubstr("2 of 2 runs are done already"));
    EXPECT_TRUE(std::filesystem::exists(captures));
    const auto fewer = RunScenarioFile(file, "results", {"--set=sweep.results.pcap=[[]]"});
    ASSERT_EQ(fewer.code, 0) << fewer.err;
    EXPECT_EQ(ListNames(Out() / "pcap"), std::set<std::string>{"mine.pcap"});
    EXPECT_EQ(ReadFile(Out() / "pcap" / "mine.pcap"), "mine");
    EXPECT_EQ(ReadFile(Out() / "notes.txt"), "mine");
    const Json files = LoadJson(Out() / "manifest.json")["files"];
    EXPECT_EQ(files.size(), 15U); // runs.csv and fourteen tables of the runs
}

TEST_F(ProgramTest, RefusesACommandLineInOneLineThatNamesTheNearest)
{
    const auto file = Write("sweep.json", SWEEP);
    const std::vector<std::pair<std::vector<std::string>, std::string>> refused{
        {{}, "expected a verb (run, describe, "},
        {{"rnu", file}, "rnu: unknown verb; did you mean \"run\"? (verbs: run, describe, "},
        {{"--verison"}, "--verison: unknown option; did you mean \"--version\"?"},
        {{"run"}, "SCENARIO is required"},
        {{"run", "--jbos=2"}, "--jbos: unknown option; did you mean \"--jobs\"?"},
        {{"run", file, "--drwa=x.svg"}, "--drwa: unknown option (options: --help, --set, "},
        {{"plan", file, "--drwa=x.svg"}, "--drwa: unknown option; did you mean \"--draw\"?"},
        {{"run", file, "other.json"}, "other.json: one argument too many"},
        {{"run", file, "--jobs=0"}, "--jobs: Value 0 not in range 1 to 4096"},
        {{"run", file, "--progress=alway"}, "did you mean \"always\"?"},
        {{"run", file, "--set=seed"}, "seed"},
        {{"run", file, "--pcap=host0"}, "--pcap: found \"host0\", expected NODE:NODE"},
        {{"run", file, "--prepare", "--points=0"}, "--prepare excludes --points"},
        {{"list", file}, "one argument too many"},
    };
    for (const auto& [arguments, message] : refused)
    {
        const auto outcome = Call(arguments);
        EXPECT_EQ(outcome.code, 2);
        EXPECT_EQ(outcome.out, "");
        EXPECT_EQ(SplitLines(outcome.err).size(), 1U) << outcome.err;
        EXPECT_THAT(outcome.err, HasSubstr(message));
    }
}

TEST_F(ProgramTest, ReadsTheOptionsThatVerbsWereWithAWarning)
{
    const auto file = Write("sweep.json", SWEEP);
    const std::vector<std::pair<std::vector<std::string>, std::vector<std::string>>> old{
        {{"--list"}, {"list"}},
        {{"--resolve=" + file, "--set=seed=7"}, {"resolve", file, "--set=seed=7"}},
        {{"--set=seed=7", "--resolve", file}, {"resolve", file, "--set=seed=7"}},
    };
    for (const auto& [before, now] : old)
    {
        const auto renamed = Call(before);
        EXPECT_EQ(renamed.code, 0);
        EXPECT_EQ(renamed.out, Call(now).out);
        EXPECT_EQ(renamed.err,
                  fmt::format("gradsync: warning: --{0} is now: gradsync {0}\n", now.front()));
    }
    EXPECT_EQ(Call({"--resolve"}).code, 2);
}

TEST_F(ProgramTest, EveryVerbHasHelp)
{
    for (const auto* verb : {"run",
                             "describe",
                             "validate",
                             "resolve",
                             "plan",
                             "auto",
                             "trees",
                             "list",
                             "sum-errors",
                             "codec"})
    {
        const auto help = Call({verb, "--help"});
        EXPECT_EQ(help.code, 0);
        EXPECT_THAT(help.out, HasSubstr(fmt::format("Usage: gradsync {}", verb)));
        EXPECT_THAT(Call({"--help"}).out, HasSubstr(verb));
    }
}

TEST_F(ProgramTest, TellsWhereResultsGo)
{
    const auto file = Write("sweep.json", SWEEP);
    EXPECT_EQ(Call({"run", file, "--where"}).out, "results/sweep\n");
    EXPECT_EQ(Call({"run", file, "--out=x/y", "--where"}).out, "x/y\n");
    // These write no tables.
    EXPECT_EQ(Call({"run", file, "--prepare", "--where"}).out, "");
    EXPECT_FALSE(std::filesystem::exists("results/sweep"));
}

TEST_F(ProgramTest, ListsAndDescribes)
{
    const auto list = Call({"list"});
    EXPECT_EQ(list.code, 0);
    EXPECT_THAT(
        list.out,
        AllOf(HasSubstr("hierarchical"), HasSubstr("spine-leaf"), HasSubstr("mtu = \"4096B\"")));
    const auto file = Write("sweep.json", SWEEP);
    const auto described = Call({"describe", file, "--set=job.gradient=240kB"});
    EXPECT_EQ(described.code, 0) << described.err;
    // PS over 6 hosts in 2 racks of oversubscription 1.5, at 10 Gb/s: 2 max(5/6, 1.5/2) tau, tau =
    // 160 us
    EXPECT_THAT(described.out,
                AllOf(HasSubstr("level rack: 2 groups, oversubscription 1.5"),
                      HasSubstr("bandwidth bound: 0.320000 ms"),
                      HasSubstr("fluid ICT of job0: 0.32")));
    EXPECT_THAT(described.out, HasSubstr("bound of any all-reduce"));
    // That bound is one of dense gradients, and would lie above the time of compressed ones.
    const auto compressed = Call({"describe", file, "--set=job.codec=int8"});
    EXPECT_EQ(compressed.code, 0) << compressed.err;
    EXPECT_THAT(compressed.out, Not(HasSubstr("bound of any")));
    // Both run on fluid, which has no links to look at: a crash, found by tests/referee.
    const auto sampled = Call({"describe", file, "--set=results.every=1us"});
    EXPECT_EQ(sampled.code, 0) << sampled.err;
    EXPECT_THAT(sampled.out, HasSubstr("fluid ICT of job0: 0."));
    const auto drawn = Call({"plan",
                             file,
                             "--set=results.every=1us",
                             "--draw=" + (m_folder.Get() / "plan.svg").string()});
    EXPECT_EQ(drawn.code, 0) << drawn.err;
    const auto validated = Call({"validate", file});
    EXPECT_EQ(validated.code, 0);
    EXPECT_THAT(validated.out, HasSubstr("valid, 4 runs"));
    const auto resolved = Call({"resolve", file, "--set", "seed=7"});
    EXPECT_EQ(resolved.code, 0);
    const Json runs = ParseJson(resolved.out, "resolved");
    ASSERT_EQ(runs.size(), 4U);
    EXPECT_EQ(runs[3]["scenario"]["topology"]["hostsPerLeaf"], 3);
    EXPECT_EQ(runs[3]["scenario"]["seed"], 7);
    EXPECT_THAT(Call({"--version"}).out,
                testing::MatchesRegex(
                    "gradsync 0\\.1\\.0 \\(commit [^,]+, ns-3 3\\.[0-9.]+, (GCC|Clang) .+\\)\n"));
    EXPECT_EQ(Call({"--help"}).code, 0);
}

TEST_F(ProgramTest, PrintsAPlan)
{
    const auto file = Write("sweep.json", SWEEP);
    // Run 3 is RAT over 6 hosts.
    const auto table = Call({"plan", file, "--run=3", "--verify"});
    EXPECT_EQ(table.code, 0) << table.err;
    EXPECT_THAT(table.out,
                AllOf(HasSubstr("job0: rat, 6 workers"),
                      HasSubstr("longest chain 4"),
                      HasSubstr("verified: an all-reduce without races")));
    // Run 0 is co-located PS over 4 hosts: a join for each of 4 shards, 12 pushes, then 12 pulls.
    const auto printed = Call({"plan", file, "--json", "--verify"});
    const Json plan = ParseJson(printed.out, "plan");
    EXPECT_EQ(plan["violations"].size(), 0U);
    ASSERT_EQ(plan["operations"].size(), 28U);
    EXPECT_EQ(plan["operations"][16]["after"], Json::array({0}));
    EXPECT_EQ(plan["operations"][16]["round"], 1);
}

TEST_F(ProgramTest, DrawsAndExportsAPlan)
{
    const auto file = Write("sweep.json", SWEEP);
    const auto svg = (m_folder.Get() / "plan.svg").string();
    const auto goal = (m_folder.Get() / "plan.goal").string();
    const auto outcome = Call({"plan", file, "--draw=" + svg, "--export=" + goal});
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    const auto drawing = ReadFile(svg);
    EXPECT_THAT(drawing, AllOf(testing::StartsWith("<svg "), testing::EndsWith("</svg>\n")));
    size_t arrows = 0;
    for (size_t at = drawing.find(" -> "); at != std::string::npos;
         at = drawing.find(" -> ", at + 1))
    {
        ++arrows;
    }
    EXPECT_EQ(arrows, 24U);
    // What GOAL does not say stands in comments, see doc/import.rst.
    const auto schedule = ReadFile(goal);
    EXPECT_THAT(schedule, testing::StartsWith("num_ranks 4\n//gradsync plan 4 exact all-reduce\n"));
    EXPECT_THAT(schedule,
                testing::HasSubstr("\nrank 0 {\n//gradsync operation 0 join\nj0: calc 0\n"
                                   "//gradsync operation 4 reduce 1 1 1 0 0\n"
                                   "s4: send 50000b to 1 tag 4\n"));
}

TEST_F(ProgramTest, RefusesPlansThatAreNotThere)
{
    const auto file = Write("sweep.json", SWEEP);
    EXPECT_THAT(Call({"plan", file, "--run=4"}).err, HasSubstr("found 4, but the scenario has 4"));
    EXPECT_THAT(Call({"plan", file, "--job=jop0"}).err, HasSubstr("did you mean \"job0\"?"));
    const auto large = Call({"plan",
                             file,
                             "--set=scheme={\"kind\":\"ps\",\"pipelineChunks\":1000}",
                             "--draw=" + Out().string()});
    EXPECT_EQ(large.code, 2);
    EXPECT_THAT(large.err, HasSubstr("a drawing holds at most 20000"));
}

} // namespace

} // namespace ns3::gradsync
