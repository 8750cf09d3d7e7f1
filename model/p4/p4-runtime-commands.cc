// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/p4-runtime-commands.h"

#include "ns3/p4-error.h"
#include "ns3/p4-limbs.h"
#include "ns3/p4-match-table.h"
#include "ns3/p4-pipeline.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <sstream>

namespace ns3::gradsync
{

namespace
{

/// The text split at each occurrence of a mark.
std::vector<std::string>
Split(const std::string& text, const std::string& mark)
{
    std::vector<std::string> parts;
    size_t begin = 0;
    for (size_t end = text.find(mark); end != std::string::npos; end = text.find(mark, begin))
    {
        parts.push_back(text.substr(begin, end - begin));
        begin = end + mark.size();
    }
    parts.push_back(text.substr(begin));
    return parts;
}

/// Multiplies by the base and adds a digit; false when it is no digit of the base.
bool
Append(std::vector<uint64_t>& value, uint32_t base, char digit)
{
    const char low = static_cast<char>(digit | 0x20);
    const bool isLetter = low >= 'a' && low <= 'f';
    if (!(digit >= '0' && digit <= '9') && !isLetter)
    {
        return false;
    }
    const auto number = static_cast<uint64_t>(isLetter ? low - 'a' + 10 : digit - '0');
    __extension__ using Wide = unsigned __int128;
    uint64_t carry = number;
    for (auto& limb : value)
    {
        const Wide product = Wide{limb} * base + carry;
        limb = static_cast<uint64_t>(product);
        carry = static_cast<uint64_t>(product >> 64);
    }
    return number < base && carry == 0;
}

/// A dotted or colon-separated address as digits of one base after "0x"; empty when it is none.
std::string
ReadAddress(const std::string& word, const std::string& mark, size_t parts, uint32_t base)
{
    std::string digits = "0x";
    const auto numbers = Split(word, mark);
    for (const auto& number : numbers)
    {
        uint32_t byte = 0;
        const char* end = number.data() + number.size();
        const auto result = std::from_chars(number.data(), end, byte, static_cast<int>(base));
        if (result.ec != std::errc{} || result.ptr != end || byte > 255)
        {
            return "";
        }
        digits += fmt::format("{:02x}", byte);
    }
    return numbers.size() == parts ? digits : "";
}

} // namespace

P4RuntimeCommands::P4RuntimeCommands(P4Pipeline& pipeline, std::string file)
    : m_pipeline(pipeline),
      m_file(std::move(file))
{
}

void
P4RuntimeCommands::Run(std::string_view text)
{
    std::istringstream lines{std::string(text)};
    std::string line;
    for (m_line = 1; std::getline(lines, line); ++m_line)
    {
        std::istringstream stream(line);
        Words words;
        std::string word;
        while (stream >> word)
        {
            words.push_back(word);
        }
        if (words.empty() || words[0].starts_with("#"))
        {
            continue;
        }
        try
        {
            RunLine(words);
        }
        catch (const P4Error& error)
        {
            throw P4Error(fmt::format("{}:{}", m_file, m_line), error.what());
        }
    }
}

void
P4RuntimeCommands::RunLine(const Words& words)
{
    const std::string& command = words[0];
    if (command == "table_add")
    {
        AddToTable(words);
    }
    else if (command == "table_set_default")
    {
        SetDefault(words);
    }
    else if (command == "table_clear")
    {
        CheckCount(words, 2, "TABLE");
        if (FindTable(words[1]).isConstant)
        {
            Fail("the table's entries are constant");
        }
        m_pipeline.ClearTable(words[1]);
    }
    else if (command == "mc_mgrp_create")
    {
        CheckCount(words, 2, "GROUP");
        m_pipeline.CreateGroup(ReadNumber(words[1]));
    }
    else if (command == "mc_mgrp_destroy")
    {
        CheckCount(words, 2, "GROUP");
        m_pipeline.DestroyGroup(ReadNumber(words[1]));
    }
    else if (command == "mc_node_create")
    {
        CreateNode(words);
    }
    else if (command == "mc_node_associate")
    {
        CheckCount(words, 3, "GROUP NODE");
        m_pipeline.AssociateNode(ReadNumber(words[1]), ReadNumber(words[2]));
    }
    else if (command == "mirroring_add" || command == "mirroring_add_mc")
    {
        CheckCount(words, 3, "SESSION TARGET");
        m_pipeline.AddMirror(ReadNumber(words[1]),
                             ReadNumber(words[2]),
                             command == "mirroring_add_mc");
    }
    else if (command == "register_write")
    {
        WriteRegister(words);
    }
    else
    {
        Fail(fmt::format("the command \"{}\" is not supported", command));
    }
}

void
P4RuntimeCommands::AddToTable(const Words& words)
{
    const auto arrow = std::find(words.begin(), words.end(), "=>");
    if (words.size() < 3 || arrow == words.end() || arrow - words.begin() < 3)
    {
        Fail("table_add TABLE ACTION KEYS => PARAMETERS [PRIORITY] is expected");
    }
    const P4Table& table = FindTable(words[1]);
    const auto keys = static_cast<size_t>(arrow - words.begin()) - 3;
    if (table.isConstant || keys != table.keys.size())
    {
        Fail(table.isConstant ? "the table's entries are constant"
                              : fmt::format("{} keys are expected", table.keys.size()));
    }
    P4TableEntry entry;
    bool isOrdered = false;
    for (size_t i = 0; i < keys; ++i)
    {
        entry.keys.push_back(ReadKey(table.keys[i], words[3 + i]));
        isOrdered = isOrdered || table.keys[i].kind == P4MatchKind::TERNARY ||
                    table.keys[i].kind == P4MatchKind::RANGE;
    }
    auto end = words.end();
    if (isOrdered)
    {
        if (end - arrow < 2)
        {
            Fail("a priority is expected at the end");
        }
        entry.priority = ReadNumber(*--end);
    }
    ReadAction(entry, table, words[2], arrow + 1, end);
    m_pipeline.AddEntry(words[1], std::move(entry));
}

void
P4RuntimeCommands::SetDefault(const Words& words)
{
    if (words.size() < 3)
    {
        Fail("table_set_default TABLE ACTION [=>] PARAMETERS is expected");
    }
    const P4Table& table = FindTable(words[1]);
    if (table.hasConstantDefault)
    {
        Fail("the table's default action is constant");
    }
    P4TableEntry entry;
    const bool hasArrow = words.size() > 3 && words[3] == "=>";
    ReadAction(entry, table, words[2], words.begin() + (hasArrow ? 4 : 3), words.end());
    m_pipeline.SetDefault(words[1], std::move(entry));
}

void
P4RuntimeCommands::CreateNode(const Words& words)
{
    if (words.size() < 2)
    {
        Fail("mc_node_create REPLICATION_ID PORTS is expected");
    }
    std::vector<uint32_t> ports;
    for (size_t i = 2; i < words.size(); ++i)
    {
        if (words[i] == "|")
        {
            Fail("link aggregation groups are not supported");
        }
        ports.push_back(ReadNumber(words[i]));
    }
    m_pipeline.CreateNode(ReadNumber(words[1]), ports);
}

void
P4RuntimeCommands::WriteRegister(const Words& words)
{
    CheckCount(words, 4, "REGISTER INDEX VALUE");
    for (const auto& array : m_pipeline.GetProgram().registers)
    {
        if (array.name == words[1])
        {
            m_pipeline.SetRegister(words[1], ReadNumber(words[2]), ReadValue(words[3], array.bits));
            return;
        }
    }
    Fail(fmt::format("there is no register \"{}\"", words[1]));
}

P4EntryKey
P4RuntimeCommands::ReadKey(const P4TableKey& key, const std::string& word) const
{
    static const std::map<P4MatchKind, std::string> marks{{P4MatchKind::LPM, "/"},
                                                          {P4MatchKind::TERNARY, "&&&"},
                                                          {P4MatchKind::RANGE, "->"}};
    P4EntryKey entry;
    const auto mark = marks.find(key.kind);
    if (mark == marks.end())
    {
        entry.value = ReadValue(word, key.bits);
        return entry;
    }
    const auto parts = Split(word, mark->second);
    if (parts.size() != 2)
    {
        Fail(fmt::format("key \"{}\": VALUE{}... is expected", key.name, mark->second));
    }
    entry.value = ReadValue(parts[0], key.bits);
    if (key.kind != P4MatchKind::LPM)
    {
        entry.other = ReadValue(parts[1], key.bits);
        return entry;
    }
    entry.prefixLength = ReadNumber(parts[1]);
    if (entry.prefixLength > key.bits)
    {
        Fail(fmt::format("key \"{}\" has {} bits", key.name, key.bits));
    }
    return entry;
}

void
P4RuntimeCommands::ReadAction(P4TableEntry& entry,
                              const P4Table& table,
                              const std::string& name,
                              Words::const_iterator first,
                              Words::const_iterator last) const
{
    const auto& actions = m_pipeline.GetProgram().actions;
    const auto found = std::find_if(table.actions.begin(),
                                    table.actions.end(),
                                    [&](uint32_t index) { return actions[index].name == name; });
    if (found == table.actions.end())
    {
        Fail(fmt::format("table \"{}\" has no action \"{}\"", table.name, name));
    }
    const P4Action& action = actions[*found];
    if (static_cast<size_t>(last - first) != action.parameterBits.size())
    {
        Fail(fmt::format("action \"{}\" has {} parameters", name, action.parameterBits.size()));
    }
    entry.action = *found;
    for (const uint32_t bits : action.parameterBits)
    {
        const auto value = ReadValue(*first++, bits);
        entry.parameters.insert(entry.parameters.end(), value.begin(), value.end());
    }
}

const P4Table&
P4RuntimeCommands::FindTable(const std::string& name) const
{
    for (const auto& table : m_pipeline.GetProgram().tables)
    {
        if (table.name == name)
        {
            return table;
        }
    }
    Fail(fmt::format("there is no table \"{}\"", name));
}

std::vector<uint64_t>
P4RuntimeCommands::ReadValue(const std::string& word, uint32_t bits) const
{
    std::string digits = word;
    if (bits == 32 && word.find('.') != std::string::npos)
    {
        digits = ReadAddress(word, ".", 4, 10);
    }
    else if (bits == 48 && word.find(':') != std::string::npos)
    {
        digits = ReadAddress(word, ":", 6, 16);
    }
    const bool isHex = digits.starts_with("0x") || digits.starts_with("0X");
    std::vector<uint64_t> value(limbs::CountFor(bits));
    bool isGood = digits.size() > (isHex ? 2 : 0);
    for (size_t i = isHex ? 2 : 0; i < digits.size() && isGood; ++i)
    {
        isGood = Append(value, isHex ? 16 : 10, digits[i]);
    }
    const uint32_t unused = static_cast<uint32_t>(64 * value.size()) - bits;
    if (!isGood || (unused > 0 && value.back() >> (64 - unused) != 0))
    {
        Fail(fmt::format("\"{}\" is no number of {} bits", word, bits));
    }
    return value;
}

uint32_t
P4RuntimeCommands::ReadNumber(const std::string& word) const
{
    return static_cast<uint32_t>(ReadValue(word, 31)[0]);
}

void
P4RuntimeCommands::CheckCount(const Words& words, size_t count, const std::string& usage) const
{
    if (words.size() != count)
    {
        Fail(fmt::format("{} {} is expected", words[0], usage));
    }
}

void
P4RuntimeCommands::Fail(const std::string& problem) const
{
    throw P4Error(problem);
}

} // namespace ns3::gradsync
