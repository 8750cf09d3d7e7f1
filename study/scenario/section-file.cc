// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/section-file.h"

#include "ns3/document-path.h"
#include "ns3/scenario-error.h"

#include <utility>

namespace ns3::gradsync
{

void
InlineSectionFile(Json& section,
                  const SectionFile& file,
                  const std::string& scenarioFile,
                  NamedFiles& files)
{
    if (!section.is_object() || !section.contains("file"))
    {
        return;
    }
    const JsonValue name(*section.find("file"), scenarioFile, file.path + ".file");
    const auto path = name.AsPath();
    Json content = file.read ? file.read(path, files) : files.ReadJson(path);
    if (!content.is_object())
    {
        JsonValue(content, path, "").Fail("an object such as " + file.example);
    }
    content.erase("$schema");
    content.erase("title");
    if (content.contains("file"))
    {
        throw ScenarioError(path + ": file", "such a file cannot name another one");
    }
    Json changes = section;
    changes.erase("file");
    if (changes.empty())
    {
        file.check(JsonValue(content, path, ""));
    }
    MergeInto(content, changes);
    section = std::move(content);
}

} // namespace ns3::gradsync
