// SPDX-License-Identifier: GPL-2.0-only
// The part of P4Machine that takes packets apart and puts them together.
#include "ns3/p4-limbs.h"
#include "ns3/p4-machine.h"
#include "ns3/p4-wire-bits.h"

#include <algorithm>

namespace ns3::gradsync
{

uint32_t
P4Machine::RunSelect(const P4Select& select)
{
    if (select.cases.empty() && select.hasDefault)
    {
        return select.defaultAddress;
    }
    m_scratch.assign(select.limbs, 0);
    for (const auto& [slot, bits] : select.parts)
    {
        const uint32_t padded = (bits + 7) / 8 * 8;
        if (select.limbs == 1)
        {
            m_scratch[0] = padded == 64 ? m_store[slot] : (m_scratch[0] << padded) | m_store[slot];
            continue;
        }
        limbs::ShiftLeft(m_scratch.data(), m_scratch.data(), padded, select.limbs);
        for (uint32_t i = 0; i < limbs::CountFor(bits); ++i)
        {
            m_scratch[i] |= m_store[slot + i];
        }
    }
    for (const auto& one : select.cases)
    {
        if (one.valueSet)
        {
            if (IsInValueSet(select, *one.valueSet))
            {
                return one.address;
            }
            continue;
        }
        uint32_t i = 0;
        while (i < select.limbs && (m_scratch[i] & one.mask[i]) == one.value[i])
        {
            ++i;
        }
        if (i == select.limbs)
        {
            return one.address;
        }
    }
    if (!select.hasDefault)
    {
        FailParser(m_program->errorNoMatch);
        return 0;
    }
    return select.defaultAddress;
}

bool
P4Machine::FailParser(uint32_t error)
{
    m_parserError = error;
    return false;
}

/// What comes from a packet is a number with its sign.
void
P4Machine::ReadSigns(const P4Header& header)
{
    if (header.hasSigned)
    {
        for (const auto& field : header.fields)
        {
            // Slot 0, of fields without a sign, is 0 for ever.
            m_store[field.beyond] = 0;
        }
    }
}

bool
P4Machine::Extract(uint32_t index)
{
    const P4Header& header = m_program->headers[index];
    if (m_frame.size() - m_cursor < header.bytes)
    {
        return FailParser(m_program->errorPacketTooShort);
    }
    const uint8_t* bytes = m_frame.data() + m_cursor;
    for (const auto& field : header.fields)
    {
        wire::LoadField(m_store.data() + field.slot, bytes, field.offset, field.bits);
    }
    ReadSigns(header);
    MakeValid(header);
    m_cursor += header.bytes;
    return true;
}

bool
P4Machine::ExtractVariable(const P4Header& header, uint64_t bits)
{
    // The order of the checks is BMv2's. A length that is no number of a packet's bits, which ends
    // BMv2, is one that no packet has.
    if (bits % 8 != 0)
    {
        return FailParser(m_program->errorInvalidArgument);
    }
    const size_t left = m_frame.size() - m_cursor;
    if (left < header.bytes || (left - header.bytes) < bits / 8)
    {
        return FailParser(m_program->errorPacketTooShort);
    }
    if (bits / 8 > header.maxBytes - header.bytes)
    {
        return FailParser(m_program->errorHeaderTooShort);
    }
    const uint8_t* bytes = m_frame.data() + m_cursor;
    m_store[header.variableBits] = bits;
    uint64_t shift = 0;
    for (const auto& field : header.fields)
    {
        uint64_t* out = m_store.data() + field.slot;
        if (!field.isVariable)
        {
            wire::LoadField(out, bytes, shift + field.offset, field.bits);
            continue;
        }
        std::fill_n(out, field.limbs, 0);
        if (bits > 0)
        {
            wire::LoadField(out, bytes, field.offset, static_cast<uint32_t>(bits));
        }
        shift = bits;
    }
    ReadSigns(header);
    MakeValid(header);
    m_cursor += header.bytes + bits / 8;
    return true;
}

bool
P4Machine::ExtractToStack(const P4Instruction& i)
{
    const P4Stack& stack = m_program->stacks[i.dst];
    uint64_t& next = m_store[stack.next];
    if (next >= stack.headers.size())
    {
        return FailParser(m_program->errorStackOutOfBounds);
    }
    const uint32_t header = stack.headers[next];
    const bool isVariable = i.op == P4Op::EXTRACT_STACK_VARIABLE;
    if (!(isVariable ? ExtractVariable(m_program->headers[header], m_store[i.a]) : Extract(header)))
    {
        return false;
    }
    ++next;
    return true;
}

bool
P4Machine::RunParserStep(const P4Instruction& i)
{
    const size_t left = m_frame.size() - m_cursor;
    switch (i.op)
    {
    case P4Op::EXTRACT_STACK:
    case P4Op::EXTRACT_STACK_VARIABLE:
        return ExtractToStack(i);
    case P4Op::EXTRACT_VARIABLE:
        return ExtractVariable(m_program->headers[i.dst], m_store[i.a]);
    case P4Op::LOOKAHEAD:
        if (left < (i.a + i.b + 7) / 8)
        {
            return FailParser(m_program->errorPacketTooShort);
        }
        wire::LoadField(m_store.data() + i.dst, m_frame.data() + m_cursor, i.a, i.b);
        return true;
    case P4Op::ADVANCE:
        if (m_store[i.a] % 8 != 0)
        {
            return FailParser(m_program->errorInvalidArgument);
        }
        if (left < m_store[i.a] / 8)
        {
            return FailParser(m_program->errorPacketTooShort);
        }
        m_cursor += m_store[i.a] / 8;
        return true;
    default:
        return m_store[i.a] != 0 || FailParser(static_cast<uint32_t>(m_store[i.b]));
    }
}

std::span<const uint8_t>
P4Machine::GetPayload() const
{
    return m_frame.subspan(m_cursor);
}

void
P4Machine::Deparse(std::vector<uint8_t>& out) const
{
    size_t bytes = 0;
    for (const uint32_t index : m_program->deparserOrder)
    {
        const P4Header& header = m_program->headers[index];
        bytes += m_store[header.valid] != 0 ? header.CountBytes(m_store.data()) : 0;
    }
    const auto payload = GetPayload();
    out.assign(bytes + payload.size(), 0);
    uint8_t* at = out.data();
    for (const uint32_t index : m_program->deparserOrder)
    {
        const P4Header& header = m_program->headers[index];
        if (m_store[header.valid] != 0)
        {
            Emit(at, header);
            at += header.CountBytes(m_store.data());
        }
    }
    std::copy(payload.begin(), payload.end(), at);
    out.resize(std::min<uint64_t>(out.size(), m_requests.truncateBytes));
}

void
P4Machine::Emit(uint8_t* at, const P4Header& header) const
{
    if (header.variableBits == 0)
    {
        for (const auto& field : header.fields)
        {
            wire::StoreField(at, field.offset, field.bits, m_store.data() + field.slot);
        }
        return;
    }
    const uint64_t variableBits = m_store[header.variableBits];
    uint64_t shift = 0;
    for (const auto& field : header.fields)
    {
        const uint64_t bits = field.isVariable ? variableBits : field.bits;
        if (bits > 0)
        {
            wire::StoreField(at,
                             shift + field.offset,
                             static_cast<uint32_t>(bits),
                             m_store.data() + field.slot);
        }
        shift += field.isVariable ? variableBits : 0;
    }
}

} // namespace ns3::gradsync
