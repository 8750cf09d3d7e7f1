// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/trace-files.h"

#include "ns3/gzip-text.h"
#include "ns3/import-error.h"

#include <fmt/format.h>
#include <string_view>
#include <utility>

namespace ns3::gradsync
{

namespace
{

constexpr std::string_view RANK_MARK = "{rank}";

} // namespace

bool
HasRankMark(const std::string& name)
{
    return name.find(RANK_MARK) != std::string::npos;
}

std::string
NameTraceFile(std::string name, uint32_t rank)
{
    const auto mark = name.find(RANK_MARK);
    return mark == std::string::npos ? name
                                     : name.replace(mark, RANK_MARK.size(), std::to_string(rank));
}

std::shared_ptr<const std::string>
ReadTraceFile(const std::string& file, NamedFiles& files)
{
    try
    {
        return files.Read(file, NamedFiles::MAX_TOTAL_BYTES);
    }
    catch (const InputFileError& error)
    {
        throw ImportError(fmt::format("{}: the file {}", file, error.what()));
    }
}

std::shared_ptr<const std::string>
UnpackTraceFile(const std::string& file, NamedFiles& files)
{
    auto content = ReadTraceFile(file, files);
    if (!IsGzip(*content))
    {
        return content;
    }
    try
    {
        return std::make_shared<const std::string>(Gunzip(*content, NamedFiles::MAX_TOTAL_BYTES));
    }
    catch (const GzipError& error)
    {
        throw ImportError(fmt::format("{}: the file {}", file, error.what()));
    }
}

RankPrograms::RankPrograms(std::string file, TraceSet& set)
    : m_file(std::move(file)),
      m_set(set)
{
}

void
RankPrograms::Add(std::shared_ptr<const TraceProgram> program)
{
    m_nodes += program->nodes.size();
    if (m_nodes > MAX_TRACE_NODES)
    {
        throw ImportError(
            fmt::format("{}: its ranks have more than {} nodes in all", m_file, MAX_TRACE_NODES));
    }
    m_set.programs.push_back(std::move(program));
}

void
RankPrograms::AddAsFirst()
{
    Add(m_set.programs.front());
}

} // namespace ns3::gradsync
