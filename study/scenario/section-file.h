// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_SECTION_FILE_H
#define GRADSYNC_SECTION_FILE_H

#include "ns3/json-value.h"
#include "ns3/named-files.h"

#include <functional>
#include <string>

namespace ns3::gradsync
{

/// A section of a scenario whose content may be in a file of its own.
struct SectionFile
{
    std::string path;    //!< of the section, for messages
    std::string example; //!< of its content
    /// Reads the content of a file alone, so that an error names that file and not the scenario.
    std::function<void(const JsonValue& content)> check;
    /// Reads a file that is no JSON; empty: there are none.
    std::function<Json(const std::string& name, NamedFiles& files)> read{};
};

/**
 * Puts the content of the file that `file` of a section names in its place; keys beside `file`
 * override it. `$schema` and `title` of the file are left out.
 * \throws ScenarioError
 */
void InlineSectionFile(Json& section,
                       const SectionFile& file,
                       const std::string& scenarioFile,
                       NamedFiles& files);

} // namespace ns3::gradsync

#endif // GRADSYNC_SECTION_FILE_H
