// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/model-spec.h"
#include "ns3/workload-builder.h"

#include <fmt/format.h>

namespace ns3::gradsync
{

namespace
{

/// Multiplications and additions of tokens x `weights`.
double
CountFlops(uint64_t tokens, uint64_t weights)
{
    return 2.0 * static_cast<double>(tokens) * static_cast<double>(weights);
}

/// The layers of a transformer, and what they keep by Korthikanti et al. (MLSys'23, section 4.1):
/// sbh (34 + 5 a s/h) bytes of a layer with biases, dropout and two matrices of 4 h columns.
class TransformerLayers
{
  public:
    explicit TransformerLayers(const TransformerShape& shape)
        : m_shape(shape),
          m_tokens(shape.sequence),
          m_hidden(shape.hidden),
          m_queries(uint64_t{shape.heads} * shape.headSize),
          m_keys(uint64_t{shape.kvHeads} * shape.headSize)
    {
    }

    ModelLayer MakeEmbedding() const
    {
        auto layer = Make("embedding", LayerRole::Embedding);
        layer.parameters = uint64_t{m_shape.vocabulary} * m_hidden;
        layer.sharedParameters = uint64_t{m_shape.positions} * m_hidden;
        layer.kept.shared.bytes = m_shape.dropsOut ? m_tokens * m_hidden : 0;
        return layer;
    }

    ModelLayer MakeAttention(uint32_t number) const
    {
        auto layer = Make(fmt::format("layer{} attention", number), LayerRole::Attention);
        layer.isCut = true;
        const auto weights = 2 * m_hidden * (m_queries + m_keys);
        layer.parameters = weights + (m_shape.hasBiases ? m_queries + 2 * m_keys : 0);
        layer.sharedParameters = CountNorm() + (m_shape.hasBiases ? m_hidden : 0);
        layer.forwardFlops = CountFlops(m_tokens, weights);
        // Scores of all heads, and the values that they weight.
        layer.weightlessFlops = 2.0 * CountFlops(m_tokens, m_tokens * m_queries);
        KeepResidual(layer.kept);
        // Queries, keys, values, and what the projection takes.
        layer.kept.split.elements = m_tokens * (2 * m_queries + 2 * m_keys);
        const auto scores = m_shape.heads * m_tokens * m_tokens;
        layer.kept.scores = {scores * (m_shape.dropsOut ? 2 : 1), m_shape.dropsOut ? scores : 0};
        return layer;
    }

    ModelLayer MakeFeedForward(uint32_t number) const
    {
        const bool isMixture = m_shape.experts > 0;
        auto layer = Make(fmt::format("layer{} {}", number, isMixture ? "experts" : "feed-forward"),
                          isMixture ? LayerRole::Experts : LayerRole::FeedForward);
        const uint64_t wide = m_shape.feedForward;
        const auto weights = (m_shape.isGated ? 3 : 2) * m_hidden * wide;
        const auto biases = m_shape.hasBiases ? wide * (m_shape.isGated ? 2 : 1) : 0;
        const auto sharedBiases = m_shape.hasBiases ? m_hidden : 0;
        const uint64_t copies = isMixture ? m_shape.expertsPerToken : 1; // of a token
        layer.sharedParameters = CountNorm();
        KeepResidual(layer.kept);
        layer.kept.split.elements = copies * m_tokens * wide * (m_shape.isGated ? 3 : 2);
        layer.forwardFlops = static_cast<double>(copies) * CountFlops(m_tokens, weights);
        if (isMixture)
        {
            const auto router = m_hidden * m_shape.experts;
            layer.sharedParameters += router;
            layer.forwardFlops += CountFlops(m_tokens, router);
            layer.expertParameters = m_shape.experts * (weights + biases + sharedBiases);
            layer.kept.split.elements += copies * m_tokens * m_hidden; // as they came to experts
        }
        else
        {
            layer.parameters = weights + biases;
            layer.sharedParameters += sharedBiases;
        }
        return layer;
    }

    /// The last norm, and products with all of the vocabulary, whose results are kept in fp32.
    ModelLayer MakeOutput() const
    {
        auto layer = Make("output", LayerRole::Output);
        const auto weights = uint64_t{m_shape.vocabulary} * m_hidden;
        layer.parameters = m_shape.tiesEmbedding ? 0 : weights;
        layer.tiedParameters = m_shape.tiesEmbedding ? weights : 0;
        layer.sharedParameters = CountNorm();
        layer.forwardFlops = CountFlops(m_tokens, weights);
        layer.kept.shared.elements = 2 * m_tokens * m_hidden;
        layer.kept.split.bytes = 4 * m_tokens * m_shape.vocabulary;
        return layer;
    }

  private:
    ModelLayer Make(const std::string& name, LayerRole role) const
    {
        ModelLayer layer;
        layer.name = name;
        layer.role = role;
        layer.isCut = false;
        layer.output.elements = m_tokens * m_hidden;
        return layer;
    }

    uint64_t CountNorm() const
    {
        return m_hidden * (m_shape.hasMeanNorm ? 2 : 1);
    }

    /// What is normalised, the result, and which of it dropout has left.
    void KeepResidual(KeptActivations& kept) const
    {
        kept.shared.elements = 2 * m_tokens * m_hidden;
        kept.shared.bytes = m_shape.dropsOut ? m_tokens * m_hidden : 0;
    }

    const TransformerShape& m_shape;
    uint64_t m_tokens;
    uint64_t m_hidden;
    uint64_t m_queries; //!< elements of a token's queries
    uint64_t m_keys;    //!< of its keys, and of its values
};

void
CheckShape(const TransformerShape& shape)
{
    if (shape.kvHeads == 0 || shape.heads % shape.kvHeads != 0)
    {
        throw WorkloadError(fmt::format("{} heads of queries cannot share {} of keys and values",
                                        shape.heads,
                                        shape.kvHeads));
    }
    if (shape.experts > 0 && (shape.expertsPerToken == 0 || shape.expertsPerToken > shape.experts))
    {
        throw WorkloadError(fmt::format("a token goes to 1 to {} experts, not to {}",
                                        shape.experts,
                                        shape.expertsPerToken));
    }
}

} // namespace

ModelSpec
MakeTransformer(const TransformerShape& shape)
{
    CheckShape(shape);
    ModelSpec model;
    model.kind = "transformer";
    model.transformer = shape;
    const TransformerLayers layers(shape);
    model.layers.push_back(layers.MakeEmbedding());
    for (uint32_t number = 0; number < shape.layers; ++number)
    {
        model.layers.push_back(layers.MakeAttention(number));
        model.layers.push_back(layers.MakeFeedForward(number));
    }
    model.layers.push_back(layers.MakeOutput());
    return model;
}

} // namespace ns3::gradsync
