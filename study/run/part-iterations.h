// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_PART_ITERATIONS_H
#define GRADSYNC_PART_ITERATIONS_H

#include "ns3/byte-batch.h"
#include "ns3/exchange-records.h"
#include "ns3/window-protocol.h"

#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

namespace ns3::gradsync
{

/// An iteration as a process knows it that takes part. Some of it others may know differently.
struct PackedIteration
{
    uint64_t order; //!< of the event that ended it
    uint32_t job;
    uint32_t iteration;
    int64_t start;
    int64_t exchangeStart;
    int64_t end;
    int64_t compress;
    int64_t decompress;
    int64_t training;
};

/// Adds the iterations of a process to a batch. \param orders [job] see WindowProtocol
void AppendIterations(ByteBatch& batch,
                      std::span<const IterationRecord> iterations,
                      std::span<const std::vector<uint64_t>> orders);

/// Iterations of all processes, in the order of their ends.
class MergedIterations
{
  public:
    /// Takes those of one process. \param batch as of AppendIterations
    void Take(BatchReader& batch);

    /// \returns [iteration] its place among those that end at the same instant
    std::vector<uint64_t> PutInOrder(std::vector<IterationRecord>& records) const;

  private:
    std::map<std::pair<uint32_t, uint32_t>, PackedIteration> m_byJob; //!< (job, iteration)
};

/// For how long any transfer was on its way, of each iteration of a job: all of these are over when
/// it ends; none is, of one that does not end. \param underWay of all processes, in any order
void TimeNetwork(uint32_t job,
                 std::vector<WindowProtocol::UnderWay>& underWay,
                 std::vector<IterationRecord>& iterations);

} // namespace ns3::gradsync

#endif // GRADSYNC_PART_ITERATIONS_H
