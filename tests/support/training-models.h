// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_TRAINING_MODELS_H
#define GRADSYNC_TRAINING_MODELS_H

#include "ns3/model-training.h"
#include "ns3/scheme-choice.h"
#include "ns3/scheme.h"

#include <string>

namespace ns3::gradsync::tests
{

/// A scheme with default parameters.
inline SchemeChoice
ChooseScheme(const std::string& name)
{
    const auto* scheme = FindScheme(name);
    return {scheme, MakeDefaultParameters(*scheme)};
}

/// GPT as Korthikanti et al. have it: biases, dropout, 4 h columns, all heads with keys of their
/// own.
inline TransformerShape
MakeGpt(uint32_t layers, uint32_t hidden, uint32_t heads, uint32_t sequence, uint32_t vocabulary)
{
    TransformerShape shape;
    shape.layers = layers;
    shape.hidden = hidden;
    shape.heads = heads;
    shape.kvHeads = heads;
    shape.headSize = hidden / heads;
    shape.feedForward = 4 * hidden;
    shape.vocabulary = vocabulary;
    shape.sequence = sequence;
    shape.positions = sequence;
    shape.hasBiases = true;
    shape.hasMeanNorm = true;
    shape.tiesEmbedding = true;
    shape.dropsOut = true;
    return shape;
}

/// Llama 2 7B (Touvron et al., arXiv:2307.09288).
inline TransformerShape
MakeLlama7b()
{
    TransformerShape shape;
    shape.layers = 32;
    shape.hidden = 4096;
    shape.heads = 32;
    shape.kvHeads = 32;
    shape.headSize = 128;
    shape.feedForward = 11008;
    shape.vocabulary = 32000;
    shape.sequence = 4096;
    shape.isGated = true;
    return shape;
}

/// A device of 1 TFLOP/s of which all is reached, with memory without end.
inline ModelTraining
MakeModelTraining(const TransformerShape& shape)
{
    ModelTraining training;
    training.model = MakeTransformer(shape);
    training.model.name = "the model";
    training.device.name = "a device";
    training.device.memoryBytes = uint64_t{1} << 60;
    training.device.memoryBytesPerSecond = 1e30;
    training.device.peaks = {{"bf16", 1e12, "by definition"}};
    training.achievedShare = 1.0;
    for (auto& schemes : training.schemes)
    {
        schemes = {ChooseScheme("ring"),
                   ChooseScheme("all-gather"),
                   ChooseScheme("reduce-scatter"),
                   ChooseScheme("all-to-all")};
    }
    return training;
}

} // namespace ns3::gradsync::tests

#endif // GRADSYNC_TRAINING_MODELS_H
