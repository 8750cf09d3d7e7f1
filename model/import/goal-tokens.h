// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_GOAL_TOKENS_H
#define GRADSYNC_GOAL_TOKENS_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace ns3::gradsync
{

/// Cuts the text of a GOAL schedule into tokens.
class GoalTokens
{
  public:
    enum class Kind : uint8_t
    {
        Word,
        Number,
        Symbol, //!< one character
        Note,   //!< an annotation of gradsync, its prefix left out
        NewLine,
        End
    };

    struct Token
    {
        Kind kind{Kind::End};
        std::string_view text;
        uint32_t line{1};
    };

    /// \param file for messages
    GoalTokens(std::string file, std::string_view text);

    /// The next token, which stays the next one.
    const Token& Peek() const
    {
        return m_next;
    }

    Token Take();

    /// Takes the next token if it is this word or symbol.
    bool TakeIf(std::string_view text);

    /// Takes a word or symbol. \throws ImportError for anything else
    void Expect(std::string_view text);

    /// Takes the end of a line, or of the file.
    void ExpectLineEnd();

    /// Takes a word that is none of the language. \throws ImportError
    Token TakeLabel();

    /// Takes a whole number. \throws ImportError \param what it is, for the message
    uint64_t TakeNumber(std::string_view what, uint64_t maximum);

    /// Throws an ImportError with file and line before the text.
    [[noreturn]] void Fail(uint32_t line, const std::string& text) const;

    /// Fails on the next token. \param expected what is allowed there
    [[noreturn]] void FailOnNext(std::string_view expected) const;

  private:
    void Advance();
    void SkipBlanks();
    bool SkipComment();
    Token MakeToken(Kind kind, size_t length);

    std::string m_file;
    std::string_view m_text;
    size_t m_position{0};
    uint32_t m_line{1};
    Token m_next;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_GOAL_TOKENS_H
