// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_READERS_H
#define GRADSYNC_READERS_H

#include <filesystem>
#include <span>
#include <string>

namespace ns3::gradsync
{

/// A reader of files from outside, which may hold anything.
struct Reader
{
    const char* name; //!< of the folder of its corpus, and of its dictionary in tests/fuzz
    /**
     * Reads a text as the program would, up to where a simulation would begin.
     * \returns false when it was refused as it should be; whatever is thrown is a defect
     */
    bool (*read)(const std::string& text);
};

std::span<const Reader> GetReaders();

/// \throws std::invalid_argument, which names those there are
const Reader& FindReader(const std::string& name);

/// Texts for a reader that have found something, or reach what others do not.
std::filesystem::path GetCorpusFolder(const Reader& reader);

} // namespace ns3::gradsync

#endif // GRADSYNC_READERS_H
