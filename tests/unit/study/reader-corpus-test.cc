// SPDX-License-Identifier: GPL-2.0-only
#include "fuzz/readers.h"

#include "ns3/time-resolution.h"

#include <algorithm>
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>
#include <string>
#include <vector>

namespace ns3::gradsync
{

namespace
{

/// The texts that fuzzing has found, in each reader and without libFuzzer.
class ReaderCorpus : public testing::TestWithParam<Reader>
{
};

TEST_P(ReaderCorpus, IsTakenOrRefused)
{
    UsePicoseconds();
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(GetCorpusFolder(GetParam())))
    {
        files.push_back(entry.path());
    }
    ASSERT_FALSE(files.empty());
    std::sort(files.begin(), files.end());
    size_t taken = 0;
    for (const auto& file : files)
    {
        std::ostringstream text;
        text << std::ifstream(file, std::ios::binary).rdbuf();
        try
        {
            taken += GetParam().read(text.str()) ? 1 : 0;
        }
        catch (const std::exception& error)
        {
            ADD_FAILURE() << file << ": " << error.what();
        }
    }
    // A reader that refuses everything is not tried at all.
    EXPECT_GT(taken, 0U);
}

INSTANTIATE_TEST_SUITE_P(Readers,
                         ReaderCorpus,
                         testing::ValuesIn(GetReaders().begin(), GetReaders().end()),
                         [](const testing::TestParamInfo<Reader>& row) {
                             std::string name = row.param.name;
                             std::erase(name, '-');
                             return name;
                         });

} // namespace

} // namespace ns3::gradsync
