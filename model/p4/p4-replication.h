// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_P4_REPLICATION_H
#define GRADSYNC_P4_REPLICATION_H

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace ns3::gradsync
{

/// A copy of a packet that goes through egress.
struct P4Replica
{
    uint32_t port = 0;
    uint32_t replicationId = 0;
};

/**
 * Who gets copies of a packet, as BMv2's packet replication engine has it: multicast groups of
 * nodes, each with its replication id and ports, and mirroring sessions.
 */
class P4Replication
{
  public:
    /// \param file the program's name, for messages
    explicit P4Replication(std::string file);

    /// Groups and nodes go, mirroring sessions stay.
    void ClearGroups();

    void CreateGroup(uint32_t group);
    /// Its nodes stay and may join another. \throws P4Error
    void DestroyGroup(uint32_t group);
    /// A node for groups; returns its handle, the lowest that is free.
    uint32_t CreateNode(uint32_t replicationId, const std::vector<uint32_t>& ports);
    /// Gives a node other ports. \throws P4Error
    void UpdateNode(uint32_t node, const std::vector<uint32_t>& ports);
    /// A node belongs to one group at most. \throws P4Error
    void AssociateNode(uint32_t group, uint32_t node);
    void DissociateNode(uint32_t group, uint32_t node);
    /// It leaves its group before. \throws P4Error
    void DestroyNode(uint32_t node);
    /// A mirroring session that copies to a port or, with `isGroup`, to a multicast group.
    void AddMirror(uint32_t session, uint32_t target, bool isGroup);
    /// \throws P4Error when there is no such session
    void DeleteMirror(uint32_t session);
    /// The target of a session, and whether it is a group; nothing when there is no such session.
    std::optional<std::pair<uint32_t, bool>> GetMirror(uint32_t session) const;

    /// Copies for a group, in the order of its nodes and ports; none when there is no such group.
    std::vector<P4Replica> FindGroup(uint32_t group) const;
    /// Copies of a mirroring session; none when there is no such session.
    std::vector<P4Replica> FindMirror(uint32_t session) const;

  private:
    struct Node
    {
        uint32_t replicationId = 0;
        std::vector<uint32_t> ports; //!< ascending
        std::optional<uint32_t> group;
    };

    struct Mirror
    {
        uint32_t target = 0;
        bool isGroup = false;
    };

    Node& FindNode(uint32_t node);
    std::vector<uint32_t>& FindMembers(uint32_t group);

    std::string m_file;
    std::map<uint32_t, std::vector<uint32_t>> m_groups;
    /// Nothing where a node was destroyed.
    std::vector<std::optional<Node>> m_nodes;
    std::map<uint32_t, Mirror> m_mirrors;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_P4_REPLICATION_H
