// SPDX-License-Identifier: GPL-2.0-only
// The part of P4ExpressionCompiler that finds headers, some of them at run time.
#include "ns3/p4-expression-compiler.h"
#include "ns3/p4-limbs.h"

#include <algorithm>
#include <fmt/format.h>

namespace ns3::gradsync
{

namespace
{

/// What is in expressions that are nested without an operation.
P4Json
Unwrap(P4Json node)
{
    while (!node.Find("op") && node.Get("type").AsText() == "expression")
    {
        node = node.Get("value");
    }
    return node;
}

bool
HasOperation(const P4Json& node, const std::string& operation)
{
    const auto op = node.Find("op");
    return op && op->AsText() == operation;
}

bool
IsStackHeader(const P4Json& node)
{
    return HasOperation(node, "dereference_header_stack") ||
           HasOperation(node, "dereference_stack");
}

} // namespace

P4HeaderValue
P4ExpressionCompiler::CompileHeader(const P4Json& outer)
{
    const P4Json node = Unwrap(outer);
    if (HasOperation(node, "?"))
    {
        return CompileHeaderSelect(node);
    }
    if (IsStackHeader(node))
    {
        const uint32_t stack = FindStackOf(Unwrap(node.Get("left")));
        const uint32_t index = CompileToLimb(node.Get("right"));
        const uint32_t slot = m_emitter.AllocateTemporary(1);
        m_emitter.Emit(P4Op::STACK_HEADER, slot, stack, index);
        return {m_emitter.GetProgram().stacks[stack].headers[0], slot};
    }
    if (const auto op = node.Find("op"))
    {
        op->Fail(fmt::format("a header by the operation \"{}\" is not supported", op->AsText()));
    }
    const P4Json type = node.Get("type");
    if (type.AsText() == "header")
    {
        return {m_emitter.FindHeader(node.Get("value")), std::nullopt};
    }
    if (type.AsText() == "stack_field" && node.Get("value").GetItems(2)[1].AsText() == "last")
    {
        // p4c's way to say stack.last where a header is expected.
        const uint32_t stack = m_emitter.FindStack(node.Get("value").GetItems(2)[0]);
        const uint32_t slot = m_emitter.AllocateTemporary(1);
        m_emitter.Emit(P4Op::LAST_STACK_HEADER, slot, stack);
        return {m_emitter.GetProgram().stacks[stack].headers[0], slot};
    }
    type.Fail(fmt::format("a header is expected, not a \"{}\"", type.AsText()));
}

P4HeaderValue
P4ExpressionCompiler::CompileHeaderSelect(const P4Json& node)
{
    const P4Value condition = CompileToBool(Compile(node.Get("cond")));
    const P4HeaderValue a = CompileHeader(node.Get("left"));
    const P4HeaderValue b = CompileHeader(node.Get("right"));
    const auto& headers = m_emitter.GetProgram().headers;
    if (!headers[a.header].HasLayoutOf(headers[b.header]))
    {
        node.Fail("the two headers have different types");
    }
    const uint32_t slot = m_emitter.AllocateTemporary(1);
    m_emitter.Emit(P4Op::SELECT, slot, GetHeaderSlot(a), GetHeaderSlot(b), condition.slot);
    return {a.header, slot};
}

uint32_t
P4ExpressionCompiler::GetHeaderSlot(const P4HeaderValue& header)
{
    return header.slot ? *header.slot : m_emitter.AddConstant(header.header).slot;
}

uint32_t
P4ExpressionCompiler::FindStackOf(const P4Json& node) const
{
    const P4Json type = node.Get("type");
    if (type.AsText() == "header_union_stack")
    {
        // Stacks of a union's members have one length.
        const uint32_t index = m_emitter.FindUnionStack(node.Get("value"));
        return m_emitter.GetProgram().unionStacks[index].firstStack;
    }
    if (type.AsText() != "header_stack")
    {
        type.Fail(fmt::format("a header stack is expected, not a \"{}\"", type.AsText()));
    }
    return m_emitter.FindStack(node.Get("value"));
}

P4Value
P4ExpressionCompiler::CompileValidity(const P4Json& node)
{
    const P4HeaderValue header = CompileHeader(node);
    if (!header.slot)
    {
        return {m_emitter.GetProgram().headers[header.header].valid};
    }
    const P4Value result{m_emitter.AllocateTemporary(1)};
    m_emitter.Emit(P4Op::VALID_AT, result.slot, *header.slot);
    return result;
}

P4Value
P4ExpressionCompiler::CompileUnionValidity(const P4Json& node)
{
    const P4Json inner = Unwrap(node);
    const auto& program = m_emitter.GetProgram();
    const uint32_t index = m_emitter.FindUnion(inner.Get("value"));
    const P4Value result{m_emitter.AllocateTemporary(1)};
    m_emitter.Emit(P4Op::MOVE, result.slot, m_emitter.AddConstant(0).slot);
    for (const uint32_t header : program.unions[index].headers)
    {
        m_emitter.Emit(P4Op::OR, result.slot, result.slot, program.headers[header].valid);
    }
    return result;
}

std::optional<P4Value>
P4ExpressionCompiler::CompileHeaderComparison(const P4Json& node)
{
    const P4Json left = Unwrap(node.Get("left"));
    const auto type = left.Find("type");
    if (type && type->AsText() == "header_union")
    {
        return CompileUnionComparison(node);
    }
    if (type && type->AsText() == "header_union_stack")
    {
        type->Fail("comparing stacks of header unions is not supported");
    }
    if (IsStackHeader(left))
    {
        node.Fail("comparing headers that a variable index finds is not supported");
    }
    if (!type || type->AsText() != "header")
    {
        return std::nullopt;
    }
    return EmitHeaderComparison(m_emitter.FindHeader(left.Get("value")),
                                m_emitter.FindHeader(Unwrap(node.Get("right")).Get("value")),
                                node);
}

P4Value
P4ExpressionCompiler::CompileUnionComparison(const P4Json& node)
{
    // As BMv2: equal when the same member is valid in both, and equal; two that are not valid
    // differ.
    const auto& unions = m_emitter.GetProgram().unions;
    const auto find = [&](const std::string& side) {
        return unions[m_emitter.FindUnion(Unwrap(node.Get(side)).Get("value"))].headers;
    };
    const auto left = find("left");
    const auto right = find("right");
    if (left.size() != right.size())
    {
        node.Fail("the two header unions have different types");
    }
    const P4Value result{m_emitter.AllocateTemporary(1)};
    m_emitter.Emit(P4Op::MOVE, result.slot, m_emitter.AddConstant(0).slot);
    for (size_t i = 0; i < left.size(); ++i)
    {
        const P4Value equal = EmitHeaderComparison(left[i], right[i], node);
        m_emitter.Emit(P4Op::OR, result.slot, result.slot, equal.slot);
    }
    return result;
}

P4Value
P4ExpressionCompiler::EmitHeaderComparison(uint32_t left, uint32_t right, const P4Json& where)
{
    const auto& headers = m_emitter.GetProgram().headers;
    const P4Header& a = headers[left];
    const P4Header& b = headers[right];
    if (!a.HasLayoutOf(b))
    {
        where.Fail("the two headers have different types");
    }
    // Headers are equal when both are valid and all fields are.
    const P4Value result{m_emitter.AllocateTemporary(1)};
    m_emitter.EmitWide(P4Op::EQUAL_WIDE, a.limbs, result.slot, a.slot, b.slot);
    m_emitter.Emit(P4Op::AND, result.slot, result.slot, a.valid);
    m_emitter.Emit(P4Op::AND, result.slot, result.slot, b.valid);
    return result;
}

const P4Field&
P4ExpressionCompiler::CompileFieldOwner(const P4Json& node, uint32_t& slot)
{
    const P4HeaderValue header = CompileHeader(node.Get("left"));
    const auto& fields = m_emitter.GetProgram().headers[header.header].fields;
    const P4Json position = node.Get("right");
    if (position.AsNumber() >= fields.size())
    {
        position.Fail(fmt::format("the header has {} fields", fields.size()));
    }
    slot = GetHeaderSlot(header);
    return fields[position.AsNumber()];
}

P4Value
P4ExpressionCompiler::CompileAccess(const P4Json& node)
{
    uint32_t owner = 0;
    P4Field field = CompileFieldOwner(node, owner);
    AllocateCopy(field);
    m_emitter.EmitWide(P4Op::LOAD_FIELD_AT,
                       field.CountLimbs(),
                       field.slot,
                       owner,
                       node.Get("right").AsNumber());
    return CompileField(field);
}

P4Target
P4ExpressionCompiler::CompileTarget(const P4Json& outer)
{
    const P4Json node = Unwrap(outer);
    P4Target target;
    if (HasOperation(node, "access_field"))
    {
        uint32_t owner = 0;
        target.field = CompileFieldOwner(node, owner);
        target.owner = owner;
        target.position = node.Get("right").AsNumber();
        AllocateCopy(target.field);
        m_emitter.EmitWide(P4Op::LOAD_FIELD_AT,
                           target.field.CountLimbs(),
                           target.field.slot,
                           owner,
                           target.position);
    }
    else if (node.Find("op") || node.Get("type").AsText() != "field")
    {
        outer.Get("type").Fail("only a field can be written to");
    }
    else
    {
        target.field = m_emitter.FindField(node.Get("value"));
    }
    if (target.field.isVariable)
    {
        outer.Fail("a field of variable length (varbit) can only be copied as a whole");
    }
    return target;
}

void
P4ExpressionCompiler::Finish(const P4Target& target)
{
    if (target.owner)
    {
        m_emitter.EmitWide(P4Op::STORE_FIELD_AT,
                           target.field.CountLimbs(),
                           target.field.slot,
                           *target.owner,
                           target.position);
    }
}

} // namespace ns3::gradsync
