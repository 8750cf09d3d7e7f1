// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/p4-stf-vector.h"

#include "ns3/nearest-name.h"
#include "ns3/p4-error.h"
#include "ns3/p4-runtime-values.h"

#include <algorithm>
#include <cctype>
#include <fmt/format.h>
#include <optional>
#include <sstream>

namespace ns3::gradsync
{

namespace
{

/// Ports that a frame may come in at or leave by.
constexpr uint32_t MAX_PORT = 510;

bool
IsWordLetter(char letter)
{
    return std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '_' ||
           letter == '$' || letter == '*';
}

/// The words, signs and names in quotes of a line, without its comment.
std::vector<std::string>
Tokenize(std::string_view line)
{
    std::vector<std::string> tokens;
    size_t at = 0;
    while (at < line.size() && line[at] != '#')
    {
        size_t end = at + 1;
        if (line[at] == '"')
        {
            end = line.find('"', at + 1);
            if (end == std::string_view::npos)
            {
                throw P4Error("a name's second \" is missing");
            }
            tokens.emplace_back(line.substr(at + 1, end - at - 1));
            ++end;
        }
        else if (IsWordLetter(line[at]))
        {
            while (end < line.size() && IsWordLetter(line[end]))
            {
                ++end;
            }
            tokens.emplace_back(line.substr(at, end - at));
        }
        else if (std::isspace(static_cast<unsigned char>(line[at])) == 0)
        {
            const bool isTwo = std::string_view("=!<>").find(line[at]) != std::string_view::npos &&
                               end < line.size() && line[end] == '=';
            end += isTwo ? 1 : 0;
            tokens.emplace_back(line.substr(at, end - at));
        }
        at = end;
    }
    return tokens;
}

std::string
ToLower(std::string text)
{
    std::ranges::transform(text, text.begin(), [](unsigned char letter) {
        return static_cast<char>(std::tolower(letter));
    });
    return text;
}

/// Reads the tokens of one line from left to right.
class LineReader
{
  public:
    explicit LineReader(std::vector<std::string> tokens)
        : m_tokens(std::move(tokens))
    {
    }

    bool IsAtEnd() const
    {
        return m_at == m_tokens.size();
    }

    /// The token so far behind the next one; empty behind the end.
    std::string Peek(size_t ahead = 0) const
    {
        return m_at + ahead < m_tokens.size() ? m_tokens[m_at + ahead] : "";
    }

    std::string Take(const std::string& what)
    {
        if (IsAtEnd())
        {
            throw P4Error(fmt::format("{} is expected at the end of the line", what));
        }
        return m_tokens[m_at++];
    }

    void Expect(const std::string& sign)
    {
        if (const auto found = Take("\"" + sign + "\""); found != sign)
        {
            throw P4Error(fmt::format("found \"{}\", \"{}\" is expected", found, sign));
        }
    }

    void ExpectEnd() const
    {
        if (!IsAtEnd())
        {
            throw P4Error(fmt::format("found \"{}\", the end of the line is expected", Peek()));
        }
    }

    /// NAME, NAME[2], NAME.NAME
    std::string TakeName(const std::string& what)
    {
        std::string name = Take(what);
        while (Peek() == "." || Peek() == "[")
        {
            const bool isIndex = Take("") == "[";
            name += isIndex ? "[" + Take("an index") + "]" : "." + Take("a name");
            if (isIndex)
            {
                Expect("]");
            }
        }
        return name;
    }

  private:
    std::vector<std::string> m_tokens;
    size_t m_at = 0;
};

uint32_t
TakePort(LineReader& line)
{
    const auto port = ReadP4Number(line.Take("a port"));
    if (port > MAX_PORT)
    {
        throw P4Error(fmt::format("found port {}, ports are 0 to {}", port, MAX_PORT));
    }
    return port;
}

/// The rest of a line as digits and marks, in capital letters.
std::string
TakeDigits(LineReader& line, std::string_view allowed)
{
    std::string digits;
    while (!line.IsAtEnd())
    {
        digits += line.Take("digits");
    }
    for (char& digit : digits)
    {
        digit = static_cast<char>(std::toupper(static_cast<unsigned char>(digit)));
        if (allowed.find(digit) == std::string_view::npos)
        {
            throw P4Error(fmt::format("\"{}\" is no hexadecimal digit of a packet", digit));
        }
    }
    return digits;
}

P4StfPacket
ReadPacket(LineReader& line)
{
    P4StfPacket packet;
    packet.port = TakePort(line);
    const auto digits = TakeDigits(line, "0123456789ABCDEF");
    if (digits.empty() || digits.size() % 2 != 0)
    {
        throw P4Error(fmt::format("a packet has two digits a byte, not {} in all", digits.size()));
    }
    for (size_t i = 0; i < digits.size(); i += 2)
    {
        const auto byte = ReadP4Value("0x" + digits.substr(i, 2), 8)[0];
        packet.bytes.push_back(static_cast<uint8_t>(byte));
    }
    return packet;
}

P4StfExpectation
ReadExpectation(LineReader& line)
{
    P4StfExpectation expected;
    expected.port = TakePort(line);
    expected.digits = TakeDigits(line, "0123456789ABCDEF*$");
    const auto end = expected.digits.find('$');
    if (end != std::string::npos)
    {
        if (end + 1 != expected.digits.size())
        {
            throw P4Error("\"$\" stands at the end of a packet");
        }
        expected.digits.pop_back();
        expected.isWhole = true;
    }
    return expected;
}

/// ACTION(NAME:VALUE, ...), whose name was read.
P4StfPairs
ReadArguments(LineReader& line)
{
    P4StfPairs pairs;
    line.Expect("(");
    while (line.Peek() != ")")
    {
        if (!pairs.empty())
        {
            line.Expect(",");
        }
        const auto name = line.Take("a parameter or \")\"");
        line.Expect(":");
        pairs.emplace_back(name, line.Take("a value"));
    }
    line.Expect(")");
    return pairs;
}

P4StfEntry
ReadStfEntry(LineReader& line, bool isDefault)
{
    P4StfEntry entry;
    entry.isDefault = isDefault;
    entry.table = line.TakeName("a table");
    const auto next = line.Peek();
    if (!isDefault && !next.empty() && std::isdigit(static_cast<unsigned char>(next[0])) != 0)
    {
        entry.priority = line.Take("a priority");
    }
    for (entry.action = line.TakeName("a key or an action"); line.Peek() == ":";
         entry.action = line.TakeName("a key or an action"))
    {
        if (isDefault)
        {
            throw P4Error("setdefault TABLE ACTION(PARAMETERS) is expected");
        }
        line.Expect(":");
        auto value = line.Take("a value");
        if (line.Peek() == "/")
        {
            line.Expect("/");
            value += "/" + line.Take("a prefix length");
        }
        entry.keys.emplace_back(entry.action, value);
    }
    entry.parameters = ReadArguments(line);
    if (!isDefault && line.Peek() == "=")
    {
        line.Expect("=");
        entry.name = line.Take("a name for the entry");
    }
    return entry;
}

P4StfCounterCheck
ReadCounterCheck(LineReader& line)
{
    P4StfCounterCheck check;
    check.counter = line.TakeName("a counter");
    line.Expect("(");
    check.index = line.Take("an index or an entry");
    line.Expect(")");
    if (line.IsAtEnd())
    {
        return check;
    }
    const auto unit = ToLower(line.Take("packets or bytes"));
    if (unit != "packets" && unit != "bytes")
    {
        throw P4Error(fmt::format("found \"{}\", packets or bytes is expected", unit));
    }
    check.isBytes = unit == "bytes";
    check.condition = line.Take("a comparison");
    const std::vector<std::string> allowed{"==", "!=", "<", "<=", ">", ">="};
    if (std::ranges::find(allowed, check.condition) == allowed.end())
    {
        throw P4Error(
            fmt::format("found \"{}\" (allowed: {})", check.condition, JoinNames(allowed)));
    }
    check.value = ReadP4Value(line.Take("a number"), 64)[0];
    return check;
}

/// A command as it stands, without its comment.
P4StfCommand
ReadCommand(std::string_view line)
{
    std::istringstream words{std::string(line.substr(0, line.find('#')))};
    P4StfCommand command;
    for (std::string word; words >> word;)
    {
        command.push_back(word);
    }
    command[0] = ToLower(command[0]);
    return command;
}

/// Nothing for an empty line.
std::optional<P4StfStatement>
ReadLine(std::string_view text)
{
    LineReader line(Tokenize(text));
    if (line.IsAtEnd())
    {
        return std::nullopt;
    }
    P4StfStatement statement;
    const auto verb = ToLower(line.Take("a statement"));
    if (verb == "packet")
    {
        statement.what = ReadPacket(line);
    }
    else if (verb == "expect")
    {
        statement.what = ReadExpectation(line);
    }
    else if (verb == "no_packet")
    {
        return std::nullopt; // What is not expected must not leave anyway.
    }
    else if (verb == "add" || verb == "setdefault")
    {
        statement.what = ReadStfEntry(line, verb == "setdefault");
    }
    else if (verb == "check_counter")
    {
        statement.what = ReadCounterCheck(line);
    }
    else if (verb == "remove")
    {
        line.Expect("all");
        statement.what = P4StfRemoval{};
    }
    else if (verb == "wait")
    {
        statement.what = P4StfPause{};
    }
    else
    {
        statement.what = ReadCommand(text);
        return statement;
    }
    line.ExpectEnd();
    return statement;
}

} // namespace

std::vector<P4StfStatement>
ReadP4Stf(std::string_view text, const std::string& file)
{
    std::vector<P4StfStatement> statements;
    std::istringstream lines{std::string(text)};
    std::string line;
    for (uint32_t number = 1; std::getline(lines, line); ++number)
    {
        try
        {
            if (auto statement = ReadLine(line))
            {
                statement->line = number;
                statements.push_back(std::move(*statement));
            }
        }
        catch (const P4Error& error)
        {
            throw P4Error(fmt::format("{}:{}", file, number), error.what());
        }
    }
    return statements;
}

} // namespace ns3::gradsync
