// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/scenario-warnings.h"

#include "ns3/shown-text.h"

#include <algorithm>
#include <fmt/format.h>
#include <ostream>

namespace ns3::gradsync
{

void
ScenarioWarnings::Add(const ResolvedRun& run)
{
    m_renamed.insert(run.transport.renamed.begin(), run.transport.renamed.end());
    for (const auto& job : run.jobs)
    {
        const bool hasCodec =
            job.codec || std::ranges::any_of(job.tensors, [](const TensorSpec& tensor) {
                return tensor.codec.has_value();
            });
        if (hasCodec && job.profile && job.profile->IsEstimate())
        {
            m_estimates.insert(job.profile->name);
        }
    }
}

void
ScenarioWarnings::Print(std::ostream& err) const
{
    for (const auto& key : m_renamed)
    {
        err << fmt::format("gradsync: warning: {} is now called {}\n",
                           ShowText(key.old),
                           ShowText(key.now));
    }
    for (const auto& profile : m_estimates)
    {
        err << fmt::format("gradsync: warning: the times of {} are estimated, not measured\n",
                           ShowText(profile));
    }
}

} // namespace ns3::gradsync
