// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_PLAN_SHELF_H
#define GRADSYNC_PLAN_SHELF_H

#include "ns3/gradient-codecs.h"
#include "ns3/message-protocol.h"
#include "ns3/plan.h"
#include "ns3/scheme-choice.h"
#include "ns3/worker-groups.h"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

namespace ns3::gradsync
{

/**
 * Lowers collectives to plans, and keeps these: groups of the same shape share a plan of the same
 * size.
 */
class PlanShelf
{
  public:
    /// What of the topology schemes see: the levels that ranks fall into.
    using GroupFinder = std::function<WorkerGroups(std::span<const uint32_t> ranks)>;

    /// \param findGroups empty: ranks are all alike
    explicit PlanShelf(GroupFinder findGroups = {}, uint32_t elementBytes = 4);

    /// Those that all ranks of the job fall into: what CodecChoice::scope names.
    void SetLevels(WorkerGroups levels);

    /// All plans have its messages. \param serverOf [rank of the job]
    void SetProtocol(const MessageProtocol& protocol, std::vector<uint32_t> serverOf);

    /**
     * \param ranks in the order in which the plan numbers them
     * \param bytes of the whole buffer, at least 1
     * \param codec of what is sent; null: none
     * \throws WorkloadError for a scheme with dedicated servers or a gate, and a codec that does
     * not go with the collective; SchemeError as schemes do; CodecScopeError, ProfileError
     */
    std::shared_ptr<const Plan> GetCollective(const SchemeChoice& choice,
                                              std::span<const uint32_t> ranks,
                                              uint64_t bytes,
                                              const SharedCodec& codec = {});

    /// Likewise, of a request of these ranks; the plan is not kept.
    Plan Build(const Scheme& scheme,
               const SchemeRequest& request,
               std::span<const uint32_t> ranks,
               const SharedCodec& codec) const;

    /// The levels that ranks fall into; empty: they are all alike.
    WorkerGroups FindGroups(std::span<const uint32_t> ranks) const;

    /// From the first of two ranks to the second.
    std::shared_ptr<const Plan> GetMessage(std::span<const uint32_t> ranks, uint64_t bytes);

    /// From each of the ranks to the next one, from the last to the first. \param bytes of each
    std::shared_ptr<const Plan> GetShift(std::span<const uint32_t> ranks, uint64_t bytes);

    size_t GetSize() const
    {
        return m_plans.size();
    }

  private:
    /// Scheme, parameters, the groups' levels, workers, bytes, codec, the level that it names, the
    /// servers that the protocol asks for.
    using Key = std::tuple<std::string,
                           std::map<std::string, ParameterValue>,
                           std::vector<double>,
                           uint32_t,
                           uint64_t,
                           SharedCodec,
                           std::vector<uint32_t>,
                           std::vector<uint32_t>>;

    WorkerGroups FindLevels(std::span<const uint32_t> ranks, const SharedCodec& codec) const;

    std::vector<uint32_t> NumberServers(std::span<const uint32_t> ranks) const;
    Plan AddProtocol(Plan plan, std::span<const uint32_t> ranks) const;

    GroupFinder m_findGroups;
    uint32_t m_elementBytes;
    WorkerGroups m_levels;
    std::optional<MessageProtocol> m_protocol;
    std::vector<uint32_t> m_serverOf; //!< [rank of the job], where there is a protocol
    std::map<Key, std::shared_ptr<const Plan>> m_plans;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_PLAN_SHELF_H
