// SPDX-License-Identifier: GPL-2.0-only
#include "unit/study/scenario-test-support.h"

#include "ns3/folder-seal.h"

#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <random>
#include <sstream>

namespace ns3::gradsync
{

namespace
{

using testing::HasSubstr;

std::string
ReadWhole(const std::filesystem::path& path)
{
    std::ostringstream text;
    text << std::ifstream(path, std::ios::binary).rdbuf();
    return text.str();
}

void
Write(const std::filesystem::path& path, const std::string& text)
{
    std::ofstream(path, std::ios::binary) << text;
}

class FolderSealTest : public testing::Test
{
  protected:
    /// Files of all kinds: empty, small, larger than what is read at once, in a folder.
    void SetUp() override
    {
        std::mt19937 random(1);
        std::string large(200'000, ' ');
        for (auto& byte : large)
        {
            byte = static_cast<char>(random());
        }
        std::filesystem::create_directory(m_folder.Get() / "pcap");
        Write(m_folder.Get() / "empty.csv", "");
        Write(m_folder.Get() / "small.csv", "1,2\n3,4\n");
        Write(m_folder.Get() / "pcap" / "a-b.pcap", large);
        SealFolder(m_folder.Get());
    }

    TemporaryFolder m_folder;
};

TEST_F(FolderSealTest, FindsNothingWhereNothingHappened)
{
    EXPECT_EQ(FindDamage(m_folder.Get()), "");
    // What came later is none of its business.
    Write(m_folder.Get() / "later.txt", "x");
    EXPECT_EQ(FindDamage(m_folder.Get()), "");
}

TEST_F(FolderSealTest, FindsEveryFlippedBit)
{
    const auto path = m_folder.Get() / "small.csv";
    const auto text = ReadWhole(path);
    for (size_t bit = 0; bit < 8 * text.size(); ++bit)
    {
        auto flipped = text;
        flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
        Write(path, flipped);
        ASSERT_THAT(FindDamage(m_folder.Get()), HasSubstr("small.csv")) << bit;
    }
    Write(path, text);
    EXPECT_EQ(FindDamage(m_folder.Get()), "");
}

TEST_F(FolderSealTest, FindsFlippedBitsOfLargeFilesInFolders)
{
    const auto path = m_folder.Get() / "pcap" / "a-b.pcap";
    const auto content = ReadWhole(path);
    std::mt19937 random(2);
    for (int round = 0; round < 50; ++round)
    {
        auto flipped = content;
        const auto at = random() % content.size();
        flipped[at] = static_cast<char>(flipped[at] ^ (1 << (random() % 8)));
        Write(path, flipped);
        ASSERT_THAT(FindDamage(m_folder.Get()), HasSubstr("pcap/a-b.pcap")) << at;
    }
}

TEST_F(FolderSealTest, FindsEveryTruncation)
{
    for (const auto* name : {"small.csv", SEAL_FILE})
    {
        const auto path = m_folder.Get() / name;
        const auto text = ReadWhole(path);
        // Without its last line break the seal says the same.
        const auto whole = text.size() - (name == std::string(SEAL_FILE) ? 1 : 0);
        for (size_t bytes = 0; bytes < whole; ++bytes)
        {
            Write(path, text.substr(0, bytes));
            ASSERT_THAT(FindDamage(m_folder.Get()), HasSubstr(name)) << bytes;
        }
        Write(path, text);
    }
    EXPECT_EQ(FindDamage(m_folder.Get()), "");
}

TEST_F(FolderSealTest, FindsFlippedBitsOfTheSealWhereTheyCount)
{
    const auto path = m_folder.Get() / SEAL_FILE;
    const auto text = ReadWhole(path);
    for (size_t bit = 0; bit < 8 * text.size(); ++bit)
    {
        auto flipped = text;
        flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
        Write(path, flipped);
        // White space may become other white space, of which JSON has four: 09, 0A, 0D and 20.
        const auto isSpace = [](char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; };
        if (!isSpace(text[bit / 8]) || !isSpace(flipped[bit / 8]))
        {
            ASSERT_NE(FindDamage(m_folder.Get()), "") << bit;
        }
    }
}

TEST_F(FolderSealTest, FindsMissingFilesAndFolders)
{
    std::filesystem::remove(m_folder.Get() / "empty.csv");
    EXPECT_THAT(FindDamage(m_folder.Get()), HasSubstr("empty.csv"));
    Write(m_folder.Get() / "empty.csv", "");
    EXPECT_EQ(FindDamage(m_folder.Get()), "");
    std::filesystem::remove_all(m_folder.Get() / "pcap");
    EXPECT_THAT(FindDamage(m_folder.Get()), HasSubstr("pcap/a-b.pcap"));
    std::filesystem::remove(m_folder.Get() / SEAL_FILE);
    EXPECT_THAT(FindDamage(m_folder.Get()), HasSubstr(SEAL_FILE));
}

} // namespace

} // namespace ns3::gradsync
