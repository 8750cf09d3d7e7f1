// SPDX-License-Identifier: GPL-2.0-only
// The part of P4ExpressionCompiler that compiles operations on two numbers.
#include "ns3/p4-expression-compiler.h"
#include "ns3/p4-limbs.h"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace ns3::gradsync
{

namespace
{

/// All of the lowest bits are ones.
bool
IsAllOnes(const std::vector<uint64_t>& value)
{
    const uint32_t bits = CountBits(value);
    for (uint32_t i = 0; i < bits / 64; ++i)
    {
        if (~value[i] != 0)
        {
            return false;
        }
    }
    return bits % 64 == 0 || value[bits / 64] == limbs::LowMask(bits % 64);
}

} // namespace

P4Value
P4ExpressionCompiler::CompileSum(P4Op one, P4Op wide, const P4Json& node, uint32_t demand)
{
    const P4Value a = Compile(node.Get("left"), demand);
    const P4Value b = Compile(node.Get("right"), demand);
    const bool isSigned = one == P4Op::SUBTRACT || a.isSigned || b.isSigned;
    const uint64_t bits =
        1 + uint64_t{isSigned ? std::max(SignedBits(a), SignedBits(b)) : std::max(a.bits, b.bits)};
    return EmitBinary(one, wide, a, b, MakeResult(node, bits, isSigned, demand));
}

P4Value
P4ExpressionCompiler::CompileMultiply(const P4Json& node, uint32_t demand)
{
    const P4Value a = Compile(node.Get("left"), demand);
    const P4Value b = Compile(node.Get("right"), demand);
    return EmitBinary(P4Op::MULTIPLY,
                      P4Op::MULTIPLY_WIDE,
                      a,
                      b,
                      MakeResult(node,
                                 uint64_t{SignedBits(a)} + SignedBits(b),
                                 a.isSigned || b.isSigned,
                                 demand));
}

P4Value
P4ExpressionCompiler::CompileDivision(P4Op one, P4Op wide, const P4Json& node)
{
    const P4Value a = Compile(node.Get("left"));
    const P4Value b = Compile(node.Get("right"));
    if (a.isSigned || b.isSigned)
    {
        node.Fail("division of signed numbers is not supported");
    }
    const P4Value result = MakeResult(node, std::max(a.bits, b.bits), false, WHOLE);
    const uint32_t left = Widen(a, result.limbs);
    const uint32_t right = Widen(b, result.limbs);
    m_emitter.EmitWide(result.limbs == 1 ? one : wide, result.limbs, result.slot, left, right);
    return result;
}

P4Value
P4ExpressionCompiler::CompileAnd(const P4Json& node, uint32_t demand)
{
    const P4Value b = Compile(node.Get("right"), demand);
    const bool isMask = b.isConstant && !b.isSigned;
    const P4Value a = Compile(node.Get("left"), isMask ? std::min(demand, b.bits) : demand);
    if (isMask && IsAllOnes(m_emitter.GetConstant(b)))
    {
        if (a.isExact && !a.isSigned && a.bits <= b.bits)
        {
            return a;
        }
        if (b.bits % 64 == 0 && a.limbs >= b.limbs)
        {
            return {a.slot, b.limbs, b.bits};
        }
    }
    const bool isSigned = a.isSigned && b.isSigned;
    uint32_t bits = std::max(a.bits, b.bits);
    // An unsigned operand bounds the result, as long as it is right in all its bits.
    for (const auto& value : {a, b})
    {
        if (!value.isSigned && value.isExact)
        {
            bits = std::min(bits, value.bits);
        }
    }
    P4Value result = MakeResult(node, bits, isSigned, demand);
    result.isExact = result.isExact && (isMask || (a.isExact && b.isExact));
    const uint32_t left = Widen(a, result.limbs);
    const uint32_t right = Widen(b, result.limbs);
    const P4Op op = result.limbs == 1 ? P4Op::AND : P4Op::AND_WIDE;
    m_emitter.EmitWide(op, result.limbs, result.slot, left, right);
    return result;
}

P4Value
P4ExpressionCompiler::CompileOr(P4Op one, P4Op wide, const P4Json& node, uint32_t demand)
{
    const P4Value a = Compile(node.Get("left"), demand);
    const P4Value b = Compile(node.Get("right"), demand);
    const bool isSigned = a.isSigned || b.isSigned;
    const uint32_t bits =
        isSigned ? std::max(SignedBits(a), SignedBits(b)) : std::max(a.bits, b.bits);
    return EmitBinary(one, wide, a, b, MakeResult(node, bits, isSigned, demand));
}

P4Value
P4ExpressionCompiler::CompileNot(const P4Json& node, uint32_t demand)
{
    const P4Value a = Compile(node, demand);
    P4Value result = MakeResult(node, SignedBits(a), true, demand);
    result.isExact = result.isExact && a.isExact;
    const P4Op op = result.limbs == 1 ? P4Op::NOT : P4Op::NOT_WIDE;
    m_emitter.EmitWide(op, result.limbs, result.slot, Widen(a, result.limbs), 0);
    return result;
}

P4Value
P4ExpressionCompiler::CompileShiftLeft(const P4Json& node, uint32_t demand)
{
    const P4Value a = Compile(node.Get("left"), demand);
    const P4Value b = Compile(node.Get("right"));
    if (b.isSigned || b.limbs > 1)
    {
        node.Get("right").Fail(
            "only an unsigned number of at most 64 bits can tell how far to shift");
    }
    const uint64_t shift = b.isConstant ? m_emitter.GetConstant(b)[0]
                                        : (b.bits < 32 ? limbs::LowMask(b.bits) : MAX_BITS);
    P4Value result = MakeResult(node, a.bits + std::min(shift, 2 * MAX_BITS), a.isSigned, demand);
    result.isExact = result.isExact && a.isExact;
    const uint32_t left = Widen(a, result.limbs);
    const P4Op op = result.limbs == 1 ? P4Op::SHIFT_LEFT : P4Op::SHIFT_LEFT_WIDE;
    m_emitter.EmitWide(op, result.limbs, result.slot, left, b.slot);
    return result;
}

P4Value
P4ExpressionCompiler::CompileShiftRight(const P4Json& node)
{
    const P4Value a = Compile(node.Get("left"));
    const P4Value b = Compile(node.Get("right"));
    if (b.isSigned || b.limbs > 1)
    {
        node.Get("right").Fail(
            "only an unsigned number of at most 64 bits can tell how far to shift");
    }
    const P4Value result = MakeResult(node, a.bits, a.isSigned, WHOLE);
    const uint32_t left = Widen(a, result.limbs);
    const P4Op one = a.isSigned ? P4Op::SHIFT_RIGHT_SIGNED : P4Op::SHIFT_RIGHT;
    const P4Op wide = a.isSigned ? P4Op::SHIFT_RIGHT_SIGNED_WIDE : P4Op::SHIFT_RIGHT_WIDE;
    m_emitter.EmitWide(result.limbs == 1 ? one : wide, result.limbs, result.slot, left, b.slot);
    return result;
}

P4Value
P4ExpressionCompiler::CompileComparison(const std::string& op, const P4Json& node)
{
    static const std::vector<std::string> known{"==", "!=", "<", ">=", ">", "<="};
    if (std::find(known.begin(), known.end(), op) == known.end())
    {
        node.Get("op").Fail(fmt::format("the operation \"{}\" is not supported", op));
    }
    if (const auto equal = op == "==" || op == "!=" ? CompileHeaderComparison(node) : std::nullopt)
    {
        return op == "==" ? *equal : Negate(*equal);
    }
    P4Value a = Compile(node.Get("left"));
    P4Value b = Compile(node.Get("right"));
    if (op == ">" || op == "<=")
    {
        std::swap(a, b);
    }
    const P4Value result = op == "==" || op == "!=" ? EmitEqual(a, b) : EmitLess(a, b);
    return op == "!=" || op == ">=" || op == "<=" ? Negate(result) : result;
}

P4Value
P4ExpressionCompiler::EmitEqual(const P4Value& a, const P4Value& b)
{
    return EmitComparison(P4Op::EQUAL, P4Op::EQUAL_WIDE, a, b);
}

P4Value
P4ExpressionCompiler::EmitLess(const P4Value& a, const P4Value& b)
{
    return a.isSigned || b.isSigned
               ? EmitComparison(P4Op::LESS_SIGNED, P4Op::LESS_SIGNED_WIDE, a, b)
               : EmitComparison(P4Op::LESS, P4Op::LESS_WIDE, a, b);
}

P4Value
P4ExpressionCompiler::EmitComparison(P4Op one, P4Op wide, const P4Value& a, const P4Value& b)
{
    const uint32_t bits = a.isSigned || b.isSigned ? std::max(SignedBits(a), SignedBits(b))
                                                   : std::max(a.bits, b.bits);
    const uint32_t n = limbs::CountFor(bits);
    const uint32_t left = Widen(a, n);
    const uint32_t right = Widen(b, n);
    const P4Value result{m_emitter.AllocateTemporary(1)};
    m_emitter.EmitWide(n == 1 ? one : wide, n, result.slot, left, right);
    return result;
}

} // namespace ns3::gradsync
