// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/aggregation-session.h"

#include "ns3/added-float-tensor.h"
#include "ns3/aggregation-driver.h"
#include "ns3/aggregation-load.h"
#include "ns3/log.h"
#include "ns3/slot-tensor.h"
#include "ns3/wire-format.h"

#include <limits>
#include <stdexcept>
#include <utility>

namespace ns3::gradsync
{

NS_LOG_COMPONENT_DEFINE("GradsyncAggregationSession");

namespace
{

/// A packet of a protocol above UDP on the wire.
uint32_t
GetWireBytes(uint32_t headerBytes, uint32_t valueCount)
{
    return wire::OnWire(wire::UDP_PAYLOAD_AT + headerBytes + 4 * valueCount + wire::FCS_BYTES);
}

} // namespace

AggregationSession::AggregationSession(AggregationDriver& driver,
                                       const AggregationGroup& group,
                                       uint32_t id)
    : m_driver(driver),
      m_group(group),
      m_id(id),
      m_endpoints(std::make_shared<const std::vector<uint32_t>>(group.endpoints))
{
}

AggregationSession::~AggregationSession() = default;

AggregationHost&
AggregationSession::GetHost() const
{
    return m_driver.GetHost();
}

AggregationNetwork&
AggregationSession::GetNetwork() const
{
    return m_driver.GetNetwork();
}

void
AggregationSession::Contribute(const AggregationMessage& message)
{
    m_workers.at(message.member)->Contribute(message);
}

std::optional<AggregationLoad>
AggregationSession::DescribeLoad() const
{
    return std::nullopt;
}

void
AggregationSession::RemoveRoles()
{
    for (auto* node : m_nodes)
    {
        node->RemoveJob(m_job.number);
    }
    m_nodes.clear();
}

void
AggregationSession::TakeMemory(NodeId node, uint64_t bytes, bool isShared)
{
    auto& network = GetNetwork();
    const SwitchMemory::Holder holder{m_driver.GetNumber(),
                                      isShared ? std::nullopt : std::optional(m_id)};
    network.memory.Take(node, network.topology->GetNodes()[node].name, holder, bytes);
    m_memory.emplace_back(node, holder);
}

void
AggregationSession::ReleaseMemory()
{
    for (const auto& [node, holder] : m_memory)
    {
        GetNetwork().memory.Give(node, holder);
    }
    m_memory.clear();
}

void
AggregationSession::Stop()
{
    for (const auto& worker : m_workers)
    {
        worker->Stop();
    }
}

void
AggregationSession::GiveUp(const std::string& reason)
{
    NS_LOG_WARN("group " << m_id << " gives up: " << reason);
    m_failure = reason;
    for (const auto& worker : m_workers)
    {
        worker->GiveUp(reason);
    }
}

void
AggregationSession::Equip(FabricPacket& /* packet */,
                          uint32_t /* endpoint */,
                          const MessagePlace& /* place */)
{
    throw std::logic_error("this protocol sends no messages");
}

uint16_t
AggregationSession::GetSendingPort(uint32_t /* endpoint */) const
{
    throw std::logic_error("this protocol sends no messages");
}

/// What is multicast is no sum.
uint32_t
AggregationSession::GetMeasuringRank() const
{
    switch (m_group.flow)
    {
    case AggregationFlow::AllReduce:
        break;
    case AggregationFlow::Reduce:
        return m_group.root;
    case AggregationFlow::Multicast:
        return UINT32_MAX;
    }
    return 0;
}

void
AggregationSession::FillJob(const Shape& shape)
{
    auto& network = GetNetwork();
    const bool isMulticast = m_group.flow == AggregationFlow::Multicast;
    m_tensor = MakeTensor(shape,
                          {.workers = isMulticast ? 1 : static_cast<uint32_t>(m_endpoints->size()),
                           .valueCount = shape.valueCount,
                           .saturates = network.settings.saturate});
    auto* floats = dynamic_cast<FloatTensor*>(m_tensor.get());
    const bool hasExponents = m_group.sharesExponents || (floats && floats->HasExponents());
    m_job = {.number = m_job.number,
             .driver = m_driver.GetNumber(),
             .valueCount = shape.valueCount,
             .wireBytes = GetWireBytes(shape.headerBytes, shape.valueCount),
             .retryLimit = network.settings.retryLimit,
             .expectsOverflow = network.settings.overflow == OVERFLOW_COUNT,
             .pool = &network.fabric->GetPool(),
             .contents = &network.contents,
             .tensor = m_tensor.get(),
             .floats = floats,
             .batch = hasExponents ? shape.batch : 0,
             .isMulticast = isMulticast,
             .measuringRank = GetMeasuringRank()};
}

/// Floats become integers, but for switches that add them as they are.
std::unique_ptr<AggregationTensor>
AggregationSession::MakeTensor(const Shape& shape, const AggregationTensor::Shape& tensor) const
{
    const auto& settings = GetNetwork().settings;
    if (settings.values == VALUES_REAL)
    {
        return std::make_unique<SlotTensor>(m_job.number, tensor, settings.valueBits);
    }
    if (settings.values != VALUES_FLOAT)
    {
        return nullptr;
    }
    if (m_group.sharesExponents)
    {
        throw std::invalid_argument("the values are float, which become integers of 32 bits, but "
                                    "those of the codec are narrower");
    }
    const auto& distribution = GetGradientDistributions()[static_cast<size_t>(settings.gradients)];
    if (shape.addsFloats)
    {
        return std::make_unique<AddedFloatTensor>(m_job.number, tensor, distribution);
    }
    FloatTensor::Settings floats{
        .distribution = distribution,
        .factor = settings.scale == 0.0 ? shape.factor : static_cast<float>(settings.scale),
        .mostSent = std::numeric_limits<double>::infinity()};
    if (shape.mostSent)
    {
        floats.mostSent = *shape.mostSent * shape.factor / floats.factor;
    }
    return std::make_unique<FloatTensor>(m_job.number, tensor, floats);
}

void
AggregationSession::AddWorker(std::unique_ptr<AggregationWorker> worker)
{
    GetHost().TakeSink(worker->GetEndpoint());
    m_workers.push_back(std::move(worker));
}

AggregationNode&
AggregationSession::AddNode(NodeId node)
{
    m_nodes.push_back(&GetHost().GetNode(m_driver, node));
    return *m_nodes.back();
}

bool
AggregationSession::HasProgram(NodeId node) const
{
    return !GetNetwork().plain.contains(node);
}

} // namespace ns3::gradsync
