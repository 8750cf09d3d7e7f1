// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_PYTORCH_TRACE_H
#define GRADSYNC_PYTORCH_TRACE_H

#include "ns3/trace-issues.h"
#include "ns3/trace-program.h"

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace ns3::gradsync
{

/// How fast operators are, whose times a PyTorch execution trace does not have.
struct OperatorRates
{
    /// Of products of matrices of a datatype ("fp32", "fp16", "bf16"), a second; whether the trace
    /// has convolutions. Empty: products take no time.
    std::function<double(const std::string& datatype, bool hasConvolutions)> flopsPerSecond{};
    double bytesPerSecond{0.0}; //!< of memory
};

/// The ranks of a process group.
struct PyTorchGroup
{
    std::vector<uint32_t> ranks; //!< empty: all
    uint32_t size{0};

    bool operator==(const PyTorchGroup&) const = default;
};

/// What a rank does, by its PyTorch execution trace.
struct PyTorchTrace
{
    TraceProgram program;
    std::map<std::string, PyTorchGroup> groups; //!< by name
    uint64_t nodes{0};                          //!< of the file
    uint64_t products{0};                       //!< of the program
    TraceIssues issues;
};

/**
 * Reads the last step (ProfilerStep#) of a PyTorch execution trace, of all that it has where it has
 * no steps.
 *
 * Products of matrices are the computations, one after the other in the order in which they were
 * launched: of operators within each other the outermost one. They take their FLOPs by the rate,
 * but at least what reading and writing their tensors takes; all other operators take no time. A
 * collective (record_param_comms) begins after the products that were launched before it, and what
 * comes next does not wait for it, but for a `wait`, a reducer's copies of its buckets and a step
 * of the optimizer, which wait for all that is under way. \throws ImportError for what is no such
 * trace
 */
PyTorchTrace ReadPyTorchTrace(const std::string& file,
                              std::string_view text,
                              const OperatorRates& rates);

} // namespace ns3::gradsync

#endif // GRADSYNC_PYTORCH_TRACE_H
