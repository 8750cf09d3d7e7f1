// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/p4-machine.h"

#include "ns3/p4-calculation.h"
#include "ns3/p4-error.h"
#include "ns3/p4-limbs.h"
#include "ns3/p4-wire-bits.h"

#include <algorithm>
#include <fmt/format.h>

namespace ns3::gradsync
{

namespace
{

/// v1model's port that stands for dropping.
constexpr uint64_t DROP_PORT = 511;
/// A program that runs longer for one packet runs for ever.
constexpr uint32_t MAX_STEPS = 1U << 22;

} // namespace

P4Machine::P4Machine(std::shared_ptr<const P4Program> program)
    : m_program(std::move(program)),
      m_store(m_program->store)
{
    for (const auto& array : m_program->registers)
    {
        m_registers.emplace_back(size_t{array.size} * array.limbs);
    }
    for (const auto& array : m_program->counters)
    {
        m_counters.emplace_back(array.size);
    }
    m_tables.reserve(m_program->tables.size());
    for (const auto& table : m_program->tables)
    {
        m_tables.emplace_back(table);
    }
}

void
P4Machine::Begin(std::span<const uint8_t> frame)
{
    std::copy_n(m_program->store.begin(), m_program->packetLimbs, m_store.begin());
    m_frame = frame;
    m_cursor = 0;
    m_packetLength = frame.size();
    m_parserError = 0;
    m_hasChecksumError = false;
    m_requests = {};
}

void
P4Machine::Run(uint32_t address)
{
    const P4Instruction* code = m_program->code.data();
    uint64_t* s = m_store.data();
    uint32_t pc = address;
    uint32_t link = 0;
    m_isExiting = false;
    for (uint32_t steps = 0; steps < MAX_STEPS; ++steps)
    {
        const P4Instruction& i = code[pc++];
        switch (i.op)
        {
        case P4Op::END:
            return;
        case P4Op::RETURN:
            pc = m_isExiting ? 0 : link;
            break;
        case P4Op::JUMP:
            pc = i.c;
            break;
        case P4Op::JUMP_IF_ZERO:
            pc = s[i.a] == 0 ? i.c : pc;
            break;
        case P4Op::APPLY_TABLE:
            pc = RunTable(i, link);
            break;
        case P4Op::CALL_ACTION:
            link = i.c;
            pc = m_program->actions[i.a].address;
            break;
        case P4Op::MOVE:
            s[i.dst] = s[i.a];
            break;
        case P4Op::ADD:
            s[i.dst] = s[i.a] + s[i.b];
            break;
        case P4Op::SUBTRACT:
            s[i.dst] = s[i.a] - s[i.b];
            break;
        case P4Op::MULTIPLY:
            s[i.dst] = s[i.a] * s[i.b];
            break;
        case P4Op::DIVIDE:
            s[i.dst] = s[i.b] == 0 ? 0 : s[i.a] / s[i.b];
            break;
        case P4Op::MODULO:
            s[i.dst] = s[i.b] == 0 ? 0 : s[i.a] % s[i.b];
            break;
        case P4Op::AND:
            s[i.dst] = s[i.a] & s[i.b];
            break;
        case P4Op::OR:
            s[i.dst] = s[i.a] | s[i.b];
            break;
        case P4Op::XOR:
            s[i.dst] = s[i.a] ^ s[i.b];
            break;
        case P4Op::NOT:
            s[i.dst] = ~s[i.a];
            break;
        case P4Op::SHIFT_LEFT:
            s[i.dst] = s[i.b] < 64 ? s[i.a] << s[i.b] : 0;
            break;
        case P4Op::SHIFT_RIGHT:
            s[i.dst] = s[i.b] < 64 ? s[i.a] >> s[i.b] : 0;
            break;
        case P4Op::SHIFT_RIGHT_SIGNED:
            s[i.dst] = static_cast<uint64_t>(static_cast<int64_t>(s[i.a]) >>
                                             std::min<uint64_t>(s[i.b], 63));
            break;
        case P4Op::SIGN_EXTEND:
            s[i.dst] =
                static_cast<uint64_t>(static_cast<int64_t>(s[i.a] << (64 - i.c)) >> (64 - i.c));
            break;
        case P4Op::EQUAL:
            s[i.dst] = static_cast<uint64_t>(s[i.a] == s[i.b]);
            break;
        case P4Op::LESS:
            s[i.dst] = static_cast<uint64_t>(s[i.a] < s[i.b]);
            break;
        case P4Op::LESS_SIGNED:
            s[i.dst] =
                static_cast<uint64_t>(static_cast<int64_t>(s[i.a]) < static_cast<int64_t>(s[i.b]));
            break;
        case P4Op::LOGICAL_NOT:
            s[i.dst] = static_cast<uint64_t>(s[i.a] == 0);
            break;
        case P4Op::SELECT:
            s[i.dst] = s[i.c] != 0 ? s[i.a] : s[i.b];
            break;
        case P4Op::SELECT_STATE:
            pc = RunSelect(m_program->selects[i.a]);
            break;
        case P4Op::EXTRACT:
            pc = Extract(i.dst) ? pc : 0;
            break;
        case P4Op::EXTRACT_STACK:
        case P4Op::LOOKAHEAD:
        case P4Op::ADVANCE:
        case P4Op::VERIFY:
            pc = RunParserStep(i) ? pc : 0;
            break;
        default:
            if (i.op >= P4Op::REGISTER_READ)
            {
                RunPrimitive(i);
            }
            else
            {
                RunWide(i);
            }
        }
    }
    throw P4Error(m_program->file, "the P4 program does not end");
}

void
P4Machine::RunWide(const P4Instruction& i)
{
    uint64_t* s = m_store.data();
    uint64_t* out = s + i.dst;
    const uint64_t* a = s + i.a;
    const uint64_t* b = s + i.b;
    const uint32_t n = i.limbs;
    switch (i.op)
    {
    case P4Op::MOVE_WIDE:
        std::memmove(out, a, size_t{n} * sizeof(uint64_t));
        break;
    case P4Op::EXTEND_WIDE:
    case P4Op::EXTEND_SIGNED_WIDE:
        limbs::Extend(out, n, a, i.b, i.op == P4Op::EXTEND_SIGNED_WIDE);
        break;
    case P4Op::ADD_WIDE:
        limbs::Add(out, a, b, n);
        break;
    case P4Op::SUBTRACT_WIDE:
        limbs::Subtract(out, a, b, n);
        break;
    case P4Op::MULTIPLY_WIDE:
        limbs::Multiply(out, a, b, n);
        break;
    case P4Op::DIVIDE_WIDE:
    case P4Op::MODULO_WIDE:
        DivideWide(i);
        break;
    case P4Op::AND_WIDE:
        std::transform(a, a + n, b, out, std::bit_and<>());
        break;
    case P4Op::OR_WIDE:
        std::transform(a, a + n, b, out, std::bit_or<>());
        break;
    case P4Op::XOR_WIDE:
        std::transform(a, a + n, b, out, std::bit_xor<>());
        break;
    case P4Op::NOT_WIDE:
        std::transform(a, a + n, out, std::bit_not<>());
        break;
    case P4Op::SHIFT_LEFT_WIDE:
        limbs::ShiftLeft(out, a, *b, n);
        break;
    case P4Op::SHIFT_RIGHT_WIDE:
        limbs::ShiftRight(out, a, *b, n, 0);
        break;
    case P4Op::SHIFT_RIGHT_SIGNED_WIDE:
        limbs::ShiftRight(out, a, *b, n, limbs::IsNegative(a, n) ? ~uint64_t{0} : 0);
        break;
    case P4Op::SIGN_EXTEND_WIDE:
        limbs::SignExtend(out, a, i.c, n);
        break;
    case P4Op::MASK_WIDE:
        out[n - 1] &= *b;
        break;
    case P4Op::EQUAL_WIDE:
        *out = static_cast<uint64_t>(std::equal(a, a + n, b));
        break;
    case P4Op::LESS_WIDE:
        *out = static_cast<uint64_t>(limbs::Compare(a, b, n) < 0);
        break;
    case P4Op::LESS_SIGNED_WIDE:
        *out = static_cast<uint64_t>(limbs::CompareSigned(a, b, n) < 0);
        break;
    case P4Op::NOT_ZERO_WIDE:
        *out = static_cast<uint64_t>(!limbs::IsZero(a, n));
        break;
    case P4Op::SELECT_WIDE:
        std::memmove(out, s[i.c] != 0 ? a : b, size_t{n} * sizeof(uint64_t));
        break;
    default:
        Saturate(i);
    }
}

void
P4Machine::Saturate(const P4Instruction& i)
{
    const bool isSigned = i.op == P4Op::SATURATE_SIGNED;
    const uint32_t n = i.limbs;
    uint64_t* out = m_store.data() + i.dst;
    const uint64_t* a = m_store.data() + i.a;
    // The largest value has `ones` ones; the smallest is its complement, or 0.
    const auto largest = MakePrefixMask(64 * n, 64 * n - (isSigned ? i.c - 1 : i.c));
    for (uint32_t limb = 0; limb < n; ++limb)
    {
        out[limb] = a[limb];
    }
    std::vector<uint64_t> upper(n);
    std::transform(largest.begin(), largest.end(), upper.begin(), std::bit_not<>());
    std::vector<uint64_t> lower(n);
    if (isSigned)
    {
        lower = largest;
    }
    if (limbs::CompareSigned(out, upper.data(), n) > 0)
    {
        std::copy(upper.begin(), upper.end(), out);
    }
    else if (limbs::CompareSigned(out, lower.data(), n) < 0)
    {
        std::copy(lower.begin(), lower.end(), out);
    }
}

void
P4Machine::DivideWide(const P4Instruction& i)
{
    const uint32_t n = i.limbs;
    m_scratch.assign(2 * size_t{n}, 0);
    const uint64_t* divisor = m_store.data() + i.b;
    if (!limbs::IsZero(divisor, n))
    {
        limbs::Divide(m_scratch.data(), m_scratch.data() + n, m_store.data() + i.a, divisor, n);
    }
    const uint64_t* result = m_scratch.data() + (i.op == P4Op::DIVIDE_WIDE ? 0 : n);
    std::copy(result, result + n, m_store.data() + i.dst);
}

uint32_t
P4Machine::RunTable(const P4Instruction& instruction, uint32_t& link)
{
    const P4MatchTable& table = m_tables[instruction.a];
    const P4Table& info = table.GetTable();
    const P4TableEntry* entry = table.Find(m_store.data());
    const bool isHit = entry != nullptr;
    entry = isHit ? entry : table.GetDefault();
    if (info.branchesOnHit)
    {
        link = isHit ? info.nextOnHit : info.nextOnMiss;
    }
    if (entry == nullptr)
    {
        // Without a default entry a miss does nothing; all actions then lead to the same node.
        return info.branchesOnHit || info.nextOfAction.empty() ? info.nextOnMiss
                                                               : info.nextOfAction[0];
    }
    if (!info.branchesOnHit)
    {
        const auto position = std::find(info.actions.begin(), info.actions.end(), entry->action);
        link = info.nextOfAction[static_cast<size_t>(position - info.actions.begin())];
    }
    const P4Action& action = m_program->actions[entry->action];
    std::copy(entry->parameters.begin(), entry->parameters.end(), m_store.begin() + action.slot);
    return action.address;
}

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

void
P4Machine::RunPrimitive(const P4Instruction& i)
{
    uint64_t* s = m_store.data();
    switch (i.op)
    {
    case P4Op::REGISTER_READ:
    case P4Op::REGISTER_WRITE: {
        const uint64_t cell = s[i.b];
        if (cell >= m_program->registers[i.a].size)
        {
            ++m_outOfRange;
            break;
        }
        uint64_t* stored = m_registers[i.a].data() + cell * i.limbs;
        const bool isRead = i.op == P4Op::REGISTER_READ;
        std::memcpy(isRead ? s + i.dst : stored,
                    isRead ? stored : s + i.dst,
                    size_t{i.limbs} * sizeof(uint64_t));
        break;
    }
    case P4Op::COUNT:
        Count(i.dst, s[i.a]);
        break;
    case P4Op::MARK_TO_DROP:
        s[m_program->standard.egressSpec] = DROP_PORT;
        s[m_program->standard.multicastGroup] = 0;
        break;
    case P4Op::SET_VALID:
        AddHeader(m_program->headers[i.dst]);
        break;
    case P4Op::SET_INVALID:
        m_packetLength -=
            s[m_program->headers[i.dst].valid] != 0 ? m_program->headers[i.dst].bytes : 0;
        s[m_program->headers[i.dst].valid] = 0;
        break;
    case P4Op::COPY_HEADER:
        CopyHeader(m_program->headers[i.dst], m_program->headers[i.a]);
        break;
    case P4Op::COPY_STACK:
        s[m_program->stacks[i.dst].next] = s[m_program->stacks[i.a].next];
        for (size_t h = 0; h < m_program->stacks[i.dst].headers.size(); ++h)
        {
            CopyHeader(m_program->headers[m_program->stacks[i.dst].headers[h]],
                       m_program->headers[m_program->stacks[i.a].headers[h]]);
        }
        break;
    case P4Op::PUSH:
        Push(m_program->stacks[i.dst], i.a);
        break;
    case P4Op::POP:
        Pop(m_program->stacks[i.dst], i.a);
        break;
    case P4Op::LAST_STACK_FIELD:
        LoadLastOfStack(i);
        break;
    case P4Op::LAST_STACK_INDEX:
        s[i.dst] = s[i.a] == 0 ? 0 : s[i.a] - 1;
        break;
    case P4Op::HASH: {
        const uint64_t hash = Calculate(m_program->calculations[i.c], s, GetPayload());
        s[i.dst] = s[i.a] + hash % std::max<uint64_t>(s[i.b], 1);
        break;
    }
    case P4Op::VERIFY_CHECKSUM: {
        const uint64_t sum = Calculate(m_program->calculations[i.a], s, GetPayload());
        m_hasChecksumError = m_hasChecksumError || sum != s[i.dst];
        break;
    }
    case P4Op::UPDATE_CHECKSUM:
        s[i.dst] = Calculate(m_program->calculations[i.a], s, GetPayload()) & s[i.b];
        break;
    case P4Op::CLONE:
        m_requests.clone = true;
        m_requests.cloneSession = static_cast<uint32_t>(s[i.a]);
        m_requests.cloneFields = i.c;
        break;
    case P4Op::RESUBMIT:
        m_requests.resubmit = true;
        m_requests.resubmitFields = i.c;
        break;
    case P4Op::RECIRCULATE:
        m_requests.recirculate = true;
        m_requests.recirculateFields = i.c;
        break;
    case P4Op::TRUNCATE:
        m_requests.truncateBytes = s[i.a];
        break;
    case P4Op::EXIT:
        m_isExiting = true;
        break;
    default:
        if (s[i.a] == 0)
        {
            throw P4Error(m_program->file, "an assertion of the P4 program does not hold");
        }
    }
}

void
P4Machine::Count(uint32_t counter, uint64_t index)
{
    auto& counters = m_counters[counter];
    if (index >= counters.size())
    {
        ++m_outOfRange;
        return;
    }
    ++counters[index].packets;
    counters[index].bytes += m_frame.size();
}

void
P4Machine::AddHeader(const P4Header& header)
{
    if (m_store[header.valid] == 0)
    {
        std::fill_n(m_store.begin() + header.slot, header.limbs, 0);
        m_store[header.valid] = 1;
        m_packetLength += header.bytes;
    }
}

void
P4Machine::CopyHeader(const P4Header& to, const P4Header& from)
{
    m_store[to.valid] = m_store[from.valid];
    if (m_store[from.valid] != 0)
    {
        std::copy_n(m_store.begin() + from.slot, from.limbs, m_store.begin() + to.slot);
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
P4Machine::LoadLastOfStack(const P4Instruction& i)
{
    const P4Stack& stack = m_program->stacks[i.a];
    const uint64_t next = m_store[stack.next];
    const uint32_t header = stack.headers[next == 0 ? 0 : next - 1];
    const P4Field& field = m_program->headers[header].fields[i.b];
    std::copy_n(m_store.begin() + field.slot, i.limbs, m_store.begin() + i.dst);
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
