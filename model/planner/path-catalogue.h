// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_PATH_CATALOGUE_H
#define GRADSYNC_PATH_CATALOGUE_H

#include "ns3/load-balancing.h"
#include "ns3/max-min-allocator.h"
#include "ns3/network-model.h"
#include "ns3/routing-tables.h"
#include "ns3/topology.h"

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace ns3::gradsync
{

/// What lies between two endpoints.
struct NetworkPath
{
    std::vector<MaxMinAllocator::Use> uses; //!< of link directions, as Transport numbers them
    uint32_t back{0};                       //!< the path of its acknowledgements
    uint32_t firstLink{0};                  //!< direction of the NIC's link
    double firstSecondsPerByte{0.0};        //!< of it
    double delaySeconds{0.0};               //!< propagation
    double slowestSecondsPerByte{0.0};      //!< of the slowest link
    /// Of all other links: what a packet takes to be received whole before it is sent on.
    double forwardSecondsPerByte{0.0};

    /// From the last bit that the slowest link sends of a message to its delivery.
    double GetLatency(const NetworkModel& model, uint64_t messageBytes) const
    {
        return delaySeconds + model.GetPacketWireBytes(messageBytes) * forwardSecondsPerByte;
    }
};

/// The paths of a network, found when they are first asked for.
class PathCatalogue
{
  public:
    /// \param topology must outlive the catalogue
    PathCatalogue(const Topology& topology, const NetworkModel& model);

    /// Number of the path of a connection, counted from 0 in the order of the questions.
    uint32_t Find(uint32_t src, uint32_t dst, uint32_t stream);

    const NetworkPath& Get(uint32_t path) const
    {
        return m_paths[path];
    }

    uint32_t GetCount() const
    {
        return static_cast<uint32_t>(m_paths.size());
    }

    /// Bytes per second of each link direction.
    std::vector<double> GetCapacities() const;

  private:
    struct Key
    {
        uint32_t src;
        uint32_t dst;
        uint32_t hash; //!< of the connection; 0 where it does not choose the path
        bool operator==(const Key&) const = default;
    };

    struct KeyHash
    {
        size_t operator()(const Key& key) const
        {
            return std::hash<uint64_t>{}((uint64_t{key.src} << 32 | key.dst) ^ uint64_t{key.hash}
                                                                                   << 16);
        }
    };

    struct Latency
    {
        double delay{0.0};
        double perByte{0.0}; //!< of all links
        double slowest{0.0}; //!< per byte
    };

    uint32_t FindKey(const Key& key);
    NetworkPath Spread(const Key& key) const;
    NetworkPath Follow(const Key& key) const;
    Latency FindLongest(NodeId node, uint32_t endpoint) const;
    void AddNic(const Key& key, NetworkPath& path) const;
    void AddLink(LinkId link, Latency& latency) const;
    static NetworkPath MakePath(const Latency& latency);

    const Topology& m_topology;
    RoutingTables m_routes;
    PathChoice m_choice;
    std::vector<NextHopChooser> m_choosers;              //!< [node]; empty: traffic spreads
    std::unordered_map<Key, uint32_t, KeyHash> m_pathOf; //!< never iterated
    std::vector<NetworkPath> m_paths;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_PATH_CATALOGUE_H
