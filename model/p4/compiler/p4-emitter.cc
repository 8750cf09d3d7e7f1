// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/p4-emitter.h"

#include "ns3/p4-error.h"
#include "ns3/p4-limbs.h"

#include <algorithm>
#include <bit>
#include <fmt/format.h>

namespace ns3::gradsync
{

const P4Field*
P4Header::FindField(const std::string& field) const
{
    const auto found = std::ranges::find(fields, field, &P4Field::name);
    return found == fields.end() ? nullptr : &*found;
}

bool
P4Header::HasLayoutOf(const P4Header& other) const
{
    return std::ranges::equal(fields, other.fields, [](const P4Field& a, const P4Field& b) {
        return a.bits == b.bits && a.isVariable == b.isVariable && a.isSigned == b.isSigned;
    });
}

namespace
{

/// No number in a program is longer; keeps a broken file from asking for gigabytes.
constexpr size_t MAX_HEX_DIGITS = 4096;
constexpr size_t MAX_STORE_LIMBS = size_t{1} << 24;

uint64_t
ParseDigit(char digit, const P4Json& text)
{
    if (digit >= '0' && digit <= '9')
    {
        return static_cast<uint64_t>(digit - '0');
    }
    const char low = static_cast<char>(digit | 0x20);
    if (low >= 'a' && low <= 'f')
    {
        return static_cast<uint64_t>(low - 'a') + 10;
    }
    text.Fail("this is no hexadecimal number");
}

} // namespace

std::pair<std::vector<uint64_t>, bool>
ParseHexadecimal(const P4Json& text)
{
    std::string digits = text.AsText();
    const bool isNegative = digits.starts_with("-");
    digits.erase(0, isNegative ? 1 : 0);
    digits.erase(0, digits.starts_with("0x") || digits.starts_with("0X") ? 2 : 0);
    if (digits.empty() || digits.size() > MAX_HEX_DIGITS)
    {
        text.Fail(
            fmt::format("a hexadecimal number of 1 to {} digits is expected", MAX_HEX_DIGITS));
    }
    std::vector<uint64_t> value(limbs::CountFor(4 * digits.size()));
    for (size_t i = 0; i < digits.size(); ++i)
    {
        const size_t nibble = digits.size() - 1 - i;
        value[nibble / 16] |= ParseDigit(digits[i], text) << (4 * (nibble % 16));
    }
    return {std::move(value), isNegative};
}

uint32_t
CountBits(const std::vector<uint64_t>& value)
{
    for (size_t i = value.size(); i-- > 0;)
    {
        if (value[i] != 0)
        {
            return static_cast<uint32_t>(64 * i + std::bit_width(value[i]));
        }
    }
    return 1;
}

P4Emitter::P4Emitter(P4Program& program)
    : m_program(program)
{
}

uint32_t
P4Emitter::Allocate(uint32_t limbs)
{
    const size_t slot = m_program.store.size();
    if (slot + limbs > MAX_STORE_LIMBS)
    {
        throw P4Error(m_program.file, "the program's fields and numbers need too much memory");
    }
    m_program.store.resize(slot + limbs);
    return static_cast<uint32_t>(slot);
}

uint32_t
P4Emitter::AllocateTemporary(uint32_t limbs)
{
    for (size_t i = 0; i < m_temporaries.size(); ++i)
    {
        if (!m_isTaken[i] && m_temporaries[i].second == limbs)
        {
            m_isTaken[i] = true;
            return m_temporaries[i].first;
        }
    }
    m_temporaries.emplace_back(Allocate(limbs), limbs);
    m_isTaken.push_back(true);
    return m_temporaries.back().first;
}

void
P4Emitter::EndStatement()
{
    m_isTaken.assign(m_isTaken.size(), false);
}

P4Value
P4Emitter::AddConstant(std::vector<uint64_t> value, bool isNegative)
{
    const uint32_t bits = CountBits(value);
    value.resize(limbs::CountFor(bits + (isNegative ? 1 : 0)));
    if (isNegative)
    {
        const std::vector<uint64_t> zero(value.size());
        const auto n = static_cast<uint32_t>(value.size());
        limbs::Subtract(value.data(), zero.data(), value.data(), n);
    }
    auto [found, isNew] = m_constants.emplace(value, 0);
    if (isNew)
    {
        found->second = Allocate(static_cast<uint32_t>(value.size()));
        std::copy(value.begin(), value.end(), m_program.store.begin() + found->second);
    }
    P4Value result;
    result.slot = found->second;
    result.limbs = static_cast<uint32_t>(value.size());
    result.bits = bits + (isNegative ? 1 : 0);
    result.isSigned = isNegative;
    result.isConstant = true;
    return result;
}

P4Value
P4Emitter::AddConstant(uint64_t value)
{
    return AddConstant(std::vector<uint64_t>{value});
}

std::vector<uint64_t>
P4Emitter::GetConstant(const P4Value& value) const
{
    const auto first = m_program.store.begin() + value.slot;
    return {first, first + value.limbs};
}

uint32_t
P4Emitter::Emit(P4Op op, uint32_t dst, uint32_t a, uint32_t b, uint32_t c)
{
    return EmitWide(op, 1, dst, a, b, c);
}

uint32_t
P4Emitter::EmitWide(P4Op op, uint32_t limbs, uint32_t dst, uint32_t a, uint32_t b, uint32_t c)
{
    m_program.code.push_back({op, static_cast<uint16_t>(limbs), dst, a, b, c});
    return GetAddress() - 1;
}

void
P4Emitter::PatchHere(uint32_t jump)
{
    m_program.code[jump].c = GetAddress();
}

uint32_t
P4Emitter::GetAddress() const
{
    return static_cast<uint32_t>(m_program.code.size());
}

uint32_t
P4Emitter::FindHeader(const P4Json& name) const
{
    return FindName(m_headers, name, "header");
}

uint32_t
P4Emitter::FindStack(const P4Json& name) const
{
    return FindName(m_stacks, name, "header stack");
}

uint32_t
P4Emitter::FindUnion(const P4Json& name) const
{
    return FindName(m_unions, name, "header union");
}

uint32_t
P4Emitter::FindUnionStack(const P4Json& name) const
{
    return FindName(m_unionStacks, name, "stack of header unions");
}

uint32_t
P4Emitter::FindMemberStack(const P4Json& pair) const
{
    const auto names = pair.GetItems();
    if (names.size() < 2)
    {
        pair.Fail("the names of a stack and of a member are expected");
    }
    const auto& stack = m_program.unionStacks[FindUnionStack(names[0])];
    const auto found = std::ranges::find(stack.members, names[1].AsText());
    if (found == stack.members.end())
    {
        names[1].Fail(fmt::format("the header union has no member \"{}\"", names[1].AsText()));
    }
    return stack.firstStack + static_cast<uint32_t>(found - stack.members.begin());
}

uint32_t
P4Emitter::FindRegister(const P4Json& name) const
{
    return FindName(m_registers, name, "register array");
}

uint32_t
P4Emitter::FindCounter(const P4Json& name) const
{
    return FindName(m_counters, name, "counter array");
}

uint32_t
P4Emitter::FindCalculation(const P4Json& name) const
{
    return FindName(m_calculations, name, "calculation");
}

uint32_t
P4Emitter::FindMeter(const P4Json& name) const
{
    return FindName(m_meters, name, "meter array");
}

uint32_t
P4Emitter::FindValueSet(const P4Json& name) const
{
    return FindName(m_valueSets, name, "parser value set");
}

uint32_t
P4Emitter::FindProfile(const P4Json& name) const
{
    return FindName(m_profiles, name, "action profile");
}

std::optional<uint32_t>
P4Emitter::FindDigest(uint32_t id) const
{
    const auto found = m_digests.find(id);
    return found == m_digests.end() ? std::nullopt : std::optional<uint32_t>(found->second);
}

const P4Field&
P4Emitter::FindField(const P4Json& pair) const
{
    const auto names = pair.GetItems(2);
    const auto& header = m_program.headers[FindHeader(names[0])];
    const std::string field = names[1].AsText();
    if (const P4Field* found = header.FindField(field))
    {
        return *found;
    }
    names[1].Fail(fmt::format("header \"{}\" has no field \"{}\"", header.name, field));
}

bool
P4Emitter::IsValidity(const P4Json& pair)
{
    return pair.GetItems(2)[1].AsText() == "$valid$";
}

void
P4Emitter::AddHeaderName(const std::string& name, uint32_t index, const P4Json& where)
{
    AddName(m_headers, name, index, where);
}

void
P4Emitter::AddStackName(const std::string& name, uint32_t index, const P4Json& where)
{
    AddName(m_stacks, name, index, where);
}

void
P4Emitter::AddUnionName(const std::string& name, uint32_t index, const P4Json& where)
{
    AddName(m_unions, name, index, where);
}

void
P4Emitter::AddUnionStackName(const std::string& name, uint32_t index, const P4Json& where)
{
    AddName(m_unionStacks, name, index, where);
}

void
P4Emitter::AddRegisterName(const std::string& name, uint32_t index, const P4Json& where)
{
    AddName(m_registers, name, index, where);
}

void
P4Emitter::AddCounterName(const std::string& name, uint32_t index, const P4Json& where)
{
    AddName(m_counters, name, index, where);
}

void
P4Emitter::AddCalculationName(const std::string& name, uint32_t index, const P4Json& where)
{
    AddName(m_calculations, name, index, where);
}

void
P4Emitter::AddMeterName(const std::string& name, uint32_t index, const P4Json& where)
{
    AddName(m_meters, name, index, where);
}

void
P4Emitter::AddValueSetName(const std::string& name, uint32_t index, const P4Json& where)
{
    AddName(m_valueSets, name, index, where);
}

void
P4Emitter::AddProfileName(const std::string& name, uint32_t index, const P4Json& where)
{
    AddName(m_profiles, name, index, where);
}

void
P4Emitter::AddDigest(uint32_t id, uint32_t index)
{
    m_digests[id] = index;
}

void
P4Emitter::AddName(Names& names, const std::string& name, uint32_t index, const P4Json& where)
{
    if (!names.emplace(name, index).second)
    {
        where.Fail(fmt::format("\"{}\" is there twice", name));
    }
}

uint32_t
P4Emitter::FindName(const Names& names, const P4Json& name, const std::string& what)
{
    const auto found = names.find(name.AsText());
    if (found == names.end())
    {
        name.Fail(fmt::format("there is no {} \"{}\"", what, name.AsText()));
    }
    return found->second;
}

} // namespace ns3::gradsync
