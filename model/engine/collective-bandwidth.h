// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_COLLECTIVE_BANDWIDTH_H
#define GRADSYNC_COLLECTIVE_BANDWIDTH_H

#include "ns3/nstime.h"
#include "ns3/task-log.h"
#include "ns3/workload.h"

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace ns3::gradsync
{

/// What communications have in common whose times are comparable.
struct CollectiveShape
{
    std::string stream;
    std::string label;
    std::string kind; //!< as Collective names it: "all-reduce"; "message"
    uint32_t groupSize;
    uint64_t bytes;                  //!< as nccl-tests count them: see GetCollectiveBytes
    std::optional<double> busFactor; //!< see GetBusFactor

    auto operator<=>(const CollectiveShape&) const = default;
};

/// The times of communications of one shape.
struct CollectiveTimes
{
    uint64_t count{0};
    /// Sums over all of them: from when the last of its ranks comes to it to its end; of a message,
    /// from when its sender does.
    Time sum;
    Time least;
    Time most;
    Time sinceFirst; //!< sum; from when the first of its ranks comes to it
    uint64_t parts{0};
    Time exposed; //!< sum over parts: while their ranks did not compute

    /// Bytes per second: bytes over the mean time. Nothing where it took no time.
    std::optional<double> GetAlgorithmBandwidth(uint64_t bytes) const;
};

/**
 * What nccl-tests multiply a collective's algorithm bandwidth by to compare it with the bandwidth
 * of links (doc/PERFORMANCE.md there): 2(n-1)/n for all-reduce, (n-1)/n for all-gather,
 * reduce-scatter and all-to-all, 1 for broadcast, reduce and messages. Nothing for others.
 */
std::optional<double> GetBusFactor(const std::string& kind, uint32_t groupSize);

/**
 * Likewise of the collective of a plan, among its workers. An all-reduce in the network has a
 * factor of its own, 1: each link carries the buffer once each way, however many the workers are.
 */
std::optional<double> GetBusFactor(const Plan& plan);

/**
 * The size by which nccl-tests name a collective: the whole buffer, of which ranks hold shares
 * before an all-gather and after a reduce-scatter; of an all-to-all the buffer of one rank.
 */
uint64_t GetCollectiveBytes(const Plan& plan);

/// Collects the times of communications by their shapes, over iterations.
class CollectiveLedger
{
  public:
    /// \param log of a workload that has ended
    void Add(const Workload& workload, const TaskLog& log);

    const std::map<CollectiveShape, CollectiveTimes>& Get() const
    {
        return m_times;
    }

  private:
    std::map<CollectiveShape, CollectiveTimes> m_times;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_COLLECTIVE_BANDWIDTH_H
