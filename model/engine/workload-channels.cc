// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/workload-channels.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <stdexcept>
#include <utility>

namespace ns3::gradsync
{

namespace
{

uint32_t
CountStreams(const Plan& plan)
{
    uint32_t count = 1;
    for (const auto& operation : plan.GetOperations())
    {
        count = std::max(count, operation.IsTransfer() ? operation.stream + 1U : 1U);
    }
    return count;
}

} // namespace

WorkloadChannel
GetChannel(const Workload& workload, CommunicationId id)
{
    const auto first = workload.GetParts(id).front();
    return {workload.GetCommunications()[id].group, workload.GetTasks()[first].stream};
}

std::vector<uint32_t>
NumberChannels(const Workload& workload)
{
    std::map<const Plan*, uint32_t> streams;
    std::map<WorkloadChannel, uint32_t> channels; // the most streams, then the first
    const auto communications = workload.GetCommunications();
    for (CommunicationId id = 0; id < communications.size(); ++id)
    {
        const auto& plan = *workload.GetPlan(id);
        if (plan.GetGate())
        {
            throw std::invalid_argument(fmt::format("{}: workloads have no plans with a gate",
                                                    workload.GetLabel(communications[id].label)));
        }
        const auto [found, isNew] = streams.emplace(&plan, 0);
        found->second = isNew ? CountStreams(plan) : found->second;
        auto& most = channels[GetChannel(workload, id)];
        most = std::max(most, found->second);
    }
    uint32_t next = 0;
    for (auto& [channel, first] : channels)
    {
        next += std::exchange(first, next);
    }
    std::vector<uint32_t> firstStreams;
    for (CommunicationId id = 0; id < communications.size(); ++id)
    {
        firstStreams.push_back(channels[GetChannel(workload, id)]);
    }
    return firstStreams;
}

} // namespace ns3::gradsync
