// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_PART_SURROUNDINGS_H
#define GRADSYNC_PART_SURROUNDINGS_H

#include "ns3/byte-batch.h"
#include "ns3/link-sample.h"
#include "ns3/run-result.h"
#include "ns3/traffic-generator.h"
#include "ns3/window-simulator-impl.h"

#include <cstdint>
#include <vector>

namespace ns3::gradsync
{

/// A foreign flow that ended, with the place among simultaneous events of that in which it did.
struct OrderedFlow
{
    FlowRecord record;
    uint32_t order;
};

/// Keeps the foreign flows that end, as long as it lives.
class FlowRecorder
{
  public:
    /// \param simulator must outlive it
    FlowRecorder(const Ptr<TrafficGenerator>& generator, const WindowSimulatorImpl& simulator);
    ~FlowRecorder();
    FlowRecorder(const FlowRecorder&) = delete;
    FlowRecorder& operator=(const FlowRecorder&) = delete;

    const std::vector<OrderedFlow>& GetFlows() const
    {
        return m_flows;
    }

  private:
    void OnFlow(const FlowRecord& record);

    Ptr<TrafficGenerator> m_generator;
    const WindowSimulatorImpl& m_simulator;
    std::vector<OrderedFlow> m_flows;
};

/// What one of several processes found out of a run beside its jobs.
struct PartSurroundings
{
    Time lastFlowEnd;                //!< of foreign flows to its own hosts; 0: none has ended
    std::vector<OrderedFlow> flows;  //!< those, where they are recorded
    std::vector<LinkSample> samples; //!< of what its own nodes sent
};

void AppendSurroundings(ByteBatch& batch, const PartSurroundings& surroundings);

/// Adds those of another process. \param batch as of AppendSurroundings
void TakeSurroundings(BatchReader& batch, PartSurroundings& surroundings);

/// Puts those of all processes in the place of those of one, in the order in which one process
/// alone would have found them out.
void PutInOrder(PartSurroundings surroundings, RunResult& result);

} // namespace ns3::gradsync

#endif // GRADSYNC_PART_SURROUNDINGS_H
