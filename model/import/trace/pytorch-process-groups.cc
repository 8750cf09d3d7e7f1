// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/pytorch-process-groups.h"

#include "ns3/import-error.h"
#include "ns3/trace-program-builder.h"

#include <algorithm>
#include <fmt/format.h>
#include <numeric>
#include <utility>

namespace ns3::gradsync
{

uint32_t
CountGroupRanks(const PyTorchTrace& trace)
{
    uint32_t ranks = 1;
    for (const auto& [name, group] : trace.groups)
    {
        ranks = std::max(ranks, group.size);
        for (const auto rank : group.ranks)
        {
            ranks = std::max(ranks, rank == UINT32_MAX ? rank : rank + 1);
        }
    }
    return ranks;
}

PyTorchProcessGroups::PyTorchProcessGroups(std::string file, uint32_t ranks)
    : m_file(std::move(file)),
      m_ranks(ranks)
{
}

void
PyTorchProcessGroups::Add(uint32_t rank, const std::map<std::string, PyTorchGroup>& groups)
{
    for (const auto& [name, group] : groups)
    {
        auto ranks = group.ranks;
        if (ranks.empty())
        {
            ranks.resize(m_ranks);
            std::iota(ranks.begin(), ranks.end(), 0);
        }
        std::ranges::sort(ranks);
        const bool isTwice = std::ranges::adjacent_find(ranks) != ranks.end();
        if (isTwice || ranks.size() != group.size || ranks.back() >= m_ranks)
        {
            throw ImportError(fmt::format(
                "{}: process group \"{}\" is of {} ranks{}, but {} run "
                "the trace",
                m_file,
                CleanTraceName(name),
                group.size,
                group.ranks.empty() ? ""
                                    : fmt::format(", {} up to {}", ranks.front(), ranks.back()),
                m_ranks));
        }
        if (std::ranges::binary_search(ranks, rank))
        {
            m_of[name][rank] = std::move(ranks);
        }
    }
}

std::map<std::string, std::vector<std::vector<uint32_t>>>
PyTorchProcessGroups::Finish() const
{
    std::map<std::string, std::vector<std::vector<uint32_t>>> groups;
    for (const auto& [name, of] : m_of)
    {
        for (const auto& [rank, ranks] : of)
        {
            for (const auto other : ranks)
            {
                const auto found = of.find(other);
                if (found == of.end() || found->second != ranks)
                {
                    throw ImportError(
                        fmt::format("{}: ranks {} and {} do not agree about who is in "
                                    "process group \"{}\"",
                                    m_file,
                                    rank,
                                    other,
                                    CleanTraceName(name)));
                }
            }
            if (rank == ranks.front())
            {
                groups[name].push_back(ranks);
            }
        }
    }
    return groups;
}

} // namespace ns3::gradsync
