// SPDX-License-Identifier: GPL-2.0-only
#include "unit/study/scenario-test-support.h"

#include "ns3/json-document.h"
#include "ns3/results-folder.h"

#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sstream>

namespace ns3::gradsync
{

namespace
{

using testing::HasSubstr;

class ResultsFolderTest : public testing::Test
{
  protected:
    void Write(const std::string& name, const std::string& text = "ours") const
    {
        const auto path = m_folder.Get() / name;
        std::filesystem::create_directories(path.parent_path());
        std::ofstream(path, std::ios::binary) << text;
    }

    std::string Read(const std::string& name) const
    {
        std::ostringstream text;
        text << std::ifstream(m_folder.Get() / name, std::ios::binary).rdbuf();
        return text.str();
    }

    /// A manifest of the program that lists these files.
    void WriteManifest(const std::vector<std::string>& files,
                       const std::string& name = "r/manifest.json") const
    {
        Json manifest;
        manifest["program"] = {{"name", "gradsync"}};
        manifest["runs"] = Json::array();
        manifest["files"] = files;
        Write(name, manifest.dump());
    }

    /// The error of writing these names, or "no error".
    std::string Ask(const std::set<std::string>& names) const
    {
        return ErrorOf([&] { ResultsFolder(m_folder.Get() / "r").RequireFree(names); });
    }

    /// Replaces what is there by runs.csv, a manifest and `more`.
    void Replace(const std::vector<std::string>& more = {}) const
    {
        std::vector<std::string> files{"runs.csv"};
        files.insert(files.end(), more.begin(), more.end());
        Write("r/.runs/.lock", "");
        for (const auto& name : files)
        {
            Write("r/.runs/new/" + name, "new");
        }
        WriteManifest(files, "r/.runs/new/manifest.json");
        ResultsFolder(m_folder.Get() / "r").Replace(m_folder.Get() / "r" / ".runs" / "new");
    }

    bool Exists(const std::string& name) const
    {
        return std::filesystem::exists(m_folder.Get() / name);
    }

    TemporaryFolder m_folder;
};

TEST_F(ResultsFolderTest, IsFreeWhereNothingIs)
{
    EXPECT_EQ(Ask({"runs.csv", "manifest.json", "pcap/run-0"}), "no error");
    Write("r/notes.txt");
    Write("r/pcap/mine.pcap");
    EXPECT_EQ(Ask({"runs.csv", "manifest.json", "pcap/run-0"}), "no error");
}

TEST_F(ResultsFolderTest, NamesWhatIsForeign)
{
    Write("r/runs.csv");
    EXPECT_THAT(Ask({"manifest.json", "runs.csv"}), HasSubstr("r/runs.csv: is in the way"));
    WriteManifest({"links.csv"});
    EXPECT_THAT(Ask({"manifest.json", "runs.csv"}), HasSubstr("r/runs.csv: is in the way"));
    WriteManifest({"runs.csv"});
    EXPECT_EQ(Ask({"manifest.json", "runs.csv"}), "no error");
    Write("r/pcap/run-0/mine.pcap");
    EXPECT_THAT(Ask({"runs.csv", "pcap/run-0"}), HasSubstr("r/pcap/run-0: is in the way"));
    EXPECT_EQ(Ask({"runs.csv", "pcap/run-1"}), "no error");
}

TEST_F(ResultsFolderTest, TakesOnlyManifestsOfTheProgramForItsOwn)
{
    for (const auto* foreign : {"",
                                "[]",
                                "{}",
                                "{\"runs\": [], \"program\": \"gradsync\"}",
                                "{\"runs\": [], \"program\": {\"name\": \"other\"}}",
                                "{\"runs\": 1, \"program\": {\"name\": \"gradsync\"}}",
                                "{\"runs\": [], \"program\": {\"name\": \"grads"})
    {
        Write("r/manifest.json", foreign);
        EXPECT_THAT(Ask({"manifest.json"}), HasSubstr("r/manifest.json: is in the way")) << foreign;
    }
    // From before manifests listed files.
    Write("r/manifest.json", "{\"runs\": [], \"program\": {\"name\": \"gradsync\"}}");
    Write("r/links.csv");
    EXPECT_EQ(Ask({"manifest.json", "links.csv"}), "no error");
}

TEST_F(ResultsFolderTest, DoesNotFollowLinks)
{
    Write("elsewhere/run-0/a-b.pcap");
    Write("r/runs.csv");
    WriteManifest({"runs.csv", "pcap/run-0/a-b.pcap"});
    std::filesystem::create_directory_symlink(m_folder.Get() / "elsewhere",
                                              m_folder.Get() / "r" / "pcap");
    EXPECT_THAT(Ask({"pcap/run-0"}), HasSubstr("is in the way"));
    Replace();
    EXPECT_EQ(Read("elsewhere/run-0/a-b.pcap"), "ours");
}

TEST_F(ResultsFolderTest, RefusesAStoreThatIsNone)
{
    Write("r/.runs/1-2/mine");
    EXPECT_THAT(Ask({"runs.csv"}), HasSubstr("r/.runs: is in the way"));
    Write("r/.runs/.lock");
    EXPECT_EQ(Ask({"runs.csv"}), "no error");
}

TEST_F(ResultsFolderTest, ReplacesItsOwnAndLeavesTheRest)
{
    for (const auto* name : {"runs.csv", "links.csv", "trace.json", "pcap/run-0/a-b.pcap"})
    {
        Write(std::string("r/") + name);
    }
    for (const auto* name : {"notes.txt", "flows.csv", "pcap/run-1/mine.pcap"})
    {
        Write(std::string("r/") + name, "mine");
    }
    WriteManifest({"runs.csv", "links.csv", "trace.json", "pcap/run-0/a-b.pcap"});
    Replace({"pcap/run-2/c-d.pcap"});
    EXPECT_EQ(Read("r/runs.csv"), "new");
    EXPECT_EQ(Read("r/pcap/run-2/c-d.pcap"), "new");
    for (const auto* name : {"links.csv", "trace.json", "pcap/run-0"})
    {
        EXPECT_FALSE(Exists(std::string("r/") + name)) << name;
    }
    for (const auto* name : {"notes.txt", "flows.csv", "pcap/run-1/mine.pcap"})
    {
        EXPECT_EQ(Read(std::string("r/") + name), "mine") << name;
    }
}

TEST_F(ResultsFolderTest, ChangesNothingWhenAForeignFileHasComeMeanwhile)
{
    Write("r/runs.csv");
    Write("r/trace.json");
    WriteManifest({"runs.csv", "trace.json"});
    Write("r/links.csv", "mine");
    EXPECT_THAT(ErrorOf([&] { Replace({"links.csv"}); }), HasSubstr("links.csv: is in the way"));
    EXPECT_EQ(Read("r/links.csv"), "mine");
    EXPECT_EQ(Read("r/runs.csv"), "ours");
    EXPECT_EQ(Read("r/trace.json"), "ours");
}

TEST_F(ResultsFolderTest, GoesOnAfterAKillWhileFilesWereReplaced)
{
    // Some are there, the manifest is not yet.
    Write("r/runs.csv");
    Write("r/.runs/.lock", "");
    Write("r/.runs/files.json", R"(["links.csv", "manifest.json", "runs.csv"])");
    EXPECT_EQ(Ask({"manifest.json", "links.csv", "runs.csv"}), "no error");
    Replace();
    EXPECT_EQ(Read("r/runs.csv"), "new");
    EXPECT_FALSE(Exists("r/.runs/files.json"));
}

TEST_F(ResultsFolderTest, RemovesNothingElseWhateverAManifestSays)
{
    const std::vector<std::string> listed{"../victim.csv",
                                          "notes.txt",
                                          "sub/x/victim",
                                          "pcap/../victim",
                                          "pcap/run-0/../../victim",
                                          "pcap/mine.pcap",
                                          (m_folder.Get() / "victim.csv").string()};
    for (const auto* name : {"victim.csv",
                             "r/notes.txt",
                             "r/sub/x/victim",
                             "r/victim",
                             "r/pcap/mine.pcap",
                             "r/pcap/run-0/mine.pcap"})
    {
        Write(name, "mine");
    }
    WriteManifest(listed);
    Replace();
    for (const auto* name : {"victim.csv",
                             "r/notes.txt",
                             "r/sub/x/victim",
                             "r/victim",
                             "r/pcap/mine.pcap",
                             "r/pcap/run-0/mine.pcap"})
    {
        EXPECT_EQ(Read(name), "mine") << name;
    }
}

} // namespace

} // namespace ns3::gradsync
