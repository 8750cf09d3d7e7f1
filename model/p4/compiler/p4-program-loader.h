// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_P4_PROGRAM_LOADER_H
#define GRADSYNC_P4_PROGRAM_LOADER_H

#include "ns3/p4-emitter.h"
#include "ns3/p4-program.h"

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace ns3::gradsync
{

/**
 * Reads what p4c-bm2-ss makes of a v1model program (BMv2 JSON, format 2.x) and compiles it.
 *
 * What it does not know is an error, never left out: externs, and primitives that no list here has.
 */
class P4ProgramLoader
{
  public:
    /**
     * \param text the JSON
     * \param file its name, for messages
     * \throws P4Error that names the JSON path and what is there
     */
    static P4Program Load(std::string_view text, const std::string& file);
    /// Reads a file of at most 64 MiB. \throws P4Error
    static P4Program LoadFile(const std::filesystem::path& file);

  private:
    /// p4c makes no field wider than this.
    static constexpr uint32_t MAX_FIELD_BITS = 4096;

    P4ProgramLoader(const nlohmann::json& document, const std::string& file);

    void LoadAll();
    void CheckVersion() const;
    void CheckUnsupported() const;
    void LoadErrors();
    void LoadHeaders();
    void AddHeader(const P4Json& instance);
    /// Fields and sizes of a header, in the store too.
    void LoadFields(P4Header& header, const P4Json& type);
    void LoadVariableField(P4Header& header, P4Field& field, const P4Json& type);
    P4Field LoadField(const P4Json& field, uint32_t offset) const;
    void LoadStacks();
    void LoadUnions();
    void LoadUnionStacks();
    std::vector<std::string> FindUnionMembers(const P4Json& name) const;
    void CheckColumn(const P4Stack& column, const P4Json& where) const;
    void LoadAliases();
    uint32_t FindStandard(const std::string& header, const std::string& field) const;
    void LoadRegisters();
    void LoadCounters();
    void LoadMeters();
    void LoadValueSets();
    void LoadDigests();
    void LoadFieldLists();
    void LoadCalculations();
    void LoadActions();
    void LoadParser();
    void LoadDeparser();
    uint32_t LoadChecksums(const std::string& purpose, P4Op op);

    P4Program m_program;
    P4Json m_root;
    P4Emitter m_emitter;
    /// Header types by name.
    std::map<std::string, P4Json> m_types;
    std::map<uint32_t, uint32_t> m_headerOfId;
    std::map<uint32_t, uint32_t> m_unionOfId;
    std::map<uint32_t, uint32_t> m_actionOfId;
    std::map<std::string, uint32_t> m_standardFields;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_P4_PROGRAM_LOADER_H
