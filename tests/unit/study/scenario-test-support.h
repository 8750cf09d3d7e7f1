// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_SCENARIO_TEST_SUPPORT_H
#define GRADSYNC_SCENARIO_TEST_SUPPORT_H

#include "ns3/scenario-error.h"

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

namespace ns3::gradsync
{

/// The text of the ScenarioError that a call throws; any other exception goes through.
template <typename Call>
std::string
ErrorOf(Call call)
{
    try
    {
        call();
    }
    catch (const ScenarioError& error)
    {
        return error.what();
    }
    return "no error";
}

/// A new folder that is removed with all its content at the end.
class TemporaryFolder
{
  public:
    TemporaryFolder()
    {
        std::string name =
            (std::filesystem::temp_directory_path() / "gradsync-test-XXXXXX").string();
        if (mkdtemp(name.data()) == nullptr)
        {
            throw std::runtime_error("no temporary folder");
        }
        m_path = name;
    }

    ~TemporaryFolder()
    {
        std::error_code error;
        std::filesystem::remove_all(m_path, error);
    }

    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;

    const std::filesystem::path& Get() const
    {
        return m_path;
    }

  private:
    std::filesystem::path m_path;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_SCENARIO_TEST_SUPPORT_H
