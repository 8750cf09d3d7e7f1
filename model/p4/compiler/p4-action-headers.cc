// SPDX-License-Identifier: GPL-2.0-only
// The part of P4ActionCompiler for primitives on headers, stacks and unions as wholes.
#include "ns3/p4-action-compiler.h"

#include <fmt/format.h>

namespace ns3::gradsync
{

void
P4ActionCompiler::CompileAssignVariable(const Parameters& parameters)
{
    const auto& headers = m_emitter.GetProgram().headers;
    const auto find = [this, &headers](const P4Json& parameter, uint32_t& bits) {
        const P4Field& field = GetField(parameter);
        bits = headers[m_emitter.FindHeader(parameter.Get("value").GetItems(2)[0])].variableBits;
        return field;
    };
    uint32_t toBits = 0;
    uint32_t fromBits = 0;
    const P4Field to = find(parameters[0], toBits);
    const P4Field from = find(parameters[1], fromBits);
    if (!to.isVariable || !from.isVariable || to.bits != from.bits)
    {
        parameters[1].Fail("two fields of variable length (varbit) of one type are expected");
    }
    m_emitter.EmitWide(P4Op::MOVE_WIDE, to.limbs, to.slot, from.slot, 0);
    m_emitter.Emit(P4Op::MOVE, toBits, fromBits);
}

void
P4ActionCompiler::CompileAssignHeader(const Parameters& parameters)
{
    const P4HeaderValue to = m_expressions.CompileHeader(parameters[0]);
    const P4HeaderValue from = m_expressions.CompileHeader(parameters[1]);
    CheckLayouts(to.header, from.header, parameters[1]);
    if (to.slot || from.slot)
    {
        m_emitter.Emit(P4Op::COPY_HEADER_AT,
                       m_expressions.GetHeaderSlot(to),
                       m_expressions.GetHeaderSlot(from));
        return;
    }
    m_emitter.Emit(P4Op::COPY_HEADER, to.header, from.header);
}

void
P4ActionCompiler::CompileAssignUnion(const Parameters& parameters)
{
    const auto& unions = m_emitter.GetProgram().unions;
    const auto& to = unions[m_emitter.FindUnion(parameters[0].Get("value"))].headers;
    const auto& from = unions[m_emitter.FindUnion(parameters[1].Get("value"))].headers;
    if (to.size() != from.size())
    {
        parameters[1].Fail("the header unions have different types");
    }
    for (size_t i = 0; i < to.size(); ++i)
    {
        CheckLayouts(to[i], from[i], parameters[1]);
        m_emitter.Emit(P4Op::COPY_HEADER, to[i], from[i]);
    }
}

void
P4ActionCompiler::CompileAssignUnionStack(const Parameters& parameters)
{
    const auto& program = m_emitter.GetProgram();
    const auto& to = program.unionStacks[m_emitter.FindUnionStack(parameters[0].Get("value"))];
    const auto& from = program.unionStacks[m_emitter.FindUnionStack(parameters[1].Get("value"))];
    if (to.members.size() != from.members.size())
    {
        parameters[1].Fail("the header unions have different types");
    }
    for (uint32_t i = 0; i < to.members.size(); ++i)
    {
        EmitCopyOfStack(to.firstStack + i, from.firstStack + i, parameters[1]);
    }
}

void
P4ActionCompiler::CompileAssignStack(const Parameters& parameters)
{
    EmitCopyOfStack(GetStack(parameters[0]), GetStack(parameters[1]), parameters[1]);
}

void
P4ActionCompiler::CompileAddHeader(const Parameters& parameters)
{
    const P4HeaderValue header = m_expressions.CompileHeader(parameters[0]);
    if (header.slot)
    {
        m_emitter.Emit(P4Op::SET_VALID_AT, 0, *header.slot);
        return;
    }
    m_emitter.Emit(P4Op::SET_VALID, header.header);
}

void
P4ActionCompiler::CompileRemoveHeader(const Parameters& parameters)
{
    const P4HeaderValue header = m_expressions.CompileHeader(parameters[0]);
    if (header.slot)
    {
        m_emitter.Emit(P4Op::SET_INVALID_AT, 0, *header.slot);
        return;
    }
    m_emitter.Emit(P4Op::SET_INVALID, header.header);
}

void
P4ActionCompiler::CompilePush(const Parameters& parameters)
{
    EmitShift(P4Op::PUSH, P4Op::PUSH_UNION, parameters);
}

void
P4ActionCompiler::CompilePop(const Parameters& parameters)
{
    EmitShift(P4Op::POP, P4Op::POP_UNION, parameters);
}

void
P4ActionCompiler::EmitShift(P4Op ofHeaders, P4Op ofUnions, const Parameters& parameters)
{
    const bool isUnion = parameters[0].Get("type").AsText() == "header_union_stack";
    const uint32_t stack =
        isUnion ? m_emitter.FindUnionStack(parameters[0].Get("value")) : GetStack(parameters[0]);
    m_emitter.Emit(isUnion ? ofUnions : ofHeaders, stack, GetConstant(parameters[1]));
}

void
P4ActionCompiler::EmitCopyOfStack(uint32_t to, uint32_t from, const P4Json& where)
{
    const auto& stacks = m_emitter.GetProgram().stacks;
    if (stacks[to].headers.size() != stacks[from].headers.size())
    {
        where.Fail("the header stacks have different sizes");
    }
    CheckLayouts(stacks[to].headers[0], stacks[from].headers[0], where);
    m_emitter.Emit(P4Op::COPY_STACK, to, from);
}

void
P4ActionCompiler::CheckLayouts(uint32_t to, uint32_t from, const P4Json& where) const
{
    const auto& headers = m_emitter.GetProgram().headers;
    if (!headers[to].HasLayoutOf(headers[from]))
    {
        where.Fail("the headers have different types");
    }
}

} // namespace ns3::gradsync
