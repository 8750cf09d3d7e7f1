// SPDX-License-Identifier: GPL-2.0-only
// The part of P4Pipeline that a control plane reads and writes of registers and counters.
#include "ns3/p4-error.h"
#include "ns3/p4-pipeline.h"

#include <algorithm>
#include <cstddef>
#include <fmt/format.h>

namespace ns3::gradsync
{

uint32_t
P4Pipeline::FindRegisterIndex(const std::string& name, uint32_t index) const
{
    for (size_t i = 0; i < m_program->registers.size(); ++i)
    {
        if (m_program->registers[i].name == name && index < m_program->registers[i].size)
        {
            return static_cast<uint32_t>(i);
        }
    }
    throw P4Error(m_program->file, fmt::format("there is no register \"{}\"[{}]", name, index));
}

uint32_t
P4Pipeline::FindCounterIndex(const std::string& name, uint32_t index) const
{
    for (size_t i = 0; i < m_program->counters.size(); ++i)
    {
        if (m_program->counters[i].name == name && index < m_program->counters[i].size)
        {
            return static_cast<uint32_t>(i);
        }
    }
    throw P4Error(m_program->file, fmt::format("there is no counter \"{}\"[{}]", name, index));
}

P4CounterValue
P4Pipeline::GetCounter(const std::string& name, uint32_t index) const
{
    return m_machine.GetCounters()[FindCounterIndex(name, index)][index];
}

void
P4Pipeline::SetCounter(const std::string& name, uint32_t index, P4CounterValue value)
{
    m_machine.GetCounters()[FindCounterIndex(name, index)][index] = value;
}

void
P4Pipeline::ResetCounter(const std::string& name)
{
    auto& counters = m_machine.GetCounters()[FindCounterIndex(name, 0)];
    std::fill(counters.begin(), counters.end(), P4CounterValue{});
}

uint64_t
P4Pipeline::GetCounterPackets(const std::string& name, uint32_t index) const
{
    return GetCounter(name, index).packets;
}

uint64_t
P4Pipeline::GetRegister(const std::string& name, uint32_t index)
{
    const uint32_t array = FindRegisterIndex(name, index);
    return m_machine.GetRegisters()[array][size_t{index} * m_program->registers[array].limbs];
}

std::vector<uint64_t>
P4Pipeline::GetRegisterLimbs(const std::string& name, uint32_t index) const
{
    const uint32_t array = FindRegisterIndex(name, index);
    const uint32_t limbs = m_program->registers[array].limbs;
    const auto first =
        m_machine.GetRegisters()[array].begin() + static_cast<ptrdiff_t>(size_t{index} * limbs);
    return {first, first + limbs};
}

void
P4Pipeline::SetRegister(const std::string& name, uint32_t index, const std::vector<uint64_t>& value)
{
    const uint32_t array = FindRegisterIndex(name, index);
    const uint32_t limbs = m_program->registers[array].limbs;
    auto cell =
        m_machine.GetRegisters()[array].begin() + static_cast<ptrdiff_t>(size_t{index} * limbs);
    for (uint32_t i = 0; i < limbs; ++i)
    {
        *cell++ = i < value.size() ? value[i] : 0;
    }
}

void
P4Pipeline::ResetRegister(const std::string& name)
{
    auto& cells = m_machine.GetRegisters()[FindRegisterIndex(name, 0)];
    std::fill(cells.begin(), cells.end(), 0);
}

} // namespace ns3::gradsync
