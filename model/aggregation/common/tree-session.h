// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_TREE_SESSION_H
#define GRADSYNC_TREE_SESSION_H

#include "ns3/aggregation-role.h"
#include "ns3/aggregation-session.h"
#include "ns3/switch-tree.h"
#include "ns3/topology.h"

#include <cstdint>

namespace ns3::gradsync
{

/// A session whose switches are a tree, of which the groups of all protocols take turns.
class TreeSession : public AggregationSession
{
  public:
    TreeSession(AggregationDriver& driver, const AggregationGroup& group, uint32_t id);

    bool IsHit(const AggregationOutage& outage) const override;

  protected:
    /// Of switches that work, as far as that is known, and takes memory of those that aggregate.
    /// \throws std::invalid_argument and AggregationDenied with a text for the user
    void BuildTree();

    /// Where several switches may be the root, BuildTree takes another one from now on.
    void TakeNextTurn()
    {
        ++m_turn;
    }

    const SwitchTree& GetTree() const
    {
        return m_tree;
    }

    /// By which a member sends.
    FabricPort& GetMemberPort(uint32_t member) const;

    /// Gives all nodes of the tree their parts. \param slots of each switch that aggregates
    void AddRoles(uint32_t slots);

    /// What a packet takes on each link of the tree, once in each direction.
    struct PacketShape
    {
        double packetBytes;   //!< whatever is in it
        double contentFactor; //!< bytes for each byte of the gradient
        uint32_t payloadBytes;
    };

    /// Links and times of a load, of a tree whose switches add without delay.
    AggregationLoad MakeLoad(const PacketShape& packet) const;

    /// What a session takes of the memory of each switch that aggregates for it.
    struct Memory
    {
        uint64_t bytes;
        bool isShared; //!< by all sessions of the driver
    };

    /// \param hop the switch
    virtual Memory GetMemory(const SwitchTree::Hop& hop) const = 0;
    /// A switch of the tree that is to aggregate. \throws std::invalid_argument when it cannot
    virtual void CheckHop(const SwitchTree::Hop& hop) const;
    /// Share of what each switch has for aggregations of this protocol, beside its memory.
    virtual double GetRoom() const;
    /// Gives a node its part, which is of the driver's own kind.
    virtual void AddRole(AggregationNode& node, const AggregationRole& role) = 0;

  private:
    AggregationRole MakeRole(uint32_t hop, uint32_t slots) const;
    bool IsLost(NodeId root) const;

    bool m_isBuilt{false};
    uint32_t m_turn;
    SwitchTree m_tree;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_TREE_SESSION_H
