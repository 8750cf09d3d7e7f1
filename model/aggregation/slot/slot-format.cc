// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/slot-format.h"

#include "ns3/slot-header.h"
#include "ns3/switchml-frame.h"
#include "ns3/switchml-roce-frame.h"
#include "ns3/wire-format.h"

namespace ns3::gradsync
{

uint32_t
SlotWire::GetHeaderBytes(uint32_t slot) const
{
    switch (format)
    {
    case FORMAT_SLOT:
        return SlotHeader::BYTES;
    case FORMAT_SWITCHML:
        return SWITCHML_HEADER_BYTES;
    case FORMAT_SWITCHML_ROCE:
        break;
    }
    return wire::BTH_BYTES + (IsFirst(slot) ? RETH_BYTES : 0) +
           (IsLast(slot) ? IMMEDIATE_BYTES : 0) + wire::ICRC_BYTES;
}

uint16_t
SlotWire::GetWireBytes(uint32_t slot) const
{
    return static_cast<uint16_t>(wire::OnWire(wire::UDP_PAYLOAD_AT + GetHeaderBytes(slot) +
                                              uint32_t{4} * valueCount + wire::FCS_BYTES));
}

} // namespace ns3::gradsync
