// SPDX-License-Identifier: GPL-2.0-only
#include "unit/study/scenario-test-support.h"

#include "ns3/input-file.h"

#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <sys/stat.h>

namespace ns3::gradsync
{
namespace
{

std::string
Refusal(const std::filesystem::path& file, uint64_t maxBytes = MAX_INPUT_BYTES)
{
    try
    {
        ReadInputFile(file, maxBytes);
    }
    catch (const InputFileError& error)
    {
        return error.what();
    }
    return "no error";
}

TEST(InputFile, GivesTheBytesOfAFile)
{
    const TemporaryFolder folder;
    for (const size_t bytes : {0UL, 1UL, 65'535UL, 65'536UL, 65'537UL, 300'000UL})
    {
        std::string text(bytes, 'x');
        for (size_t i = 0; i < bytes; ++i)
        {
            text[i] = static_cast<char>(i * 31 % 251);
        }
        std::ofstream(folder.Get() / "a", std::ios::binary) << text;
        EXPECT_EQ(ReadInputFile(folder.Get() / "a", bytes), text);
    }
}

TEST(InputFile, TakesNothingThatHasNoEnd)
{
    const TemporaryFolder folder;
    ASSERT_EQ(mkfifo((folder.Get() / "pipe").c_str(), 0600), 0);
    EXPECT_EQ(Refusal(folder.Get() / "pipe"), "is not a regular file");
    EXPECT_EQ(Refusal("/dev/zero"), "is not a regular file");
    EXPECT_EQ(Refusal(folder.Get()), "is a directory, expected a file");
    EXPECT_EQ(Refusal(folder.Get() / "none"), "cannot be read: No such file or directory");
}

TEST(InputFile, TakesNoMoreThanItMay)
{
    const TemporaryFolder folder;
    std::ofstream(folder.Get() / "a") << "0123456789";
    EXPECT_EQ(Refusal(folder.Get() / "a", 10), "no error");
    EXPECT_EQ(Refusal(folder.Get() / "a", 9), "has 10 bytes, at most 9 are allowed");
    // The kernel tells no size of this one.
    EXPECT_THAT(Refusal("/proc/self/status", 9), testing::HasSubstr("at most 9 are allowed"));
}

} // namespace
} // namespace ns3::gradsync
