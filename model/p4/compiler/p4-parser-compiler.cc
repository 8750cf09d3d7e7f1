// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/p4-parser-compiler.h"

#include "ns3/p4-action-compiler.h"
#include "ns3/p4-expression-compiler.h"
#include "ns3/p4-limbs.h"

#include <fmt/format.h>

namespace ns3::gradsync
{

namespace
{

/// Marks an address that is still the index of a state.
constexpr uint32_t NO_STATE = UINT32_MAX;
constexpr uint32_t MAX_LOOKAHEAD_BITS = 2048;

} // namespace

P4ParserCompiler::P4ParserCompiler(P4Emitter& emitter)
    : m_emitter(emitter)
{
}

uint32_t
P4ParserCompiler::Compile(const P4Json& parser)
{
    auto& program = m_emitter.GetProgram();
    const auto states = parser.Get("parse_states").GetItems();
    for (const auto& state : states)
    {
        const std::string name = state.Get("name").AsText();
        if (!m_states.emplace(name, static_cast<uint32_t>(m_states.size())).second)
        {
            state.Fail(fmt::format("there are two states \"{}\"", name));
        }
    }
    for (const auto& state : states)
    {
        m_addresses.push_back(m_emitter.GetAddress());
        CompileState(state);
    }
    // Code address 0 is the end of everything.
    const auto resolve = [this](uint32_t state) {
        return state == NO_STATE ? 0 : m_addresses[state];
    };
    for (auto& select : program.selects)
    {
        select.defaultAddress = resolve(select.defaultAddress);
        for (auto& one : select.cases)
        {
            one.address = resolve(one.address);
        }
    }
    const P4Json first = parser.Get("init_state");
    const auto found = m_states.find(first.AsText());
    if (found == m_states.end())
    {
        first.Fail(fmt::format("there is no state \"{}\"", first.AsText()));
    }
    return m_addresses[found->second];
}

void
P4ParserCompiler::CompileState(const P4Json& state)
{
    for (const auto& operation : state.Get("parser_ops").GetItems())
    {
        CompileOperation(operation);
        m_emitter.EndStatement();
    }
    CompileTransition(state);
    m_emitter.EndStatement();
}

void
P4ParserCompiler::CompileOperation(const P4Json& operation)
{
    const P4Json op = operation.Get("op");
    const std::string name = op.AsText();
    const P4Json parameters = operation.Get("parameters");
    if (name == "extract")
    {
        CompileExtract(parameters.GetItems(1)[0], std::nullopt);
    }
    else if (name == "extract_VL")
    {
        const auto both = parameters.GetItems(2);
        CompileExtract(both[0], both[1]);
    }
    else if (name == "set")
    {
        CompileSet(operation);
    }
    else if (name == "verify")
    {
        CompileVerify(operation);
    }
    else if (name == "advance")
    {
        CompileAdvance(parameters.GetItems(1)[0]);
    }
    else if (name == "shift")
    {
        const uint32_t bytes = parameters.GetItems(1)[0].AsNumber(UINT16_MAX);
        m_emitter.Emit(P4Op::ADVANCE, 0, m_emitter.AddConstant(8 * uint64_t{bytes}).slot);
    }
    else if (name == "primitive")
    {
        P4ActionCompiler(m_emitter, nullptr).CompilePrimitive(parameters.GetItems(1)[0]);
    }
    else
    {
        op.Fail(fmt::format("the parser operation \"{}\" is not supported", name));
    }
}

void
P4ParserCompiler::CompileExtract(const P4Json& target, const std::optional<P4Json>& length)
{
    const auto& program = m_emitter.GetProgram();
    const std::string type = target.Get("type").AsText();
    const P4Json value = target.Get("value");
    if (type != "regular" && type != "stack" && type != "union_stack")
    {
        target.Get("type").Fail(fmt::format("extracting to a \"{}\" is not supported", type));
    }
    if (value.IsObject())
    {
        value.Fail("extracting to a header stack by an index that is variable is not supported");
    }
    const bool isStack = type != "regular";
    const uint32_t index = type == "regular" ? m_emitter.FindHeader(value)
                           : type == "stack" ? m_emitter.FindStack(value)
                                             : m_emitter.FindMemberStack(value);
    const P4Header& header = program.headers[isStack ? program.stacks[index].headers[0] : index];
    if (length.has_value() != (header.variableBits != 0))
    {
        target.Fail(fmt::format("the header has {} field of variable length (varbit)",
                                length ? "no" : "a"));
    }
    if (!length)
    {
        m_emitter.Emit(isStack ? P4Op::EXTRACT_STACK : P4Op::EXTRACT, index);
        return;
    }
    const uint32_t bits = P4ExpressionCompiler(m_emitter).CompileToLimb(*length);
    m_emitter.Emit(isStack ? P4Op::EXTRACT_STACK_VARIABLE : P4Op::EXTRACT_VARIABLE, index, bits);
}

void
P4ParserCompiler::CompileSet(const P4Json& operation)
{
    const auto parameters = operation.Get("parameters").GetItems(2);
    const P4Field& field = m_emitter.FindField(parameters[0].Get("value"));
    if (field.isVariable)
    {
        P4ActionCompiler(m_emitter, nullptr).CompileVariableCopy(parameters);
        return;
    }
    if (parameters[1].Get("type").AsText() == "lookahead")
    {
        const auto [slot, bits] = CompileLookahead(parameters[1].Get("value"));
        if (bits > field.bits)
        {
            parameters[1].Fail(fmt::format("{} bits do not fit in {}", bits, field.bits));
        }
        const uint32_t limbs = limbs::CountFor(bits);
        m_emitter.EmitWide(P4Op::EXTEND_WIDE, field.limbs, field.slot, slot, limbs);
        if (field.isSigned)
        {
            m_emitter.Emit(P4Op::MOVE, field.beyond, m_emitter.AddConstant(0).slot);
        }
        return;
    }
    P4ExpressionCompiler(m_emitter).CompileTo(field, parameters[1]);
}

void
P4ParserCompiler::CompileAdvance(const P4Json& amount)
{
    m_emitter.Emit(P4Op::ADVANCE, 0, P4ExpressionCompiler(m_emitter).CompileToLimb(amount));
}

void
P4ParserCompiler::CompileVerify(const P4Json& operation)
{
    const auto parameters = operation.Get("parameters").GetItems(2);
    P4ExpressionCompiler expressions(m_emitter);
    const uint32_t condition = expressions.CompileToLimb(parameters[0]);
    const uint32_t error = expressions.CompileToLimb(parameters[1]);
    m_emitter.Emit(P4Op::VERIFY, 0, condition, error);
}

std::pair<uint32_t, uint32_t>
P4ParserCompiler::CompileLookahead(const P4Json& pair)
{
    const auto items = pair.GetItems(2);
    const uint32_t offset = items[0].AsNumber(UINT16_MAX);
    const uint32_t bits = items[1].AsNumber(MAX_LOOKAHEAD_BITS, "bits of a lookahead");
    if (bits == 0)
    {
        items[1].Fail("at least one bit is expected");
    }
    const uint32_t limbs = limbs::CountFor(bits);
    const uint32_t slot = m_emitter.AllocateTemporary(limbs);
    m_emitter.EmitWide(P4Op::LOOKAHEAD, limbs, slot, offset, bits);
    return {slot, bits};
}

std::pair<uint32_t, uint32_t>
P4ParserCompiler::CompileKey(const P4Json& part)
{
    const std::string type = part.Get("type").AsText();
    if (type == "lookahead")
    {
        return CompileLookahead(part.Get("value"));
    }
    if (type == "field" && !P4Emitter::IsValidity(part.Get("value")))
    {
        const P4Field& field = m_emitter.FindField(part.Get("value"));
        if (field.isVariable)
        {
            part.Fail("a field of variable length (varbit) is no key");
        }
        return {field.slot, field.bits};
    }
    if (type != "field" && type != "stack_field" && type != "union_stack_field")
    {
        part.Get("type").Fail(fmt::format("a key of type \"{}\" is not supported", type));
    }
    const P4Value value = P4ExpressionCompiler(m_emitter).Compile(part);
    if (!value.isSigned)
    {
        return {value.slot, value.bits};
    }
    // A key is the field's bits: the sign in front of them is none of it.
    const uint32_t bits = value.bits - 1;
    if (bits % 64 != 0)
    {
        const P4Value mask = m_emitter.AddConstant(limbs::LowMask(bits % 64));
        m_emitter.EmitWide(P4Op::MASK_WIDE,
                           limbs::CountFor(bits),
                           value.slot,
                           value.slot,
                           mask.slot);
    }
    return {value.slot, bits};
}

void
P4ParserCompiler::CompileTransition(const P4Json& state)
{
    P4Select select;
    uint64_t bits = 0;
    for (const auto& part : state.Get("transition_key").GetItems())
    {
        select.parts.push_back(CompileKey(part));
        bits += (uint64_t{select.parts.back().second} + 7) / 8 * 8;
    }
    select.limbs = limbs::CountFor(bits);
    if (select.limbs > 64)
    {
        state.Get("transition_key").Fail("at most 4096 bits are supported");
    }
    for (const auto& transition : state.Get("transitions").GetItems())
    {
        const P4Json type = transition.Get("type");
        const uint32_t next = FindState(transition).value_or(NO_STATE);
        if (type.AsText() == "default")
        {
            select.hasDefault = true;
            // BMv2 tries the other cases before it, wherever they are.
            select.defaultAddress = next;
            continue;
        }
        if (type.AsText() == "parse_vset")
        {
            select.cases.push_back(CompileValueSet(transition, select, next));
            continue;
        }
        if (type.AsText() != "hexstr")
        {
            type.Fail(fmt::format("a transition by \"{}\" is not supported", type.AsText()));
        }
        P4SelectCase one;
        one.value = ParseHexadecimal(transition.Get("value")).first;
        one.mask.assign(select.limbs, ~uint64_t{0});
        if (const auto mask = transition.Find("mask"))
        {
            one.mask = ParseHexadecimal(*mask).first;
        }
        one.value.resize(select.limbs);
        one.mask.resize(select.limbs);
        one.address = next;
        for (uint32_t i = 0; i < select.limbs; ++i)
        {
            one.value[i] &= one.mask[i];
        }
        select.cases.push_back(std::move(one));
    }
    auto& selects = m_emitter.GetProgram().selects;
    m_emitter.Emit(P4Op::SELECT_STATE, 0, static_cast<uint32_t>(selects.size()));
    selects.push_back(std::move(select));
}

P4SelectCase
P4ParserCompiler::CompileValueSet(const P4Json& transition,
                                  const P4Select& select,
                                  uint32_t next) const
{
    if (const auto mask = transition.Find("mask"))
    {
        mask->Fail("a parser value set with a mask is not supported");
    }
    P4SelectCase one;
    one.address = next;
    one.valueSet = m_emitter.FindValueSet(transition.Get("value"));
    uint64_t bits = 0;
    for (const auto& part : select.parts)
    {
        bits += part.second;
    }
    if (const uint32_t wanted = m_emitter.GetProgram().valueSets[*one.valueSet].bits;
        wanted != bits)
    {
        transition.Fail(
            fmt::format("the parser value set has {} bits, and the key {}", wanted, bits));
    }
    // They are not looked at, but are as long as those of the other cases.
    one.value.resize(select.limbs);
    one.mask.resize(select.limbs);
    return one;
}

std::optional<uint32_t>
P4ParserCompiler::FindState(const P4Json& transition) const
{
    const auto name = transition.Find("next_state");
    if (!name)
    {
        return std::nullopt;
    }
    const auto found = m_states.find(name->AsText());
    if (found == m_states.end())
    {
        name->Fail(fmt::format("there is no state \"{}\"", name->AsText()));
    }
    return found->second;
}

} // namespace ns3::gradsync
