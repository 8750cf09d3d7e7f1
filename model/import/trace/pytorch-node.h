// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_PYTORCH_NODE_H
#define GRADSYNC_PYTORCH_NODE_H

#include "ns3/pytorch-trace.h"
#include "ns3/trace-program-builder.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ns3::gradsync
{

/// A tensor that an operator reads or writes.
struct PyTorchTensor
{
    std::string type; //!< of an element: "float"
    std::vector<uint64_t> shape;

    /// As floating point, which is exact up to 2^53.
    double CountElements() const;
};

/// What the operator record_param_comms says.
struct PyTorchCollective
{
    std::string kind;                 //!< "allreduce"; "wait"
    std::string dtype;                //!< "Float"
    std::string group;                //!< pg_name
    std::optional<uint64_t> elements; //!< in_msg_nelems
    std::vector<uint64_t> parts;      //!< in_split_size
    uint64_t start{0};                //!< of the group's ranks
    uint64_t stride{1};
    uint64_t size{0};
    std::optional<int64_t> sequence; //!< number of the work, which a wait names
};

/// A node of a PyTorch execution trace, with what is made use of.
struct PyTorchNode
{
    uint64_t id{0};
    uint64_t parent{0};
    uint64_t order{0}; //!< rf_id: in which operators were begun, on all threads
    std::string name;
    std::vector<PyTorchTensor> inputs;  //!< of products
    std::vector<PyTorchTensor> outputs; //!< of products
    std::vector<bool> flags;            //!< of products: arguments that are one or a list of them
    std::optional<PyTorchCollective> collective;
};

/// The nodes of a file, and the process groups that it declares.
struct PyTorchNodes
{
    std::vector<PyTorchNode> nodes;
    std::map<std::string, PyTorchGroup> groups;
};

/// Product of matrices, or another operator of which the trace must say more.
enum class PyTorchOperator : uint8_t
{
    Other,
    Convolution,
    ConvolutionBackward,
    Product, //!< of the last two tensors that it reads
    Unrated  //!< has products, but not by these names: attention and recurrent kernels
};

PyTorchOperator ClassifyOperator(std::string_view name);

/// What an operator does at least.
struct OperatorWork
{
    double flops{0.0}; //!< 2 for each multiplication and addition
    double bytes{0.0}; //!< read and written once
    std::string datatype;
};

/// Of a product. Nothing: its tensors do not tell.
std::optional<OperatorWork> CountOperatorWork(const PyTorchNode& node);

/// Bytes of an element, by a name such as "float", "c10::Half" or "Long"; 0: there is none.
uint32_t GetElementBytes(std::string_view type);

/// \throws ImportError for what is no PyTorch execution trace, by the builder
PyTorchNodes ReadPyTorchNodes(std::string_view text, const TraceProgramBuilder& builder);

} // namespace ns3::gradsync

#endif // GRADSYNC_PYTORCH_NODE_H
