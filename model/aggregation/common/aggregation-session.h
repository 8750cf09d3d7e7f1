// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_AGGREGATION_SESSION_H
#define GRADSYNC_AGGREGATION_SESSION_H

#include "ns3/aggregation-host.h"
#include "ns3/aggregation-worker.h"
#include "ns3/network-aggregation.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace ns3::gradsync
{

class AggregationDriver;
class AggregationNode;

/// A group of endpoints in the protocol of a driver, from its opening to its end.
class AggregationSession
{
  public:
    AggregationSession(AggregationDriver& driver, const AggregationGroup& group, uint32_t id);
    virtual ~AggregationSession();
    AggregationSession(const AggregationSession&) = delete;
    AggregationSession& operator=(const AggregationSession&) = delete;

    AggregationDriver& GetDriver() const
    {
        return m_driver;
    }

    /// As the transport calls the group.
    uint32_t GetId() const
    {
        return m_id;
    }

    const AggregationGroup& GetGroup() const
    {
        return m_group;
    }

    /// As packets call the job: a new one whenever switches begin anew.
    uint16_t GetNumber() const
    {
        return m_job.number;
    }

    void SetNumber(uint16_t number)
    {
        m_job.number = number;
    }

    /// Endpoints of the members.
    const std::shared_ptr<const std::vector<uint32_t>>& GetEndpoints() const
    {
        return m_endpoints;
    }

    /// By member.
    std::span<const std::unique_ptr<AggregationWorker>> GetWorkers() const
    {
        return m_workers;
    }

    /// Why no switches aggregate for it any more; empty: they do.
    const std::string& GetFailure() const
    {
        return m_failure;
    }

    /// Prepares workers and switches. \throws std::invalid_argument with a text for the user
    virtual void Open() = 0;
    /// A member takes part in the next aggregation.
    virtual void Contribute(const AggregationMessage& message);
    /// As TransportAggregation::DescribeLoad; nothing unless the protocol says it.
    virtual std::optional<AggregationLoad> DescribeLoad() const;
    /// What it uses is out of order.
    virtual bool IsHit(const AggregationOutage& outage) const = 0;
    /// Takes other switches, after RemoveRoles. \returns whether they are other ones
    /// \throws std::invalid_argument with a text for the user when there are none
    virtual bool Rebuild() = 0;
    /// No node has a part in it any more.
    virtual void RemoveRoles();
    /// It needs no memory of switches any more.
    virtual void ReleaseMemory();
    /// Its job is over: forgets what is under way.
    virtual void Stop();
    /// Fails what is under way, and all that comes.
    void GiveUp(const std::string& reason);

    // As of NetworkAggregation, of a session that sends messages of its own over the transport.
    virtual void Equip(FabricPacket& packet, uint32_t endpoint, const MessagePlace& place);
    virtual uint16_t GetSendingPort(uint32_t endpoint) const;

  protected:
    /// What packets of a protocol look like, and how it makes integers of floats.
    struct Shape
    {
        uint16_t valueCount;            //!< integers of a packet
        uint32_t headerBytes;           //!< of its own, above UDP
        float factor;                   //!< of floats where the settings have none; 0: by exponents
        std::optional<double> mostSent; //!< larger ones go as floats, at that factor; none: none do
        uint32_t batch{0};              //!< packets of exponents, where there are exponents
        bool addsFloats{false};         //!< floats are added as they are
    };

    AggregationHost& GetHost() const;
    AggregationNetwork& GetNetwork() const;

    /// What packets carry; null: only sizes matter.
    virtual std::unique_ptr<AggregationTensor> MakeTensor(
        const Shape& shape,
        const AggregationTensor::Shape& tensor) const;
    /// Fills in the job but for its number. \throws std::invalid_argument with a text for the user
    void FillJob(const Shape& shape);
    /// The next member's. Its endpoint's packets come to the driver from now on.
    void AddWorker(std::unique_ptr<AggregationWorker> worker);
    /// A node that has a part, until RemoveRoles.
    AggregationNode& AddNode(NodeId node);
    /**
     * Takes memory of a switch, until ReleaseMemory. \param bytes for sums
     * \param isShared by all groups of the driver, which have it together
     * \throws AggregationDenied with a text for the user when there is not as much left
     */
    void TakeMemory(NodeId node, uint64_t bytes, bool isShared);
    /// Whether a switch can aggregate. One that has lost its program, which nobody knows yet, drops
    /// what it should add.
    bool HasProgram(NodeId node) const;

    AggregationJob m_job{};
    std::set<NodeId> m_adding; //!< switches that aggregate for it

  private:
    uint32_t GetMeasuringRank() const;

    AggregationDriver& m_driver;
    AggregationGroup m_group;
    uint32_t m_id;
    std::shared_ptr<const std::vector<uint32_t>> m_endpoints;
    std::unique_ptr<AggregationTensor> m_tensor;
    std::vector<std::unique_ptr<AggregationWorker>> m_workers;
    std::vector<AggregationNode*> m_nodes;                         //!< that have a part in it
    std::vector<std::pair<NodeId, SwitchMemory::Holder>> m_memory; //!< that it took
    std::string m_failure;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_AGGREGATION_SESSION_H
