// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/asynchronous-rows.h"

#include "ns3/result-columns.h"
#include "ns3/row-writer.h"

#include <cstdint>
#include <optional>
#include <string_view>

namespace ns3::gradsync
{

namespace
{

std::string_view
NameWorkerHost(const RunResult& result, const AsynchronousResult& asynchronous, uint32_t worker)
{
    const auto endpoint = asynchronous.spec.endpointOf[worker];
    return result.topology->GetNodes()[result.topology->GetEndpoints()[endpoint]].name;
}

/// Nothing where there is nothing to divide by.
std::optional<NumberCell>
Divide(double sum, double count)
{
    return count > 0.0 ? std::optional(NumberCell{sum / count}) : std::nullopt;
}

} // namespace

void
WriteUpdates(const RunResult& result, std::ostream& stream)
{
    RowWriter<UPDATE_COLUMNS> rows(stream);
    for (const auto& asynchronous : result.asynchronous)
    {
        uint64_t number = 0;
        for (const auto& update : asynchronous.updates.Get())
        {
            rows.Add(asynchronous.spec.name,
                     number,
                     update.stage,
                     update.worker,
                     NameWorkerHost(result, asynchronous, update.worker),
                     update.clock,
                     TimeCell{update.time},
                     update.staleness,
                     update.ahead);
            number += asynchronous.updates.GetStep();
        }
    }
}

void
WriteWorkers(const RunResult& result, std::ostream& stream)
{
    RowWriter<WORKER_COLUMNS> rows(stream);
    for (const auto& asynchronous : result.asynchronous)
    {
        for (uint32_t worker = 0; worker < asynchronous.workers.size(); ++worker)
        {
            const auto& totals = asynchronous.workers[worker];
            rows.Add(asynchronous.spec.name,
                     worker,
                     NameWorkerHost(result, asynchronous, worker),
                     totals.steps,
                     totals.updates,
                     totals.fetches,
                     Divide(static_cast<double>(totals.stalenessSum),
                            static_cast<double>(totals.updates)),
                     totals.mostStaleness,
                     totals.mostAhead,
                     Divide(static_cast<double>(totals.steps), totals.time.GetSeconds()),
                     TimeCell{totals.compute},
                     TimeCell{totals.time - totals.compute},
                     TimeCell{totals.held});
        }
    }
}

} // namespace ns3::gradsync
