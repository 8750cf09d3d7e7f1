// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_P4_CALCULATION_H
#define GRADSYNC_P4_CALCULATION_H

#include "ns3/p4-program.h"

#include <cstdint>
#include <span>

namespace ns3::gradsync
{

/**
 * A checksum or hash over fields of a packet, as BMv2 computes it.
 * \param store the store, with the packet's fields
 * \param payload what the parser left of the packet; used where the calculation asks for it
 */
uint64_t Calculate(const P4Calculation& calculation,
                   const uint64_t* store,
                   std::span<const uint8_t> payload);

} // namespace ns3::gradsync

#endif // GRADSYNC_P4_CALCULATION_H
