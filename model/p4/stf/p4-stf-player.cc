// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/p4-stf-player.h"

#include "ns3/p4-error.h"
#include "ns3/p4-match-table.h"
#include "ns3/p4-runtime-commands.h"
#include "ns3/p4-runtime-values.h"

#include <algorithm>
#include <fmt/format.h>
#include <optional>
#include <utility>

namespace ns3::gradsync
{

namespace
{

/// What p4c's runner subtracts an entry's priority from: the largest wins in STF, the smallest in
/// BMv2.
constexpr uint32_t PRIORITY_BASE = 10000;
constexpr uint64_t PAUSE_US = 1'000'000;

/// Bits that a digit of a number stands for, by its prefix; 0 for decimal ones.
uint32_t
GetDigitBits(const std::string& value)
{
    if (value.size() < 2 || value[0] != '0')
    {
        return 0;
    }
    const char mark = static_cast<char>(value[1] | 0x20);
    return mark == 'x' ? 4 : mark == 'o' ? 3 : mark == 'b' ? 1 : 0;
}

/// The number with another digit for each one, which "*" has already.
std::string
ReplaceDigits(const std::string& value, char star, const std::string& other)
{
    std::string replaced = value.substr(0, 2);
    for (size_t i = 2; i < value.size(); ++i)
    {
        replaced += value[i] == '*' ? std::string(1, star)
                    : other.empty() ? value.substr(i, 1)
                                    : other;
    }
    return replaced;
}

/// A value with "*" for digits that do not matter as simple_switch_CLI has it.
std::string
MakeTernary(const std::string& value, uint32_t bits)
{
    const uint32_t digitBits = GetDigitBits(value);
    if (digitBits == 0)
    {
        const std::string all = "0b" + std::string(bits, '1');
        return value + "&&&" + all;
    }
    const std::string all = digitBits == 4 ? "F" : digitBits == 3 ? "7" : "1";
    return ReplaceDigits(value, '0', "") + "&&&" + ReplaceDigits(value, '0', all);
}

std::string
MakePrefix(const std::string& value, uint32_t bits)
{
    if (value.find('/') != std::string::npos)
    {
        return value;
    }
    const uint32_t digitBits = GetDigitBits(value);
    if (digitBits == 0)
    {
        return fmt::format("{}/{}", value, bits);
    }
    const auto stars = static_cast<size_t>(std::ranges::count(value, '*'));
    const size_t length = (value.size() - 2 - stars) * digitBits;
    return fmt::format("{}/{}", ReplaceDigits(value, '0', ""), length);
}

std::string
MakeKeyWord(const P4TableKey& key, const std::optional<std::string>& value)
{
    switch (key.kind)
    {
    case P4MatchKind::EXACT:
        return value.value_or("0");
    case P4MatchKind::LPM:
        return value ? MakePrefix(*value, key.bits) : "0/0";
    case P4MatchKind::TERNARY:
        return value ? MakeTernary(*value, key.bits) : "0&&&0";
    case P4MatchKind::RANGE:
        return value ? *value + "->" + *value : "0->0b" + std::string(key.bits, '1');
    }
    throw P4Error("a key of no kind");
}

/// The key that a name stands for, which the vector may shorten. \throws P4Error
size_t
FindKey(const P4Table& table, std::string name)
{
    // stack$2.field is stack[2].field.
    const auto mark = name.find('$');
    if (mark != std::string::npos && mark + 1 < name.size() && name[mark + 1] >= '0' &&
        name[mark + 1] <= '9')
    {
        size_t end = mark + 1;
        while (end < name.size() && name[end] >= '0' && name[end] <= '9')
        {
            ++end;
        }
        name = fmt::format("{}[{}]{}",
                           name.substr(0, mark),
                           name.substr(mark + 1, end - mark - 1),
                           name.substr(end));
    }
    for (const std::string ending : {"", "$", ".$valid$"})
    {
        for (size_t i = 0; i < table.keys.size(); ++i)
        {
            if (table.keys[i].name == fmt::format("{}{}", name, ending))
            {
                return i;
            }
        }
    }
    for (const std::string ending : {"", "$", ".$valid$"})
    {
        for (size_t i = 0; i < table.keys.size(); ++i)
        {
            if (table.keys[i].name.ends_with(fmt::format(".{}{}", name, ending)))
            {
                return i;
            }
        }
    }
    return FindP4Item(table.keys, name, "key of the table");
}

std::string
ToDigits(const std::vector<uint8_t>& bytes)
{
    std::string digits;
    for (const auto byte : bytes)
    {
        digits += fmt::format("{:02X}", byte);
    }
    return digits;
}

/// What is wrong about a packet; nothing when it is as expected.
std::optional<std::string>
Compare(const std::string& sent, const P4StfExpectation& expected)
{
    const auto& wanted = expected.digits;
    for (size_t i = 0; i < std::min(sent.size(), wanted.size()); ++i)
    {
        if (wanted[i] != '*' && wanted[i] != sent[i])
        {
            const size_t byte = i & ~size_t{1};
            return fmt::format("byte {} is {}, not {}",
                               byte / 2,
                               sent.substr(byte, 2),
                               wanted.substr(byte, 2));
        }
    }
    if (sent.size() < wanted.size() || (expected.isWhole && sent.size() != wanted.size()))
    {
        return fmt::format("{} bytes left, not {}", sent.size() / 2, wanted.size() / 2);
    }
    return std::nullopt;
}

bool
IsTrue(uint64_t found, const std::string& condition, uint64_t wanted)
{
    return condition == "=="   ? found == wanted
           : condition == "!=" ? found != wanted
           : condition == "<"  ? found < wanted
           : condition == "<=" ? found <= wanted
           : condition == ">"  ? found > wanted
                               : found >= wanted;
}

} // namespace

P4StfPlayer::P4StfPlayer(P4Pipeline& pipeline, std::string file)
    : m_pipeline(pipeline),
      m_file(std::move(file))
{
}

P4StfResult
P4StfPlayer::Play(const std::vector<P4StfStatement>& statements)
{
    m_result = {};
    m_ports.clear();
    m_handles.clear();
    m_problems.clear();
    for (const auto& statement : statements)
    {
        try
        {
            std::visit([&](const auto& what) { Run(what, statement.line); }, statement.what);
        }
        catch (const P4Error& error)
        {
            throw P4Error(fmt::format("{}:{}", m_file, statement.line), error.what());
        }
    }
    for (const auto& [number, port] : m_ports)
    {
        ComparePort(number, port);
    }
    std::stable_sort(m_problems.begin(), m_problems.end(), [](const auto& a, const auto& b) {
        return a.first < b.first;
    });
    for (auto& [line, problem] : m_problems)
    {
        m_result.problems.push_back(std::move(problem));
    }
    return std::move(m_result);
}

void
P4StfPlayer::Run(const P4StfPacket& packet, uint32_t line)
{
    ++m_result.packets;
    m_ports[packet.port].isNamed = true;
    try
    {
        for (const auto& output : m_pipeline.Process(packet.bytes, packet.port, ++m_timeUs))
        {
            m_ports[output.port].sent.push_back({line, output.bytes});
        }
    }
    catch (const P4Error& error)
    {
        // An assertion of the program, or a packet without end: BMv2 fails too.
        AddProblem(line, error.what());
    }
}

void
P4StfPlayer::Run(const P4StfExpectation& expected, uint32_t line)
{
    ++m_result.expected;
    auto& port = m_ports[expected.port];
    port.isNamed = true;
    port.expected.push_back({line, expected});
}

void
P4StfPlayer::Run(const P4StfEntry& entry, uint32_t /* line */)
{
    P4RuntimeCommands commands(m_pipeline, m_file);
    commands.RunCommand(MakeCommand(entry));
    if (!entry.name.empty())
    {
        m_handles[entry.name] = commands.GetNewestEntry();
    }
}

void
P4StfPlayer::Run(const P4StfCounterCheck& check, uint32_t line)
{
    ++m_result.expected;
    const auto& counters = m_pipeline.GetProgram().counters;
    const auto& counter = counters[FindP4Item(counters, check.counter, "counter")];
    const uint32_t index = FindCounterIndex(check.index);
    const auto value = counter.table.empty()
                           ? m_pipeline.GetCounter(counter.name, index)
                           : m_pipeline.FindTable(counter.table).GetCounter(index);
    const uint64_t found = check.isBytes ? value.bytes : value.packets;
    if (IsTrue(found, check.condition, check.value))
    {
        ++m_result.passed;
        return;
    }
    AddProblem(line,
               fmt::format("{}({}) has {} {}, {} {} is expected",
                           check.counter,
                           check.index,
                           found,
                           check.isBytes ? "bytes" : "packets",
                           check.condition,
                           check.value));
}

uint32_t
P4StfPlayer::FindCounterIndex(const std::string& index) const
{
    if (const auto found = m_handles.find(index); found != m_handles.end())
    {
        return found->second;
    }
    if (index.starts_with("$"))
    {
        if (const auto found = m_handles.find(index.substr(1)); found != m_handles.end())
        {
            return found->second;
        }
    }
    return ReadP4Number(index);
}

void
P4StfPlayer::Run(const P4StfCommand& command, uint32_t /* line */)
{
    auto answers = P4RuntimeCommands(m_pipeline, m_file).RunCommand(command);
    std::ranges::move(answers, std::back_inserter(m_result.answers));
}

void
P4StfPlayer::Run(const P4StfRemoval& /* removal */, uint32_t /* line */)
{
    for (const auto& table : m_pipeline.GetProgram().tables)
    {
        if (!table.isConstant)
        {
            m_pipeline.FindTable(table.name).Clear();
        }
    }
}

void
P4StfPlayer::Run(const P4StfPause& /* pause */, uint32_t /* line */)
{
    m_timeUs += PAUSE_US;
}

P4StfCommand
P4StfPlayer::MakeCommand(const P4StfEntry& entry) const
{
    const auto& program = m_pipeline.GetProgram();
    const P4Table& table = program.tables[FindP4Item(program.tables, entry.table, "table")];
    std::vector<std::string> names;
    names.reserve(table.actions.size());
    for (const uint32_t action : table.actions)
    {
        names.push_back(program.actions[action].name);
    }
    const auto& action =
        program.actions[table.actions[FindP4Name(names, entry.action, "action of the table")]];
    P4StfCommand command{entry.isDefault ? "table_set_default" : "table_add",
                         table.name,
                         action.name};
    bool isOrdered = false;
    if (!entry.isDefault)
    {
        std::vector<std::optional<std::string>> values(table.keys.size());
        for (const auto& [name, value] : entry.keys)
        {
            values[FindKey(table, name)] = value;
        }
        for (size_t i = 0; i < table.keys.size(); ++i)
        {
            command.push_back(MakeKeyWord(table.keys[i], values[i]));
            isOrdered = isOrdered || table.keys[i].kind == P4MatchKind::TERNARY ||
                        table.keys[i].kind == P4MatchKind::RANGE;
        }
        command.emplace_back("=>");
    }
    std::vector<std::string> values(action.parameterNames.size());
    for (const auto& [name, value] : entry.parameters)
    {
        values[FindP4Name(action.parameterNames, name, "parameter of the action")] = value;
    }
    for (size_t i = 0; i < values.size(); ++i)
    {
        if (values[i].empty())
        {
            throw P4Error(
                fmt::format("the action's parameter \"{}\" is missing", action.parameterNames[i]));
        }
        command.push_back(values[i]);
    }
    if (isOrdered)
    {
        const auto priority =
            entry.priority.empty() ? PRIORITY_BASE + 1 : ReadP4Number(entry.priority);
        if (priority > PRIORITY_BASE)
        {
            throw P4Error(
                fmt::format("a priority from 0 to {} is expected before the keys", PRIORITY_BASE));
        }
        command.push_back(fmt::format("{}", PRIORITY_BASE - priority));
    }
    return command;
}

void
P4StfPlayer::ComparePort(uint32_t number, const Port& port)
{
    if (!port.isNamed)
    {
        m_result.elsewhere += static_cast<uint32_t>(port.sent.size());
        return;
    }
    for (size_t i = 0; i < port.expected.size(); ++i)
    {
        const auto& expected = port.expected[i];
        if (i >= port.sent.size())
        {
            AddProblem(expected.line, fmt::format("no packet left by port {}", number));
            continue;
        }
        const auto problem = Compare(ToDigits(port.sent[i].bytes), expected.packet);
        if (!problem)
        {
            ++m_result.passed;
            continue;
        }
        AddProblem(expected.line,
                   fmt::format("port {}, packet {}, which line {} caused: {}",
                               number,
                               i,
                               port.sent[i].line,
                               *problem));
    }
    for (size_t i = port.expected.size(); i < port.sent.size(); ++i)
    {
        ++m_result.unexpected;
        AddProblem(port.sent[i].line,
                   fmt::format("a packet of {} bytes left by port {}, which is not expected: {}",
                               port.sent[i].bytes.size(),
                               number,
                               ToDigits(port.sent[i].bytes)));
    }
}

void
P4StfPlayer::AddProblem(uint32_t line, const std::string& problem)
{
    m_problems.emplace_back(line, fmt::format("{}:{}: {}", m_file, line, problem));
}

} // namespace ns3::gradsync
