// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/workload-trace-reader.h"

#include "ns3/aicb-workload.h"
#include "ns3/chakra-files.h"
#include "ns3/document-path.h"
#include "ns3/hash.h"
#include "ns3/import-error.h"
#include "ns3/parameter-reader.h"
#include "ns3/pytorch-files-reader.h"
#include "ns3/scheme-reader.h"
#include "ns3/trace-files.h"
#include "ns3/workload-trace-section.h"

#include <algorithm>
#include <fmt/format.h>
#include <limits>
#include <memory>
#include <utility>

namespace ns3::gradsync
{

namespace
{

/// Chakra's JSON has no member of that name.
bool
IsPyTorchTrace(const std::string& text)
{
    constexpr size_t HEADER_BYTES = 65'536;
    return std::string_view(text).substr(0, HEADER_BYTES).find("\"schema\"") !=
           std::string_view::npos;
}

/// Reads the files of a trace.
class TraceFilesReader
{
  public:
    TraceFilesReader(const JsonValue& trace, size_t endpoints, NamedFiles& files)
        : m_trace(trace),
          m_parameters(ReadParameters(trace, GetWorkloadTraceParameters())),
          m_file(trace.Find("file")->AsPath()),
          m_endpoints(static_cast<uint32_t>(endpoints)),
          m_files(files)
    {
    }

    /// \throws ImportError
    MatchedTrace Read()
    {
        const auto format = FindFormat();
        if (format.starts_with("aicb"))
        {
            RefuseWithAicb();
        }
        if (format != "pytorch")
        {
            RefuseWithoutPyTorch();
        }
        auto set = format == "aicb"         ? ReadAicbLayers()
                   : format == "aicb-table" ? ReadAicbRows()
                   : format == "pytorch"    ? ReadPyTorch()
                                            : ReadChakra(format == "chakra");
        if (std::ranges::all_of(set.programs,
                                [](const auto& program) { return program->nodes.empty(); }))
        {
            throw ImportError(m_file + ": the trace has nothing to run");
        }
        return MatchTrace(std::move(set), m_issues);
    }

    const TraceIssues& GetIssues() const
    {
        return m_issues;
    }

    const ParameterSet& GetParameters() const
    {
        return m_parameters;
    }

  private:
    std::string FindFormat() const
    {
        const auto& given = m_parameters.Get<std::string>("format");
        if (given != "auto")
        {
            return given;
        }
        const auto name = std::string_view(m_file).substr(
            0,
            m_file.size() - (m_file.ends_with(".gz") ? std::string_view(".gz").size() : 0));
        if (name.ends_with(".json") &&
            IsPyTorchTrace(*UnpackTraceFile(NameTraceFile(m_file, 0), m_files)))
        {
            return "pytorch";
        }
        for (const auto& [ending, format] : {std::pair(".txt", "aicb"),
                                             std::pair(".csv", "aicb-table"),
                                             std::pair(".et", "chakra"),
                                             std::pair(".json", "chakra-json")})
        {
            if (name.ends_with(ending))
            {
                return format;
            }
        }
        m_trace.Find("file")->FailWith(
            "the name tells no format: expected .txt, .csv, .et or .json "
            "at its end, or \"format\"");
    }

    /// What AICB's files have no use for.
    void RefuseWithAicb() const
    {
        if (const auto groups = m_trace.Find("groups"))
        {
            groups->FailWith("\"groups\" goes with traces of Chakra and PyTorch only");
        }
        if (HasRankMark(m_file))
        {
            m_trace.Find("file")->FailWith("a file of AICB is of all ranks, expected no {rank}");
        }
    }

    /// What times the nodes of a trace have not.
    void RefuseWithoutPyTorch() const
    {
        for (const auto* key : {"device", "datatype", "achievedShare"})
        {
            if (const auto given = m_trace.Find(key))
            {
                given->FailWith(fmt::format("\"{}\" goes with PyTorch execution traces only", key));
            }
        }
    }

    /// Those that are given; else what the trace says, or all endpoints.
    uint32_t CountRanks(uint32_t ofTrace) const
    {
        const auto* given = m_parameters.Find<int64_t>("ranks");
        const auto ranks = given != nullptr ? static_cast<uint32_t>(*given)
                           : ofTrace != 0   ? ofTrace
                                            : m_endpoints;
        if (ranks > m_endpoints)
        {
            m_trace.FailWith(fmt::format("the trace is of {} ranks, but there are {} endpoints",
                                         ranks,
                                         m_endpoints));
        }
        return ranks;
    }

    TraceSet ReadAicbLayers() const
    {
        const auto workload = ReadAicbWorkload(m_file, *UnpackTraceFile(m_file, m_files));
        return MakeAicbTrace(m_file, workload, CountRanks(workload.ranks));
    }

    TraceSet ReadAicbRows()
    {
        auto set = ReadAicbTable(m_file, *UnpackTraceFile(m_file, m_files), m_issues);
        const auto ranks = static_cast<uint32_t>(set.programs.size());
        if (CountRanks(ranks) != ranks)
        {
            m_trace.Find("ranks")->FailWith(
                fmt::format("the table is of {} ranks, which its groups are made of", ranks));
        }
        return set;
    }

    TraceProgram ReadChakraFile(const std::string& file, bool isProtobuf, TraceIssues& issues) const
    {
        ChakraProgram program(file, {m_parameters.Get<bool>("controlDependencies")});
        const auto text = UnpackTraceFile(file, m_files);
        if (isProtobuf)
        {
            ReadChakraProtobuf(*text, program);
        }
        else
        {
            ReadChakraJson(*text, program);
        }
        auto made = program.Finish();
        issues = program.GetBuilder().GetIssues();
        return made;
    }

    TraceSet ReadChakra(bool isProtobuf)
    {
        TraceSet set;
        RankPrograms programs(m_file, set);
        const auto ranks = CountRanks(0);
        const bool isEach = HasRankMark(m_file);
        for (uint32_t rank = 0; rank < ranks; ++rank)
        {
            if (isEach || rank == 0)
            {
                TraceIssues issues;
                auto program = ReadChakraFile(NameTraceFile(m_file, rank), isProtobuf, issues);
                programs.Add(std::make_shared<const TraceProgram>(std::move(program)));
                m_issues.Add(issues, isEach ? 1 : ranks);
            }
            else
            {
                programs.AddAsFirst();
            }
        }
        ReadGroups(set);
        return set;
    }

    TraceSet ReadPyTorch()
    {
        auto set = PyTorchFilesReader(m_trace, m_parameters, m_file, m_files)
                       .Read([this](uint32_t ranks) { return CountRanks(ranks); }, m_issues);
        ReadGroups(set);
        return set;
    }

    /// `{"1": [0, 1], "2": [2, 3]}`
    void ReadGroups(TraceSet& set) const
    {
        if (!m_trace.Find("groups"))
        {
            return;
        }
        const auto file = m_trace.Find("groups")->AsPath();
        const JsonValue root(m_files.ReadJson(file), file, "");
        if (!root.IsObject())
        {
            root.Fail("the ranks of each process group, as {\"1\": [0, 1]}");
        }
        for (const auto& [name, value] : root.Get().items())
        {
            const auto list = *root.Find(name);
            std::vector<uint32_t> ranks;
            for (const auto& item : list.GetItems())
            {
                const auto rank =
                    static_cast<uint32_t>(item.AsUnsigned(0, set.programs.size() - 1));
                if (std::ranges::find(ranks, rank) != ranks.end())
                {
                    item.FailWith(fmt::format("the rank {} is listed twice", rank));
                }
                ranks.push_back(rank);
            }
            if (ranks.empty())
            {
                list.Fail("a list of at least one rank");
            }
            set.groups[name] = {std::move(ranks)};
        }
    }

    const JsonValue& m_trace;
    ParameterSet m_parameters;
    std::string m_file;
    uint32_t m_endpoints;
    NamedFiles& m_files;
    TraceIssues m_issues;
};

std::array<SchemeChoice, TRACE_COLLECTIVES>
ReadTraceSchemes(const JsonValue& trace, const std::optional<JsonValue>& scheme)
{
    std::array<SchemeChoice, TRACE_COLLECTIVES> schemes;
    for (size_t i = 0; i < TRACE_COLLECTIVES; ++i)
    {
        if (const auto own = trace.Find(GetTraceSchemeKeys()[i]))
        {
            schemes[i] = ReadScheme(*own);
            continue;
        }
        const auto collective = static_cast<TraceCollective>(i);
        const bool isAllReduce = collective == TraceCollective::AllReduce;
        const auto* standard =
            FindScheme(isAllReduce ? "ring" : GetTraceCollectiveName(collective));
        schemes[i] = isAllReduce && scheme
                         ? ReadScheme(*scheme)
                         : SchemeChoice{standard, MakeDefaultParameters(*standard)};
    }
    return schemes;
}

/// Of all its files, in the order of ranks.
std::string
HashTrace(const std::string& file, NamedFiles& files)
{
    std::string hashes;
    for (uint32_t rank = 0; rank == 0 || HasRankMark(file); ++rank)
    {
        try
        {
            hashes +=
                fmt::format("{:016x}", Hash64(*ReadTraceFile(NameTraceFile(file, rank), files)));
        }
        catch (const ImportError&)
        {
            break; // the last one was the one before; none at all is said when it is to be run
        }
    }
    return fmt::format("{:016x}", Hash64(hashes));
}

void
StampTrace(Json& trace, const std::string& scenarioFile, const std::string& path, NamedFiles& files)
{
    if (!trace.is_object() || !trace.contains("file"))
    {
        return;
    }
    const auto file = JsonValue(trace["file"], scenarioFile, path + ".file").AsPath();
    const auto digest = HashTrace(file, files);
    const auto given = trace.find("digest");
    const bool isGiven = given != trace.end() &&
                         !(given->is_string() && given->get_ref<const std::string&>().empty());
    if (isGiven && *given != digest)
    {
        JsonValue(trace["digest"], scenarioFile, path + ".digest")
            .Fail(fmt::format("\"{}\", which {} hashes to", digest, file));
    }
    trace["digest"] = digest;
}

} // namespace

TrainingJobSpec
ReadWorkloadTrace(const JsonValue& trace,
                  const std::optional<JsonValue>& scheme,
                  std::vector<uint32_t> endpoints,
                  NamedFiles& files)
{
    TraceFilesReader reader(trace, endpoints.size(), files);
    const auto& parameters = reader.GetParameters();
    TraceJobSpec spec;
    try
    {
        spec.trace = std::make_shared<const MatchedTrace>(reader.Read());
    }
    catch (const ImportError& error)
    {
        trace.Find("file")->FailWith(error.what());
    }
    spec.issues = reader.GetIssues();
    if (!spec.issues.IsEmpty() && parameters.Get<std::string>("onUnsupported") == "refuse")
    {
        trace.FailWith(fmt::format("cannot be simulated as it is: {}; \"onUnsupported\": \"skip\" "
                                   "goes on without",
                                   spec.issues.Describe()));
    }
    spec.schemes = ReadTraceSchemes(trace, scheme);
    spec.computeScale = parameters.Get<double>("computeScale");
    endpoints.resize(spec.trace->set.programs.size());
    TrainingJobSpec job;
    job.spec = std::move(spec);
    job.endpointOf = std::move(endpoints);
    return job;
}

void
StampWorkloadTraces(Json& document, const std::string& scenarioFile, NamedFiles& files)
{
    std::vector<std::string> paths{"job.trace"};
    const Json* jobs = FindAtPath(document, {"jobs"});
    for (size_t i = 0; jobs != nullptr && jobs->is_array() && i < jobs->size(); ++i)
    {
        paths.push_back(fmt::format("jobs.{}.trace", i));
    }
    for (const auto& path : paths)
    {
        if (Json* trace = FindAtPath(document, SplitPath(path)))
        {
            StampTrace(*trace, scenarioFile, path, files);
        }
    }
}

} // namespace ns3::gradsync
