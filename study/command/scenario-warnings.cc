// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/scenario-warnings.h"

#include "ns3/codec-profiles.h"
#include "ns3/network-parts.h"
#include "ns3/shown-text.h"

#include <fmt/format.h>
#include <map>
#include <ostream>
#include <utility>
#include <variant>

namespace ns3::gradsync
{

std::set<SlowNics>
FindSlowNics(const Topology& topology)
{
    std::map<std::pair<uint64_t, uint64_t>, std::string> slow;
    for (NodeId id = 0; id < topology.GetNodes().size(); ++id)
    {
        if (topology.GetNodes()[id].kind != NodeKind::Nic)
        {
            continue;
        }
        uint64_t pcie = 0;
        uint64_t network = 0;
        for (const auto& port : topology.GetPorts(id))
        {
            const auto& link = topology.GetLinks()[port.link];
            (link.kind == LinkKind::Pcie ? pcie : network) += link.rate.GetBitRate();
        }
        if (pcie > 0 && pcie < network)
        {
            slow.try_emplace({pcie, network}, topology.GetNodes()[id].name);
        }
    }
    std::set<SlowNics> nics;
    for (const auto& [rates, name] : slow)
    {
        nics.insert({rates.first, rates.second, name});
    }
    return nics;
}

void
ScenarioWarnings::Add(const ResolvedRun& run)
{
    m_slowNics.merge(FindSlowNics(*run.topology));
    m_concerns.merge(ListConcerns(run));
    m_renamed.insert(run.transport.renamed.begin(), run.transport.renamed.end());
    for (const auto& training : run.trainings)
    {
        const auto* trace = std::get_if<TraceJobSpec>(&training.spec);
        if (trace == nullptr)
        {
            continue;
        }
        for (const auto& issue : trace->issues.GetAll())
        {
            m_leftOut.insert(fmt::format("{}: left out of its trace: {} {} (the first: {})",
                                         training.name,
                                         issue.count,
                                         issue.what,
                                         issue.first));
        }
    }
    for (const auto* profile : ListCodecProfiles(run))
    {
        if (profile->IsEstimate())
        {
            m_estimates.insert(profile->name);
        }
    }
}

void
ScenarioWarnings::Add(const RunCheck& check)
{
    m_denials.insert(check.denials.begin(), check.denials.end());
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
    for (const auto& nics : m_slowNics)
    {
        err << fmt::format("gradsync: warning: PCIe of {:g} Gb/s bounds NICs of {:g} Gb/s, as {}\n",
                           static_cast<double>(nics.pcieBitRate) / 1e9,
                           static_cast<double>(nics.networkBitRate) / 1e9,
                           ShowText(nics.first));
    }
    for (const auto& text : m_concerns)
    {
        err << fmt::format("gradsync: warning: {}\n", text);
    }
    for (const auto& text : m_denials)
    {
        err << fmt::format("gradsync: warning: {}\n", ShowMessage(text));
    }
    for (const auto& text : m_leftOut)
    {
        err << fmt::format("gradsync: warning: {}\n", ShowMessage(text));
    }
    for (const auto& profile : m_estimates)
    {
        err << fmt::format("gradsync: warning: the times of {} are estimated, not measured\n",
                           ShowText(profile));
    }
}

} // namespace ns3::gradsync
