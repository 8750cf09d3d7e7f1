// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_SLOT_TENSOR_H
#define GRADSYNC_SLOT_TENSOR_H

#include <cstdint>
#include <span>
#include <vector>

namespace ns3::gradsync
{

/**
 * The integers that the workers of a job add up: made up, the same in every run, another one for
 * each worker and place, in [-2^24, 2^24), so that the sums of 128 workers fit int32.
 *
 * Knows the exact sums, to check what the network makes of them.
 */
class SlotTensor
{
  public:
    /// \param valueCount integers of a packet
    SlotTensor(uint16_t job, uint32_t workers, uint16_t valueCount);

    /// Integers of one worker in one packet. \param packet its number since the job began
    void Fill(uint32_t worker, uint64_t packet, std::vector<int32_t>& values) const;

    /// Whether these are the sums over all workers.
    bool IsSum(uint64_t packet, std::span<const int32_t> values);

  private:
    int32_t GetValue(uint32_t worker, uint64_t packet, uint32_t place) const;

    uint64_t m_seed;
    uint32_t m_workers;
    uint16_t m_valueCount;
    uint64_t m_packet{UINT64_MAX};
    std::vector<int32_t> m_sums; //!< of m_packet
};

} // namespace ns3::gradsync

#endif // GRADSYNC_SLOT_TENSOR_H
