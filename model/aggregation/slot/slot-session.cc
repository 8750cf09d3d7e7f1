// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/slot-session.h"

#include "ns3/aggregation-contents.h"
#include "ns3/aggregation-load.h"
#include "ns3/aggregation-switch.h"
#include "ns3/slot-driver.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <stdexcept>
#include <utility>

namespace ns3::gradsync
{

SlotSession::SlotSession(SlotDriver& driver, const AggregationGroup& group, uint32_t id)
    : TreeSession(driver, group, id),
      m_driver(driver)
{
    m_driver.GetSharing().Add(*this);
}

SlotSession::~SlotSession()
{
    m_driver.GetSharing().Remove(*this);
}

void
SlotSession::Open()
{
    const auto& wire = m_driver.GetWire();
    FillJob({.valueCount = wire.valueCount,
             .headerBytes = wire.GetHeaderBytes(0),
             .factor = m_driver.GetFactor(GetGroup().protocol),
             .mostSent = {},
             .batch = m_driver.GetSlots()});
    if (m_job.batch > 0 && wire.messagePackets > 1)
    {
        throw std::invalid_argument(
            fmt::format("attribute MessagePackets is {}, but a message has one exponent, and each "
                        "packet needs its own: it must be 1",
                        wire.messagePackets));
    }
    m_job.unit = wire.messagePackets;
    m_settings.wire = wire;
    m_settings.backoff = m_driver.GetBackoff();
    BuildTree();
    AddWorkers();
    m_driver.GetSharing().OnOpened(*this);
}

void
SlotSession::AddWorkers()
{
    for (uint32_t rank = 0; rank < GetEndpoints()->size(); ++rank)
    {
        auto worker = std::make_unique<SlotWorker>(m_job,
                                                   m_settings,
                                                   static_cast<uint16_t>(rank),
                                                   GetEndpoints()->at(rank),
                                                   GetMemberPort(rank));
        m_workers.push_back(worker.get());
        AddWorker(std::move(worker));
    }
}

void
SlotSession::Contribute(const AggregationMessage& message)
{
    if (!std::exchange(m_hasBegun, true))
    {
        m_driver.GetSharing().OnChange();
    }
    TreeSession::Contribute(message);
}

/// Of slots that stay.
std::optional<AggregationLoad>
SlotSession::DescribeLoad() const
{
    const auto& wire = m_driver.GetWire();
    const auto& sharing = m_driver.GetSharing().GetConfig();
    if (sharing.mode == SHARING_DYNAMIC)
    {
        return std::nullopt;
    }
    const auto packets = std::max(wire.messagePackets, 1U);
    double bytes = 0.0;
    for (uint32_t packet = 0; packet < packets; ++packet)
    {
        bytes += wire.GetWireBytes(packet);
    }
    auto load =
        MakeLoad({bytes / packets, 0.0, static_cast<uint32_t>(BYTES_PER_VALUE * wire.valueCount)});
    load.messagePackets = packets;
    load.unitPackets = packets;
    load.window = sharing.slots / packets;
    load.exponentPackets = m_job.batch;
    return load;
}

bool
SlotSession::Rebuild()
{
    if (!GetNetwork().foreign.empty())
    {
        throw std::invalid_argument("switches run programs that others configure");
    }
    BuildTree();
    for (uint32_t member = 0; member < m_workers.size(); ++member)
    {
        m_workers[member]->SetPort(GetMemberPort(member));
    }
    m_driver.GetSharing().OnRebuilt(*this);
    return true;
}

void
SlotSession::RemoveRoles()
{
    TreeSession::RemoveRoles();
    m_isPlaced = false;
}

void
SlotSession::Stop()
{
    TreeSession::Stop();
    m_driver.GetSharing().OnChange();
}

/// Two sets of slots. Those that are shared out as jobs come and go all belong to the driver.
TreeSession::Memory
SlotSession::GetMemory(const SwitchTree::Hop& /* hop */) const
{
    constexpr uint64_t SETS = 2;
    const auto& sharing = m_driver.GetSharing().GetConfig();
    const bool isShared = sharing.mode == SHARING_DYNAMIC;
    return {SETS * BYTES_PER_VALUE * m_driver.GetWire().valueCount *
                (isShared ? sharing.poolSlots : sharing.slots),
            isShared};
}

void
SlotSession::CheckHop(const SwitchTree::Hop& hop) const
{
    const bool isProgram = GetNetwork().settings.engine == ENGINE_P4;
    const auto& wire = m_driver.GetWire();
    const auto& name = GetNetwork().topology->GetNodes()[hop.node].name;
    const auto most = isProgram              ? P4SlotSwitch::MAX_WORKERS
                      : wire.HasVersionBit() ? SwitchMlLimit::WORKERS
                                             : SlotSwitch::MAX_WORKERS;
    if (hop.children.size() > most)
    {
        throw std::invalid_argument(
            fmt::format("switch {} would have to aggregate {} workers, but {} hold {}",
                        name,
                        hop.children.size(),
                        isProgram              ? "the bitmaps of the P4 program"
                        : wire.HasVersionBit() ? "SwitchML's bitmaps"
                                               : "its bitmaps",
                        most));
    }
    if (wire.HasQueuePairs() && hop.up)
    {
        throw std::invalid_argument(
            fmt::format("switch {} would have to send sums to another switch, but attribute Format "
                        "is switchml-rocev2, whose messages end at one switch",
                        name));
    }
}

double
SlotSession::GetRoom() const
{
    const auto& sharing = m_driver.GetSharing().GetConfig();
    return static_cast<double>(sharing.slots) / sharing.poolSlots;
}

void
SlotSession::AddRole(AggregationNode& node, const AggregationRole& role)
{
    static_cast<AggregationSwitch&>(node).AddJob(GetNumber(), role);
}

bool
SlotSession::HasRoom(uint32_t slots) const
{
    return std::ranges::all_of(m_adding, [&](NodeId node) {
        return static_cast<AggregationSwitch&>(GetHost().GetNode(m_driver, node)).HasRoom(slots);
    });
}

/// A group that had slots before gets a new number, which tells what is still under way from what
/// is sent from now on.
void
SlotSession::Place(uint32_t slots)
{
    auto& had = m_settings.slots;
    if (had > 0)
    {
        GetHost().TakeNumber(*this);
        GetNetwork().statistics.resizes += had == slots ? 0 : 1;
    }
    had = slots;
    m_isPlaced = true;
    AddRoles(slots);
}

void
SlotSession::RestartWorkers()
{
    std::vector<SlotWorker*> workers;
    std::ranges::copy_if(m_workers, std::back_inserter(workers), [](const auto* worker) {
        return !worker->IsHalted();
    });
    uint64_t first = UINT64_MAX;
    uint64_t end = 0;
    for (const auto* worker : workers)
    {
        first = std::min(first, worker->GetFirstMissing());
        end = std::max(end, worker->GetEnd());
    }
    std::set<uint64_t> done;
    std::vector<std::set<uint64_t>> had(workers.size());
    for (auto message = first; message < end; ++message)
    {
        size_t owners = 0;
        for (size_t i = 0; i < workers.size(); ++i)
        {
            if (workers[i]->Has(message))
            {
                had[i].insert(had[i].end(), message);
                ++owners;
            }
        }
        if (owners == workers.size())
        {
            done.insert(done.end(), message);
        }
    }
    m_settings.done = std::move(done);
    for (size_t i = 0; i < workers.size(); ++i)
    {
        workers[i]->Restart(first, std::move(had[i]));
    }
}

} // namespace ns3::gradsync
