// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_TWIN_PLANES_H
#define GRADSYNC_TWIN_PLANES_H

#include "ns3/network-planes.h"
#include "ns3/transfer-carrier.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace ns3::gradsync
{

/**
 * Planes of a network that are not simulated, as an equal one is given the same at the same times:
 * seven of eight rails of a rail-optimised network whose servers are tensor-parallel groups.
 *
 * What such a plane does follows from its shape and from what it is given when, and from nothing
 * else. So executions run as always. Messages of the first plane of a set go over the network;
 * those of the others are compared to them, and delivered when they are. Nothing is taken for
 * granted of when they leave: where something is not given to all at one instant the simulation
 * stops, is none of the job, and must be repeated whole.
 */
class TwinPlanes
{
  public:
    /// \param sets as of FindPlaneTwins; not empty. No message has been sent yet
    TwinPlanes(const Workload& workload, std::vector<PlaneTwins> sets, TransportParts& parts);

    /// For an execution; nullptr: nothing of it goes by a plane.
    std::unique_ptr<TransferCarrier> MakeCarrier(CommunicationId id);

    /// The workload is done; it may run again.
    void EndRun();

    /// What stopped the simulation, one line; empty: nothing has.
    const std::string& GetDifference() const
    {
        return m_difference;
    }

    /// Communications that were not simulated.
    uint64_t GetCount() const
    {
        return m_count;
    }

  private:
    class Carrier;

    static constexpr uint32_t NONE = UINT32_MAX;

    /// Where a communication goes.
    struct Place
    {
        uint32_t set{NONE};
        uint32_t plane{0}; //!< of the set
        uint32_t index{0}; //!< of the communication in the plane
    };

    /// Equal messages of all planes of a set, from when the first one leaves until it arrives.
    struct Flight
    {
        int64_t left{0}; //!< time step
        uint32_t count{0};
        std::vector<Message> twins; //!< [plane - 1]
    };

    static uint64_t GetKey(const Place& place, OperationId id)
    {
        return uint64_t{place.index} << 32 | id;
    }

    void Differ(const char* how);
    bool Take(const Place& place, const Message& message);
    void OnDelivered(const Place& place, OperationId id);

    TransportParts& m_parts;
    std::vector<PlaneTwins> m_sets;
    std::vector<Place> m_places;                                 //!< [communication]
    std::vector<std::unordered_map<uint64_t, Flight>> m_flights; //!< [set]
    uint64_t m_count{0};
    std::string m_difference;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_TWIN_PLANES_H
