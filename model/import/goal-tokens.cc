// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/goal-tokens.h"

#include "ns3/goal-annotation.h"
#include "ns3/import-error.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <utility>

namespace ns3::gradsync
{

namespace
{

bool
IsDigit(char c)
{
    return c >= '0' && c <= '9';
}

bool
IsLetter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/// Whether gradsync's own comments begin here.
bool
IsNote(std::string_view text)
{
    return text.starts_with(goal_annotation::PREFIX) &&
           text.substr(goal_annotation::PREFIX.size()).starts_with(' ');
}

template <typename Belongs>
size_t
CountWhile(std::string_view text, Belongs belongs)
{
    return static_cast<size_t>(std::find_if_not(text.begin(), text.end(), belongs) - text.begin());
}

/// As a message shows it: cut, without control characters.
std::string
Show(std::string_view text)
{
    constexpr size_t LONGEST = 40;
    std::string shown(text.substr(0, LONGEST));
    std::replace_if(
        shown.begin(),
        shown.end(),
        [](char c) { return c < ' ' || c > '~'; },
        '?');
    return shown + (text.size() > LONGEST ? "..." : "");
}

} // namespace

GoalTokens::GoalTokens(std::string file, std::string_view text)
    : m_file(std::move(file)),
      m_text(text)
{
    Advance();
}

GoalTokens::Token
GoalTokens::Take()
{
    const auto token = m_next;
    Advance();
    return token;
}

bool
GoalTokens::TakeIf(std::string_view text)
{
    const bool isThere =
        (m_next.kind == Kind::Word || m_next.kind == Kind::Symbol) && m_next.text == text;
    if (isThere)
    {
        Advance();
    }
    return isThere;
}

void
GoalTokens::Expect(std::string_view text)
{
    if (!TakeIf(text))
    {
        FailOnNext(fmt::format("\"{}\"", text));
    }
}

void
GoalTokens::ExpectLineEnd()
{
    if (m_next.kind != Kind::NewLine && m_next.kind != Kind::End)
    {
        FailOnNext("the end of the line");
    }
    Advance();
}

GoalTokens::Token
GoalTokens::TakeLabel()
{
    if (m_next.kind != Kind::Word)
    {
        FailOnNext("a label");
    }
    return Take();
}

uint64_t
GoalTokens::TakeNumber(std::string_view what, uint64_t maximum)
{
    uint64_t value = 0;
    const auto* end = m_next.text.data() + m_next.text.size();
    const bool isRead = m_next.kind == Kind::Number &&
                        std::from_chars(m_next.text.data(), end, value).ec == std::errc();
    if (!isRead || value > maximum)
    {
        FailOnNext(fmt::format("{}, a whole number up to {}", what, maximum));
    }
    Advance();
    return value;
}

void
GoalTokens::Fail(uint32_t line, const std::string& text) const
{
    throw ImportError(fmt::format("{}:{}: {}", m_file, line, text));
}

void
GoalTokens::FailOnNext(std::string_view expected) const
{
    const auto found = m_next.kind == Kind::End       ? std::string("the end of the file")
                       : m_next.kind == Kind::NewLine ? std::string("the end of the line")
                                                      : fmt::format("\"{}\"", Show(m_next.text));
    Fail(m_next.line, fmt::format("found {}, expected {}", found, expected));
}

void
GoalTokens::Advance()
{
    do
    {
        SkipBlanks();
    } while (SkipComment());
    const auto rest = m_text.substr(m_position);
    if (rest.empty())
    {
        m_next = MakeToken(Kind::End, 0);
    }
    else if (rest[0] == '\n')
    {
        m_next = MakeToken(Kind::NewLine, 1);
        ++m_line;
    }
    else if (IsNote(rest))
    {
        const auto length = std::min(rest.find('\n'), rest.size());
        m_next = MakeToken(Kind::Note, length);
        m_next.text.remove_prefix(goal_annotation::PREFIX.size());
    }
    else if (IsLetter(rest[0]))
    {
        const auto belongs = [](char c) { return IsLetter(c) || IsDigit(c) || c == '_'; };
        m_next = MakeToken(Kind::Word, CountWhile(rest, belongs));
    }
    else if (IsDigit(rest[0]))
    {
        m_next = MakeToken(Kind::Number, CountWhile(rest, IsDigit));
    }
    else
    {
        m_next = MakeToken(Kind::Symbol, 1);
    }
}

void
GoalTokens::SkipBlanks()
{
    const auto isBlank = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
    m_position += CountWhile(m_text.substr(m_position), isBlank);
}

bool
GoalTokens::SkipComment()
{
    const auto rest = m_text.substr(m_position);
    if (rest.starts_with("//") && !IsNote(rest))
    {
        m_position += std::min(rest.find('\n'), rest.size());
        return true;
    }
    if (!rest.starts_with("/*"))
    {
        return false;
    }
    const auto end = rest.find("*/", 2);
    if (end == std::string_view::npos)
    {
        Fail(m_line, "a comment without an end, expected \"*/\"");
    }
    m_line += static_cast<uint32_t>(std::count(rest.begin(), rest.begin() + end, '\n'));
    m_position += end + 2;
    return true;
}

GoalTokens::Token
GoalTokens::MakeToken(Kind kind, size_t length)
{
    const Token token{kind, m_text.substr(m_position, length), m_line};
    m_position += length;
    return token;
}

} // namespace ns3::gradsync
