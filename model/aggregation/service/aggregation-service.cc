// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/aggregation-service.h"

#include "ns3/aggregation-drivers.h"
#include "ns3/aggregation-load.h"
#include "ns3/object-factory.h"
#include "ns3/p4-runtime-commands.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace ns3::gradsync
{

AggregationService::AggregationService()
{
    for (const auto& entry : GetAggregationDrivers())
    {
        ObjectFactory factory;
        factory.SetTypeId(entry.getTypeId());
        AddDriver(entry.name, entry.protocols, factory.Create<AggregationDriver>());
    }
}

AggregationService::~AggregationService() = default;

void
AggregationService::DoDispose()
{
    m_byNumber.clear();
    m_sessions.clear();
    for (const auto& driver : m_drivers)
    {
        driver.object->Dispose();
    }
    m_onRebuild = nullptr;
    m_network.fabric = nullptr;
    NetworkAggregation::DoDispose();
}

void
AggregationService::AddDriver(const std::string& name,
                              const std::vector<std::string>& protocols,
                              const Ptr<AggregationDriver>& driver)
{
    m_drivers.push_back({name, driver});
    for (const auto& protocol : protocols)
    {
        m_byProtocol[protocol] = PeekPointer(driver);
    }
}

Ptr<AggregationDriver>
AggregationService::GetDriver(const std::string& name) const
{
    const auto found = std::ranges::find(m_drivers, name, &Driver::name);
    return found == m_drivers.end() ? nullptr : found->object;
}

Ptr<Object>
AggregationService::GetPart(const std::string& name)
{
    return GetDriver(name);
}

AggregationDriver&
AggregationService::ChooseDriver(const std::string& protocol) const
{
    const auto found = m_byProtocol.find(protocol);
    if (found == m_byProtocol.end())
    {
        std::vector<std::string> known;
        for (const auto& [name, driver] : m_byProtocol)
        {
            known.push_back(name);
        }
        throw std::invalid_argument(
            fmt::format("no driver for the aggregation protocol \"{}\" (there are: {})",
                        protocol,
                        fmt::join(known, ", ")));
    }
    return *found->second;
}

std::string
AggregationService::FindShared(const std::string& protocol) const
{
    return ChooseDriver(protocol).FindShared();
}

void
AggregationService::SetProgram(NodeId node, P4SwitchProgram program)
{
    m_userPrograms.insert_or_assign(node, std::move(program));
}

void
AggregationService::SetTransport(RoceTransport* transport)
{
    m_network.transport = transport;
}

void
AggregationService::Install(const Ptr<FabricNetwork>& fabric,
                            std::shared_ptr<const Topology> topology)
{
    m_network.fabric = fabric;
    m_network.topology = std::move(topology);
    TakeSettings();
    for (const auto& [node, program] : m_userPrograms)
    {
        m_network.foreign.insert(node);
    }
    m_network.memory.SetCapacity(m_switchMemoryBytes);
    FindIncapable();
    fabric->GetPool().SetContents(&m_network.contents);
    for (size_t number = 0; number < m_drivers.size(); ++number)
    {
        m_drivers[number].object->Install(*this, static_cast<uint8_t>(number));
    }
    InstallPrograms();
}

/// Of each tier a share of its switches can aggregate, spread evenly.
void
AggregationService::FindIncapable()
{
    constexpr uint32_t LEAF_TIER = 1;
    std::map<uint32_t, uint32_t> seen; // [tier]
    const auto nodes = m_network.topology->GetNodes();
    for (NodeId node = 0; node < nodes.size(); ++node)
    {
        if (nodes[node].kind != NodeKind::Switch)
        {
            continue;
        }
        const auto tier = nodes[node].tier;
        const auto index = seen[tier]++;
        const bool isOfTier = m_tier == TIER_ALL || (m_tier == TIER_LEAF) == (tier <= LEAF_TIER);
        const bool isOfShare = std::floor((index + 1) * m_share) > std::floor(index * m_share);
        if (!isOfTier || !isOfShare)
        {
            m_incapable.insert(node);
        }
    }
    m_network.outage.switches = m_incapable;
}

/// Attributes count for what begins from now on.
void
AggregationService::TakeSettings()
{
    m_network.settings = {.engine = m_engine,
                          .values = m_values,
                          .valueBits = m_valueBits,
                          .gradients = m_gradients,
                          .scale = m_scale,
                          .saturate = m_saturate,
                          .overflow = m_overflow,
                          .retryLimit = m_retryLimit};
}

void
AggregationService::InstallPrograms()
{
    AggregationHost& host = *this;
    for (const auto& [node, program] : m_userPrograms)
    {
        auto& programs = GetPrograms(node);
        auto user = std::make_unique<P4SwitchNode>(host, node, program.program, program.takesAll);
        P4RuntimeCommands(user->GetPipeline(), program.configurationName)
            .Run(program.configuration);
        programs.SetUserProgram(std::move(user));
    }
    if (m_userPrograms.empty())
    {
        return;
    }
    // What such a program sends may come anywhere.
    for (NodeId node = 0; node < m_network.topology->GetNodes().size(); ++node)
    {
        if (m_network.fabric->GetSwitch(node))
        {
            GetPrograms(node);
        }
    }
    for (uint32_t endpoint = 0; endpoint < m_network.topology->GetEndpoints().size(); ++endpoint)
    {
        TakeSink(endpoint);
    }
}

uint32_t
AggregationService::OpenAggregation(const AggregationGroup& group)
{
    auto& driver = ChooseDriver(group.protocol);
    if (!driver.HasFlow(group.flow))
    {
        throw std::invalid_argument(fmt::format("the aggregation protocol \"{}\" has no {}",
                                                group.protocol,
                                                GetFlowName(group.flow)));
    }
    TakeSettings();
    const auto id = m_groups.Take([this](uint32_t taken) { return m_sessions.contains(taken); });
    auto& session = *m_sessions.emplace(id, driver.MakeSession(group, id)).first->second;
    try
    {
        TakeNumber(session);
        driver.Check(group);
        session.Open();
    }
    catch (const std::exception&)
    {
        Forget(session);
        throw;
    }
    return id;
}

void
AggregationService::Forget(AggregationSession& session)
{
    session.RemoveRoles();
    session.ReleaseMemory();
    std::erase_if(m_byNumber, [&](const auto& entry) { return entry.second == &session; });
    m_sessions.erase(session.GetId());
}

void
AggregationService::CloseAggregation(uint32_t group)
{
    auto& session = *m_sessions.at(group);
    session.Stop();
    Retire(session);
    Forget(session);
}

void
AggregationService::Aggregate(const AggregationMessage& message)
{
    auto& session = *m_sessions.at(message.group);
    if (!session.GetFailure().empty())
    {
        message.handler->OnFailed(message.tag, session.GetFailure());
        return;
    }
    session.Contribute(message);
}

void
AggregationService::Abandon(const Transport::MessageFilter& isMeant)
{
    for (const auto& [group, session] : m_sessions)
    {
        for (const auto& worker : session->GetWorkers())
        {
            if (worker->IsMeant(isMeant))
            {
                worker->Stop();
            }
        }
    }
}

std::optional<AggregationLoad>
AggregationService::DescribeLoad(uint32_t group) const
{
    auto load = m_userPrograms.empty() ? m_sessions.at(group)->DescribeLoad() : std::nullopt;
    if (!load || !HasLimits())
    {
        return load;
    }
    load->isDelayed = true;
    const auto values = load->payloadBytes / BYTES_PER_VALUE;
    const auto passes = m_valuesPerPass == 0 ? 1 : (values + m_valuesPerPass - 1) / m_valuesPerPass;
    const auto rate = m_pipelines * m_pipelinePacketRate;
    for (auto& adder : load->adders)
    {
        // As if ports and places were dealt out evenly to its pipelines.
        adder.busySeconds = rate > 0.0 ? static_cast<double>(adder.inputs * passes) / rate : 0.0;
    }
    return load;
}

AggregationSession&
AggregationService::GetSessionOfStream(uint32_t stream) const
{
    return *m_sessions.at(stream - FIRST_STREAM);
}

void
AggregationService::Equip(FabricPacket& packet,
                          uint32_t endpoint,
                          uint32_t stream,
                          const MessagePlace& place)
{
    GetSessionOfStream(stream).Equip(packet, endpoint, place);
}

uint16_t
AggregationService::GetSendingPort(uint32_t endpoint, uint32_t stream) const
{
    return GetSessionOfStream(stream).GetSendingPort(endpoint);
}

} // namespace ns3::gradsync
