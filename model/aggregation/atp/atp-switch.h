// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_ATP_SWITCH_H
#define GRADSYNC_ATP_SWITCH_H

#include "ns3/atp-header.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace ns3::gradsync
{

/// What an ATP switch does with a packet of contributions.
enum class AtpVerdict : uint8_t
{
    Held,     //!< it is in an aggregator, and others are missing
    Complete, //!< it was the last one: the sum goes on, the aggregator waits for the answer
    Forward,  //!< it goes on as it is
    Evict,    //!< what the aggregator has goes on, and the aggregator is free
    Dropped   //!< it is in the aggregator already
};

/**
 * The switch of ATP (Lao et al., "ATP: In-network aggregation for multi-tenant learning", NSDI
 * 2021, section 3.5): aggregators that jobs share, picked by a hash of job and sequence number. A
 * packet whose aggregator another one holds goes to the parameter server as it is. A packet that is
 * sent again takes what its aggregator has to the server. The answer of the server frees the
 * aggregator on its way back.
 *
 * A state machine without a network: packets in, verdicts out.
 */
class AtpSwitch
{
  public:
    struct Config
    {
        uint32_t aggregators{4096};
        uint16_t valueCount{62};
        double busyShare{0.0};   //!< of the aggregators that other tenants hold for ever
        uint32_t window{100};    //!< most packets that a worker has under way
        bool computesSums{true}; //!< false: only sizes matter, values are empty
    };

    explicit AtpSwitch(const Config& config);

    /**
     * A packet of contributions.
     * \param all workers whose packets meet here
     * \param[in,out] header of the packet; of what goes on afterwards
     * \param[in,out] values likewise
     */
    AtpVerdict Contribute(uint32_t all, AtpHeader& header, std::vector<int32_t>& values);

    /// Forgets all aggregators.
    void Clear();

    /// The answer of the server comes by.
    void Free(const AtpHeader& header);

    /// As Contribute and Free, with the aggregator that a packet names.
    AtpVerdict ContributeAt(uint32_t index,
                            uint32_t all,
                            AtpHeader& header,
                            std::vector<int32_t>& values);
    void FreeAt(uint32_t index, const AtpHeader& header);

    /// The aggregator of a packet, of so many.
    static uint32_t GetIndex(const AtpHeader& header, size_t aggregators);

    /// Likewise, here; none where there are no aggregators.
    std::optional<uint32_t> FindPlace(const AtpHeader& header) const
    {
        return m_aggregators.empty() ? std::nullopt
                                     : std::optional(GetIndex(header, m_aggregators.size()));
    }

    uint64_t GetCollisions() const
    {
        return m_collisions;
    }

    uint64_t GetOverflows() const
    {
        return m_overflows;
    }

    /// Aggregators in use now, those of other tenants apart.
    uint32_t GetUsed() const;

  private:
    struct Aggregator
    {
        AtpHeader sum;
        bool isUsed{false};
    };

    bool IsBusy(uint32_t index) const;
    bool IsOver(const AtpHeader& owner, const AtpHeader& header) const;
    AtpVerdict Join(uint32_t index, uint32_t all, AtpHeader& header, std::vector<int32_t>& values);
    void Claim(uint32_t index, const AtpHeader& header, std::span<const int32_t> values);
    void Add(uint32_t index, const AtpHeader& header, std::span<const int32_t> values);
    void Take(uint32_t index, AtpHeader& header, std::vector<int32_t>& values) const;

    Config m_config;
    std::vector<Aggregator> m_aggregators;
    std::vector<int32_t> m_values; //!< [aggregator * valueCount ..]
    uint64_t m_collisions{0};
    uint64_t m_overflows{0};
};

} // namespace ns3::gradsync

#endif // GRADSYNC_ATP_SWITCH_H
