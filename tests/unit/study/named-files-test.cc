// SPDX-License-Identifier: GPL-2.0-only
#include "unit/study/scenario-test-support.h"

#include "ns3/named-files.h"

#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <unistd.h>

namespace ns3::gradsync
{
namespace
{

using testing::HasSubstr;
using testing::StartsWith;

class NamedFilesTest : public testing::Test
{
  protected:
    NamedFilesTest()
    {
        std::filesystem::create_directories(folder);
    }

    ~NamedFilesTest() override
    {
        std::filesystem::remove_all(folder);
    }

    std::filesystem::path Write(const std::string& name, const std::string& text) const
    {
        std::ofstream(folder / name, std::ios::binary) << text;
        return folder / name;
    }

    std::filesystem::path folder =
        std::filesystem::temp_directory_path() / fmt::format("gradsync-named-files-{}", getpid());
};

TEST_F(NamedFilesTest, WhatWasReadOnceIsNotReadAgain)
{
    NamedFiles files(folder);
    const auto file = Write("a.xml", "before");
    const auto text = files.Read(file);
    Write("a.xml", "after");
    EXPECT_EQ(files.Read(file), text); // the same string, not a copy
    EXPECT_EQ(*files.Read(folder / "." / "a.xml"), "before");
    std::filesystem::remove(file);
    EXPECT_EQ(*files.Read(file), "before");
    EXPECT_EQ(*NamedFiles(folder).Read(Write("a.xml", "after")), "after");
}

TEST_F(NamedFilesTest, JsonIsParsedOnceAndIsOfTheSameContent)
{
    NamedFiles files(folder);
    const auto file = Write("net.json", R"({"hosts": 4})");
    const auto& document = files.ReadJson(file);
    Write("net.json", R"({"hosts": 8})");
    EXPECT_EQ(&files.ReadJson(file), &document);
    EXPECT_EQ(document.at("hosts"), 4);
    EXPECT_EQ(*files.Read(file), R"({"hosts": 4})");
    // Once read as a text, it is parsed and not read again.
    const auto other = Write("other.json", "[1]");
    files.Read(other);
    Write("other.json", "[2]");
    EXPECT_EQ(files.ReadJson(other), Json::array({1}));
}

TEST_F(NamedFilesTest, ListHasSizeAndHashByNamesOfTheScenariosFolder)
{
    NamedFiles files(folder / "scenarios");
    std::filesystem::create_directories(folder / "scenarios");
    files.Read(Write("scenarios/x.json", "{}"));
    files.Read(Write("b.csv", "12345"));
    files.Read(folder / "scenarios" / ".." / "b.csv");
    const auto list = DescribeFiles(files.List());
    ASSERT_EQ(list.size(), 2U);
    EXPECT_EQ(list[0].at("file"), "../b.csv");
    EXPECT_EQ(list[0].at("bytes"), 5);
    EXPECT_EQ(list[1].at("file"), "x.json");
    EXPECT_EQ(list[1].at("hash").get<std::string>().size(), 16U);
    EXPECT_NE(list[0].at("hash"), list[1].at("hash"));
}

TEST_F(NamedFilesTest, FileThatIsNotWhatWasExpectedIsRefusedByName)
{
    const auto file = Write("net.json", R"({"hosts": 4})");
    NamedFiles before(folder);
    before.Read(file);

    NamedFiles same(folder);
    same.Expect(before.List());
    EXPECT_EQ(*same.Read(file), R"({"hosts": 4})");
    // What nobody had read may be anything.
    EXPECT_EQ(*same.Read(Write("new.csv", "x")), "x");

    Write("net.json", R"({"hosts": 5})");
    NamedFiles later(folder);
    later.Expect(before.List());
    const auto error = ErrorOf([&] { later.ReadJson(file); });
    EXPECT_THAT(error, StartsWith(file.string() + ": has changed since the sweep was prepared"));
    EXPECT_THAT(error, HasSubstr("found 12 bytes"));
    // Read before it was known what to expect.
    NamedFiles late(folder);
    late.Read(file);
    EXPECT_THAT(ErrorOf([&] { late.Expect(before.List()); }), HasSubstr("net.json"));
}

TEST_F(NamedFilesTest, AllTogetherHaveALimit)
{
    NamedFiles files(folder, 10);
    files.Read(Write("a", "12345"));
    files.Read(folder / "a");
    files.Read(Write("b", "67890"));
    EXPECT_THAT(ErrorOf([&] { files.Read(Write("c", "1")); }),
                HasSubstr("c: with it the files of the scenario have 11 bytes, at most 10"));
}

TEST_F(NamedFilesTest, WhatCannotBeReadIsNotKept)
{
    NamedFiles files(folder);
    EXPECT_THROW(files.Read(folder / "late.xml"), InputFileError);
    EXPECT_EQ(*files.Read(Write("late.xml", "here")), "here");
}

} // namespace
} // namespace ns3::gradsync
