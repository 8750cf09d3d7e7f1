// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_NCCL_MODEL_H
#define GRADSYNC_NCCL_MODEL_H

#include "ns3/message-protocol.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ns3::gradsync
{

/// Of the GPUs: NCCL has figures for each.
enum class NcclArchitecture : uint8_t
{
    Volta,
    Ampere,
    Hopper,
    Blackwell
};

/// Of an all-reduce.
enum class NcclAlgorithm : uint8_t
{
    Tree,
    Ring,
    Nvls,    //!< sums in the NVSwitch of one server
    NvlsTree //!< the same, and a tree over the servers
};

/// In the order of the figures in the tables of NCCL's model.
enum class NcclProtocol : uint8_t
{
    Ll,
    Ll128,
    Simple
};

/// As scenarios and messages have them: "tree", "ll128".
const char* ToString(NcclAlgorithm algorithm);
const char* ToString(NcclProtocol protocol);

/// NCCL's figures of a protocol for an algorithm: those of its rings or its trees.
MessageProtocol MakeNcclProtocol(NcclAlgorithm algorithm, NcclProtocol protocol);

/// What NCCL's model knows of a machine.
struct NcclMachine
{
    uint32_t ranks{0};
    uint32_t servers{1};
    uint32_t channels{1};
    /// Of all channels together, in bytes a second: out of a rank to others of its server.
    double insideRate{0.0};
    double betweenRate{0.0}; //!< likewise, out of a server; not used where there is one
    NcclArchitecture architecture{NcclArchitecture::Hopper};
    bool hasAmdCpu{false};
    bool hasNvlink{true}; //!< else ranks of a server reach each other by PCIe
    bool hasNvswitch{true};
};

/// What NCCL expects of one way to do an all-reduce.
struct NcclPrediction
{
    NcclAlgorithm algorithm;
    NcclProtocol protocol;
    double latencySeconds;
    double bytesPerSecond; //!< of the buffer
    double seconds;
};

/**
 * What NCCL's model expects of an all-reduce of so many bytes: latency + bytes / bandwidth, both
 * linear in steps. doc/nccl.rst has the formulas; the figures are those of src/graph/tuning.cc.
 * \returns nothing where NCCL does not offer it on such a machine
 */
std::optional<NcclPrediction> PredictNccl(const NcclMachine& machine,
                                          NcclAlgorithm algorithm,
                                          NcclProtocol protocol,
                                          uint64_t bytes);

/// All that NCCL offers, by algorithm and protocol.
std::vector<NcclPrediction> PredictNccl(const NcclMachine& machine, uint64_t bytes);

} // namespace ns3::gradsync

#endif // GRADSYNC_NCCL_MODEL_H
