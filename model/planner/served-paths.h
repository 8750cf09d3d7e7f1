// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_SERVED_PATHS_H
#define GRADSYNC_SERVED_PATHS_H

#include "ns3/max-min-allocator.h"

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

namespace ns3::gradsync
{

/// Who shares the links fairly.
enum class RateSharing
{
    Connections, //!< max-min fair among connections
    Nics         //!< among NICs, whose connections all have one rate
};

/// Paths whose connections are served at max-min fair rates, all connections of one path alike.
class ServedPaths
{
  public:
    using Use = MaxMinAllocator::Use;

    /// A transfer that is served: through when its path has served `target` bytes a connection.
    struct Service
    {
        double target; //!< as GetServed counts
        uint32_t connection;

        bool operator<(const Service& other) const
        {
            return target != other.target ? target > other.target : connection > other.connection;
        }
    };

    /// \param capacities bytes per second of each link direction
    ServedPaths(std::vector<double> capacities, RateSharing sharing);

    /**
     * \param uses what a byte of one connection takes of the links
     * \param nic whose the connections are, any number; nothing: they have one of their own
     * \returns the number of the path, counted from 0
     */
    uint32_t Add(std::span<const Use> uses, std::optional<uint32_t> nic);

    void Serve(uint32_t path, Service service);

    /// Finds the rates anew where the set of connections in service has changed.
    void Allocate();

    /// Seconds until the next one is through, infinite when none is in service.
    double GetSecondsToNext() const;

    /// At the present rates.
    void Advance(double seconds);

    /// Bytes that each connection of a path has got since the path was idle.
    double GetServed(uint32_t path) const
    {
        return m_paths[path].served;
    }

    /// Those with connections in service, since the last allocation.
    const std::vector<uint32_t>& GetActive() const
    {
        return m_active;
    }

    /// Takes the next of a path that is through, or will be within so many seconds.
    std::optional<Service> TakeServed(uint32_t path, double toleranceSeconds);

  private:
    static constexpr uint32_t NONE = UINT32_MAX;

    struct Path
    {
        std::vector<Use> uses; //!< of one connection
        uint32_t nic{0};       //!< in m_nics
        double served{0.0};
        std::vector<Service> heap;  //!< least target first
        uint32_t activeIndex{NONE}; //!< in m_active
    };

    /// [link direction] used by all connections in service of a NIC.
    using NicUses = std::map<uint32_t, double>;

    uint32_t FindNic(std::optional<uint32_t> nic);
    bool DropIdle();
    void ShareAmongNics();

    MaxMinAllocator m_allocator; //!< classes are paths, or NICs
    RateSharing m_sharing{RateSharing::Connections};
    std::vector<Path> m_paths;
    std::vector<uint32_t> m_flowCounts; //!< [path]
    std::vector<double> m_rates;        //!< [path] bytes per second of each connection
    std::vector<uint32_t> m_active;
    std::vector<NicUses> m_nics;
    std::map<uint32_t, uint32_t> m_nicOf; //!< [number that Add was given] in m_nics
};

} // namespace ns3::gradsync

#endif // GRADSYNC_SERVED_PATHS_H
