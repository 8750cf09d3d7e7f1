// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/p4-expression-compiler.h"

#include "ns3/p4-limbs.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <utility>

namespace ns3::gradsync
{

P4ExpressionCompiler::P4ExpressionCompiler(P4Emitter& emitter, const P4Action* action)
    : m_emitter(emitter),
      m_action(action)
{
}

P4Value
P4ExpressionCompiler::Compile(const P4Json& node, uint32_t demand)
{
    if (node.Find("op"))
    {
        return CompileOperation(node, demand);
    }
    const std::string type = node.Get("type").AsText();
    const P4Json value = node.Get("value");
    if (type == "expression")
    {
        return Compile(value, demand);
    }
    if (type == "field")
    {
        if (P4Emitter::IsValidity(value))
        {
            const P4Json owner = value.GetItems(2)[0];
            return owner.IsObject()
                       ? CompileValidity(owner)
                       : P4Value{m_emitter.GetProgram().headers[m_emitter.FindHeader(owner)].valid};
        }
        return CompileField(m_emitter.FindField(value));
    }
    if (type == "hexstr")
    {
        auto [number, isNegative] = ParseHexadecimal(value);
        return m_emitter.AddConstant(std::move(number), isNegative);
    }
    if (type == "bool")
    {
        return m_emitter.AddConstant(value.AsBool() ? 1 : 0);
    }
    if (type == "runtime_data" || type == "local")
    {
        const uint32_t count =
            m_action == nullptr ? 0 : static_cast<uint32_t>(m_action->parameterBits.size());
        const uint32_t index = value.AsNumber();
        if (index >= count)
        {
            value.Fail(fmt::format("the action has {} parameters", count));
        }
        uint32_t slot = m_action->slot;
        for (uint32_t i = 0; i < index; ++i)
        {
            slot += limbs::CountFor(m_action->parameterBits[i]);
        }
        const uint32_t bits = m_action->parameterBits[index];
        return {slot, limbs::CountFor(bits), bits};
    }
    if (type == "header")
    {
        return {m_emitter.GetProgram().headers[m_emitter.FindHeader(value)].valid};
    }
    if (type == "stack_field")
    {
        return CompileStackField(value);
    }
    if (type == "union_stack_field")
    {
        return CompileMemberField(value);
    }
    node.Get("type").Fail(fmt::format("a value of type \"{}\" is not supported", type));
}

uint32_t
P4ExpressionCompiler::CompileToLimb(const P4Json& node)
{
    const P4Value value = Compile(node, 64);
    if (value.bits > 64)
    {
        node.Fail("an index or a condition of more than 64 bits is not supported");
    }
    return value.slot;
}

void
P4ExpressionCompiler::CompileTo(const P4Field& field, const P4Json& node)
{
    // BMv2 looks at the whole number to know what a signed field becomes.
    const P4Value value = Compile(node, field.isSigned ? WHOLE : field.bits);
    if (field.isSigned)
    {
        EmitBeyond(field, value);
    }
    EmitStore(field, value);
}

void
P4ExpressionCompiler::EmitBeyond(const P4Field& field, const P4Value& value)
{
    if (SignedBits(value) <= field.bits)
    {
        m_emitter.Emit(P4Op::MOVE, field.beyond, m_emitter.AddConstant(0).slot);
        return;
    }
    // Not less than 2^(bits - 1), and less than 2^bits.
    const auto makeLargest = [this](uint32_t bits) {
        if (bits == 0)
        {
            return m_emitter.AddConstant(0);
        }
        std::vector<uint64_t> largest((bits + 63) / 64, ~uint64_t{0});
        largest.back() = limbs::LowMask((bits - 1) % 64 + 1);
        return m_emitter.AddConstant(std::move(largest));
    };
    const P4Value isBeyond = EmitLess(makeLargest(field.bits - 1), value);
    m_emitter.Emit(P4Op::MOVE, field.beyond, isBeyond.slot);
    if (SignedBits(value) > field.bits + 1)
    {
        const P4Value fits = Negate(EmitLess(makeLargest(field.bits), value));
        m_emitter.Emit(P4Op::AND, field.beyond, field.beyond, fits.slot);
    }
}

void
P4ExpressionCompiler::EmitStore(const P4Field& field, const P4Value& value)
{
    const bool fits = value.isExact && !value.isSigned && value.bits <= field.bits;
    if (field.limbs == 1)
    {
        if (fits || field.bits == 64)
        {
            m_emitter.Emit(P4Op::MOVE, field.slot, value.slot);
        }
        else
        {
            const P4Value mask = m_emitter.AddConstant(limbs::LowMask(field.bits));
            m_emitter.Emit(P4Op::AND, field.slot, value.slot, mask.slot);
        }
        return;
    }
    const uint32_t source = Widen(value, field.limbs);
    m_emitter.EmitWide(P4Op::MOVE_WIDE, field.limbs, field.slot, source, 0);
    if (!fits && field.bits % 64 != 0)
    {
        const P4Value mask = m_emitter.AddConstant(limbs::LowMask(field.bits % 64));
        m_emitter.EmitWide(P4Op::MASK_WIDE, field.limbs, field.slot, field.slot, mask.slot);
    }
}

P4Value
P4ExpressionCompiler::CompileField(const P4Field& field)
{
    if (!field.isSigned)
    {
        return {field.slot, field.limbs, field.bits};
    }
    const uint32_t slot = m_emitter.AllocateTemporary(field.limbs);
    const P4Op op = field.limbs == 1 ? P4Op::SIGN_EXTEND : P4Op::SIGN_EXTEND_WIDE;
    m_emitter.EmitWide(op, field.limbs, slot, field.slot, 0, field.bits);
    const P4Value withSign{slot, field.limbs, field.bits, true};
    const P4Value without{field.slot, field.limbs, field.bits};
    const uint32_t limbs = limbs::CountFor(field.bits + 1);
    return EmitBinary(P4Op::SELECT,
                      P4Op::SELECT_WIDE,
                      without,
                      withSign,
                      {m_emitter.AllocateTemporary(limbs), limbs, field.bits + 1, true},
                      field.beyond);
}

void
P4ExpressionCompiler::AllocateCopy(P4Field& field)
{
    field.slot = m_emitter.AllocateTemporary(field.CountLimbs());
    field.beyond = field.isSigned ? field.slot + field.limbs : 0;
}

P4Value
P4ExpressionCompiler::CompileOperation(const P4Json& node, uint32_t demand)
{
    const std::string op = node.Get("op").AsText();
    if (op == "?")
    {
        return CompileSelect(node, demand);
    }
    if (op == "last_stack_index" || op == "size_stack")
    {
        const auto stack = FindStackOf(node.Get("right"));
        const uint32_t next = m_emitter.GetProgram().stacks[stack].next;
        if (op == "size_stack")
        {
            return {next, 1, 32};
        }
        const uint32_t slot = m_emitter.AllocateTemporary(1);
        m_emitter.Emit(P4Op::LAST_STACK_INDEX, slot, next);
        return {slot, 1, 64};
    }
    if (op == "access_field")
    {
        return CompileAccess(node);
    }
    return node.Find("left") ? CompileBinary(op, node, demand) : CompileUnary(op, node, demand);
}

P4Value
P4ExpressionCompiler::CompileUnary(const std::string& op, const P4Json& node, uint32_t demand)
{
    const P4Json right = node.Get("right");
    if (op == "~")
    {
        return CompileNot(right, demand);
    }
    if (op == "not")
    {
        return Negate(Compile(right));
    }
    if (op == "d2b")
    {
        return CompileToBool(Compile(right));
    }
    if (op == "b2d")
    {
        return Compile(right);
    }
    if (op == "valid")
    {
        return CompileValidity(right);
    }
    if (op == "valid_union")
    {
        return CompileUnionValidity(right);
    }
    node.Get("op").Fail(fmt::format("the operation \"{}\" of one operand is not supported", op));
}

P4Value
P4ExpressionCompiler::CompileBinary(const std::string& op, const P4Json& node, uint32_t demand)
{
    using Self = P4ExpressionCompiler;
    using Compiler = P4Value (*)(Self&, const P4Json&, uint32_t);
    static const std::map<std::string, Compiler> compilers{
        {"+",
         [](Self& self, const P4Json& at, uint32_t bits) {
             return self.CompileSum(P4Op::ADD, P4Op::ADD_WIDE, at, bits);
         }},
        {"-",
         [](Self& self, const P4Json& at, uint32_t bits) {
             return self.CompileSum(P4Op::SUBTRACT, P4Op::SUBTRACT_WIDE, at, bits);
         }},
        {"*",
         [](Self& self, const P4Json& at, uint32_t bits) {
             return self.CompileMultiply(at, bits);
         }},
        {"/",
         [](Self& self, const P4Json& at, uint32_t) {
             return self.CompileDivision(P4Op::DIVIDE, P4Op::DIVIDE_WIDE, at);
         }},
        {"%",
         [](Self& self, const P4Json& at, uint32_t) {
             return self.CompileDivision(P4Op::MODULO, P4Op::MODULO_WIDE, at);
         }},
        {"&",
         [](Self& self, const P4Json& at, uint32_t bits) { return self.CompileAnd(at, bits); }},
        {"and", [](Self& self, const P4Json& at, uint32_t) { return self.CompileAnd(at, WHOLE); }},
        {"|",
         [](Self& self, const P4Json& at, uint32_t bits) {
             return self.CompileOr(P4Op::OR, P4Op::OR_WIDE, at, bits);
         }},
        {"or",
         [](Self& self, const P4Json& at, uint32_t bits) {
             return self.CompileOr(P4Op::OR, P4Op::OR_WIDE, at, bits);
         }},
        {"^",
         [](Self& self, const P4Json& at, uint32_t bits) {
             return self.CompileOr(P4Op::XOR, P4Op::XOR_WIDE, at, bits);
         }},
        {"<<",
         [](Self& self, const P4Json& at, uint32_t bits) {
             return self.CompileShiftLeft(at, bits);
         }},
        {">>", [](Self& self, const P4Json& at, uint32_t) { return self.CompileShiftRight(at); }},
        {"two_comp_mod",
         [](Self& self, const P4Json& at, uint32_t) { return self.CompileSignExtend(at); }},
        {"usat_cast",
         [](Self& self, const P4Json& at, uint32_t) {
             return self.CompileSaturate(P4Op::SATURATE_UNSIGNED, at);
         }},
        {"sat_cast", [](Self& self, const P4Json& at, uint32_t) {
             return self.CompileSaturate(P4Op::SATURATE_SIGNED, at);
         }}};
    const auto found = compilers.find(op);
    return found == compilers.end() ? CompileComparison(op, node)
                                    : found->second(*this, node, demand);
}

P4Value
P4ExpressionCompiler::CompileSignExtend(const P4Json& node)
{
    const uint32_t width = ReadWidth(node.Get("right"));
    const P4Value a = Compile(node.Get("left"), width);
    const P4Value result = MakeResult(node, width, true, WHOLE);
    const P4Op op = result.limbs == 1 ? P4Op::SIGN_EXTEND : P4Op::SIGN_EXTEND_WIDE;
    m_emitter.EmitWide(op, result.limbs, result.slot, Widen(a, result.limbs), 0, width);
    return result;
}

P4Value
P4ExpressionCompiler::CompileSaturate(P4Op op, const P4Json& node)
{
    const uint32_t width = ReadWidth(node.Get("right"));
    const P4Value a = Compile(node.Get("left"));
    // One bit more than either, so that both limits and the value are signed numbers in it.
    const P4Value wide =
        MakeResult(node, uint64_t{std::max(SignedBits(a), width + 1)} + 1, true, WHOLE);
    m_emitter.EmitWide(op, wide.limbs, wide.slot, Widen(a, wide.limbs), 0, width);
    return {wide.slot, wide.limbs, width, op == P4Op::SATURATE_SIGNED};
}

P4Value
P4ExpressionCompiler::CompileSelect(const P4Json& node, uint32_t demand)
{
    const P4Value condition = CompileToBool(Compile(node.Get("cond")));
    const P4Value a = Compile(node.Get("left"), demand);
    const P4Value b = Compile(node.Get("right"), demand);
    const bool isSigned = a.isSigned || b.isSigned;
    const uint32_t bits =
        isSigned ? std::max(SignedBits(a), SignedBits(b)) : std::max(a.bits, b.bits);
    return EmitBinary(P4Op::SELECT,
                      P4Op::SELECT_WIDE,
                      a,
                      b,
                      MakeResult(node, bits, isSigned, demand),
                      condition.slot);
}

P4Value
P4ExpressionCompiler::CompileToBool(const P4Value& value)
{
    if (value.bits == 1 && !value.isSigned)
    {
        return value;
    }
    const P4Value result{m_emitter.AllocateTemporary(1)};
    m_emitter.EmitWide(P4Op::NOT_ZERO_WIDE, value.limbs, result.slot, value.slot, 0);
    return result;
}

P4Value
P4ExpressionCompiler::CompileStackField(const P4Json& pair)
{
    const auto names = pair.GetItems(2);
    return CompileLastField(m_emitter.FindStack(names[0]), names[1]);
}

P4Value
P4ExpressionCompiler::CompileMemberField(const P4Json& triple)
{
    const auto names = triple.GetItems(3);
    return CompileLastField(m_emitter.FindMemberStack(triple), names[2]);
}

P4Value
P4ExpressionCompiler::CompileLastField(uint32_t index, const P4Json& name)
{
    const auto& program = m_emitter.GetProgram();
    const auto& fields = program.headers[program.stacks[index].headers[0]].fields;
    const std::string text = name.AsText();
    const auto found = std::find_if(fields.begin(), fields.end(), [&text](const P4Field& field) {
        return field.name == text;
    });
    if (found == fields.end())
    {
        name.Fail(fmt::format("the stack has no field \"{}\"", text));
    }
    P4Field field = *found;
    AllocateCopy(field);
    const auto position = static_cast<uint32_t>(found - fields.begin());
    m_emitter.EmitWide(P4Op::LAST_STACK_FIELD, field.CountLimbs(), field.slot, index, position);
    return CompileField(field);
}

uint32_t
P4ExpressionCompiler::ReadWidth(const P4Json& node) const
{
    if (node.Get("type").AsText() != "hexstr")
    {
        node.Fail("a constant number of bits is expected");
    }
    const auto [value, isNegative] = ParseHexadecimal(node.Get("value"));
    if (isNegative || CountBits(value) > 32 || value[0] == 0 || value[0] > MAX_BITS)
    {
        node.Get("value").Fail(fmt::format("1 to {} bits are expected", MAX_BITS));
    }
    return static_cast<uint32_t>(value[0]);
}

uint32_t
P4ExpressionCompiler::Widen(const P4Value& value, uint32_t limbs)
{
    if (value.limbs >= limbs)
    {
        return value.slot;
    }
    const uint32_t slot = m_emitter.AllocateTemporary(limbs);
    const P4Op op = value.isSigned ? P4Op::EXTEND_SIGNED_WIDE : P4Op::EXTEND_WIDE;
    m_emitter.EmitWide(op, limbs, slot, value.slot, value.limbs);
    return slot;
}

P4Value
P4ExpressionCompiler::Negate(const P4Value& value)
{
    const P4Value flag = CompileToBool(value);
    const P4Value result{m_emitter.AllocateTemporary(1)};
    m_emitter.Emit(P4Op::LOGICAL_NOT, result.slot, flag.slot);
    return result;
}

P4Value
P4ExpressionCompiler::EmitBinary(P4Op one,
                                 P4Op wide,
                                 const P4Value& a,
                                 const P4Value& b,
                                 P4Value result,
                                 uint32_t condition)
{
    result.isExact = result.isExact && a.isExact && b.isExact;
    const uint32_t left = Widen(a, result.limbs);
    const uint32_t right = Widen(b, result.limbs);
    m_emitter.EmitWide(result.limbs == 1 ? one : wide,
                       result.limbs,
                       result.slot,
                       left,
                       right,
                       condition);
    return result;
}

P4Value
P4ExpressionCompiler::MakeResult(const P4Json& node, uint64_t bits, bool isSigned, uint32_t demand)
{
    const uint64_t needed = std::min<uint64_t>(bits, demand);
    if (needed > MAX_BITS)
    {
        node.Fail(fmt::format("this needs numbers of {} bits; at most {} are supported",
                              needed,
                              MAX_BITS));
    }
    P4Value result;
    result.limbs = limbs::CountFor(needed);
    result.slot = m_emitter.AllocateTemporary(result.limbs);
    // Beyond its limbs a number that was cut is not known.
    result.isExact = bits <= 64 * uint64_t{result.limbs};
    result.bits = static_cast<uint32_t>(std::min<uint64_t>(bits, 64 * uint64_t{result.limbs}));
    result.isSigned = isSigned;
    return result;
}

} // namespace ns3::gradsync
