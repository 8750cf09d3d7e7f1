// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_P4_METER_H
#define GRADSYNC_P4_METER_H

#include "ns3/p4-program.h"

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace ns3::gradsync
{

/// A rate of a meter: tokens (packets or bytes) that come in a microsecond, and the most it holds.
struct P4MeterRate
{
    double tokensPerUs = 0.0;
    uint64_t burst = 0;
};

/**
 * The meters of one array at run time. Each is a list of token buckets as BMv2 has them (meters.cpp
 * of behavioral-model): a packet takes tokens from the bucket of the highest rate first; the first
 * bucket that has too few gives the colour, which is its place in the list of rates from 1 on. With
 * two rates that is RFC 2698's marker: 0 is green, 1 yellow, 2 red.
 */
class P4MeterArrayState
{
  public:
    /// \param array must outlive this
    explicit P4MeterArrayState(const P4MeterArray& array);

    /**
     * \param index of a meter; a direct meter's is the number of the entry
     * \param rates as many as the array has, the lowest first; all buckets are full then
     * \throws P4Error when there is no such meter, or the rates do not fit
     */
    void SetRates(uint32_t index, const std::vector<P4MeterRate>& rates);
    /// The same for all meters.
    void SetAllRates(const std::vector<P4MeterRate>& rates);
    /// The lowest first; none when they have not been set. \throws P4Error
    std::vector<P4MeterRate> GetRates(uint32_t index) const;
    /// The meter has no rates then and finds all packets green. \throws P4Error
    void ResetRates(uint32_t index);

    /// The colour of a packet. \param index below GetSize() \param nowUs not before the last call's
    uint32_t Execute(uint32_t index, uint64_t bytes, uint64_t nowUs);

    uint32_t GetSize() const
    {
        return m_array.size;
    }

    const P4MeterArray& GetArray() const
    {
        return m_array;
    }

  private:
    struct Bucket
    {
        P4MeterRate rate;
        uint64_t tokens = 0;
        /// All that came since the start.
        uint64_t arrived = 0;
    };

    /// The lowest rate first; empty until rates are set.
    using Meter = std::vector<Bucket>;

    const Meter& FindMeter(uint32_t index) const;
    void CheckIndex(uint32_t index) const;
    Meter MakeMeter(const std::vector<P4MeterRate>& rates) const;

    const P4MeterArray& m_array;
    /// What a meter is that is not among those below.
    Meter m_untouched;
    std::unordered_map<uint32_t, Meter> m_meters;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_P4_METER_H
