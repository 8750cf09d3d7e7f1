// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_SLOT_HEADER_H
#define GRADSYNC_SLOT_HEADER_H

#include <array>
#include <cstdint>
#include <span>

namespace ns3::gradsync
{

/// What a packet of the slot protocol is.
enum class SlotMessage : uint8_t
{
    Contribution = 0, //!< a worker's values
    Result = 1        //!< the sum of all
};

/// Bits of SlotHeader::flags.
namespace SlotFlag
{
inline constexpr uint8_t OVERFLOWED = 1; //!< a sum of this result left the range of int32
} // namespace SlotFlag

/**
 * The header of the slot protocol, which UDP carries before the values (doc/aggregation.rst).
 * Big endian on the wire, in the order of its members.
 */
struct SlotHeader
{
    static constexpr uint32_t BYTES = 20;

    uint8_t messageType{0}; //!< a SlotMessage; other values exist on the wire and are dropped
    uint8_t flags{0};       //!< see SlotFlag
    uint16_t job{0};
    uint16_t worker{0}; //!< rank in the job; of a result: its receiver's
    uint16_t count{0};  //!< number of values that follow
    uint16_t slot{0};   //!< in the job's pool
    uint16_t epoch{0};  //!< how often the slot was used before, modulo 2^16; the low bit is the set
    uint32_t offset{0}; //!< index of the first value in the tensor; the switch only repeats it
    int8_t exponentA{0}; //!< SwitchML: scaling exponents of a later packet, combined by maximum
    int8_t exponentB{0};
    uint16_t reserved{0};

    // Not on the wire with this header, but with those of SwitchML (slot-format.h).
    uint8_t aggregation{0}; //!< number of the aggregation in its job, modulo 2^8
    uint32_t sequence{0};   //!< of a queue pair, 24 bits

    /// Into which of the two sets of slots the packet goes.
    uint32_t GetSet() const
    {
        return epoch & 1;
    }

    bool operator==(const SlotHeader&) const = default;
};

std::array<uint8_t, SlotHeader::BYTES> SerialiseSlotHeader(const SlotHeader& header);

/// \param bytes at least SlotHeader::BYTES
SlotHeader ParseSlotHeader(std::span<const uint8_t> bytes);

} // namespace ns3::gradsync

#endif // GRADSYNC_SLOT_HEADER_H
