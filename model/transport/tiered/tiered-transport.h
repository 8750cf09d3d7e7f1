// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_TIERED_TRANSPORT_H
#define GRADSYNC_TIERED_TRANSPORT_H

#include "ns3/fabric-network.h"
#include "ns3/fluid-transport.h"
#include "ns3/inner-networks.h"
#include "ns3/network-part.h"
#include "ns3/transport.h"

#include <cstdint>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace ns3::gradsync
{

/**
 * Servers as fluids, and the network as another transport has it.
 *
 * A message all of whose paths lie in one InnerNetwork, such as that of an NvSwitch, is served
 * there at max-min fair rates, each server for itself (FluidTransport). All others go as a whole
 * over the other transport, links inside servers included: no link has both. Of the rate of an
 * inner link messages can use what headers of that transport's full packets leave
 * (GetPayloadShare).
 *
 * Faults of the network are that transport's. Inner links and nodes have none, and switches do not
 * aggregate. Several processes may divide the network, but no server, as DivideTopology does.
 */
class TieredTransport : public Transport,
                        public TransportCapabilities,
                        public TransportFaults,
                        public TransportParts
{
  public:
    static TypeId GetTypeId();

    TieredTransport();
    ~TieredTransport() override;

    /// What moves all other messages: over the fabric, and not installed yet. Before Install.
    /// \throws std::invalid_argument with a text for the user when it is not over the fabric
    void SetNetwork(const Ptr<Transport>& network);

    /// \throws std::invalid_argument with a text for the user when no server has an InnerNetwork,
    /// or when messages of a pair go partly by one
    void Install(std::shared_ptr<const Topology> topology,
                 std::shared_ptr<const RoutingTables> routes) override;
    void Send(const Message& message) override;
    void PrefetchSend(uint32_t src, uint32_t dst, uint32_t stream) const override;
    void Abandon(const MessageFilter& isMeant) override;
    std::vector<LinkStatistics> GetLinkStatistics() const override;
    TransportStatistics GetStatistics() const override;
    void AddState(StateWords& words) override;

    TransportCapabilities* GetCapabilities() override;
    TransportFaults* GetFaults() override;
    TransportParts* GetParts() override;

    // TransportCapabilities: those of the network
    bool HasPackets() const override;
    bool HasHostFaults() const override;
    double GetPayloadShare() const override;
    std::vector<std::string> ListParts() const override;
    Ptr<Object> GetPart(const std::string& name) override;
    Ptr<FabricNetwork> GetFabric() const override;
    std::vector<std::string> ListConcerns(const Topology& topology) override;
    DividedTransport* GetDivided() override;
    void Capture(LinkId link, const std::string& folder) override;
    void CloseCaptures() override;

    /// \throws std::invalid_argument for a link of an InnerNetwork
    void SetLinkState(LinkId link, const LinkState& state) override;
    void SetEndpointState(uint32_t endpoint, const EndpointState& state) override;
    void SetRoutes(std::shared_ptr<const RoutingTables> routes) override;

    // TransportParts: those of the network, none of which has inner links
    std::string FindObstacle() const override;
    void AddPlaces(uint32_t src, uint32_t dst, std::set<uint32_t>& places) const override;
    std::unique_ptr<NetworkPart> MakePart(
        std::span<const uint32_t> endpoints,
        const std::set<std::pair<uint32_t, uint32_t>>& pairs) override;
    bool MayHaveTwins() const override;
    void SetTwins(std::span<const PartTwins> sets) override;
    bool AreTwins() const override;

  protected:
    void DoDispose() override;

  private:
    static constexpr uint32_t NONE = UINT32_MAX;

    struct Server
    {
        Ptr<FluidTransport> fluid;
        std::vector<uint32_t> endpoints; //!< [endpoint of the server] of all
        std::vector<LinkId> links;       //!< [link of the server] of all
        std::vector<bool> isInner;       //!< [src * endpoints + dst] its messages stay inside
    };

    /// Where an endpoint is.
    struct Place
    {
        uint32_t server{NONE};
        uint32_t endpoint{0}; //!< of the server
    };

    void InstallServer(const InnerNetwork& inner, const RoutingTables& routes);
    /// The server inside which messages of a pair stay; null: they do not.
    const Server* FindServer(uint32_t src, uint32_t dst) const;

    Ptr<Transport> m_network;
    TransportCapabilities* m_capabilities{nullptr}; //!< of the network
    std::shared_ptr<const Topology> m_topology;
    std::vector<Server> m_servers;
    std::vector<Place> m_places;     //!< [endpoint]
    std::vector<bool> m_isInnerLink; //!< [link]
};

} // namespace ns3::gradsync

#endif // GRADSYNC_TIERED_TRANSPORT_H
