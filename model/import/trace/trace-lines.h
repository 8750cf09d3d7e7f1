// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_TRACE_LINES_H
#define GRADSYNC_TRACE_LINES_H

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ns3::gradsync
{

/// The lines of a text file that are not empty, cut into words.
class TraceLines
{
  public:
    /// \param separators between words \param keepsEmpty words, as tables have them
    TraceLines(std::string file, std::string_view text, std::string separators, bool keepsEmpty);

    /// Goes on to the next line. \returns whether there is one
    bool Next();

    const std::vector<std::string_view>& GetWords() const
    {
        return m_words;
    }

    /// Throws an ImportError with file and line before the text.
    [[noreturn]] void Fail(const std::string& text) const;

    /// A whole number from 0. \param what it is, for the message
    uint64_t GetNumber(std::string_view word, std::string_view what, uint64_t maximum) const;

  private:
    void Cut(std::string_view line);

    std::string m_file;
    std::string_view m_rest;
    std::string m_separators;
    bool m_keepsEmpty;
    uint32_t m_line{0};
    std::vector<std::string_view> m_words;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_TRACE_LINES_H
