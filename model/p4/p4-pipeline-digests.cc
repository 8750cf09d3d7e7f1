// SPDX-License-Identifier: GPL-2.0-only
// The part of P4Pipeline that keeps what a program tells its control plane.
#include "ns3/p4-pipeline.h"

#include <fmt/format.h>
#include <utility>

namespace ns3::gradsync
{

namespace
{

/// Digests that wait for the control plane at most.
constexpr size_t MAX_DIGESTS = size_t{1} << 16;

} // namespace

void
P4Pipeline::Learn(uint32_t list)
{
    P4DigestSample sample{list, {}};
    for (const auto& field : m_program->digests[list].fields)
    {
        const auto limbs = m_machine.GetPacket().subspan(field.slot, field.limbs);
        sample.values.insert(sample.values.end(), limbs.begin(), limbs.end());
    }
    if (m_digests.size() >= MAX_DIGESTS)
    {
        ++m_lostDigests;
        return;
    }
    // BMv2 sends a digest once until it is acknowledged.
    if (m_unacknowledged.emplace(list, sample.values).second)
    {
        m_digests.push_back(std::move(sample));
    }
}

std::vector<P4DigestSample>
P4Pipeline::TakeDigests()
{
    m_unacknowledged.clear();
    return std::exchange(m_digests, {});
}

std::string
P4Pipeline::DescribeDigest(const P4DigestSample& sample) const
{
    const auto& list = m_program->digests[sample.list];
    std::string text = list.name + ":";
    size_t at = 0;
    for (const auto& field : list.fields)
    {
        text += fmt::format(" {}=0x", field.name);
        bool isLeading = true;
        for (uint32_t i = field.limbs; i-- > 0;)
        {
            const uint64_t limb = sample.values[at + i];
            if (isLeading && (limb != 0 || i == 0))
            {
                text += fmt::format("{:x}", limb);
                isLeading = false;
            }
            else if (!isLeading)
            {
                text += fmt::format("{:016x}", limb);
            }
        }
        at += field.limbs;
    }
    return text;
}

} // namespace ns3::gradsync
