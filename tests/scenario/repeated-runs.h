// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_REPEATED_RUNS_H
#define GRADSYNC_REPEATED_RUNS_H

#include "scenario/scenario-runs.h"
#include "scenario/shown-result.h"

#include <filesystem>
#include <gtest/gtest.h>
#include <random>
#include <string>
#include <vector>

namespace ns3::gradsync
{

/// Files that it names are found from scenarios/.
inline RunResult
RunWith(const std::string& text, Repeats repeats)
{
    UsePicoseconds();
    const auto file = std::filesystem::path(GRADSYNC_SOURCE_DIR) / "scenarios/x.json";
    return RunScenario(ResolveRun(ParseScenario(text, file, {}), 0), {}, {}, repeats);
}

/// Runs a scenario whole, and with all left out that repeats: every byte of the results is the
/// same. \returns the summary of the latter
inline RunSummary
CompareRepeats(const std::string& text)
{
    const auto whole = RunWith(text, Repeats::Simulate);
    const auto skipped = RunWith(text, Repeats::Skip);
    EXPECT_EQ(whole.summary.skippedIterations, 0U);
    EXPECT_EQ(whole.summary.recordedCollectives, 0U);
    EXPECT_EQ(ShowOutcome(skipped), ShowOutcome(whole));
    return skipped.summary;
}

/// Numbers and words of random scenarios; the same in every run.
class Draw
{
  public:
    explicit Draw(uint32_t seed)
        : m_random(seed)
    {
    }

    uint32_t Between(uint32_t low, uint32_t high)
    {
        return low + static_cast<uint32_t>(m_random() % (high - low + 1));
    }

    const char* Of(const std::vector<const char*>& choices)
    {
        return choices[m_random() % choices.size()];
    }

  private:
    std::mt19937 m_random;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_REPEATED_RUNS_H
