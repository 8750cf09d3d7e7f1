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

class P4Pipeline;

/// Runs commands of simple_switch_CLI on a pipeline.
class P4RuntimeCommands
{
  public:
    /// \param file the commands' name, for messages
    P4RuntimeCommands(P4Pipeline& pipeline, std::string file);

    /// Runs all lines of a text. \throws P4Error that names the line
    void Run(std::string_view text);

  private:
    using Words = std::vector<std::string>;

    void RunLine(const Words& words);
    void AddToTable(const Words& words);
    void SetDefault(const Words& words);
    void CreateNode(const Words& words);
    void WriteRegister(const Words& words);
    P4EntryKey ReadKey(const P4TableKey& key, const std::string& word) const;
    /// Action and parameters of an entry.
    void ReadAction(P4TableEntry& entry,
                    const P4Table& table,
                    const std::string& name,
                    Words::const_iterator first,
                    Words::const_iterator last) const;
    const P4Table& FindTable(const std::string& name) const;
    /// A number of so many bits: decimal, hexadecimal, an IPv4 or an Ethernet address.
    std::vector<uint64_t> ReadValue(const std::string& word, uint32_t bits) const;
    uint32_t ReadNumber(const std::string& word) const;
    void CheckCount(const Words& words, size_t count, const std::string& usage) const;
    [[noreturn]] void Fail(const std::string& problem) const;

    P4Pipeline& m_pipeline;
    std::string m_file;
    uint32_t m_line = 0;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_P4_RUNTIME_COMMANDS_H
