// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_DISTANT_ENDS_H
#define GRADSYNC_DISTANT_ENDS_H

#include "ns3/nstime.h"
#include "ns3/plan.h"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

namespace ns3::gradsync
{

/**
 * Which operations of a plan end in one process and are waited for in others, where several
 * simulate the ranks of a job. These are told of the end before it happens (RankShare::Tell).
 *
 * What takes no time ends with the last operation before it, too late to be told: a join, or a copy
 * within a rank. Each process that waits for such an operation follows it, by the ends of those
 * before it, and by when its rank begins, where these do not tell that it has.
 */
class DistantEnds
{
  public:
    /// \param plan outlives this \param partOf [rank] -> process
    /// \param reduceSecondsPerByte of the job \param tellsSenders whether senders wait until
    /// transfers are delivered
    DistantEnds(const Plan& plan,
                std::vector<uint32_t> partOf,
                double reduceSecondsPerByte,
                bool tellsSenders);

    uint32_t GetPart(uint32_t rank) const
    {
        return m_partOf[rank];
    }

    /// Whether a process follows an operation of another one that takes no time.
    bool IsFollowed(OperationId id, uint32_t part) const;

    /// Whether a process must know when a rank of another one begins, for what it follows.
    bool IsStartFollowed(uint32_t rank, uint32_t part) const;

    /// The processes that are to be told when an operation ends, ascending: none of what they
    /// follow.
    std::vector<uint32_t> FindWaiting(OperationId id) const;

    /// The process whose rank waits until a transfer is delivered, not its own.
    std::optional<uint32_t> FindSender(const Operation& operation) const;

    /// Whether its rank is busy for a while before it ends: with a sum, or as it computes.
    bool TakesTime(OperationId id, const Operation& operation) const;

    /// What is needed so that all can be told in time.
    struct Demands
    {
        bool areAny{false}; //!< something is told or followed at all
        /// Rank to which transfers go whose arrivals must be known ahead -> whether some of these
        /// come from its own process.
        std::map<uint32_t, bool> receivers{};
        /// The shortest time for which a rank is busy before an end that is told; nothing: there
        /// is none such.
        std::optional<Time> leastWork{};
        std::string obstacle{}; //!< why one cannot be told; empty: all can
        /// Why processes must know when ranks of others begin; empty: they need not.
        std::string needsStarts{};
    };

    Demands FindDemands() const;

  private:
    bool IsOneProcess() const;
    bool DoEdgesCross() const;
    bool IsInstant(OperationId id, const Operation& operation) const;
    void FollowInstants();
    void FollowStarts();
    std::vector<uint32_t> FindParts(OperationId id) const;
    bool IsWaitedFor(OperationId id, const Operation& operation) const;
    void AddWork(OperationId id, const Operation& operation, Demands& demands) const;

    const Plan& m_plan;
    std::vector<uint32_t> m_partOf;
    double m_reduceSecondsPerByte;
    bool m_tellsSenders;
    bool m_doEdgesCross; //!< whether operations wait for ends at ranks of other processes at all
    /// What takes no time -> the other processes that wait for it, ascending.
    std::unordered_map<OperationId, std::vector<uint32_t>> m_followers;
    /// Rank -> the processes that must know when it begins, each once.
    std::map<uint32_t, std::set<uint32_t>> m_startFollowers;
    std::optional<OperationId> m_early; //!< the first that these are for
};

} // namespace ns3::gradsync

#endif // GRADSYNC_DISTANT_ENDS_H
