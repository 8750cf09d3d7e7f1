// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_SLOT_HEADERS_H
#define GRADSYNC_SLOT_HEADERS_H

#include "ns3/slot-header.h"

namespace ns3::gradsync
{

/// The one job of the tests.
inline constexpr uint16_t JOB = 7;

/// A contribution to it.
inline SlotHeader
MakeHeader(uint16_t worker, uint16_t slot, uint16_t epoch, uint16_t count = 2)
{
    SlotHeader header;
    header.job = JOB;
    header.worker = worker;
    header.count = count;
    header.slot = slot;
    header.epoch = epoch;
    return header;
}

} // namespace ns3::gradsync

#endif // GRADSYNC_SLOT_HEADERS_H
