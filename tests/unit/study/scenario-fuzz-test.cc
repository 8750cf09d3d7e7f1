// SPDX-License-Identifier: GPL-2.0-only
#include "fuzz/p4-command-mutator.h"
#include "fuzz/scenario-mutator.h"

#include "ns3/time-resolution.h"

#include <gtest/gtest.h>

namespace ns3::gradsync
{

namespace
{

TEST(ScenarioFuzz, EveryMutationIsReadOrRefused)
{
    UsePicoseconds();
    const std::filesystem::path folder = GRADSYNC_SOURCE_DIR "/scenarios";
    ScenarioMutator mutator(LoadCorpus({folder, GRADSYNC_SOURCE_DIR "/tests/fuzz/corpus/scenario"}),
                            20261121);
    uint32_t valid = 0;
    uint32_t refused = 0;
    for (int i = 0; i < 3000; ++i)
    {
        const std::string text = mutator.Next();
        try
        {
            ++(TryScenario(text, folder) ? valid : refused);
        }
        catch (const std::exception& error)
        {
            FAIL() << error.what() << "\n" << text;
        }
    }
    // Mutations that are all refused, or none of them, would try only half of the reader.
    EXPECT_GT(valid, 30U);
    EXPECT_GT(refused, 1000U);
}

TEST(ScenarioFuzz, EveryConfigurationOfAProgramIsTakenOrRefused)
{
    P4CommandMutator mutator(GRADSYNC_SOURCE_DIR "/p4-behavioral", 20261122);
    uint32_t valid = 0;
    uint32_t refused = 0;
    for (int i = 0; i < 1000; ++i)
    {
        const std::string text = mutator.Next();
        try
        {
            ++(mutator.Try(text) ? valid : refused);
        }
        catch (const std::exception& error)
        {
            FAIL() << error.what() << "\n" << text;
        }
    }
    EXPECT_GT(valid, 100U);
    EXPECT_GT(refused, 100U);
}

/// Scenarios whose switches run a program of the user, one of which must do.
TEST(ScenarioFuzz, EveryListOfProgramsIsReadOrRefused)
{
    UsePicoseconds();
    const std::filesystem::path folder = GRADSYNC_SOURCE_DIR "/scenarios";
    ScenarioMutator mutator(LoadCorpus({GRADSYNC_SOURCE_DIR "/tests/fuzz/corpus/scenario"}),
                            20261122);
    uint32_t valid = 0;
    uint32_t refused = 0;
    for (int i = 0; i < 300; ++i)
    {
        const std::string text = mutator.Next();
        try
        {
            ++(TryScenario(text, folder) ? valid : refused);
        }
        catch (const std::exception& error)
        {
            FAIL() << error.what() << "\n" << text;
        }
    }
    EXPECT_GT(valid, 3U);
    EXPECT_GT(refused, 100U);
}

} // namespace

} // namespace ns3::gradsync
