// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/slot-tensor.h"

namespace ns3::gradsync
{

SlotTensor::SlotTensor(uint16_t job, const Shape& shape, uint32_t bits)
    : AggregationTensor(shape),
      m_seed(GetSeed(job)),
      m_bits(bits)
{
}

void
SlotTensor::Fill(uint32_t worker, uint64_t block, std::vector<int32_t>& values)
{
    const uint32_t count = GetShape().valueCount;
    const auto range = int64_t{1} << m_bits;
    values.resize(count);
    for (uint32_t place = 0; place < count; ++place)
    {
        const auto random = Mix(Mix(m_seed + worker) + block * count + place);
        values[place] = static_cast<int32_t>(
            static_cast<int64_t>(random % static_cast<uint64_t>(2 * range)) - range);
    }
}

} // namespace ns3::gradsync
