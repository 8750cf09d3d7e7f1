// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_SLOT_TENSOR_H
#define GRADSYNC_SLOT_TENSOR_H

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace ns3::gradsync
{

/// What a result is, compared with the sum of the integers of all workers.
enum class SumVerdict : uint8_t
{
    Exact,
    Overflowed, //!< int32 cannot hold the sum, and the network did with it what it does then
    Wrong
};

/**
 * The integers that the workers of a job add up: made up, the same in every run, another one for
 * each worker and place, in [-2^bits, 2^bits).
 *
 * Knows the exact sums, to check what the network makes of them.
 */
class SlotTensor
{
  public:
    struct Settings
    {
        uint32_t workers;
        uint16_t valueCount; //!< integers of a packet
        uint32_t bits;
        bool saturates; //!< sums stop at the ends of int32; false: they wrap around
    };

    SlotTensor(uint16_t job, const Settings& settings);

    /// Integers of one worker in one packet. \param packet its number since the job began
    void Fill(uint32_t worker, uint64_t packet, std::vector<int32_t>& values) const;

    /// \param hasOverflowed the network says that a sum left the range of int32
    SumVerdict Check(uint64_t packet, std::span<const int32_t> values, bool hasOverflowed);

    /// The first value that is not the sum, for a text.
    std::string DescribeDifference(uint64_t packet, std::span<const int32_t> values);

  private:
    /// Of one place of a packet, over all workers.
    struct Sum
    {
        int64_t exact{0};
        int64_t lowest{0};  //!< of the negative ones: no partial sum is below
        int64_t highest{0}; //!< of the positive ones
    };

    int32_t GetValue(uint32_t worker, uint64_t packet, uint32_t place) const;
    void AddUp(uint64_t packet);
    bool MayBe(const Sum& sum, int32_t value) const;

    uint64_t m_seed;
    Settings m_settings;
    uint64_t m_packet{UINT64_MAX};
    std::vector<Sum> m_sums; //!< of m_packet
};

} // namespace ns3::gradsync

#endif // GRADSYNC_SLOT_TENSOR_H
