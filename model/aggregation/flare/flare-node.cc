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
FlareNode::SetUse(uint16_t number, const Use& use)
{
    m_uses.insert_or_assign(number, use);
}

void
FlareNode::RemoveJob(uint16_t number)
{
    TreeNode::RemoveJob(number);
    m_uses.erase(number);
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
    return m_settings.handlerTime + (isResult ? GetTimes(packet).copy : Time(0));
}

BlockTimes
FlareNode::GetTimes(const FabricPacket& packet) const
{
    const auto values =
        static_cast<int64_t>((packet.payloadBytes + BYTES_PER_VALUE - 1) / BYTES_PER_VALUE);
    const auto use = m_uses.find(GetContent(packet).As<TreeHeader>().job);
    return {.copy = m_settings.copyTime * values,
            .add = m_settings.addTime * values,
            .addEach = m_settings.addTime,
            .areByContent = use != m_uses.end() && use->second.sparseValues > 0};
}

/// A sparse sum goes as pairs of index and value, or as all values where these are fewer bytes.
void
FlareNode::SetSize(FabricPacket& packet, const Entry& entry) const
{
    const auto all = m_uses.at(GetContent(packet).As<TreeHeader>().job).sparseValues;
    if (all > 0)
    {
        packet.payloadBytes =
            static_cast<uint16_t>(BYTES_PER_VALUE * std::min<uint64_t>(all, entry.sum.size()));
        packet.wireBytes = static_cast<uint16_t>(m_settings.headerBytes + packet.payloadBytes);
    }
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
        const auto& use = m_uses.at(header.job);
        block =
            BlockSum::Make(use.sum,
                           {.addsFloats = m_settings.addsFloats, .isSparse = use.sparseValues > 0},
                           static_cast<uint32_t>(job.role.children.size()),
                           m_settings.buffers);
    }
    task.contribution = Contribution{.child = *child};
    return block->Begin(GetTimes(*task.packet), *task.contribution, content.values);
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
    auto next = block.Continue(GetTimes(*task.packet), *task.contribution);
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
