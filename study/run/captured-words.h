// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_CAPTURED_WORDS_H
#define GRADSYNC_CAPTURED_WORDS_H

#include "ns3/scenario-error.h"

#include <cstdio>
#include <memory>
#include <string>

namespace ns3::gradsync
{

/// What a child process says, in a file without a name. \throws ScenarioError when that cannot be
/// made
class CapturedWords
{
  public:
    CapturedWords()
        : m_file(std::tmpfile(), &std::fclose)
    {
        if (!m_file)
        {
            throw ScenarioError("temporary file", "cannot be made");
        }
    }

    /// For the child to write to.
    int GetDescriptor() const
    {
        return fileno(m_file.get());
    }

    std::string ReadAll() const
    {
        std::string text;
        std::rewind(m_file.get());
        for (int c = std::fgetc(m_file.get()); c != EOF; c = std::fgetc(m_file.get()))
        {
            text += static_cast<char>(c);
        }
        return text;
    }

  private:
    std::unique_ptr<std::FILE, decltype(&std::fclose)> m_file;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_CAPTURED_WORDS_H
