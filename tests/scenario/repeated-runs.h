// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_REPEATED_RUNS_H
#define GRADSYNC_REPEATED_RUNS_H

#include "scenario/scenario-runs.h"
#include "scenario/shown-result.h"
#include "support/draw.h"

#include <gtest/gtest.h>
#include <string>

namespace ns3::gradsync
{

/// Files that it names are found from scenarios/.
inline RunResult
RunWith(const std::string& text, Repeats repeats)
{
    return RunScenario(ResolveText(text), {}, {}, repeats);
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

} // namespace ns3::gradsync

#endif // GRADSYNC_REPEATED_RUNS_H
