// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_SERIALISATION_TIME_H
#define GRADSYNC_SERIALISATION_TIME_H

#include "ns3/data-rate.h"
#include "ns3/fabric-packet.h"
#include "ns3/nstime.h"

#include <cmath>
#include <cstdint>
#include <stdexcept>

namespace ns3::gradsync
{

/// Time that bytes take on a link, by one multiplication (ns-3's DataRate divides 128-bit numbers).
class SerialisationTime
{
  public:
    SerialisationTime() = default;

    /// \throws std::invalid_argument for rates so low that the largest frame would overflow
    explicit SerialisationTime(const DataRate& rate)
    {
        const auto stepsPerByte = 8.0 * static_cast<double>(Seconds(1).GetTimeStep()) /
                                  static_cast<double>(rate.GetBitRate());
        if (stepsPerByte >= static_cast<double>(uint64_t{1} << (63 - 16 - FRACTION_BITS)))
        {
            throw std::invalid_argument("a link rate below 60 kb/s overflows the clock of 1 ps");
        }
        m_stepsPerByte =
            static_cast<uint64_t>(std::llround(std::ldexp(stepsPerByte, FRACTION_BITS)));
    }

    /// Time steps for at most 2^16 bytes, rounded to the nearest.
    TimeStepCount Get(uint32_t bytes) const
    {
        return static_cast<TimeStepCount>((bytes * m_stepsPerByte + HALF) >> FRACTION_BITS);
    }

  private:
    static constexpr int FRACTION_BITS = 20;
    static constexpr uint64_t HALF = uint64_t{1} << (FRACTION_BITS - 1);
    uint64_t m_stepsPerByte{0}; //!< fixed point
};

} // namespace ns3::gradsync

#endif // GRADSYNC_SERIALISATION_TIME_H
