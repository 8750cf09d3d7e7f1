// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/roce-flows.h"

#include "ns3/packet-pool.h"
#include "ns3/simulator.h"
#include "ns3/time-range.h"
#include "ns3/wire-format.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace ns3::gradsync
{

void
RoceFlows::Install(const Settings& settings,
                   const Ptr<CongestionControl>& control,
                   std::shared_ptr<const Topology> topology,
                   std::shared_ptr<const RoutingTables> routes,
                   const RoceNics& nics,
                   PacketPool& pool)
{
    m_settings = settings;
    m_control = control;
    m_topology = std::move(topology);
    m_routes = std::move(routes);
    m_nics = &nics;
    m_pool = &pool;
    m_fresh.windowLimit = settings.windowPackets == 0 ? UINT32_MAX : settings.windowPackets;
    m_fresh.windowPackets = m_fresh.windowLimit;
    // Time stamps count about nanoseconds.
    const auto nanosecond = static_cast<uint64_t>(NanoSeconds(1).GetTimeStep());
    m_stampShift = std::max(static_cast<int>(std::bit_width(nanosecond)) - 1, 0);
}

void
RoceFlows::Open(RoceQueuePair& queuePair)
{
    queuePair.flow = &m_fresh;
    if (m_control && !Resume(queuePair) && !m_settings.signals.opensFresh)
    {
        Own(queuePair);
    }
}

bool
RoceFlows::Resume(RoceQueuePair& queuePair)
{
    const auto kept = m_kept.find({queuePair.src, queuePair.dst, queuePair.stream});
    if (kept == m_kept.end())
    {
        return false;
    }
    const auto [flow, sourcePort] = kept->second;
    m_kept.erase(kept);
    if (sourcePort != queuePair.sourcePort)
    {
        Free(*flow);
        return false;
    }
    queuePair.flow = flow;
    const auto now = Simulator::Now().GetTimeStep();
    Decide(queuePair, now, [this, now](auto& own) { m_control->Resume(own, now); });
    return true;
}

void
RoceFlows::Close(RoceQueuePair& queuePair, bool isIdle)
{
    if (queuePair.flow == &m_fresh)
    {
        return;
    }
    if (isIdle && m_settings.keepsRates)
    {
        m_kept.insert({{queuePair.src, queuePair.dst, queuePair.stream},
                       {queuePair.flow, queuePair.sourcePort}});
        return;
    }
    Free(*queuePair.flow);
}

void
RoceFlows::Free(RoceFlow& flow)
{
    m_control->Close(flow);
    m_flows.Give(&flow);
}

void
RoceFlows::Own(RoceQueuePair& queuePair)
{
    if (queuePair.flow != &m_fresh)
    {
        return;
    }
    auto& flow = *m_flows.Take();
    flow = m_fresh;
    queuePair.flow = &flow;
    flow.lineRate = (*m_nics)[queuePair.src][queuePair.sourcePort].GetBitRate();
    flow.packetWireBytes = wire::RoceDataBytes(m_settings.mtuBytes + m_settings.telemetryBytes);
    if (m_settings.signals.path)
    {
        MeasurePath(queuePair);
    }
    Decide(queuePair, Simulator::Now().GetTimeStep(), [this](auto& own) { m_control->Open(own); });
}

void
RoceFlows::MeasurePath(const RoceQueuePair& queuePair) const
{
    // All equal-cost paths are taken to be as long as the first.
    auto& flow = *queuePair.flow;
    const auto endpoints = m_topology->GetEndpoints();
    auto node = endpoints[queuePair.src];
    const auto target = endpoints[queuePair.dst];
    auto port = queuePair.sourcePort;
    const double bits =
        8.0 * (flow.packetWireBytes + wire::ROCE_ACK_BYTES + m_settings.telemetryBytes);
    Time total;
    for (;;)
    {
        const auto& link = m_topology->GetLinks()[m_topology->GetPorts(node)[port].link];
        const auto rate = static_cast<double>(link.rate.GetBitRate());
        total += 2 * link.delay + Seconds(bits / rate);
        ++flow.hops;
        node = link.a == node ? link.b : link.a;
        if (node == target)
        {
            break;
        }
        port = m_routes->GetNextHops(node, queuePair.dst)[0];
    }
    flow.baseRtt = total.GetTimeStep();
}

void
RoceFlows::Equip(const RoceQueuePair& queuePair, FabricPacket& packet, TimeStepCount start)
{
    auto& flow = *queuePair.flow;
    packet.feedback = static_cast<uint32_t>(start >> m_stampShift);
    if (m_settings.signals.telemetry)
    {
        m_pool->AttachTelemetry(packet);
    }
    if (flow.stepsPerByte > 0.0)
    {
        Decide(queuePair, start, [&](auto& own) {
            m_control->OnSent(own, packet.wireBytes, start); // may change the pace
        });
        flow.due = AddTimeSteps(start, ToTimeSteps(packet.wireBytes * flow.stepsPerByte));
    }
}

void
RoceFlows::TakeFeedback(RoceQueuePair& queuePair, const FabricPacket& packet, TimeStepCount now)
{
    CongestionFeedback feedback{};
    feedback.ackedPsn = std::max(packet.psn, queuePair.ackedPsn);
    feedback.nextPsn = queuePair.nextPsn;
    feedback.newPackets = feedback.ackedPsn - queuePair.ackedPsn;
    if (m_settings.signals.ecn)
    {
        // Acknowledgements may overtake each other when routes change.
        const auto seen = queuePair.CountSeenMarks();
        if (packet.feedback > seen)
        {
            feedback.markedPackets = packet.feedback - seen;
            queuePair.ProvideIncidents().marksSeen = packet.feedback;
        }
    }
    if (m_settings.signals.delay)
    {
        // Differences of 32-bit stamps are right up to 4 s.
        const auto stamp = static_cast<uint32_t>(now >> m_stampShift);
        feedback.roundTrip = static_cast<TimeStepCount>(stamp - packet.feedback) << m_stampShift;
    }
    if ((packet.flags & PacketFlag::TELEMETRY) != 0)
    {
        feedback.telemetry = &m_pool->GetTelemetry(packet);
    }
    if (queuePair.flow != &m_fresh)
    {
        Decide(queuePair, now, [&](auto& own) {
            m_control->OnAcknowledgement(own, feedback, now);
        });
    }
}

void
RoceFlows::OnNotification(RoceQueuePair& queuePair, TimeStepCount now)
{
    if (m_control)
    {
        Own(queuePair);
        Decide(queuePair, now, [&](auto& own) { m_control->OnNotification(own, now); });
    }
}

void
RoceFlows::OnLoss(RoceQueuePair& queuePair, bool isTimeout, TimeStepCount now)
{
    if (m_control)
    {
        Own(queuePair);
        Decide(queuePair, now, [&](auto& own) { m_control->OnLoss(own, isTimeout, now); });
    }
}

void
RoceFlows::TellChanges(const RoceQueuePair& queuePair,
                       const CongestionFlow& before,
                       TimeStepCount at) const
{
    const auto& flow = *queuePair.flow;
    if (flow.stepsPerByte != before.stepsPerByte)
    {
        const auto stepsPerSecond = static_cast<double>(Seconds(1).GetTimeStep());
        const auto rate =
            flow.stepsPerByte > 0.0 ? 8.0 * stepsPerSecond / flow.stepsPerByte : flow.lineRate;
        m_rateTrace(queuePair.src, queuePair.dst, queuePair.stream, rate, TimeStep(at));
    }
    if (flow.windowPackets != before.windowPackets)
    {
        m_windowTrace(queuePair.src,
                      queuePair.dst,
                      queuePair.stream,
                      flow.windowPackets,
                      TimeStep(at));
    }
}

} // namespace ns3::gradsync
