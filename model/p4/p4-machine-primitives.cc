// SPDX-License-Identifier: GPL-2.0-only
// The part of P4Machine that runs the primitives of v1model.
#include "ns3/p4-calculation.h"
#include "ns3/p4-error.h"
#include "ns3/p4-machine.h"

#include <algorithm>
#include <cstring>

namespace ns3::gradsync
{

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
        if (isRead && i.c != 0)
        {
            const uint32_t sign = m_program->registers[i.a].bits - 1;
            s[i.c] = stored[sign / 64] >> sign % 64 & 1;
        }
        break;
    }
    case P4Op::COUNT:
        Count(i.dst, s[i.a]);
        break;
    case P4Op::MARK_TO_DROP:
        s[i.dst] = P4_DROP_PORT;
        s[i.a] = 0;
        break;
    case P4Op::SET_VALID:
        AddHeader(m_program->headers[i.dst]);
        break;
    case P4Op::SET_INVALID:
        RemoveHeader(m_program->headers[i.dst]);
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
        // Of an empty stack BMv2 says the largest number of 64 bits.
        s[i.dst] = s[i.a] - 1;
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
    case P4Op::EXECUTE_METER:
        ExecuteMeter(i);
        break;
    case P4Op::DIGEST:
        m_requests.digest = true;
        m_requests.digestList = i.dst;
        break;
    case P4Op::LOG:
        Log(m_program->logMessages[i.dst]);
        break;
    case P4Op::RANDOM:
        DrawRandom(i);
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
    counters[index].bytes += m_frameBytes;
}

} // namespace ns3::gradsync
