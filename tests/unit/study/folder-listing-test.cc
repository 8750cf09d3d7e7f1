// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/file-error.h"
#include "ns3/folder-listing.h"

#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <unistd.h>
#include <vector>

namespace ns3::gradsync
{

namespace
{

class FolderListing : public testing::Test
{
  protected:
    FolderListing()
    {
        std::filesystem::create_directories(m_folder / "b" / "inner");
        std::ofstream(m_folder / "a").put('x');
        std::ofstream(m_folder / "b" / "c").put('x');
    }

    ~FolderListing() override
    {
        std::filesystem::remove_all(m_folder);
    }

    std::filesystem::path m_folder{std::filesystem::temp_directory_path() /
                                   ("gradsync-listing-" + std::to_string(getpid()))};
};

TEST_F(FolderListing, NamesAreSortedAndTreesWhole)
{
    EXPECT_EQ(ListNames(m_folder), (std::vector<std::string>{"a", "b"}));
    std::vector<std::string> names;
    for (const auto& entry : ListTree(m_folder))
    {
        names.push_back(entry.path().lexically_relative(m_folder).string());
    }
    EXPECT_THAT(names, testing::UnorderedElementsAre("a", "b", "b/c", "b/inner"));
}

TEST_F(FolderListing, WhatIsNotThereIsEmptyAndWhatIsNoFolderAnError)
{
    EXPECT_TRUE(ListNames(m_folder / "none").empty());
    EXPECT_TRUE(ListTree(m_folder / "none").empty());
    EXPECT_THROW(ListNames(m_folder / "a"), FileError);
    EXPECT_THROW(ListTree(m_folder / "a"), FileError);
}

} // namespace

} // namespace ns3::gradsync
