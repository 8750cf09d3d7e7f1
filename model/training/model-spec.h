// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_MODEL_SPEC_H
#define GRADSYNC_MODEL_SPEC_H

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ns3::gradsync
{

/// What parallelism can do with a layer.
enum class LayerRole : uint8_t
{
    Plain, //!< nothing but copies of it (data) and stages
    Embedding,
    Attention,
    FeedForward,
    Experts,
    Output //!< to the vocabulary
};

/// So many numbers in the datatype of the computation, and so many bytes besides.
struct DataCount
{
    uint64_t elements{0};
    uint64_t bytes{0};

    uint64_t GetBytes(uint32_t elementBytes) const
    {
        return elements * elementBytes + bytes;
    }
};

/// What is kept for the backward pass.
struct KeptActivations
{
    DataCount split;  //!< tensor-parallel ranks have a part each
    DataCount shared; //!< each of them has all, unless sequences are parallel
    DataCount scores; //!< of attention, split; selective recomputation does without them
};

/// Measured times, in place of computed ones.
struct LayerTimes
{
    uint64_t forwardPicoseconds{0};
    uint64_t backwardPicoseconds{0}; //!< to the input and to the weights
};

/// A layer of a model. All that depends on the batch is of so many samples.
struct ModelLayer
{
    std::string name;
    uint32_t samples{1};
    LayerRole role{LayerRole::Plain};
    bool isCut{true}; //!< a stage of a pipeline may begin with it

    uint64_t parameters{0};       //!< that tensor-parallel ranks split
    uint64_t sharedParameters{0}; //!< that each of them has
    uint64_t expertParameters{0}; //!< of all experts
    uint64_t tiedParameters{0};   //!< of the embedding, used here too

    double forwardFlops{0.0}; //!< of products with weights; 2 for each multiplication and addition
    double weightlessFlops{0.0}; //!< of products of activations: attention's scores and sums
    /// Read and written by these products at least, forward: what bounds small batches.
    uint64_t movedElements{0};
    std::optional<LayerTimes> times;

    KeptActivations kept;
    DataCount output; //!< to the next layer
};

/// What of a transformer its communication depends on.
struct TransformerShape
{
    uint32_t layers{1};
    uint32_t hidden{1};
    uint32_t heads{1};
    uint32_t kvHeads{1};  //!< of keys and values (grouped-query attention)
    uint32_t headSize{1}; //!< elements of a head
    uint32_t feedForward{1};
    uint32_t vocabulary{1};
    uint32_t sequence{1}; //!< tokens of a sample
    uint32_t experts{0};  //!< 0: no mixture of experts
    uint32_t expertsPerToken{0};
    uint32_t positions{0}; //!< learned position embeddings; 0: none
    bool isGated{false};   //!< three matrices a feed-forward layer, as SwiGLU has, not two
    bool hasBiases{false};
    bool hasMeanNorm{false};   //!< weight and bias (LayerNorm), not the weight alone (RMSNorm)
    bool tiesEmbedding{false}; //!< the output layer has the embedding's weights
    bool dropsOut{false};
};

/// A model: layers in the order of the forward pass, and what they are of.
struct ModelSpec
{
    std::string name;
    std::string kind;   //!< of the file: "transformer", "cnn", "table"
    std::string source; //!< where its figures are from
    std::vector<ModelLayer> layers;
    std::optional<TransformerShape> transformer;
};

/// Of the whole model, experts included.
uint64_t CountParameters(const ModelSpec& model);

/// Of a forward pass of a sample.
double CountForwardFlops(const ModelSpec& model);

/// \throws WorkloadError for dimensions that do not go together
ModelSpec MakeTransformer(const TransformerShape& shape);

} // namespace ns3::gradsync

#endif // GRADSYNC_MODEL_SPEC_H
