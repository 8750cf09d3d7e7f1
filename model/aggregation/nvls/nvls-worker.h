// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_NVLS_WORKER_H
#define GRADSYNC_NVLS_WORKER_H

#include "ns3/aggregation-flow.h"
#include "ns3/nvls-header.h"
#include "ns3/packet-tally.h"
#include "ns3/resending-worker.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace ns3::gradsync
{

/**
 * A GPU in a reduction or multicast by NVSwitch. The root asks for one packet after another
 * (multimem.ld_reduce), or writes them (multimem.st), with so many under way; every member, the
 * root too, answers with its data, or that it has them. A member that has not come so far keeps the
 * request until it has.
 *
 * A root without progress for a timeout sends all its requests again. NVLink loses nothing, so that
 * this happens only where links or switches fail, and where a member is late.
 */
class NvlsWorker final : public ResendingWorker
{
  public:
    /// What the members of a group have in common.
    struct Settings
    {
        AggregationFlow flow; //!< Reduce or Multicast
        uint16_t root;        //!< index of the member
        uint32_t window;      //!< requests under way
        uint32_t headerBytes; //!< of every packet
        Time timeout;
        AggregationStatistics* statistics;
    };

    /// \param job,settings,port must outlive the worker
    NvlsWorker(const AggregationJob& job,
               const Settings& settings,
               uint16_t rank,
               uint32_t endpoint,
               FabricPort& port);

    /// A request or a result has arrived.
    void OnResult(const AggregationPacket& packet, AggregationStatistics& statistics) override;

    /// Another switch aggregates, which knows of nothing yet: asks again for all that is open.
    void Restart();

  private:
    bool IsRoot() const
    {
        return m_rank == m_settings.root;
    }

    bool IsReduce() const
    {
        return m_settings.flow == AggregationFlow::Reduce;
    }

    void SendFrom(uint64_t first) override;
    void Halt() override;
    uint64_t GetFirstNeeded() const override;
    void Send(uint64_t number) override;
    std::string DescribeSilence() const override;

    void Ask();
    void OnRequest(const AggregationPacket& packet);
    void AnswerKept();
    void Answer(uint64_t number, const std::vector<int32_t>& values);
    void AnswerRead(uint64_t number);
    void AnswerWrite(uint64_t number, const std::vector<int32_t>& values);
    void OnAllAnswered(const AggregationPacket& packet);
    void Dispatch(FabricPacket* packet, uint64_t number, NvlsStage stage);

    const Settings& m_settings;

    // The root, whose requests are what is under way.
    uint64_t m_next{0}; //!< the first packet that it has not asked for
    /// Of a multicast: what came of its own packets, until all have them.
    std::map<uint64_t, std::vector<int32_t>> m_own;

    // Every member.
    std::map<uint64_t, std::vector<int32_t>> m_kept; //!< requests that it cannot answer yet
    uint64_t m_asked{0};                             //!< one past the last request
    PacketTally m_answered;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_NVLS_WORKER_H
