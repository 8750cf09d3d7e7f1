// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_P4_EXPRESSION_COMPILER_H
#define GRADSYNC_P4_EXPRESSION_COMPILER_H

#include "ns3/p4-emitter.h"

#include <limits>
#include <optional>

namespace ns3::gradsync
{

/// A header while a program is compiled: itself, or one of its type that is found at run time.
struct P4HeaderValue
{
    uint32_t header = 0;
    /// Where the index of the header will be, if it is not known before.
    std::optional<uint32_t> slot;
};

/// A field that is written to. That of a header found at run time is a copy until it is finished.
struct P4Target
{
    P4Field field;
    /// Slot of the header's index, and the field's position in it.
    std::optional<uint32_t> owner;
    uint32_t position = 0;
};

/**
 * Compiles the expressions of BMv2 JSON, whose arithmetic has no bounds, to instructions on as many
 * limbs as can matter: a result that is masked or stored to 2,048 bits is computed modulo 2^2048.
 */
class P4ExpressionCompiler
{
  public:
    /// \param action the action whose parameters the expression may name, or null
    explicit P4ExpressionCompiler(P4Emitter& emitter, const P4Action* action = nullptr);

    /**
     * Emits code that evaluates a type-value object.
     * \param demand the lowest bits of the result that will be used
     * \throws P4Error for an operation that is not known, or that needs too wide a number
     */
    P4Value Compile(const P4Json& node, uint32_t demand = WHOLE);
    /// The same for an index or a condition: the value as one unsigned limb.
    uint32_t CompileToLimb(const P4Json& node);
    /// Emits code that stores a type-value object in a field, cut to its width.
    void CompileTo(const P4Field& field, const P4Json& node);

    /// Emits code that finds a header: by name, in a stack by an index, or by a condition.
    P4HeaderValue CompileHeader(const P4Json& node);
    /// The slot in which the index of a header is.
    uint32_t GetHeaderSlot(const P4HeaderValue& header);
    /// A field that a primitive writes to; Finish() follows when it is written.
    P4Target CompileTarget(const P4Json& node);
    void Finish(const P4Target& target);

    /// Demand for the exact value.
    static constexpr uint32_t WHOLE = std::numeric_limits<uint32_t>::max();

  private:
    /// Four times the widest field that p4c makes.
    static constexpr uint64_t MAX_BITS = 8192;

    /// Bits as a signed number.
    static uint32_t SignedBits(const P4Value& value)
    {
        return value.bits + (value.isSigned ? 0 : 1);
    }

    P4Value CompileField(const P4Field& field);
    /// The part of CompileTo that stores a number's lowest bits.
    void EmitStore(const P4Field& field, const P4Value& value);
    /// Emits what P4Field::beyond says of a number that is stored.
    void EmitBeyond(const P4Field& field, const P4Value& value);
    P4Value EmitEqual(const P4Value& a, const P4Value& b);
    /// Whether a is less than b.
    P4Value EmitLess(const P4Value& a, const P4Value& b);
    P4Value EmitComparison(P4Op one, P4Op wide, const P4Value& a, const P4Value& b);
    /// A place of its own for a copy of a field.
    void AllocateCopy(P4Field& field);
    P4Value CompileOperation(const P4Json& node, uint32_t demand);
    P4Value CompileUnary(const std::string& op, const P4Json& node, uint32_t demand);
    P4Value CompileBinary(const std::string& op, const P4Json& node, uint32_t demand);
    P4Value CompileSum(P4Op one, P4Op wide, const P4Json& node, uint32_t demand);
    P4Value CompileMultiply(const P4Json& node, uint32_t demand);
    P4Value CompileDivision(P4Op one, P4Op wide, const P4Json& node);
    P4Value CompileAnd(const P4Json& node, uint32_t demand);
    P4Value CompileOr(P4Op one, P4Op wide, const P4Json& node, uint32_t demand);
    P4Value CompileNot(const P4Json& node, uint32_t demand);
    P4Value CompileShiftLeft(const P4Json& node, uint32_t demand);
    P4Value CompileShiftRight(const P4Json& node);
    P4Value CompileComparison(const std::string& op, const P4Json& node);
    P4Value CompileSignExtend(const P4Json& node);
    P4Value CompileSaturate(P4Op op, const P4Json& node);
    P4Value CompileSelect(const P4Json& node, uint32_t demand);
    P4Value CompileToBool(const P4Value& value);
    P4Value CompileStackField(const P4Json& pair);
    P4Value CompileMemberField(const P4Json& names);
    P4Value CompileLastField(uint32_t stack, const P4Json& name);
    P4HeaderValue CompileHeaderSelect(const P4Json& node);
    P4Value CompileValidity(const P4Json& node);
    P4Value CompileUnionValidity(const P4Json& node);
    /// Whether two headers are equal; nothing when the operands are no headers.
    std::optional<P4Value> CompileHeaderComparison(const P4Json& node);
    P4Value CompileUnionComparison(const P4Json& node);
    P4Value EmitHeaderComparison(uint32_t left, uint32_t right, const P4Json& where);
    /// The field of an access_field operation, and the slot that has its header's index.
    const P4Field& CompileFieldOwner(const P4Json& node, uint32_t& slot);
    P4Value CompileAccess(const P4Json& node);
    uint32_t FindStackOf(const P4Json& node) const;

    /// The constant that a node is, as one limb. \throws P4Error when it is none
    uint32_t ReadWidth(const P4Json& node) const;
    /// The same value in exactly so many limbs.
    uint32_t Widen(const P4Value& value, uint32_t limbs);
    P4Value Negate(const P4Value& value);
    /// A new temporary for a result that needs so many bits, of which `demand` matter.
    P4Value MakeResult(const P4Json& node, uint64_t bits, bool isSigned, uint32_t demand);
    /// Emits an operation on two values as wide as its result, which is exact if they are too.
    P4Value EmitBinary(P4Op one,
                       P4Op wide,
                       const P4Value& a,
                       const P4Value& b,
                       P4Value result,
                       uint32_t condition = 0);

    P4Emitter& m_emitter;
    const P4Action* m_action;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_P4_EXPRESSION_COMPILER_H
