// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/slot-driver.h"

#include "ns3/aggregation-address.h"
#include "ns3/aggregation-switch.h"
#include "ns3/ns3-interfaces.h"
#include "ns3/p4-compiled-programs.h"
#include "ns3/p4-program-loader.h"
#include "ns3/slot-frame.h"
#include "ns3/slot-session.h"
#include "ns3/uinteger.h"

#include <fmt/format.h>
#include <stdexcept>
#include <utility>

namespace ns3::gradsync
{

NS_OBJECT_ENSURE_REGISTERED(SlotDriver);

namespace
{

/// PASSING's; SwitchML has exponents.
constexpr float PASSING_FACTOR = 1e8F;

} // namespace

TypeId
SlotDriver::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::gradsync::SlotDriver")
            .SetParent<AggregationDriver>()
            .SetGroupName("GradSync")
            .AddConstructor<SlotDriver>()
            .AddAttribute(
                "Slots",
                "Slots of each set that an aggregation gets at every switch, with dynamic sharing "
                "at most: packets that a worker may have under way. 128 of 64 values fill 10 Gb/s "
                "up to a round trip of 35 us.",
                UintegerValue(128),
                MakeUintegerAccessor(&SlotDriver::m_slots),
                MakeUintegerChecker<uint32_t>(1, 65536))
            .AddAttribute("PoolSlots",
                          "Slots of each set that a switch has for all aggregations together.",
                          UintegerValue(4096),
                          MakeUintegerAccessor(&SlotDriver::m_poolSlots),
                          MakeUintegerChecker<uint32_t>(1, 1U << 24))
            .AddAttribute("Sharing",
                          "How aggregations share the slots of a switch: static (each has Slots "
                          "of its own) or dynamic (those that have begun, and whose job is not "
                          "done, have equal shares of at most Slots).",
                          EnumValue(SHARING_STATIC),
                          MakeAccessorOfEnum(&SlotDriver::m_sharingMode),
                          MakeEnumChecker(SHARING_STATIC, "static", SHARING_DYNAMIC, "dynamic"))
            .AddAttribute("ValuesPerPacket",
                          "Integers of 4 bytes that a packet carries and a slot holds.",
                          UintegerValue(64),
                          MakeUintegerAccessor(&SlotDriver::m_valueCount),
                          MakeUintegerChecker<uint32_t>(1, 2048))
            .AddAttribute("Timeout",
                          "A worker without the result of a packet for this long sends it again; "
                          "doubled with each timeout in a row, up to 64 times (SwitchML: 10 ms).",
                          TimeValue(MilliSeconds(10)),
                          MakeTimeAccessor(&SlotDriver::m_timeout),
                          MakeTimeChecker(NanoSeconds(1)));
    return tid;
}

std::vector<CompiledLimit>
SlotDriver::GetCompiledLimits()
{
    return {{"ValuesPerPacket", compiled::SLOT_VALUES, compiled::SLOT_VALUES},
            {"Slots", 0, compiled::SLOT_POOL},
            {"PoolSlots", 0, compiled::SLOT_POOL}};
}

/// What the P4 program was compiled for cannot be set when it runs.
void
SlotDriver::CheckCompiled() const
{
    for (const auto& [attribute, least, most] : GetCompiledLimits())
    {
        UintegerValue value;
        GetAttribute(attribute, value);
        if (value.Get() < least || value.Get() > most)
        {
            throw std::invalid_argument(fmt::format(
                "attribute {} is {}, but the P4 program of the engine p4 is compiled for {}",
                attribute,
                value.Get(),
                most));
        }
    }
}

void
SlotDriver::DoInstall()
{
    if (GetNetwork().settings.engine == ENGINE_P4)
    {
        CheckCompiled();
    }
    if (!GetNetwork().foreign.empty() && m_sharingMode == SHARING_DYNAMIC)
    {
        throw std::invalid_argument("attribute Sharing is dynamic, but the slots of switches with "
                                    "programs of their own are those of their configuration");
    }
}

void
SlotDriver::DoDispose()
{
    m_sharing.Cancel();
    AggregationDriver::DoDispose();
}

/// What there is to check hangs on the switches.
void
SlotDriver::Check(const AggregationGroup& /* group */) const
{
}

float
SlotDriver::GetFactor(const std::string& protocol)
{
    return protocol == "passing" ? PASSING_FACTOR : 0.0F;
}

std::unique_ptr<AggregationSession>
SlotDriver::MakeSession(const AggregationGroup& group, uint32_t id)
{
    m_sharing.Configure({m_sharingMode, m_slots, m_poolSlots});
    return std::make_unique<SlotSession>(*this, group, id);
}

std::unique_ptr<AggregationNode>
SlotDriver::MakeNode(NodeId node)
{
    auto& network = GetNetwork();
    const bool isNative = network.settings.engine == ENGINE_NATIVE;
    auto made = std::make_unique<AggregationSwitch>(
        network.topology->GetNodes()[node].name,
        *network.fabric->GetSwitch(node),
        network.fabric->GetPool(),
        network.contents,
        SlotSwitch::Config{.poolSize = m_poolSlots,
                           .valueCount = GetValueCount(),
                           .saturate = network.settings.saturate,
                           .computesSums = network.settings.values != VALUES_SIZES && isNative});
    if (!isNative)
    {
        made->SetEngine(std::make_unique<P4SlotSwitch>(GetHost(), node, LoadProgram()));
    }
    return made;
}

std::shared_ptr<const P4Program>
SlotDriver::LoadProgram()
{
    if (!m_program)
    {
        const bool saturates = GetNetwork().settings.saturate;
        m_program = std::make_shared<const P4Program>(P4ProgramLoader::Load(
            saturates ? compiled::GetSaturatingSlotProgram() : compiled::GetSlotProgram(),
            "slot-aggregation.json"));
    }
    return m_program;
}

void
SlotDriver::Receive(FabricPacket* packet, uint32_t endpoint, TimeStepCount /* now */)
{
    // A copy: the worker may send, which may use these contents again.
    const auto content = GetNetwork().contents.Get(*packet);
    GetNetwork().fabric->GetPool().Give(packet);
    const auto& header = content.As<SlotHeader>();
    auto* session = FindSession<SlotSession>(header.job);
    if (!session || header.messageType != static_cast<uint8_t>(SlotMessage::Result))
    {
        return;
    }
    const auto workers = session->GetWorkers();
    if (header.worker < workers.size() && workers[header.worker]->GetEndpoint() == endpoint)
    {
        workers[header.worker]->OnResult(content, GetNetwork().statistics);
    }
}

uint32_t
SlotDriver::CountValues(const AggregationPacket& content) const
{
    return content.As<SlotHeader>().count;
}

std::vector<uint8_t>
SlotDriver::MakeFrame(const FabricPacket& packet, NodeId sender, NodeId receiver)
{
    const auto& content = GetNetwork().contents.Get(packet);
    const auto& header = content.As<SlotHeader>();
    const auto* endpoints = GetHost().FindEndpoints(header.job);
    const bool isWorker = endpoints && header.worker < endpoints->size();
    const auto partner = isWorker
                             ? AggregationAddress::FIRST_ENDPOINT + endpoints->at(header.worker)
                             : AggregationAddress::FIRST_SWITCH + header.worker;
    const auto job = AggregationAddress::FIRST_JOB + header.job;
    const bool isResult = header.messageType == static_cast<uint8_t>(SlotMessage::Result);
    SlotFrame frame;
    frame.source = {AggregationAddress::MakeMac(sender), isResult ? job : partner};
    frame.destination = {AggregationAddress::MakeMac(receiver), isResult ? partner : job};
    frame.header = header;
    frame.values = content.values;
    frame.values.resize(m_valueCount); // zeros where only sizes matter
    return SerialiseSlotFrame(frame);
}

bool
SlotDriver::ReadsFrames() const
{
    return true;
}

bool
SlotDriver::ReadFrame(std::span<const uint8_t> frame, AggregationPacket& content) const
{
    if (CheckFrame(frame, SLOT_UDP_PORT) != FrameCheck::Protocol)
    {
        return false;
    }
    auto parsed = ParseSlotFrame(frame);
    if (!parsed)
    {
        return false;
    }
    content.driver = GetNumber();
    content.As<SlotHeader>() = parsed->header;
    content.values = std::move(parsed->values);
    return true;
}

} // namespace ns3::gradsync
