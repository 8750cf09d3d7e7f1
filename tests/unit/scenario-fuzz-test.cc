// SPDX-License-Identifier: GPL-2.0-only
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
    ScenarioMutator mutator(LoadCorpus(folder), 20261121);
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

} // namespace

} // namespace ns3::gradsync
