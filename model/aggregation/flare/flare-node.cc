// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/flare-node.h"

#include "ns3/simulator.h"

#include <algorithm>

namespace ns3::gradsync
{

FlareNode::FlareNode(FabricSwitch& forwarder,
                     PacketPool& pool,
                     AggregationContents& contents,
                     NodeId node,
                     const Settings& settings)
    : TreeNode(forwarder, pool, contents),
      m_settings(settings),
      m_cores(settings.cores, node)
{
}

void
FlareNode::SetSum(uint16_t number, FlareSum sum)
{
    m_sums.insert_or_assign(number, sum);
}

void
FlareNode::RemoveJob(uint16_t number)
{
    TreeNode::RemoveJob(number);
    m_sums.erase(number);
    std::erase_if(m_blocks, [number](const auto& block) { return block.first.first == number; });
}

void
FlareNode::LoseJobs()
{
    TreeNode::LoseJobs();
    m_blocks.clear();
}

void
FlareNode::AddStatistics(AggregationStatistics& total) const
{
    TreeNode::AddStatistics(total);
    const auto& own = m_cores.GetStatistics();
    total.handlers += own.handlers;
    total.handlerWait += own.wait;
    total.longestHandlerQueue = std::max(total.longestHandlerQueue, own.longestQueue);
    total.busiestCores =
        std::max(total.busiestCores, Time(own.busy.GetTimeStep() / m_cores.GetCores()));
}

void
FlareNode::OnPacket(FabricPacket* packet, Job& /* job */, uint16_t port, TimeStepCount /* now */)
{
    const auto task = std::make_shared<Task>(Task{.packet = packet, .port = port});
    m_cores.Enter([this, task] { return Step(*task); });
}

/// What a handler does next; its job may be over since the last step.
std::optional<Time>
FlareNode::Step(Task& task)
{
    if (!task.hasBegun)
    {
        task.hasBegun = true;
        return GetFixedTime(*task.packet);
    }
    auto* job = FindJob(*task.packet);
    if (!job)
    {
        Drop(task.packet);
        return std::nullopt;
    }
    return task.contribution ? Continue(task, *job) : Begin(task, *job);
}

/// Before it is known what is to be added. An answer of the switch above is kept, for those who ask
/// again.
Time
FlareNode::GetFixedTime(const FabricPacket& packet) const
{
    const bool isResult = GetContent(packet).As<TreeHeader>().isResult;
    return m_settings.handlerTime + (isResult ? GetArithmetic(packet).copy : Time(0));
}

BlockArithmetic
FlareNode::GetArithmetic(const FabricPacket& packet) const
{
    const auto values =
        static_cast<int64_t>((packet.payloadBytes + BYTES_PER_VALUE - 1) / BYTES_PER_VALUE);
    return {.addsFloats = m_settings.addsFloats,
            .copy = m_settings.copyTime * values,
            .add = m_settings.addTime * values};
}

std::optional<Time>
FlareNode::Begin(Task& task, Job& job)
{
    const auto now = Simulator::Now().GetTimeStep();
    const auto& content = GetContent(*task.packet);
    const auto& header = content.As<TreeHeader>();
    if (header.isResult)
    {
        OnResult(task.packet, job, task.port, now);
        return std::nullopt;
    }
    const auto child = Admit(task.packet, job, task.port, now);
    if (!child)
    {
        return std::nullopt;
    }
    FindEntry(job, header.sequence).hasOverflowed |= header.hasOverflowed;
    auto& block = m_blocks[{header.job, header.sequence}];
    if (!block)
    {
        block = BlockSum::Make(m_sums.at(header.job),
                               static_cast<uint32_t>(job.role.children.size()),
                               m_settings.buffers);
    }
    task.contribution = Contribution{.child = *child};
    return block->Begin(GetArithmetic(*task.packet), *task.contribution, content.values);
}

std::optional<Time>
FlareNode::Continue(Task& task, Job& job)
{
    const auto& header = GetContent(*task.packet).As<TreeHeader>();
    const auto found = m_blocks.find({header.job, header.sequence});
    if (found == m_blocks.end())
    {
        Drop(task.packet); // of a switch that has forgotten all since
        return std::nullopt;
    }
    auto& block = *found->second;
    const auto next = block.Continue(GetArithmetic(*task.packet), *task.contribution);
    if (next)
    {
        return next;
    }
    if (!block.IsComplete())
    {
        Drop(task.packet); // what it brought is in the block
        return std::nullopt;
    }
    auto& entry = FindEntry(job, header.sequence);
    entry.hasOverflowed |= block.GetOverflows() > 0;
    CountOverflows(block.GetOverflows());
    entry.sum = block.TakeSum();
    entry.missing = 0;
    m_blocks.erase(found);
    Emit(task.packet, job, task.port, Simulator::Now().GetTimeStep());
    return std::nullopt;
}

} // namespace ns3::gradsync
