// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_PART_FAILURES_H
#define GRADSYNC_PART_FAILURES_H

#include "ns3/byte-batch.h"
#include "ns3/exchange-records.h"
#include "ns3/run-result.h"

#include <cstdint>
#include <map>
#include <optional>
#include <span>

namespace ns3::gradsync
{

/// What a process knows of a job that is not finished.
struct PartFailure
{
    ExchangeFailure failure; //!< what its own ranks have not received, and what they have sent
    bool hasFailed;          //!< else it waits for something
};

/// Adds what a process knows of its jobs to a batch.
void AppendFailures(ByteBatch& batch, std::span<const PartFailure> failures);

/// Jobs of all processes that are not finished.
class MergedFailures
{
  public:
    /// Takes those of one process. \param batch as of AppendFailures
    void Take(BatchReader& batch);

    /// As ExchangeEngine::GetFailure of one process. \param result of what was planned
    std::optional<ExchangeFailure> GetFirst(const RunResult& result) const;

  private:
    std::map<uint32_t, PartFailure> m_byJob;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_PART_FAILURES_H
