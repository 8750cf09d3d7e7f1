// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/sharp-node.h"

#include "ns3/float-sum.h"
#include "ns3/wrapping-sum.h"

namespace ns3::gradsync
{

SharpNode::SharpNode(FabricSwitch& forwarder,
                     PacketPool& pool,
                     AggregationContents& contents,
                     bool computesSums,
                     bool addsFloats)
    : TreeNode(forwarder, pool, contents),
      m_computesSums(computesSums),
      m_addsFloats(addsFloats)
{
}

void
SharpNode::OnPacket(FabricPacket* packet, Job& job, uint16_t port, TimeStepCount now)
{
    const auto& content = GetContent(*packet);
    const auto& header = content.As<TreeHeader>();
    if (header.isResult)
    {
        OnResult(packet, job, port, now);
        return;
    }
    if (!Admit(packet, job, port, now))
    {
        return;
    }
    auto& entry = FindEntry(job, header.sequence);
    Add(content, job, entry);
    if (--entry.missing == 0)
    {
        Emit(packet, job, port, now);
        return;
    }
    Drop(packet); // what it brought is in the sum
}

void
SharpNode::Add(const AggregationPacket& content, const Job& job, Entry& entry)
{
    entry.hasOverflowed |= content.As<TreeHeader>().hasOverflowed;
    if (entry.missing == job.role.children.size()) // the first
    {
        entry.sum = content.values;
    }
    else if (m_addsFloats)
    {
        AddFloats(entry.sum, content.values);
    }
    else if (m_computesSums && AddWrapping(entry.sum, content.values))
    {
        entry.hasOverflowed = true;
        CountOverflows(1);
    }
}

} // namespace ns3::gradsync
