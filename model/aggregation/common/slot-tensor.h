// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_SLOT_TENSOR_H
#define GRADSYNC_SLOT_TENSOR_H

#include "ns3/aggregation-tensor.h"

#include <cstdint>
#include <vector>

namespace ns3::gradsync
{

/// Integers that are made up, in [-2^bits, 2^bits).
class SlotTensor final : public AggregationTensor
{
  public:
    SlotTensor(uint16_t job, const Shape& shape, uint32_t bits);

    void Fill(uint32_t worker, uint64_t block, std::vector<int32_t>& values) override;

  private:
    uint64_t m_seed;
    uint32_t m_bits;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_SLOT_TENSOR_H
