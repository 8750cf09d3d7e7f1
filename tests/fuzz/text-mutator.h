// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_TEXT_MUTATOR_H
#define GRADSYNC_TEXT_MUTATOR_H

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace ns3::gradsync
{

/**
 * Makes broken texts out of good ones. The same seed gives the same texts everywhere: only the
 * generator of <random> is used, whose output the standard fixes, not its distributions.
 */
class TextMutator
{
  public:
    TextMutator(std::vector<std::string> corpus, uint64_t seed)
        : m_corpus(std::move(corpus)),
          m_random(seed)
    {
    }

    virtual ~TextMutator() = default;
    TextMutator(const TextMutator&) = delete;
    TextMutator& operator=(const TextMutator&) = delete;

    /// A text of the corpus, changed.
    std::string Next()
    {
        return Mutate(m_corpus[Draw(m_corpus.size())]);
    }

  protected:
    virtual std::string Mutate(std::string text) = 0;

    /// Below the bound, or 0.
    size_t Draw(size_t bound)
    {
        return static_cast<size_t>(m_random() % std::max<size_t>(1, bound));
    }

    /// Changes that any text can have: another byte, some bytes less, an end.
    void ChangeBytes(std::string& text, size_t at, size_t which)
    {
        switch (which)
        {
        case 0:
            text[at] = static_cast<char>(Draw(256));
            break;
        case 1:
            text.erase(at, 1 + Draw(20));
            break;
        default:
            text.resize(at);
        }
    }

  private:
    std::vector<std::string> m_corpus;
    std::mt19937_64 m_random;
};

/// The files of a folder whose names do, in the order of their names.
template <class Predicate>
std::vector<std::filesystem::path>
ListFiles(const std::filesystem::path& folder, Predicate isWanted)
{
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(folder))
    {
        if (isWanted(entry.path().filename().string()))
        {
            files.push_back(entry.path());
        }
    }
    std::sort(files.begin(), files.end());
    return files;
}

} // namespace ns3::gradsync

#endif // GRADSYNC_TEXT_MUTATOR_H
