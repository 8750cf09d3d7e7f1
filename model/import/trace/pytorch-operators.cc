// SPDX-License-Identifier: GPL-2.0-only
// What operators of PyTorch compute.
#include "ns3/pytorch-node.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

namespace ns3::gradsync
{

namespace
{

constexpr std::array<std::string_view, 6> CONVOLUTIONS{"aten::convolution",
                                                       "aten::_convolution",
                                                       "aten::cudnn_convolution",
                                                       "aten::miopen_convolution",
                                                       "aten::mkldnn_convolution",
                                                       "aten::convolution_overrideable"};

constexpr std::array<std::string_view, 5> PRODUCTS{"aten::mm",
                                                   "aten::addmm",
                                                   "aten::_addmm_activation",
                                                   "aten::bmm",
                                                   "aten::baddbmm"};

/// Of operators that have products within, of which the trace tells nothing.
constexpr std::array<std::string_view, 8> UNRATED{"aten::_scaled_dot_product_",
                                                  "aten::_flash_attention",
                                                  "aten::_efficient_attention",
                                                  "aten::_cudnn_attention",
                                                  "aten::_cudnn_rnn",
                                                  "aten::miopen_rnn",
                                                  "aten::_thnn_fused_",
                                                  "aten::_scaled_mm"};

/// Type, bytes of an element, and what device profiles call it where it has products.
struct ElementType
{
    std::string_view name;
    uint32_t bytes;
    const char* datatype;
};

constexpr std::array<ElementType, 20> TYPES{{{"float", 4, "fp32"},
                                             {"Float", 4, "fp32"},
                                             {"c10::Half", 2, "fp16"},
                                             {"Half", 2, "fp16"},
                                             {"c10::BFloat16", 2, "bf16"},
                                             {"BFloat16", 2, "bf16"},
                                             {"double", 8, ""},
                                             {"Double", 8, ""},
                                             {"long", 8, ""},
                                             {"long int", 8, ""},
                                             {"Long", 8, ""},
                                             {"int", 4, ""},
                                             {"Int", 4, ""},
                                             {"short", 2, ""},
                                             {"Short", 2, ""},
                                             {"unsigned char", 1, ""},
                                             {"Byte", 1, ""},
                                             {"Char", 1, ""},
                                             {"bool", 1, ""},
                                             {"Bool", 1, ""}}};

const ElementType*
FindType(std::string_view name)
{
    const auto* found = std::ranges::find(TYPES, name, &ElementType::name);
    return found == TYPES.end() ? nullptr : found;
}

/// Multiplications of a convolution, of whose outputs (or inputs, if transposed) each takes the
/// weights of a channel.
std::optional<double>
CountConvolution(const PyTorchTensor& each, const PyTorchTensor& weights)
{
    if (weights.shape.size() < 3 || weights.shape.front() == 0)
    {
        return {};
    }
    return each.CountElements() * weights.CountElements() /
           static_cast<double>(weights.shape.front());
}

std::optional<double>
CountForward(const PyTorchNode& node)
{
    if (node.inputs.size() < 2 || node.outputs.empty())
    {
        return {};
    }
    // Kernels below these two are of one of the kinds only.
    const bool tells = node.name == CONVOLUTIONS[0] || node.name == CONVOLUTIONS[1];
    const bool isTransposed = tells && !node.flags.empty() && node.flags.front();
    return CountConvolution(isTransposed ? node.inputs[0] : node.outputs[0], node.inputs[1]);
}

/// To the input and to the weights, where they are asked for: transposed, then the output mask.
std::optional<double>
CountBackward(const PyTorchNode& node)
{
    if (node.inputs.size() < 3 || node.flags.size() < 3)
    {
        return {};
    }
    const auto one = CountConvolution(node.inputs[node.flags[0] ? 1 : 0], node.inputs[2]);
    const auto turns = (node.flags[1] ? 1.0 : 0.0) + (node.flags[2] ? 1.0 : 0.0);
    return one ? std::optional(*one * turns) : std::nullopt;
}

/// [m, k] x [k, n], or as many of them.
std::optional<double>
CountProduct(const PyTorchNode& node)
{
    if (node.inputs.size() < 2)
    {
        return {};
    }
    const auto& left = node.inputs[node.inputs.size() - 2].shape;
    const auto& right = node.inputs.back().shape;
    if (left.size() < 2 || right.size() != left.size() || left.back() != right[right.size() - 2])
    {
        return {};
    }
    return node.inputs[node.inputs.size() - 2].CountElements() * static_cast<double>(right.back());
}

double
SumBytes(const std::vector<PyTorchTensor>& tensors)
{
    double bytes = 0.0;
    for (const auto& tensor : tensors)
    {
        bytes += tensor.CountElements() * GetElementBytes(tensor.type);
    }
    return bytes;
}

} // namespace

double
PyTorchTensor::CountElements() const
{
    double count = 1.0;
    for (const auto length : shape)
    {
        count *= static_cast<double>(length);
    }
    return count;
}

uint32_t
GetElementBytes(std::string_view type)
{
    const auto* found = FindType(type);
    return found == nullptr ? 0 : found->bytes;
}

PyTorchOperator
ClassifyOperator(std::string_view name)
{
    if (std::ranges::find(CONVOLUTIONS, name) != CONVOLUTIONS.end())
    {
        return PyTorchOperator::Convolution;
    }
    if (name == "aten::convolution_backward")
    {
        return PyTorchOperator::ConvolutionBackward;
    }
    if (std::ranges::find(PRODUCTS, name) != PRODUCTS.end())
    {
        return PyTorchOperator::Product;
    }
    const bool isUnrated = std::ranges::any_of(UNRATED, [name](std::string_view prefix) {
        return name.starts_with(prefix);
    });
    return isUnrated ? PyTorchOperator::Unrated : PyTorchOperator::Other;
}

std::optional<OperatorWork>
CountOperatorWork(const PyTorchNode& node)
{
    std::optional<double> multiplications;
    switch (ClassifyOperator(node.name))
    {
    case PyTorchOperator::Convolution:
        multiplications = CountForward(node);
        break;
    case PyTorchOperator::ConvolutionBackward:
        multiplications = CountBackward(node);
        break;
    case PyTorchOperator::Product:
        multiplications = CountProduct(node);
        break;
    case PyTorchOperator::Other:
    case PyTorchOperator::Unrated:
        break;
    }
    const auto* type = node.inputs.empty() ? nullptr : FindType(node.inputs.back().type);
    if (!multiplications || type == nullptr || *type->datatype == '\0')
    {
        return {};
    }
    return OperatorWork{2.0 * *multiplications,
                        SumBytes(node.inputs) + SumBytes(node.outputs),
                        type->datatype};
}

} // namespace ns3::gradsync
