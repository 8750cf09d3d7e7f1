// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/aicb-program.h"
#include "ns3/import-error.h"
#include "ns3/nearest-name.h"
#include "ns3/trace-lines.h"
#include "ns3/workload-builder.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <map>
#include <utility>

namespace ns3::gradsync
{

namespace
{

constexpr uint64_t MAX_TABLE_RANKS = 1 << 20;

/// comm_type of a row, but for those that are handled apart.
constexpr std::array<std::pair<std::string_view, TraceCollective>, 9> ROW_COLLECTIVES{
    {{"all_reduce", TraceCollective::AllReduce},
     {"all_gather", TraceCollective::AllGather},
     {"all_gather_into_tensor", TraceCollective::AllGather},
     {"reduce_scatter", TraceCollective::ReduceScatter},
     {"reduce_scatter_tensor", TraceCollective::ReduceScatter},
     {"all_to_all", TraceCollective::AllToAll},
     {"broadcast", TraceCollective::Broadcast},
     {"reduce", TraceCollective::Reduce},
     {"barrier", TraceCollective::Barrier}}};

/// comm_group of a row, and how groups are called here.
const std::map<std::string_view, std::string> ROW_GROUPS{{"dp_group", "dp"},
                                                         {"tp_group", "tp"},
                                                         {"pp_group", "pp"},
                                                         {"ep_group", "ep"},
                                                         {"ep_dp_group", "dp_ep"},
                                                         {"all", ""}};

struct TableRow
{
    std::string stage;
    AicbPhase phase;
    std::string unknown; //!< a comm_type that is none of a collective
};

/// Reads the rows of a communication table.
class AicbTableReader
{
  public:
    AicbTableReader(const std::string& file, std::string_view text)
        : m_lines(file, text, ",", true)
    {
        ReadRanks();
        if (!m_lines.Next())
        {
            m_lines.Fail("expected the names of columns: comm_type,comm_group,...");
        }
        const auto& names = m_lines.GetWords();
        for (const auto* name : {"comm_type", "comm_group", "comm_group_size", "msg_size", "stage"})
        {
            const auto found = std::ranges::find(names, name);
            if (found == names.end())
            {
                m_lines.Fail(fmt::format("the column {} is missing", name));
            }
            m_columns.push_back(static_cast<size_t>(found - names.begin()));
        }
    }

    uint32_t GetRanks() const
    {
        return m_ranks;
    }

    const std::map<std::string, uint32_t>& GetGroupSizes() const
    {
        return m_sizes;
    }

    /// The rows of each epoch that has some.
    std::vector<std::vector<TableRow>> Read()
    {
        std::vector<std::vector<TableRow>> epochs(1);
        while (m_lines.Next())
        {
            const auto type = Get(0);
            if (type == "epoch_end")
            {
                epochs.emplace_back();
                continue;
            }
            epochs.back().push_back(ReadRow(type));
        }
        std::erase_if(epochs, [](const auto& rows) { return rows.empty(); });
        if (epochs.empty())
        {
            m_lines.Fail("has no rows");
        }
        return epochs;
    }

  private:
    /// "[rank0 ~ rank127]"
    void ReadRanks()
    {
        if (!m_lines.Next())
        {
            m_lines.Fail("is empty, expected a communication table of AICB");
        }
        const auto line = m_lines.GetWords().front();
        constexpr std::string_view BEGIN = "[rank0 ~ rank";
        if (!line.starts_with(BEGIN) || !line.ends_with(']'))
        {
            m_lines.Fail(
                "is no communication table of AICB: expected [rank0 ~ rank127] or the like "
                "in its first line");
        }
        const auto last = line.substr(BEGIN.size(), line.size() - BEGIN.size() - 1);
        m_ranks = static_cast<uint32_t>(
            m_lines.GetNumber(last, "the last rank", MAX_TABLE_RANKS - 1) + 1);
    }

    /// Behind the name of its enumeration: "dp_group" of "CommGroup.dp_group".
    std::string_view Get(size_t column) const
    {
        const auto& words = m_lines.GetWords();
        if (m_columns[column] >= words.size())
        {
            m_lines.Fail(fmt::format("found {} columns, expected at least {}",
                                     words.size(),
                                     m_columns[column] + 1));
        }
        auto word = words[m_columns[column]];
        for (const std::string_view prefix : {"CommType.", "CommGroup."})
        {
            word.remove_prefix(word.starts_with(prefix) ? prefix.size() : 0);
        }
        return word;
    }

    TableRow ReadRow(std::string_view type)
    {
        TableRow row;
        row.stage = Get(4);
        const auto found = std::ranges::find(ROW_COLLECTIVES,
                                             type,
                                             &std::pair<std::string_view, TraceCollective>::first);
        if (found == ROW_COLLECTIVES.end())
        {
            row.unknown = QuoteName(type);
            return row;
        }
        row.phase.collective = found->second;
        // A barrier has no size.
        row.phase.bytes = Get(3).empty() || Get(3) == "None"
                              ? 0
                              : m_lines.GetNumber(Get(3), "msg_size", MAX_TRACE_BYTES);
        const auto group = ROW_GROUPS.find(Get(1));
        if (group == ROW_GROUPS.end())
        {
            m_lines.Fail("comm_group: expected dp_group, tp_group, pp_group, ep_group, ep_dp_group "
                         "or all");
        }
        row.phase.group = group->second;
        const auto size =
            static_cast<uint32_t>(m_lines.GetNumber(Get(2), "comm_group_size", MAX_TABLE_RANKS));
        const auto [known, isNew] = m_sizes.emplace(group->second, size);
        if (size == 0 || known->second != size || (group->second.empty() && size != m_ranks))
        {
            m_lines.Fail(fmt::format("comm_group_size: found {}, expected {} as of other rows",
                                     size,
                                     group->second.empty() ? m_ranks : known->second));
        }
        return row;
    }

    TraceLines m_lines;
    std::vector<size_t> m_columns;
    uint32_t m_ranks{0};
    std::map<std::string, uint32_t> m_sizes; //!< of groups
};

/// The degrees that sizes of groups stand for.
ParallelDegrees
FindDegrees(const std::string& file, const std::map<std::string, uint32_t>& sizes, uint32_t ranks)
{
    const auto get = [&sizes](const char* group) {
        const auto found = sizes.find(group);
        return found == sizes.end() ? 0 : found->second;
    };
    ParallelDegrees degrees;
    degrees.tensor = std::max(get("tp"), 1U);
    degrees.expert = std::max(get("ep"), 1U);
    const auto ofModel = uint64_t{degrees.tensor} * std::max(get("pp"), 1U);
    degrees.data = get("dp") != 0 ? get("dp") : static_cast<uint32_t>(ranks / ofModel);
    const auto inStage = uint64_t{degrees.tensor} * std::max(degrees.data, 1U);
    degrees.pipeline = static_cast<uint32_t>(ranks / inStage);
    const auto expertData = get("dp_ep");
    if (inStage * degrees.pipeline != ranks || degrees.data % degrees.expert != 0 ||
        (get("pp") != 0 && get("pp") != degrees.pipeline) ||
        (expertData != 0 && expertData * degrees.expert != degrees.data))
    {
        throw ImportError(fmt::format("{}: groups of {} tensor-, {} data-, {} pipeline- and {} "
                                      "expert-parallel ranks do not make up {} ranks",
                                      file,
                                      degrees.tensor,
                                      degrees.data,
                                      std::max(get("pp"), degrees.pipeline),
                                      degrees.expert,
                                      ranks));
    }
    return degrees;
}

} // namespace

TraceSet
ReadAicbTable(const std::string& file, std::string_view text, TraceIssues& issues)
{
    AicbTableReader reader(file, text);
    const auto epochs = reader.Read();
    const auto ranks = reader.GetRanks();
    AicbProgram program(file);
    for (const auto& row : epochs.back())
    {
        if (!row.unknown.empty())
        {
            issues.Add(fmt::format("rows of comm_type {}", row.unknown),
                       fmt::format("stage {} of {}", QuoteName(row.stage), file),
                       ranks);
            continue;
        }
        program.Collect(row.phase, row.stage);
    }
    TraceSet set;
    try
    {
        AddParallelGroups(FindDegrees(file, reader.GetGroupSizes(), ranks), set);
    }
    catch (const WorkloadError& error)
    {
        throw ImportError(fmt::format("{}: {}", file, error.what()));
    }
    set.programs.assign(ranks, std::make_shared<const TraceProgram>(program.Finish()));
    CheckTraceSize(file, set.programs.front()->nodes.size() * ranks);
    return set;
}

} // namespace ns3::gradsync
