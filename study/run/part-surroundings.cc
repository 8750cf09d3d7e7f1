// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/part-surroundings.h"

#include <algorithm>
#include <iterator>
#include <span>
#include <tuple>
#include <utility>

namespace ns3::gradsync
{

namespace
{

struct PackedSample
{
    int64_t time;
    int64_t paused;
    uint64_t port;
    uint64_t wireBytes;
    uint64_t queueBytes;
};

struct PackedFlow
{
    int64_t start;
    int64_t end;
    uint64_t bytes;
    uint32_t traffic;
    uint32_t src;
    uint32_t dst;
    uint32_t order;
    uint64_t failed;
};

PackedFlow
PackFlow(const OrderedFlow& flow)
{
    const auto& record = flow.record;
    return {.start = record.start.GetTimeStep(),
            .end = record.end.GetTimeStep(),
            .bytes = record.bytes,
            .traffic = record.traffic,
            .src = record.src,
            .dst = record.dst,
            .order = flow.order,
            .failed = record.failed ? uint64_t{1} : uint64_t{0}};
}

OrderedFlow
UnpackFlow(const PackedFlow& flow)
{
    return {.record = {.traffic = flow.traffic,
                       .src = flow.src,
                       .dst = flow.dst,
                       .bytes = flow.bytes,
                       .start = TimeStep(static_cast<uint64_t>(flow.start)),
                       .end = TimeStep(static_cast<uint64_t>(flow.end)),
                       .failed = flow.failed != 0},
            .order = flow.order};
}

} // namespace

FlowRecorder::FlowRecorder(const Ptr<TrafficGenerator>& generator,
                           const WindowSimulatorImpl& simulator)
    : m_generator(generator),
      m_simulator(simulator)
{
    m_generator->TraceConnectWithoutContext("Flow", MakeCallback(&FlowRecorder::OnFlow, this));
}

FlowRecorder::~FlowRecorder()
{
    m_generator->TraceDisconnectWithoutContext("Flow", MakeCallback(&FlowRecorder::OnFlow, this));
}

void
FlowRecorder::OnFlow(const FlowRecord& record)
{
    m_flows.push_back({record, m_simulator.GetOrder()});
}

void
AppendSurroundings(ByteBatch& batch, const PartSurroundings& surroundings)
{
    std::vector<PackedSample> samples;
    for (const auto& sample : surroundings.samples)
    {
        samples.push_back({.time = sample.time.GetTimeStep(),
                           .paused = sample.paused.GetTimeStep(),
                           .port = sample.port,
                           .wireBytes = sample.wireBytes,
                           .queueBytes = sample.queueBytes});
    }
    AppendList(batch, std::span<const PackedSample>(samples));
    std::vector<PackedFlow> flows;
    std::ranges::transform(surroundings.flows, std::back_inserter(flows), PackFlow);
    AppendList(batch, std::span<const PackedFlow>(flows));
    AppendPlain(batch, surroundings.lastFlowEnd.GetTimeStep());
}

void
TakeSurroundings(BatchReader& batch, PartSurroundings& surroundings)
{
    for (const auto& sample : batch.TakeList<PackedSample>())
    {
        surroundings.samples.push_back({TimeStep(sample.time),
                                        static_cast<uint32_t>(sample.port),
                                        sample.wireBytes,
                                        sample.queueBytes,
                                        TimeStep(sample.paused)});
    }
    const auto flows = batch.TakeList<PackedFlow>();
    std::ranges::transform(flows, std::back_inserter(surroundings.flows), UnpackFlow);
    surroundings.lastFlowEnd =
        std::max<Time>(surroundings.lastFlowEnd, TimeStep(batch.Take<int64_t>()));
}

void
PutInOrder(PartSurroundings surroundings, RunResult& result)
{
    std::ranges::sort(surroundings.samples, [](const auto& one, const auto& other) {
        return std::tie(one.time, one.port) < std::tie(other.time, other.port);
    });
    result.samples = std::move(surroundings.samples);
    // Those of one event are of one process and in order.
    std::ranges::stable_sort(surroundings.flows, [](const auto& one, const auto& other) {
        return std::tie(one.record.end, one.order) < std::tie(other.record.end, other.order);
    });
    result.flows.clear();
    std::ranges::transform(surroundings.flows,
                           std::back_inserter(result.flows),
                           &OrderedFlow::record);
    result.duration = std::max(result.duration, surroundings.lastFlowEnd);
}

} // namespace ns3::gradsync
