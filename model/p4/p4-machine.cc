// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/p4-machine.h"

#include "ns3/p4-error.h"

#include <algorithm>

namespace ns3::gradsync
{

namespace
{

/// A program that runs longer for one packet runs for ever.
constexpr uint32_t MAX_STEPS = 1U << 22;

} // namespace

P4Machine::P4Machine(std::shared_ptr<const P4Program> program)
    : m_program(std::move(program)),
      m_store(m_program->store),
      m_profiles(m_program->profiles.begin(), m_program->profiles.end()),
      m_meters(m_program->meters.begin(), m_program->meters.end()),
      m_valueSets(m_program->valueSets.size())
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
P4Machine::ResetState()
{
    for (auto& cells : m_registers)
    {
        std::fill(cells.begin(), cells.end(), 0);
    }
    for (auto& counters : m_counters)
    {
        std::fill(counters.begin(), counters.end(), P4CounterValue{});
    }
    for (auto& table : m_tables)
    {
        table.Reset();
    }
    for (auto& profile : m_profiles)
    {
        profile.Clear();
    }
    for (auto& meter : m_meters)
    {
        for (uint32_t index = 0; index < meter.GetSize(); ++index)
        {
            meter.ResetRates(index);
        }
    }
    for (auto& values : m_valueSets)
    {
        values.clear();
    }
}

void
P4Machine::Begin(std::span<const uint8_t> frame)
{
    std::copy_n(m_program->store.begin(), m_program->packetLimbs, m_store.begin());
    m_frame = frame;
    m_frameBytes = frame.size();
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
        case P4Op::EXTRACT_VARIABLE:
        case P4Op::EXTRACT_STACK_VARIABLE:
        case P4Op::LOOKAHEAD:
        case P4Op::ADVANCE:
        case P4Op::VERIFY:
            pc = RunParserStep(i) ? pc : 0;
            break;
        default:
            if (i.op >= P4Op::STACK_HEADER)
            {
                RunHeaderStep(i);
            }
            else if (i.op >= P4Op::REGISTER_READ)
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

uint32_t
P4Machine::RunTable(const P4Instruction& instruction, uint32_t& link)
{
    P4MatchTable& table = m_tables[instruction.a];
    const P4Table& info = table.GetTable();
    const P4TableEntry* entry = table.Find(m_store.data());
    const bool isHit = entry != nullptr;
    if (isHit && info.meter)
    {
        ExecuteDirectMeter(*info.meter, *entry);
    }
    if (isHit && info.hasCounters)
    {
        table.Count(*entry, m_frameBytes);
    }
    entry = isHit ? entry : table.GetDefault();
    if (info.branchesOnHit)
    {
        link = isHit ? info.nextOnHit : info.nextOnMiss;
    }
    if (entry == nullptr)
    {
        // Without a default entry a miss does nothing.
        return info.nextOnMiss;
    }
    uint32_t index = entry->action;
    const auto* parameters = &entry->parameters;
    if (entry->target != P4EntryTarget::ACTION && info.profile)
    {
        const P4ActionCall* member = FindMember(info, *entry);
        if (member == nullptr || (!info.branchesOnHit && !info.HasAction(member->action)))
        {
            // A group without members, which BMv2 does not know how to go on from.
            return info.branchesOnHit ? link : info.nextOnMiss;
        }
        index = member->action;
        parameters = &member->parameters;
    }
    if (!info.branchesOnHit)
    {
        const auto position = std::find(info.actions.begin(), info.actions.end(), index);
        link = info.nextOfAction[static_cast<size_t>(position - info.actions.begin())];
    }
    const P4Action& action = m_program->actions[index];
    std::copy(parameters->begin(), parameters->end(), m_store.begin() + action.slot);
    return action.address;
}

} // namespace ns3::gradsync
