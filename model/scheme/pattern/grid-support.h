// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_GRID_SUPPORT_H
#define GRADSYNC_GRID_SUPPORT_H

#include "ns3/grid-exchange.h"
#include "ns3/scheme.h"

#include <cstdint>
#include <vector>

namespace ns3::gradsync
{

/// Several concurrent exchanges over one grid, each of an equal share of the gradient.
struct GridStreams
{
    Ranks ranks;                               //!< as GridExchange has them
    std::vector<uint32_t> sizes;               //!< [dimension]
    std::vector<std::vector<uint32_t>> orders; //!< [stream]: dimensions in the order of its stages
    ExchangeStyle style{ExchangeStyle::Ring};
    GridForm form{GridForm::Nested};
};

/// The plan of these streams; reads the parameter `pipelineChunks`.
Plan BuildGridPlan(const SchemeRequest& request, const GridStreams& streams);

/// 0, 1, ..., count - 1: ranks or dimensions in their own order.
std::vector<uint32_t> CountUp(uint32_t count);

/// The parameter `width` of two-dimensional schemes.
ParameterSpec MakeWidthSpec();

/**
 * Width and height of a two-dimensional grid: the parameter `width`; 0 stands for the smallest
 * width that is not less than the height. \throws SchemeError when the width does not divide the
 * workers
 */
std::vector<uint32_t> GetWidthAndHeight(const SchemeRequest& request);

} // namespace ns3::gradsync

#endif // GRADSYNC_GRID_SUPPORT_H
