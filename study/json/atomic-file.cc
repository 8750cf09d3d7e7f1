// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/atomic-file.h"

#include <fmt/format.h>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace ns3::gradsync
{

AtomicFile::AtomicFile(std::filesystem::path path)
    : m_path(std::move(path)),
      m_temporary(m_path.parent_path() / fmt::format(".{}.tmp", m_path.filename().string())),
      m_stream(m_temporary, std::ios::binary | std::ios::trunc)
{
    if (!m_stream)
    {
        throw std::runtime_error(m_path.string() + ": cannot be written");
    }
}

AtomicFile::~AtomicFile()
{
    std::error_code ignored;
    std::filesystem::remove(m_temporary, ignored);
}

void
AtomicFile::Commit()
{
    m_stream.close();
    if (!m_stream)
    {
        throw std::runtime_error(m_path.string() + ": writing failed: disk full?");
    }
    std::filesystem::rename(m_temporary, m_path);
}

} // namespace ns3::gradsync
