// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/pytorch-files-reader.h"

#include "ns3/import-error.h"
#include "ns3/model-reader.h"
#include "ns3/pytorch-process-groups.h"
#include "ns3/trace-files.h"
#include "ns3/workload-builder.h"

#include <fmt/format.h>
#include <memory>
#include <utility>

namespace ns3::gradsync
{

PyTorchFilesReader::PyTorchFilesReader(const JsonValue& trace,
                                       const ParameterSet& parameters,
                                       const std::string& file,
                                       NamedFiles& files)
    : m_trace(trace),
      m_parameters(parameters),
      m_file(file),
      m_files(files)
{
}

PyTorchTrace
PyTorchFilesReader::ReadFile(uint32_t rank, const OperatorRates& rates) const
{
    const auto file = NameTraceFile(m_file, rank);
    auto trace = ReadPyTorchTrace(file, *UnpackTraceFile(file, m_files), rates);
    if (trace.products > 0 && !rates.flopsPerSecond &&
        m_parameters.Get<double>("computeScale") != 0.0)
    {
        throw ImportError(fmt::format(
            "{}: none of its {} nodes has a time: expected \"device\", by which products of "
            "matrices take theirs, or \"computeScale\": 0, for communications alone",
            file,
            trace.nodes));
    }
    return trace;
}

TraceSet
PyTorchFilesReader::Read(const std::function<uint32_t(uint32_t)>& countRanks,
                         TraceIssues& issues) const
{
    const auto device = m_trace.Find("device");
    const auto profile = device ? std::optional(ReadDevice(*device)) : std::nullopt;
    const auto rates = MakeRates(profile);
    auto trace = ReadFile(0, rates);
    const bool isEach = HasRankMark(m_file);
    const auto ranks = countRanks(CountGroupRanks(trace));
    TraceSet set;
    RankPrograms programs(m_file, set);
    PyTorchProcessGroups groups(m_file, ranks);
    for (uint32_t rank = 0; rank < ranks; ++rank)
    {
        if (isEach && rank > 0)
        {
            trace = ReadFile(rank, rates);
        }
        groups.Add(rank, trace.groups);
        if (isEach || rank == 0)
        {
            issues.Add(trace.issues, isEach ? 1 : ranks);
            programs.Add(std::make_shared<const TraceProgram>(std::move(trace.program)));
        }
        else
        {
            programs.AddAsFirst();
        }
    }
    set.groups = groups.Finish();
    return set;
}

/// By a device, as a model takes its times (doc/models.rst). \param device outlives them
OperatorRates
PyTorchFilesReader::MakeRates(const std::optional<DeviceProfile>& device) const
{
    if (!device)
    {
        return {};
    }
    const auto* given = m_parameters.Find<std::string>("datatype");
    const auto* share = m_parameters.Find<double>("achievedShare");
    return {[this, &device, given, share](const std::string& own, bool hasConvolutions) {
                try
                {
                    const auto& datatype = given != nullptr ? *given : own;
                    return GetPeakFlops(*device, datatype) *
                           (share != nullptr
                                ? *share
                                : GetAchievedShare(*device,
                                                   datatype,
                                                   hasConvolutions ? "cnn" : "transformer"));
                }
                catch (const WorkloadError& error)
                {
                    m_trace.FailWith(error.what());
                }
            },
            device->memoryBytesPerSecond};
}

} // namespace ns3::gradsync
