// SPDX-License-Identifier: GPL-2.0-only
// What the program refuses, and by which message.
#include "scenario/program-fixture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace ns3::gradsync::tests
{

namespace
{

using testing::AllOf;
using testing::HasSubstr;

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

} // namespace

} // namespace ns3::gradsync::tests
