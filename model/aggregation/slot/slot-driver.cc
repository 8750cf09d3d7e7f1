// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/slot-driver.h"

#include "ns3/aggregation-address.h"
#include "ns3/aggregation-switch.h"
#include "ns3/ns3-interfaces.h"
#include "ns3/p4-compiled-programs.h"
#include "ns3/p4-program-loader.h"
#include "ns3/slot-frame.h"
#include "ns3/slot-session.h"
#include "ns3/switchml-frame.h"
#include "ns3/switchml-switch-frames.h"
#include "ns3/uinteger.h"

#include <bit>
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
                          MakeTimeChecker(NanoSeconds(1)))
            .AddAttribute("Format",
                          "Packets on the wire: slot (a header of our own, with the epoch of a "
                          "slot in 16 bits), switchml (those of SwitchML's published client over "
                          "UDP, with one bit of it) or switchml-rocev2 (those of its RoCEv2 mode, "
                          "RDMA writes of unreliable connections, to one switch).",
                          EnumValue(FORMAT_SLOT),
                          MakeAccessorOfEnum(&SlotDriver::m_format),
                          MakeEnumChecker(FORMAT_SLOT,
                                          "slot",
                                          FORMAT_SWITCHML,
                                          "switchml",
                                          FORMAT_SWITCHML_ROCE,
                                          "switchml-rocev2"))
            .AddAttribute("MessagePackets",
                          "Packets of a message of switchml-rocev2, a power of two; a lost one "
                          "costs the message (4: the client's 1,024 values in packets of 256).",
                          UintegerValue(4),
                          MakeUintegerAccessor(&SlotDriver::m_messagePackets),
                          MakeUintegerChecker<uint32_t>(1, SwitchMlLimit::SLOTS))
            .AddAttribute("TimeoutThreshold",
                          "With SwitchML's formats: after so many timeouts of a worker, in all "
                          "slots together, its Timeout is doubled, and nothing else doubles it.",
                          UintegerValue(100),
                          MakeUintegerAccessor(&SlotDriver::m_timeoutThreshold),
                          MakeUintegerChecker<uint32_t>(1))
            .AddAttribute("TimeoutThresholdIncrement",
                          "With SwitchML's formats: whenever the timeout is doubled, the threshold "
                          "grows by this.",
                          UintegerValue(100),
                          MakeUintegerAccessor(&SlotDriver::m_timeoutIncrement),
                          MakeUintegerChecker<uint32_t>());
    return tid;
}

std::vector<CompiledLimit>
SlotDriver::GetCompiledLimits()
{
    return {{"ValuesPerPacket", compiled::SLOT_VALUES, compiled::SLOT_VALUES},
            {"Slots", 0, compiled::SLOT_POOL},
            {"PoolSlots", 0, compiled::SLOT_POOL}};
}

std::vector<CompiledChoice>
SlotDriver::GetCompiledChoices()
{
    return {{"Format", "slot"}};
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
    m_wire = {.format = m_format,
              .valueCount = static_cast<uint16_t>(m_valueCount),
              .messagePackets = m_format == FORMAT_SWITCHML_ROCE ? m_messagePackets : 1};
    if (GetNetwork().settings.engine == ENGINE_P4)
    {
        CheckCompiled();
    }
    if (m_wire.HasVersionBit())
    {
        CheckFormat();
        CheckMessages();
    }
    if (!GetNetwork().foreign.empty() && m_sharingMode == SHARING_DYNAMIC)
    {
        throw std::invalid_argument("attribute Sharing is dynamic, but the slots of switches with "
                                    "programs of their own are those of their configuration");
    }
}

/// What SwitchML's published program can do.
void
SlotDriver::CheckFormat() const
{
    const auto* name = m_format == FORMAT_SWITCHML ? "switchml" : "switchml-rocev2";
    if (GetNetwork().settings.engine == ENGINE_P4 || !GetNetwork().foreign.empty())
    {
        throw std::invalid_argument(fmt::format(
            "attribute Format is {}, but P4 programs of switches get packets of the format slot "
            "alone",
            name));
    }
    if (m_valueCount != SwitchMlLimit::FEW_VALUES && m_valueCount != SwitchMlLimit::MANY_VALUES)
    {
        throw std::invalid_argument(
            fmt::format("attribute ValuesPerPacket is {}, but with Format {} it must be {} or {}",
                        m_valueCount,
                        name,
                        SwitchMlLimit::FEW_VALUES,
                        SwitchMlLimit::MANY_VALUES));
    }
    if (m_slots > SwitchMlLimit::SLOTS)
    {
        throw std::invalid_argument(
            fmt::format("attribute Slots is {}, but with Format {} it must be at most {}",
                        m_slots,
                        name,
                        SwitchMlLimit::SLOTS));
    }
}

/// What goes with messages of several packets.
void
SlotDriver::CheckMessages() const
{
    const auto packets = m_wire.messagePackets;
    if (!std::has_single_bit(packets))
    {
        throw std::invalid_argument(
            fmt::format("attribute MessagePackets is {}, but must be a power of two", packets));
    }
    if (m_slots % packets != 0)
    {
        throw std::invalid_argument(fmt::format(
            "attribute Slots is {}, but must be a multiple of MessagePackets, which is {}",
            m_slots,
            packets));
    }
    if (m_wire.HasQueuePairs() && m_slots / packets > SwitchMlLimit::QUEUE_PAIRS)
    {
        throw std::invalid_argument(
            fmt::format("attribute Slots is {}, but SwitchML has {} queue pairs a worker, for "
                        "messages of MessagePackets, which is {}",
                        m_slots,
                        SwitchMlLimit::QUEUE_PAIRS,
                        packets));
    }
    if (packets > 1 && m_sharingMode == SHARING_DYNAMIC)
    {
        throw std::invalid_argument(fmt::format(
            "attribute Sharing is dynamic, but a message of {} packets needs slots of its own",
            packets));
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

std::string
SlotDriver::FindShared() const
{
    return m_sharingMode == SHARING_DYNAMIC ? "attribute Sharing is dynamic: switches share out "
                                              "slots as soon as any worker begins"
                                            : "";
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
        m_wire,
        SlotSwitch::Config{.poolSize = m_poolSlots,
                           .valueCount = m_wire.valueCount,
                           .saturate = network.settings.saturate,
                           .computesSums = network.settings.values != VALUES_SIZES && isNative,
                           .versionBit = m_wire.HasVersionBit()});
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
    switch (m_format)
    {
    case FORMAT_SLOT:
        break;
    case FORMAT_SWITCHML:
        (isResult ? frame.sourcePort : frame.destinationPort) = SWITCHML_UDP_PORT;
        (isResult ? frame.destinationPort : frame.sourcePort) = SWITCHML_WORKER_PORT;
        return SerialiseSwitchMlFrame(frame);
    case FORMAT_SWITCHML_ROCE:
        return SerialiseSwitchMlRoceFrame(MakeSwitchMlRoceFrame(frame, m_wire));
    }
    return SerialiseSlotFrame(frame);
}

bool
SlotDriver::ReadsFrames() const
{
    return m_format == FORMAT_SLOT;
}

bool
SlotDriver::ReadFrame(std::span<const uint8_t> frame, AggregationPacket& content) const
{
    if (m_format != FORMAT_SLOT || CheckFrame(frame, SLOT_UDP_PORT) != FrameCheck::Protocol)
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
