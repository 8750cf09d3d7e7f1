// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_P4_COMMAND_WRITER_H
#define GRADSYNC_P4_COMMAND_WRITER_H

#include "ns3/p4-pipeline.h"
#include "ns3/p4-program.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace ns3::gradsync
{

/// A key of an entry in words of simple_switch_CLI: a value, and its mask, prefix length or end.
struct P4ControlKey
{
    std::string value;
    std::optional<std::string> other;
};

/// An entry by names, in whatever order, as other forms of configuration have it.
struct P4ControlEntry
{
    std::string table;
    std::map<std::string, P4ControlKey> keys; //!< keys that are left out match anything
    bool isDefault = false;
    uint32_t priority = 0; //!< the largest wins
    std::string action;
    std::map<std::string, std::string> parameters;
    std::optional<std::pair<P4EntryTarget, uint32_t>> member; //!< in place of the action
};

/// Writes other forms of configuration as commands of simple_switch_CLI for a new switch.
class P4CommandWriter
{
  public:
    /// \param program must outlive this
    explicit P4CommandWriter(const P4Program& program);

    /// All of these \throws P4Error when the program does not have what is named.
    void AddEntry(const P4ControlEntry& entry);
    void AddGroup(uint32_t group, const std::vector<P4Replica>& replicas);
    /// A session that copies to all replicas, by a multicast group of its own as BMv2 has it.
    void AddCloneSession(uint32_t session, const std::vector<P4Replica>& replicas);
    /// \returns the member's handle
    uint32_t AddMember(const std::string& profile,
                       const std::string& action,
                       const std::map<std::string, std::string>& parameters);
    /// \param members their handles \returns the group's handle
    uint32_t AddMemberGroup(const std::string& profile, const std::vector<uint32_t>& members);
    void AddCommand(const std::string& command);

    /// The commands so far, one a line.
    const std::string& GetText() const
    {
        return m_text;
    }

  private:
    std::string WriteKeys(const P4Table& table,
                          const std::map<std::string, P4ControlKey>& keys) const;
    std::string WriteKey(const P4TableKey& key, const P4ControlKey* value) const;
    /// The last word of an entry, where its table's entries have priorities.
    std::string WritePriority(const P4Table& table, uint32_t priority) const;
    /// The name of an action and the words of its parameters; it is one of `actions`.
    std::pair<std::string, std::string> WriteAction(
        const std::vector<uint32_t>& actions,
        const std::string& name,
        const std::map<std::string, std::string>& parameters) const;

    const P4Program& m_program;
    std::string m_text;
    uint32_t m_nodes = 0;
    /// Members and groups of each profile.
    std::map<std::string, std::pair<uint32_t, uint32_t>> m_counts;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_P4_COMMAND_WRITER_H
