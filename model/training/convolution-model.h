// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_CONVOLUTION_MODEL_H
#define GRADSYNC_CONVOLUTION_MODEL_H

#include "ns3/model-spec.h"

#include <cstdint>
#include <vector>

namespace ns3::gradsync
{

/// What a convolutional network is described by, from the image on.
enum class ConvolutionOperation : uint8_t
{
    Convolution,
    Pool,
    Average,   //!< to `outputs` x `outputs` cells
    Linear,    //!< of all that is there
    Basic,     //!< residual block of two 3 x 3 convolutions (He et al., CVPR'16, figure 5 left)
    Bottleneck //!< of 1 x 1, 3 x 3 with the stride, and 1 x 1 with 4 times the outputs (right)
};

struct ConvolutionStep
{
    ConvolutionOperation operation{ConvolutionOperation::Convolution};
    uint32_t outputs{1}; //!< channels
    uint32_t kernel{1};
    uint32_t stride{1}; //!< of a repeated step: of the first
    uint32_t padding{0};
    uint32_t repeat{1};
    bool hasBias{false};
    bool isNormalised{false}; //!< by its batch, a layer of its own
};

/// Along a side, of images and of what becomes of them.
inline constexpr uint32_t MOST_IMAGE_CELLS = 1U << 14;

/// A square image.
struct ImageShape
{
    uint32_t size{224};
    uint32_t channels{3};
};

/**
 * Every convolution, normalisation and product is a layer. Activation functions work in place; what
 * is kept is what layers take in. Within residual blocks the block's input, too, goes to the next
 * layer.
 * \throws WorkloadError for a step that leaves nothing of the image, or that makes it too large;
 * for more than a hundred thousand layers
 */
ModelSpec MakeConvolutionModel(const ImageShape& image, const std::vector<ConvolutionStep>& steps);

} // namespace ns3::gradsync

#endif // GRADSYNC_CONVOLUTION_MODEL_H
