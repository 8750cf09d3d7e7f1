// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_TRANSPORT_CAPABILITIES_H
#define GRADSYNC_TRANSPORT_CAPABILITIES_H

#include "ns3/object.h"
#include "ns3/topology.h"

#include <string>
#include <vector>

namespace ns3::gradsync
{

class DividedTransport;
class FabricNetwork;
class NetworkAggregation;

/**
 * What a transport can beyond moving messages, for those who choose one, set it up and look into
 * it. Whatever it does not say otherwise, it cannot.
 */
class TransportCapabilities
{
  public:
    /// There are packets: links lose some and can be captured, and a run costs time in proportion
    /// to its bytes.
    virtual bool HasPackets() const;
    /// Share of the bytes of a full packet on a link that are of a message; 1: there are no
    /// headers.
    virtual double GetPayloadShare() const;
    /// Hosts may stop sending only, and crash; all transports with faults know the other ones.
    virtual bool HasHostFaults() const;

    /// Names of the parts that have Attributes of their own.
    virtual std::vector<std::string> ListParts() const;
    /// The part of that name, whose Attributes may be set until Install; null when there is none.
    virtual Ptr<Object> GetPart(const std::string& name);

    /// The network of packets underneath, whose Attributes may be set until Install and whose links
    /// can be looked at over time; null: another kind of network.
    virtual Ptr<FabricNetwork> GetFabric() const;
    /// What is known to go wrong with these settings on that network, a sentence each. Before
    /// Install.
    virtual std::vector<std::string> ListConcerns(const Topology& topology);
    /// What the switches are to run for aggregations. Before Install.
    virtual void SetAggregation(const Ptr<NetworkAggregation>& aggregation);

    /// Null: it cannot be divided among processes.
    virtual DividedTransport* GetDivided();

    /**
     * Captures a link to files in a folder, which exists. After Install.
     * \throws std::runtime_error when a file cannot be made
     */
    virtual void Capture(LinkId link, const std::string& folder);
    /// Ends the captures. \throws std::runtime_error when something could not be written
    virtual void CloseCaptures();

  protected:
    ~TransportCapabilities() = default;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_TRANSPORT_CAPABILITIES_H
