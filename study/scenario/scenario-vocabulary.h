// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_SCENARIO_VOCABULARY_H
#define GRADSYNC_SCENARIO_VOCABULARY_H

#include "ns3/json-document.h"
#include "ns3/scenario-sections.h"

#include <optional>
#include <string>
#include <vector>

namespace ns3::gradsync
{

/**
 * Which paths a scenario knows, given or not, so that `sweep` and `--set` can tell a new optional
 * value from a misspelt one. Sections with a `kind` know the keys of every kind that the document
 * names or sweeps over.
 */
class ScenarioVocabulary
{
  public:
    /// The document must outlive the vocabulary.
    explicit ScenarioVocabulary(const Json& document);

    /// \throws ScenarioError, starting with `where`, when the path is not known; names the nearest
    /// path
    void CheckPath(const std::string& path, const std::string& where) const;

    /// What is declared of the parameter at a path; nothing for what no section declares by itself,
    /// as a member of a list. Of several kinds that know it, the first.
    std::optional<ParameterSpec> FindParameter(const std::string& path) const;

    /// Kinds that the section at `path` can take: its own and those that the sweep gives it.
    std::vector<std::string> GetKinds(const std::string& path) const;

    /// Keys that the section at a path has for one kind; empty when there is no such kind.
    std::vector<std::string> GetKindKeys(const std::vector<std::string>& segments,
                                         const std::string& kind) const;

  private:
    std::vector<ParameterSpec> GetParameters(const std::vector<std::string>& segments) const;
    std::vector<ParameterSpec> GetMembers(const ParameterSpec& spec,
                                          const std::vector<std::string>& segments) const;
    std::vector<ParameterSpec> GetUnionOfKinds(const KindSection& section,
                                               const std::vector<std::string>& segments) const;

    const Json* m_document;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_SCENARIO_VOCABULARY_H
