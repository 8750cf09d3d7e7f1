// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/convolution-model.h"

#include "ns3/workload-builder.h"

#include <fmt/format.h>
#include <string>
#include <utility>

namespace ns3::gradsync
{

namespace
{

constexpr size_t MOST_CNN_LAYERS = 100'000;

/// What is between two layers: channels of square maps.
struct Maps
{
    uint64_t size;
    uint64_t channels;

    uint64_t GetElements() const
    {
        return size * size * channels;
    }
};

class ConvolutionLayers
{
  public:
    explicit ConvolutionLayers(const ImageShape& image)
        : m_maps{image.size, image.channels}
    {
    }

    void Add(const ConvolutionStep& step)
    {
        const auto prefix = fmt::format("step{}", m_step++);
        for (uint32_t turn = 0; turn < step.repeat; ++turn)
        {
            const auto name = step.repeat > 1 ? fmt::format("{}.{}", prefix, turn) : prefix;
            auto one = step;
            one.stride = turn == 0 ? step.stride : 1;
            AddOne(name, one);
        }
    }

    std::vector<ModelLayer> Finish()
    {
        return std::move(m_layers);
    }

  private:
    void AddOne(const std::string& name, const ConvolutionStep& step)
    {
        switch (step.operation)
        {
        case ConvolutionOperation::Convolution:
            Convolve(name, step);
            break;
        case ConvolutionOperation::Pool:
            Pool(name, {Shrink(name, step), m_maps.channels});
            break;
        case ConvolutionOperation::Average:
            Pool(name, {step.outputs, m_maps.channels});
            break;
        case ConvolutionOperation::Linear:
            Multiply(name, step);
            break;
        case ConvolutionOperation::Basic:
        case ConvolutionOperation::Bottleneck:
            AddResidual(name, step);
            break;
        }
    }

    /// Cells along a side after a kernel has gone over the maps.
    uint64_t Shrink(const std::string& name, const ConvolutionStep& step) const
    {
        const auto padded = m_maps.size + 2 * uint64_t{step.padding};
        if (padded < step.kernel)
        {
            throw WorkloadError(fmt::format("{}: a kernel of {} does not fit in {} cells",
                                            name,
                                            step.kernel,
                                            padded));
        }
        return (padded - step.kernel) / step.stride + 1;
    }

    /// A layer that turns the maps into others.
    ModelLayer& Push(const std::string& name, const Maps& next)
    {
        if (next.size > MOST_IMAGE_CELLS)
        {
            throw WorkloadError(fmt::format("{}: {} cells along a side are more than {}",
                                            name,
                                            next.size,
                                            MOST_IMAGE_CELLS));
        }
        if (m_layers.size() == MOST_CNN_LAYERS)
        {
            throw WorkloadError(fmt::format("more than {} layers", MOST_CNN_LAYERS));
        }
        auto& layer = m_layers.emplace_back();
        layer.name = name;
        layer.kept.split.elements = m_maps.GetElements();
        layer.output.elements = next.GetElements() + m_besideElements;
        m_maps = next;
        return layer;
    }

    void Convolve(const std::string& name, const ConvolutionStep& step)
    {
        const auto weights = uint64_t{step.kernel} * step.kernel * m_maps.channels * step.outputs;
        const Maps next{Shrink(name, step), step.outputs};
        const auto maps = m_maps.GetElements() + next.GetElements();
        auto& layer = Push(name, next);
        layer.parameters = weights + (step.hasBias ? step.outputs : 0);
        layer.movedElements = maps;
        layer.forwardFlops =
            2.0 * static_cast<double>(weights) * static_cast<double>(next.size * next.size);
        if (step.isNormalised)
        {
            Push(name + " norm", next).parameters = 2 * next.channels;
        }
    }

    void Pool(const std::string& name, const Maps& next)
    {
        Push(name + " pool", next);
    }

    void Multiply(const std::string& name, const ConvolutionStep& step)
    {
        const auto weights = m_maps.GetElements() * step.outputs;
        auto& layer = Push(name, {1, step.outputs});
        layer.parameters = weights + (step.hasBias ? step.outputs : 0);
        layer.forwardFlops = 2.0 * static_cast<double>(weights);
    }

    /// One convolution of a residual block.
    void ConvolveIn(const std::string& name, uint32_t outputs, uint32_t kernel, uint32_t stride)
    {
        ConvolutionStep step;
        step.outputs = outputs;
        step.kernel = kernel;
        step.stride = stride;
        step.padding = kernel / 2;
        step.isNormalised = true;
        Convolve(name, step);
    }

    /// Its input is added to what comes out, through a 1 x 1 convolution where shapes differ.
    void AddResidual(const std::string& name, const ConvolutionStep& step)
    {
        const auto input = m_maps;
        m_besideElements = input.GetElements();
        auto outputs = step.outputs;
        if (step.operation == ConvolutionOperation::Basic)
        {
            ConvolveIn(name + ".a", outputs, 3, step.stride);
            ConvolveIn(name + ".b", outputs, 3, 1);
        }
        else
        {
            ConvolveIn(name + ".a", outputs, 1, 1);
            ConvolveIn(name + ".b", outputs, 3, step.stride);
            outputs *= 4;
            ConvolveIn(name + ".c", outputs, 1, 1);
        }
        if (step.stride != 1 || input.channels != outputs)
        {
            m_besideElements = m_maps.GetElements();
            m_maps = input;
            ConvolveIn(name + ".shortcut", outputs, 1, step.stride);
        }
        m_besideElements = 0;
        m_layers.back().output.elements = m_maps.GetElements();
    }

    Maps m_maps;
    uint64_t m_besideElements{0}; //!< of a residual block, which the next layer needs too
    std::vector<ModelLayer> m_layers;
    uint32_t m_step{0};
};

} // namespace

ModelSpec
MakeConvolutionModel(const ImageShape& image, const std::vector<ConvolutionStep>& steps)
{
    ModelSpec model;
    model.kind = "cnn";
    ConvolutionLayers layers(image);
    for (const auto& step : steps)
    {
        layers.Add(step);
    }
    model.layers = layers.Finish();
    return model;
}

} // namespace ns3::gradsync
