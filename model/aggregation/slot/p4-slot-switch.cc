// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/p4-slot-switch.h"

#include "ns3/aggregation-address.h"
#include "ns3/p4-compiled-programs.h"
#include "ns3/p4-runtime-commands.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <utility>

namespace ns3::gradsync
{

namespace
{

std::string
ShowMac(NodeId node)
{
    const auto mac = AggregationAddress::MakeMac(node);
    return fmt::format("{:02x}", fmt::join(mac, ":"));
}

std::string
ShowIp(uint32_t ip)
{
    return fmt::format("{}.{}.{}.{}", ip >> 24, ip >> 16 & 0xFF, ip >> 8 & 0xFF, ip & 0xFF);
}

} // namespace

P4SlotSwitch::P4SlotSwitch(AggregationHost& host,
                           NodeId node,
                           std::shared_ptr<const P4Program> program)
    : m_node(host, node, std::move(program))
{
}

void
P4SlotSwitch::Configure(const std::string& commands)
{
    P4RuntimeCommands(m_node.GetPipeline(), "commands for slot-aggregation.p4").Run(commands);
}

/// 0 means no multicast in v1model.
uint16_t
P4SlotSwitch::FindGroup() const
{
    uint16_t group = 1;
    while (
        std::ranges::any_of(m_jobs, [group](const auto& job) { return job.second.group == group; }))
    {
        ++group;
    }
    return group;
}

void
P4SlotSwitch::AddJob(uint16_t job, const AggregationRole& role, uint32_t base)
{
    const auto group = FindGroup();
    const auto all = static_cast<uint32_t>((uint64_t{1} << role.children.size()) - 1);
    const auto place = fmt::format("{:#x} {} {} {} {} {}",
                                   all,
                                   base,
                                   role.slots,
                                   group,
                                   ShowMac(m_node.GetNode()),
                                   ShowIp(AggregationAddress::FIRST_JOB + job));
    const auto entries = DescribeChildren(job, role, place) + DescribeParent(job, role, place);
    Configure(DescribeReset(base, role.slots) + entries + DescribeGroup(role, group));
    m_jobs[job] = {entries, group};
}

std::string
P4SlotSwitch::DescribeChildren(uint16_t job,
                               const AggregationRole& role,
                               const std::string& place) const
{
    std::string text;
    for (size_t i = 0; i < role.children.size(); ++i)
    {
        const auto& child = role.children[i];
        const bool isSwitch = child.endpoint == AggregationRole::NO_ENDPOINT;
        const auto ip = isSwitch ? AggregationAddress::FIRST_SWITCH + child.worker
                                 : AggregationAddress::FIRST_ENDPOINT + child.endpoint;
        text += fmt::format("table_add SlotIngress.worker SlotIngress.{} {} {} {} => {:#x} {}\n",
                            isSwitch ? "partialSum" : "contribution",
                            job,
                            child.worker,
                            child.port,
                            1U << i,
                            place);
        text +=
            fmt::format("table_add SlotEgress.receiver SlotEgress.addressResult {} {} => {} {}\n",
                        job,
                        child.worker,
                        ShowMac(m_node.GetPeer(child.port)),
                        ShowIp(ip));
    }
    return text;
}

/// Nothing at the root.
std::string
P4SlotSwitch::DescribeParent(uint16_t job,
                             const AggregationRole& role,
                             const std::string& place) const
{
    if (!role.up)
    {
        return {};
    }
    return fmt::format("table_add SlotIngress.worker SlotIngress.result {} {} {} => {}\n"
                       "table_add SlotIngress.parent SlotIngress.sendUp {} => {} {} {} {} {}\n",
                       job,
                       role.worker,
                       *role.up,
                       place,
                       job,
                       *role.up,
                       role.worker,
                       ShowMac(m_node.GetPeer(*role.up)),
                       ShowIp(AggregationAddress::FIRST_JOB + job),
                       ShowIp(AggregationAddress::FIRST_SWITCH + role.worker));
}

/// A node for each worker, whose replication id is the worker's number.
std::string
P4SlotSwitch::DescribeGroup(const AggregationRole& role, uint16_t group)
{
    auto text = fmt::format("mc_mgrp_create {}\n", group);
    for (const auto& child : role.children)
    {
        text += fmt::format("mc_node_create {} {}\nmc_node_associate {} {}\n",
                            child.worker,
                            child.port,
                            group,
                            m_nextNode++);
    }
    return text;
}

/// Of both sets, where another job may have left something.
std::string
P4SlotSwitch::DescribeReset(uint32_t base, uint32_t slots)
{
    std::string text;
    for (uint32_t slot = base; slot < std::min(base + slots, m_usedSlots); ++slot)
    {
        for (const auto cell : {slot, slot + compiled::SLOT_POOL})
        {
            text += fmt::format("register_write SlotIngress.bitmaps {} 0\n", cell);
        }
    }
    m_usedSlots = std::max(m_usedSlots, base + slots);
    return text;
}

void
P4SlotSwitch::RemoveJob(uint16_t job)
{
    const auto found = m_jobs.find(job);
    if (found == m_jobs.end())
    {
        return;
    }
    auto commands = fmt::format("table_clear SlotIngress.worker\n"
                                "table_clear SlotIngress.parent\n"
                                "table_clear SlotEgress.receiver\n"
                                "mc_mgrp_destroy {}\n",
                                found->second.group);
    m_jobs.erase(found);
    for (const auto& [number, left] : m_jobs)
    {
        commands += left.entries;
    }
    Configure(commands);
}

uint64_t
P4SlotSwitch::GetEvents(uint32_t event) const
{
    return m_node.GetPipeline().GetCounterPackets("SlotIngress.events", event);
}

} // namespace ns3::gradsync
