// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_FABRIC_HELPER_H
#define GRADSYNC_FABRIC_HELPER_H

#include "ns3/aggregation-helper.h"
#include "ns3/checked-attributes.h"
#include "ns3/node-container.h"
#include "ns3/topology.h"
#include "ns3/transport.h"

#include <map>
#include <memory>
#include <string>

namespace ns3::gradsync
{

/**
 * Builds networks of one kind on topologies.
 *
 * Whatever is set is checked at once: a name or value that does not go is a std::invalid_argument
 * that says which there are. One helper may install any number of networks.
 */
class FabricHelper
{
  public:
    /// \param transport "roce", "tcp" or "fluid", or the name of the TypeId of another one \throws
    /// std::invalid_argument when there is none of that name
    explicit FabricHelper(const std::string& transport = "roce");

    /// Of the transport, as `Mtu` of RoceTransport.
    void SetTransportAttribute(const std::string& name, const AttributeValue& value);
    /// Of the packet-level network underneath (FabricNetwork), as `Pfc`.
    void SetFabricAttribute(const std::string& name, const AttributeValue& value);
    /// Of a part of the transport by its name, as of a congestion control: ("dcqcn", "MinRate").
    void SetPartAttribute(const std::string& part,
                          const std::string& name,
                          const AttributeValue& value);

    /**
     * The congestion control that is used, with any number of its Attributes.
     * \param name in short, as "dcqcn", or of its TypeId
     * \param attributes names and values in turn
     */
    template <typename... Args>
    void SetCongestionControl(const std::string& name, const Args&... attributes)
    {
        ChooseCongestionControl(name);
        SetPartAttributes(name, attributes...);
    }

    /// How switches aggregate.
    void SetAggregation(const AggregationHelper& aggregation);

    /// Messages inside a server go as a fluid where links are theirs alone, as to an NvSwitch:
    /// TieredTransport. The transport must be over the fabric, as "roce". \throws
    /// std::invalid_argument when it is not
    void UseFluidServers();

    /// A transport that is not installed yet; the one between servers.
    Ptr<Transport> Create() const;

    /// A transport that is, for those who bring an engine of their own. \throws std::logic_error
    /// when the simulator does not count picoseconds; std::invalid_argument when the Attributes do
    /// not go together or with the topology
    Ptr<Transport> InstallTransport(const std::shared_ptr<const Topology>& topology) const;

    /**
     * A network with an engine that runs exchanges on it. Both end with the simulator.
     * \returns a Node for each endpoint, in their order, each with a FabricHost
     * \throws as InstallTransport
     */
    NodeContainer Install(const std::shared_ptr<const Topology>& topology) const;
    NodeContainer Install(Topology topology) const;

    /**
     * In place of Install, on a network that the program has built itself: Nodes with ns3's
     * point-to-point devices, Internet stack and addresses. Its routing, queues and other
     * applications stay as they are, and the simulation goes on when exchanges have ended. The
     * transport must be "tcp", without the Attributes that are of networks.
     * \param hosts all that ExchangeHelper::Install is to have, in the order of endpoints
     * \throws std::invalid_argument with a text for the user when a Node does not go (ReadNetwork)
     */
    void Adopt(const NodeContainer& hosts) const;

    /**
     * Captures to pcap files what these hosts send and receive, or all Ethernet links of their
     * network. After Install.
     * \param folder is made if need be; files are named after the ends of links
     * \throws std::invalid_argument when the transport has no packets
     */
    void EnablePcap(const std::string& folder, const NodeContainer& hosts) const;
    void EnablePcapAll(const std::string& folder, const NodeContainer& hosts) const;

    /// Gives the simulator the event list that is made for networks of this kind (RadixScheduler):
    /// it is fast, and the only one that knows the EventOrder of what happens at one instant. The
    /// simulator, too, is a faster one (WindowSimulatorImpl), where the program has chosen none and
    /// has not used it yet; only its own thread may schedule events then. While no event is
    /// pending: before anything is installed.
    static void UseFastScheduler();

  private:
    void ChooseCongestionControl(const std::string& name);

    void SetPartAttributes(const std::string& /* part */)
    {
    }

    template <typename... Args>
    void SetPartAttributes(const std::string& part,
                           const std::string& name,
                           const AttributeValue& value,
                           const Args&... others)
    {
        SetPartAttribute(part, name, value);
        SetPartAttributes(part, others...);
    }

    CheckedAttributes m_transport;
    CheckedAttributes m_fabric;
    std::map<std::string, CheckedAttributes> m_parts; //!< [name]
    AggregationHelper m_aggregation;
    bool m_hasFluidServers{false};
};

} // namespace ns3::gradsync

#endif // GRADSYNC_FABRIC_HELPER_H
