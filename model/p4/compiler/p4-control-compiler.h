// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_P4_CONTROL_COMPILER_H
#define GRADSYNC_P4_CONTROL_COMPILER_H

#include "ns3/p4-emitter.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace ns3::gradsync
{

/// Compiles one control flow (ingress or egress): tables, conditions and calls of actions.
class P4ControlCompiler
{
  public:
    /// \param actionOfId indices of the program's actions by their ids
    P4ControlCompiler(P4Emitter& emitter, const std::map<uint32_t, uint32_t>& actionOfId);

    /// Emits a pipeline; returns where it begins. \throws P4Error
    uint32_t Compile(const P4Json& pipeline);

  private:
    void AddNode(const P4Json& node);
    void CompileConditional(const P4Json& node);
    void CompileCall(const P4Json& node);
    void CompileTable(const P4Json& node);
    void LoadProfile(const P4Json& node);
    /// Action profile and meters of a table's entries.
    void LoadTargets(P4Table& table, const P4Json& node);
    void LoadKeys(P4Table& table, const P4Json& node);
    void LoadActions(P4Table& table, const P4Json& node);
    void LoadDefault(P4Table& table, const P4Json& node);
    void LoadEntries(P4Table& table, const P4Json& node);
    P4EntryKey LoadEntryKey(const P4TableKey& key, const P4Json& node) const;
    /// Action and parameters of a default or constant entry.
    void LoadActionEntry(const P4Table& table,
                         P4TableEntry& entry,
                         const P4Json& id,
                         const P4Json& data) const;
    uint32_t FindAction(const P4Json& id) const;
    /// Address of the node that a member names; 0, the end, when it is null or missing.
    uint32_t FindNode(const P4Json& parent, const std::string& member) const;

    P4Emitter& m_emitter;
    const std::map<uint32_t, uint32_t>& m_actionOfId;
    std::map<std::string, uint32_t> m_addresses;
    /// Jumps to nodes: the instruction, the object and the member that names the node.
    std::vector<std::pair<uint32_t, std::pair<P4Json, std::string>>> m_jumps;
    std::vector<std::pair<uint32_t, P4Json>> m_tables;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_P4_CONTROL_COMPILER_H
