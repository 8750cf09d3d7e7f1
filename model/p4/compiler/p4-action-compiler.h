// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_P4_ACTION_COMPILER_H
#define GRADSYNC_P4_ACTION_COMPILER_H

#include "ns3/p4-emitter.h"
#include "ns3/p4-expression-compiler.h"

#include <map>
#include <vector>

namespace ns3::gradsync
{

/// Compiles the primitives of one action, or of one parser operation.
class P4ActionCompiler
{
  public:
    /// \param action whose parameters the primitives may name, or null
    P4ActionCompiler(P4Emitter& emitter, const P4Action* action);

    /// Emits a list of primitives and what jumps between them need. \throws P4Error
    void CompileList(const P4Json& primitives);

    /// Copies a field of variable length. \param parameters the two fields
    void CompileVariableCopy(const std::vector<P4Json>& parameters)
    {
        CompileAssignVariable(parameters);
    }

    /// Emits one primitive. \throws P4Error when it is not known
    void CompilePrimitive(const P4Json& primitive);

  private:
    using Parameters = std::vector<P4Json>;
    using Compiler = void (P4ActionCompiler::*)(const Parameters&);

    struct Primitive
    {
        size_t parameters;
        Compiler compile;
    };

    static const std::map<std::string, Primitive>& GetPrimitives();

    void CompileAssign(const Parameters& parameters);
    void CompileAssignHeader(const Parameters& parameters);
    void CompileAssignStack(const Parameters& parameters);
    void CompileAssignVariable(const Parameters& parameters);
    void CompileAssignUnion(const Parameters& parameters);
    void CompileAssignUnionStack(const Parameters& parameters);
    void CompileRegisterRead(const Parameters& parameters);
    void CompileRegisterWrite(const Parameters& parameters);
    void CompileCount(const Parameters& parameters);
    void CompileMarkToDrop(const Parameters& parameters);
    void CompileDrop(const Parameters& parameters);
    void CompileAddHeader(const Parameters& parameters);
    void CompileRemoveHeader(const Parameters& parameters);
    void CompilePush(const Parameters& parameters);
    void CompilePop(const Parameters& parameters);
    void CompileHash(const Parameters& parameters);
    void CompileClone(const Parameters& parameters);
    void CompileResubmit(const Parameters& parameters);
    void CompileRecirculate(const Parameters& parameters);
    void CompileTruncate(const Parameters& parameters);
    void CompileMeter(const Parameters& parameters);
    void CompileDigest(const Parameters& parameters);
    void CompileLog(const Parameters& parameters);
    void CompileRandom(const Parameters& parameters);
    /// Cuts a number without a sign that was written to a field of one limb.
    void CutToWidth(const P4Field& field);
    void CompileExit(const Parameters& parameters);
    void CompileAssert(const Parameters& parameters);
    void CompileJump(const Parameters& parameters);
    void CompileJumpIfZero(const Parameters& parameters);

    /// \throws P4Error unless the two headers' fields have the same widths
    void CheckLayouts(uint32_t to, uint32_t from, const P4Json& where) const;
    void EmitCopyOfStack(uint32_t to, uint32_t from, const P4Json& where);
    /// A push or pop, of a stack of headers or of unions.
    void EmitShift(P4Op ofHeaders, P4Op ofUnions, const Parameters& parameters);
    const P4Field& GetField(const P4Json& parameter) const;
    uint32_t GetHeader(const P4Json& parameter) const;
    uint32_t GetConstant(const P4Json& parameter) const;
    uint32_t GetFieldList(const P4Json& parameter) const;
    uint32_t GetStack(const P4Json& parameter) const;

    P4Emitter& m_emitter;
    P4ExpressionCompiler m_expressions;
    /// Jumps of this action: the instruction, and the primitive that it goes to.
    std::vector<std::pair<uint32_t, P4Json>> m_jumps;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_P4_ACTION_COMPILER_H
