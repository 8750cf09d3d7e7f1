// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_TREE_WORKER_H
#define GRADSYNC_TREE_WORKER_H

#include "ns3/packet-tally.h"
#include "ns3/resending-worker.h"

#include <cstdint>
#include <span>
#include <string>

namespace ns3::gradsync
{

/// A worker under a tree of switches (TreeNode), which answers each of its packets with the sums.
/// It has so many packets under way as it has credits, in a window that moves on with the oldest
/// one.
class TreeWorker final : public ResendingWorker
{
  public:
    /// What the workers of a group have in common.
    struct Settings
    {
        uint32_t credits;     //!< packets under way
        uint32_t headerBytes; //!< of every packet on the wire
        Time timeout;
        std::string silence; //!< why a worker gives up that gets no answer, for the user
    };

    /// \param job,settings,port must outlive the worker
    TreeWorker(const AggregationJob& job,
               const Settings& settings,
               uint16_t rank,
               uint32_t endpoint,
               FabricPort& port);

    void OnResult(const AggregationPacket& packet, AggregationStatistics& statistics) override;

    /// Other switches aggregate, which know of nothing yet: all go back to the first packet whose
    /// sums any of them lacks.
    static void Restart(std::span<TreeWorker* const> workers);

  private:
    void SendFrom(uint64_t first) override;
    uint64_t GetFirstNeeded() const override;
    void Send(uint64_t number) override;
    std::string DescribeSilence() const override;
    void GoBack(uint64_t first);

    const Settings& m_settings;
    uint64_t m_next{0};  //!< the first that was not sent
    PacketTally m_taken; //!< sums that it has
};

} // namespace ns3::gradsync

#endif // GRADSYNC_TREE_WORKER_H
