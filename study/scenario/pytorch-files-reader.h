// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_PYTORCH_FILES_READER_H
#define GRADSYNC_PYTORCH_FILES_READER_H

#include "ns3/device-profile.h"
#include "ns3/json-value.h"
#include "ns3/named-files.h"
#include "ns3/parameter-spec.h"
#include "ns3/pytorch-trace.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace ns3::gradsync
{

/// Reads PyTorch execution traces that `trace` of a job names.
class PyTorchFilesReader
{
  public:
    /// All outlive it. \param parameters of `trace`
    PyTorchFilesReader(const JsonValue& trace,
                       const ParameterSet& parameters,
                       const std::string& file,
                       NamedFiles& files);

    /**
     * \param countRanks that run it, of those that the trace tells of
     * \throws ImportError, also for computations without a time; ScenarioError
     */
    TraceSet Read(const std::function<uint32_t(uint32_t)>& countRanks, TraceIssues& issues) const;

  private:
    PyTorchTrace ReadFile(uint32_t rank, const OperatorRates& rates) const;
    OperatorRates MakeRates(const std::optional<DeviceProfile>& device) const;

    const JsonValue& m_trace;
    const ParameterSet& m_parameters;
    const std::string& m_file;
    NamedFiles& m_files;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_PYTORCH_FILES_READER_H
