// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/transport-probe.h"

#include "ns3/child-probe.h"
#include "ns3/object-factory.h"
#include "ns3/scenario-error.h"
#include "ns3/simulator.h"
#include "ns3/star-topology.h"
#include "ns3/string.h"

#include <fmt/format.h>
#include <map>
#include <memory>
#include <stdexcept>

namespace ns3::gradsync
{

namespace
{

/// Two that send to one: a queue builds up before it.
constexpr uint32_t HOSTS = 3;
constexpr uint64_t BYTES = 200'000;

/// Of simulated time. Types that drop everything are no error, and end here.
const Time LIMIT = MilliSeconds(10);

/// Ends the simulation when all is delivered.
class ProbeHandler : public MessageHandler
{
  public:
    void OnDelivered(uint64_t /* tag */) override
    {
        if (++m_delivered == HOSTS - 1)
        {
            Simulator::Stop();
        }
    }

    void OnFailed(uint64_t /* tag */, const std::string& /* reason */) override
    {
    }

  private:
    uint32_t m_delivered{0};
};

void
SimulateSmallNetwork(const TransportChoice& choice)
{
    StarOptions options;
    options.hosts = HOSTS;
    options.hostLink = {DataRate("10Gbps"), MicroSeconds(1)};
    const auto topology = std::make_shared<const Topology>(MakeStarTopology(options));
    ObjectFactory factory;
    factory.SetTypeId(choice.type);
    for (const auto& [name, value] : choice.attributes)
    {
        factory.Set(name, StringValue(value));
    }
    const auto transport = factory.Create<Transport>();
    try
    {
        transport->Install(topology, std::make_shared<const RoutingTables>(*topology));
    }
    catch (const std::invalid_argument&)
    {
        return; // whoever installs the real one says so
    }
    ProbeHandler handler;
    for (uint32_t host = 1; host < HOSTS; ++host)
    {
        transport->Send({host, 0, 0, BYTES, host, &handler});
    }
    Simulator::Stop(LIMIT);
    Simulator::Run();
}

} // namespace

void
ProbeForeignTypes(const TransportChoice& choice)
{
    static std::map<AttributeSettings, std::string> known; //!< why not, or empty
    const auto foreign = GetForeignTypes(choice);
    if (foreign.empty())
    {
        return;
    }
    const auto [entry, isNew] = known.try_emplace(choice.attributes);
    if (isNew)
    {
        entry->second = ProbeInChild([&choice] { SimulateSmallNetwork(choice); });
    }
    if (!entry->second.empty())
    {
        throw ScenarioError("transport " + choice.kind,
                            fmt::format("ns-3 cannot simulate {}: {}", foreign, entry->second));
    }
}

} // namespace ns3::gradsync
