// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/slot-tensor.h"

#include <algorithm>

namespace ns3::gradsync
{

namespace
{

/// SplitMix64 (Steele, Lea and Flood, OOPSLA 2014): a bijection that leaves no pattern.
uint64_t
Mix(uint64_t x)
{
    x += 0x9E3779B97F4A7C15U;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9U;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBU;
    return x ^ (x >> 31);
}

constexpr int32_t RANGE = 1 << 24;

} // namespace

SlotTensor::SlotTensor(uint16_t job, uint32_t workers, uint16_t valueCount)
    : m_seed(Mix(job)),
      m_workers(workers),
      m_valueCount(valueCount),
      m_sums(valueCount)
{
}

int32_t
SlotTensor::GetValue(uint32_t worker, uint64_t packet, uint32_t place) const
{
    const auto random = Mix(Mix(m_seed + worker) + packet * m_valueCount + place);
    return static_cast<int32_t>(random % (uint64_t{2} * RANGE)) - RANGE;
}

void
SlotTensor::Fill(uint32_t worker, uint64_t packet, std::vector<int32_t>& values) const
{
    values.resize(m_valueCount);
    for (uint32_t place = 0; place < m_valueCount; ++place)
    {
        values[place] = GetValue(worker, packet, place);
    }
}

bool
SlotTensor::IsSum(uint64_t packet, std::span<const int32_t> values)
{
    if (packet != m_packet)
    {
        m_packet = packet;
        for (uint32_t place = 0; place < m_valueCount; ++place)
        {
            uint32_t sum = 0; // modulo 2^32, as the switch adds
            for (uint32_t worker = 0; worker < m_workers; ++worker)
            {
                sum += static_cast<uint32_t>(GetValue(worker, packet, place));
            }
            m_sums[place] = static_cast<int32_t>(sum);
        }
    }
    return std::ranges::equal(values, m_sums);
}

} // namespace ns3::gradsync
