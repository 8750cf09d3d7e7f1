// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_P4_RUNTIME_COMMANDS_H
#define GRADSYNC_P4_RUNTIME_COMMANDS_H

#include "ns3/p4-program.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ns3::gradsync
{

class P4ActionMembers;
class P4MatchTable;
class P4MeterArrayState;
class P4Pipeline;

/// Runs commands of simple_switch_CLI on a pipeline.
class P4RuntimeCommands
{
  public:
    using Words = std::vector<std::string>;

    /// \param file the commands' name, for messages
    P4RuntimeCommands(P4Pipeline& pipeline, std::string file);

    /**
     * Runs all lines of a text; empty lines and lines that begin with # are left out.
     * \returns what commands that ask are answered, a line each
     * \throws P4Error that names the line
     */
    std::vector<std::string> Run(std::string_view text);

    /// Runs one command, which has at least one word. \throws P4Error that does not say where
    std::vector<std::string> RunCommand(const Words& words);

    /// The handle of the entry that the last table_add made.
    uint32_t GetNewestEntry() const
    {
        return m_newestEntry;
    }

  private:
    /// A command: to add one, add its row.
    struct Row
    {
        const char* name;
        const char* usage; //!< what follows the name, for messages
        size_t least;      //!< words after the name
        size_t most;
        void (P4RuntimeCommands::*run)(const Words& words); //!< null: nothing is to be done
    };

    static const std::vector<Row>& GetRows();

    void AddToTable(const Words& words);
    void ModifyInTable(const Words& words);
    void DeleteFromTable(const Words& words);
    void SetDefault(const Words& words);
    void ResetDefault(const Words& words);
    void ClearTable(const Words& words);
    void DumpTable(const Words& words);
    void DumpEntry(const Words& words);
    void CountEntries(const Words& words);
    void ReadRegister(const Words& words);
    void WriteRegister(const Words& words);
    void ResetRegister(const Words& words);
    void ReadCounter(const Words& words);
    void WriteCounter(const Words& words);
    void ResetCounter(const Words& words);
    void CreateGroup(const Words& words);
    void DestroyGroup(const Words& words);
    void CreateNode(const Words& words);
    void UpdateNode(const Words& words);
    void AssociateNode(const Words& words);
    void DissociateNode(const Words& words);
    void DestroyNode(const Words& words);
    void AddMirror(const Words& words);
    void AddMirrorToGroup(const Words& words);
    void DeleteMirror(const Words& words);
    void GetMirror(const Words& words);
    void ResetState(const Words& words);
    void CreateMember(const Words& words);
    void ModifyMember(const Words& words);
    void DeleteMember(const Words& words);
    void CreateMemberGroup(const Words& words);
    void DeleteMemberGroup(const Words& words);
    void AddMemberToGroup(const Words& words);
    void RemoveMemberFromGroup(const Words& words);
    void AddIndirect(const Words& words);
    void AddIndirectWithGroup(const Words& words);
    void SetIndirectDefault(const Words& words);
    void SetIndirectDefaultWithGroup(const Words& words);
    void SetMeterRates(const Words& words);
    void SetAllMeterRates(const Words& words);
    void GetMeterRates(const Words& words);
    void AddToValueSet(const Words& words);
    void RemoveFromValueSet(const Words& words);
    void ClearValueSet(const Words& words);
    void GetValueSet(const Words& words);

    /// The keys of an entry. \param first..last as many words as the table has keys
    void ReadKeys(P4TableEntry& entry,
                  const P4Table& table,
                  Words::const_iterator first,
                  Words::const_iterator last) const;
    P4EntryKey ReadKey(const P4TableKey& key, const std::string& word) const;
    /// Action and parameters of an entry.
    void ReadAction(P4TableEntry& entry,
                    const std::vector<uint32_t>& actions,
                    const std::string& name,
                    Words::const_iterator first,
                    Words::const_iterator last) const;
    P4ActionCall ReadCall(const std::vector<uint32_t>& actions,
                          const std::string& name,
                          Words::const_iterator first,
                          Words::const_iterator last) const;
    void AddIndirectTo(P4EntryTarget target, const Words& words);
    void SetIndirectDefaultTo(P4EntryTarget target, const Words& words);
    P4ActionMembers& FindProfile(const std::string& name);
    /// The same, of one whose members are in groups.
    P4ActionMembers& FindSelector(const std::string& name);
    P4ActionMembers& FindProfileOfTable(const P4Table& table);
    P4MeterArrayState& FindMeter(const std::string& name);
    /// The number of a meter; that of a table's is its entry's handle.
    uint32_t ReadMeterIndex(const P4MeterArray& array, const std::string& word);
    const P4ValueSet& FindValueSet(const std::string& name) const;
    /// Whether a table's entries have priorities.
    static bool IsOrdered(const P4Table& table);
    const P4Table& FindTable(const std::string& name) const;
    /// The same, of a table whose entries may change.
    P4MatchTable& FindChangeable(const std::string& name);
    const P4RegisterArray& FindRegister(const std::string& name) const;
    const P4CounterArray& FindCounter(const std::string& name) const;
    std::string ShowEntry(const P4Table& table, uint32_t handle);

    P4Pipeline& m_pipeline;
    std::string m_file;
    std::vector<std::string> m_answers;
    uint32_t m_newestEntry = 0;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_P4_RUNTIME_COMMANDS_H
