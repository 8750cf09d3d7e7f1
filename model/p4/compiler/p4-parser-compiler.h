// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_P4_PARSER_COMPILER_H
#define GRADSYNC_P4_PARSER_COMPILER_H

#include "ns3/p4-emitter.h"

#include <map>
#include <optional>
#include <string>

namespace ns3::gradsync
{

/// Compiles the parser: a state becomes a run of instructions and a transition by its key.
class P4ParserCompiler
{
  public:
    explicit P4ParserCompiler(P4Emitter& emitter);

    /// Emits a parser; returns where it begins. \throws P4Error
    uint32_t Compile(const P4Json& parser);

  private:
    void CompileState(const P4Json& state);
    void CompileOperation(const P4Json& operation);
    /// \param length of the header's field of variable length, if it has one
    void CompileExtract(const P4Json& target, const std::optional<P4Json>& length);
    void CompileSet(const P4Json& operation);
    void CompileAdvance(const P4Json& amount);
    void CompileVerify(const P4Json& operation);
    void CompileTransition(const P4Json& state);
    P4SelectCase CompileValueSet(const P4Json& transition,
                                 const P4Select& select,
                                 uint32_t next) const;
    /// Slot and bits of one part of a transition's key.
    std::pair<uint32_t, uint32_t> CompileKey(const P4Json& part);
    /// Emits code that reads ahead; the result is in a temporary.
    std::pair<uint32_t, uint32_t> CompileLookahead(const P4Json& pair);
    /// Index of a state that a transition names; nothing at the parser's end.
    std::optional<uint32_t> FindState(const P4Json& transition) const;

    P4Emitter& m_emitter;
    std::map<std::string, uint32_t> m_states;
    std::vector<uint32_t> m_addresses;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_P4_PARSER_COMPILER_H
