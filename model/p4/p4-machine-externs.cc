// SPDX-License-Identifier: GPL-2.0-only
// The part of P4Machine that runs meters, action profiles, value sets, log_msg and random.
#include "ns3/p4-calculation.h"
#include "ns3/p4-limbs.h"
#include "ns3/p4-machine.h"

#include <utility>

namespace ns3::gradsync
{

namespace
{

/// Lines of log_msg that are kept.
constexpr size_t MAX_LOG_LINES = 10'000;

} // namespace

void
P4Machine::ExecuteMeter(const P4Instruction& i)
{
    P4MeterArrayState& meters = m_meters[i.a];
    const uint64_t index = m_store[i.b];
    if (index >= meters.GetSize())
    {
        ++m_outOfRange;
        return;
    }
    m_store[i.dst] = meters.Execute(static_cast<uint32_t>(index), m_frameBytes, m_timeUs);
}

void
P4Machine::ExecuteDirectMeter(uint32_t meter, const P4TableEntry& entry)
{
    const P4MeterArray& array = m_program->meters[meter];
    const uint32_t colour = m_meters[meter].Execute(entry.number, m_frameBytes, m_timeUs);
    m_store[array.result] = colour & limbs::LowMask(array.resultBits);
}

const P4ActionCall*
P4Machine::FindMember(const P4Table& table, const P4TableEntry& entry)
{
    const P4ActionMembers& members = m_profiles[*table.profile];
    uint64_t hash = 0;
    if (entry.target == P4EntryTarget::GROUP && members.GetProfile().hasSelector)
    {
        const auto& calculation = m_program->calculations[members.GetProfile().calculation];
        // BMv2 cuts a hash for a selector to 32 bits.
        hash = static_cast<uint32_t>(Calculate(calculation, m_store.data(), GetPayload()));
    }
    return members.Find(entry, hash);
}

bool
P4Machine::IsInValueSet(const P4Select& select, uint32_t set) const
{
    std::vector<uint64_t> value(limbs::CountFor(m_program->valueSets[set].bits));
    const auto n = static_cast<uint32_t>(value.size());
    for (const auto& [slot, bits] : select.parts)
    {
        limbs::ShiftLeft(value.data(), value.data(), bits, n);
        for (uint32_t i = 0; i < limbs::CountFor(bits); ++i)
        {
            value[i] |= m_store[slot + i];
        }
    }
    return m_valueSets[set].contains(value);
}

void
P4Machine::Log(const P4LogMessage& message)
{
    ++m_logged;
    if (m_log.size() < MAX_LOG_LINES)
    {
        m_log.push_back(FormatLogMessage(message, m_store.data()));
    }
}

void
P4Machine::DrawRandom(const P4Instruction& i)
{
    const uint64_t low = m_store[i.a];
    const uint64_t high = m_store[i.b];
    if (low > high)
    {
        // As in BMv2, the field stays as it is.
        return;
    }
    // Numbers beyond the last whole multiple of the range would make its first ones likelier.
    const uint64_t range = high - low + 1;
    const uint64_t beyond = range == 0 ? 0 : (UINT64_MAX % range + 1) % range;
    uint64_t number = m_random();
    while (number > UINT64_MAX - beyond)
    {
        number = m_random();
    }
    m_store[i.dst] = range == 0 ? number : low + number % range;
}

} // namespace ns3::gradsync
