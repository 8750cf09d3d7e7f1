// SPDX-License-Identifier: GPL-2.0-only
// What the program does with a results folder in which something else is.
#include "scenario/program-fixture.h"

#include "ns3/json-document.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <set>
#include <string>

namespace ns3::gradsync::tests
{

namespace
{

using testing::HasSubstr;

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

} // namespace

} // namespace ns3::gradsync::tests
