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
    m_store[header.valid] = 1;
    m_cursor += header.bytes;
    return true;
}

bool
P4Machine::ExtractToStack(const P4Stack& stack)
{
    uint64_t& next = m_store[stack.next];
    if (next >= stack.headers.size())
    {
        return FailParser(m_program->errorStackOutOfBounds);
    }
    if (!Extract(stack.headers[next]))
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
        return ExtractToStack(m_program->stacks[i.dst]);
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
        bytes += m_store[header.valid] != 0 ? header.bytes : 0;
    }
    const auto payload = GetPayload();
    out.assign(bytes + payload.size(), 0);
    uint8_t* at = out.data();
    for (const uint32_t index : m_program->deparserOrder)
    {
        const P4Header& header = m_program->headers[index];
        if (m_store[header.valid] == 0)
        {
            continue;
        }
        for (const auto& field : header.fields)
        {
            wire::StoreField(at, field.offset, field.bits, m_store.data() + field.slot);
        }
        at += header.bytes;
    }
    std::copy(payload.begin(), payload.end(), at);
    out.resize(std::min<uint64_t>(out.size(), m_requests.truncateBytes));
}

} // namespace ns3::gradsync
