// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_P4_COMMAND_MUTATOR_H
#define GRADSYNC_P4_COMMAND_MUTATOR_H

#include "fuzz/import-mutator.h"

#include "ns3/p4-error.h"
#include "ns3/p4-pipeline.h"
#include "ns3/p4-program-loader.h"
#include "ns3/p4-runtime-commands.h"

#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>

namespace ns3::gradsync
{

/// Broken configurations of the slot program: lines and numbers change as those of imports do.
class P4CommandMutator
{
  public:
    /// \param folder p4-behavioral
    P4CommandMutator(const std::filesystem::path& folder, uint64_t seed)
        : m_program(std::make_shared<const P4Program>(
              P4ProgramLoader::LoadFile((folder / "compiled/slot-aggregation.json").string()))),
          m_commands({ReadText(folder / "slot-aggregation.cli")}, seed)
    {
    }

    std::string Next()
    {
        return m_commands.Next();
    }

    /// \returns false when it was refused as it should be; whatever else is thrown is a defect
    bool Try(const std::string& text) const
    {
        try
        {
            P4Pipeline pipeline(m_program);
            P4RuntimeCommands(pipeline, "fuzz").Run(text);
            return true;
        }
        catch (const P4Error&)
        {
            return false;
        }
    }

  private:
    static std::string ReadText(const std::filesystem::path& path)
    {
        std::ostringstream text;
        text << std::ifstream(path, std::ios::binary).rdbuf();
        return text.str();
    }

    std::shared_ptr<const P4Program> m_program;
    ImportMutator m_commands;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_P4_COMMAND_MUTATOR_H
