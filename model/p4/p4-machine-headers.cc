// SPDX-License-Identifier: GPL-2.0-only
// The part of P4Machine that works on headers, stacks and unions as wholes.
#include "ns3/p4-machine.h"

#include <algorithm>
#include <utility>

namespace ns3::gradsync
{

void
P4Machine::MakeValid(const P4Header& header)
{
    m_store[header.valid] = 1;
    for (const uint32_t rival : header.rivals)
    {
        m_store[rival] = 0;
    }
}

void
P4Machine::AddHeader(const P4Header& header)
{
    if (m_store[header.valid] == 0)
    {
        std::fill_n(m_store.begin() + header.slot, header.limbs, 0);
        MakeValid(header);
        m_packetLength += header.CountBytes(m_store.data());
    }
}

void
P4Machine::RemoveHeader(const P4Header& header)
{
    if (m_store[header.valid] != 0)
    {
        m_packetLength -= header.CountBytes(m_store.data());
        m_store[header.valid] = 0;
    }
}

void
P4Machine::CopyHeader(const P4Header& to, const P4Header& from)
{
    if (m_store[from.valid] == 0)
    {
        m_store[to.valid] = 0;
        return;
    }
    MakeValid(to);
    std::copy_n(m_store.begin() + from.slot, from.limbs, m_store.begin() + to.slot);
    if (from.variableBits != 0)
    {
        m_store[to.variableBits] = m_store[from.variableBits];
    }
}

void
P4Machine::SwapHeaders(const P4Header& a, const P4Header& b)
{
    std::swap(m_store[a.valid], m_store[b.valid]);
    std::swap_ranges(m_store.begin() + a.slot,
                     m_store.begin() + a.slot + a.limbs,
                     m_store.begin() + b.slot);
    if (a.variableBits != 0)
    {
        std::swap(m_store[a.variableBits], m_store[b.variableBits]);
    }
}

void
P4Machine::Push(const P4Stack& stack, uint32_t count)
{
    const size_t size = stack.headers.size();
    for (size_t i = size; i-- > 0;)
    {
        const P4Header& to = m_program->headers[stack.headers[i]];
        m_store[to.valid] = 0;
        if (i >= count)
        {
            CopyHeader(to, m_program->headers[stack.headers[i - count]]);
        }
    }
    m_store[stack.next] = std::min<uint64_t>(size, m_store[stack.next] + count);
}

void
P4Machine::Pop(const P4Stack& stack, uint32_t count)
{
    const size_t size = stack.headers.size();
    for (size_t i = 0; i < size; ++i)
    {
        const P4Header& to = m_program->headers[stack.headers[i]];
        m_store[to.valid] = 0;
        if (i + count < size)
        {
            CopyHeader(to, m_program->headers[stack.headers[i + count]]);
        }
    }
    m_store[stack.next] -= std::min<uint64_t>(m_store[stack.next], count);
}

void
P4Machine::ShiftUnions(const P4UnionStack& unions, uint32_t count, bool isPush)
{
    // BMv2 swaps the unions of a stack and leaves those that come in from the other end as they are
    // (HeaderUnion::mark_invalid does nothing), where a header would be made invalid.
    const auto& headers = m_program->headers;
    for (size_t member = 0; member < unions.members.size(); ++member)
    {
        const auto& column = m_program->stacks[unions.firstStack + member].headers;
        const size_t size = column.size();
        for (size_t i = 0; count > 0 && i + count < size; ++i)
        {
            const size_t from = isPush ? size - 1 - i - count : i + count;
            const size_t to = isPush ? size - 1 - i : i;
            SwapHeaders(headers[column[to]], headers[column[from]]);
        }
    }
    const P4Stack& first = m_program->stacks[unions.firstStack];
    uint64_t& next = m_store[first.next];
    next = isPush ? std::min<uint64_t>(first.headers.size(), next + count)
                  : next - std::min<uint64_t>(next, count);
}

void
P4Machine::LoadLastOfStack(const P4Instruction& i)
{
    const P4Stack& stack = m_program->stacks[i.a];
    const uint64_t next = m_store[stack.next];
    const uint32_t header = stack.headers[next == 0 ? 0 : next - 1];
    const P4Field& field = m_program->headers[header].fields[i.b];
    std::copy_n(m_store.begin() + field.slot, i.limbs, m_store.begin() + i.dst);
}

void
P4Machine::FindStackHeader(const P4Instruction& i)
{
    const P4Stack& stack = m_program->stacks[i.a];
    // "last" is the header before the next one: of an empty stack that is none either.
    const uint64_t index = i.op == P4Op::LAST_STACK_HEADER ? m_store[stack.next] - 1 : m_store[i.b];
    const bool isThere = index < stack.headers.size();
    m_store[i.dst] = isThere ? stack.headers[index] : P4_NO_HEADER;
    m_outOfRange += isThere ? 0 : 1;
}

void
P4Machine::RunHeaderStep(const P4Instruction& i)
{
    uint64_t* s = m_store.data();
    const auto& headers = m_program->headers;
    const auto find = [&](uint32_t slot) {
        return s[slot] == P4_NO_HEADER ? nullptr : &headers[s[slot]];
    };
    switch (i.op)
    {
    case P4Op::STACK_HEADER:
    case P4Op::LAST_STACK_HEADER:
        return FindStackHeader(i);
    case P4Op::PUSH_UNION:
    case P4Op::POP_UNION:
        return ShiftUnions(m_program->unionStacks[i.dst], i.a, i.op == P4Op::PUSH_UNION);
    default:
        break;
    }
    const P4Header* header = find(i.a);
    if (header == nullptr)
    {
        // What is read out of a stack is 0 and not valid; what is written there is lost.
        const bool reads = i.op == P4Op::LOAD_FIELD_AT || i.op == P4Op::VALID_AT;
        std::fill_n(s + i.dst, reads ? i.limbs : 0, 0);
        if (const P4Header* to = i.op == P4Op::COPY_HEADER_AT ? find(i.dst) : nullptr)
        {
            s[to->valid] = 0;
        }
        return;
    }
    switch (i.op)
    {
    case P4Op::LOAD_FIELD_AT:
        std::copy_n(s + header->fields[i.b].slot, i.limbs, s + i.dst);
        break;
    case P4Op::STORE_FIELD_AT:
        std::copy_n(s + i.dst, i.limbs, s + header->fields[i.b].slot);
        break;
    case P4Op::VALID_AT:
        s[i.dst] = s[header->valid];
        break;
    case P4Op::SET_VALID_AT:
        AddHeader(*header);
        break;
    case P4Op::SET_INVALID_AT:
        RemoveHeader(*header);
        break;
    default:
        if (const P4Header* to = find(i.dst))
        {
            CopyHeader(*to, *header);
        }
    }
}

} // namespace ns3::gradsync
