// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_AUTO_COMPARISON_H
#define GRADSYNC_AUTO_COMPARISON_H

#include "ns3/json-document.h"
#include "ns3/scenario.h"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace ns3::gradsync
{

/**
 * How good the choice of the scheme `auto` is in one run: its candidates with their estimates, and
 * what they take packet by packet.
 */
struct AutoComparison
{
    struct Entry
    {
        std::string candidate; //!< AutoCandidate::Describe
        uint64_t operations{0};
        double boundSeconds{0.0};
        std::optional<double> estimateSeconds;
        std::optional<double> ictSeconds; //!< nothing: its bound exceeds what another one took
    };

    std::vector<Entry> entries; //!< the choice first

    /// The entry that takes the least time. \throws std::runtime_error when no candidate finished
    const Entry& GetBest() const;

    /// What the choice takes over what the best one takes: 1 when it is the best.
    double GetRatio() const;
};

/**
 * Simulates the candidates for the first job of a run, in the order of their ranking, but those
 * whose bound exceeds what another one took: they cannot be the best. \throws ScenarioError
 */
AutoComparison CompareAuto(const ResolvedRun& run);

Json ToJson(const AutoComparison& comparison);
AutoComparison ToAutoComparison(const Json& json);

} // namespace ns3::gradsync

#endif // GRADSYNC_AUTO_COMPARISON_H
