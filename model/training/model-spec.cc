// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/model-spec.h"

#include <numeric>

namespace ns3::gradsync
{

uint64_t
CountParameters(const ModelSpec& model)
{
    return std::accumulate(model.layers.begin(),
                           model.layers.end(),
                           uint64_t{0},
                           [](uint64_t sum, const ModelLayer& layer) {
                               return sum + layer.parameters + layer.sharedParameters +
                                      layer.expertParameters;
                           });
}

double
CountForwardFlops(const ModelSpec& model)
{
    return std::accumulate(model.layers.begin(),
                           model.layers.end(),
                           0.0,
                           [](double sum, const ModelLayer& layer) {
                               return sum +
                                      (layer.forwardFlops + layer.weightlessFlops) / layer.samples;
                           });
}

} // namespace ns3::gradsync
