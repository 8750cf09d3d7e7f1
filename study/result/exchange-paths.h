// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_EXCHANGE_PATHS_H
#define GRADSYNC_EXCHANGE_PATHS_H

#include "ns3/exchange-path.h"
#include "ns3/run-result.h"

#include <cstdint>
#include <vector>

namespace ns3::gradsync
{

/// The critical path of one iteration of a job that exchanges.
struct ExchangePath
{
    uint32_t job;
    uint32_t iteration;
    uint32_t plan; //!< index of the plan that its operations are of
    std::vector<ExchangeStep> steps;
};

/// In the order in which the iterations ended. Of jobs that train or are asynchronous there are
/// none.
std::vector<ExchangePath> FindExchangePaths(const RunResult& result);

} // namespace ns3::gradsync

#endif // GRADSYNC_EXCHANGE_PATHS_H
