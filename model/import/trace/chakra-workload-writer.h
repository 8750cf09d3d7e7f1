// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_CHAKRA_WORKLOAD_WRITER_H
#define GRADSYNC_CHAKRA_WORKLOAD_WRITER_H

#include "ns3/chakra-steps.h"
#include "ns3/workload.h"

#include <cstdint>
#include <map>
#include <ostream>
#include <vector>

namespace ns3::gradsync
{

/**
 * Writes a workload as Chakra execution traces, one of each rank, as ASTRA-sim runs them: a
 * computation is a COMP_NODE, a collective a COMM_COLL_NODE in its process group, a message a
 * COMM_SEND_NODE and a COMM_RECV_NODE. What follows on a stream waits for what is before it.
 * Schemes are no part of such a trace: who runs it says how collectives are done.
 */
class ChakraWorkloadWriter
{
  public:
    /// \throws std::invalid_argument for what Chakra cannot say: iterations that overlap, streams
    /// in another order than the program's, codecs, plans that CheckChakraMessages refuses,
    /// collectives of other kinds or sizes, computations that take no whole microseconds
    explicit ChakraWorkloadWriter(const Workload& workload);

    uint32_t GetRankCount() const
    {
        return static_cast<uint32_t>(m_steps.size());
    }

    /// The trace of a rank, in the binary form.
    void Write(uint32_t rank, std::ostream& stream) const;

    /// The ranks of the process groups, `{"1": [0, 1]}`.
    void WriteGroups(std::ostream& stream) const;

  private:
    void CheckStreams() const;
    ChakraStep MakeStep(const WorkloadTask& task);
    void SetMessage(const WorkloadTask& task, TaskId sender, ChakraStep& step) const;
    void SetCollective(const WorkloadTask& task, ChakraStep& step);
    void AddDependencies();

    const Workload& m_workload;
    std::vector<std::vector<ChakraStep>> m_steps; //!< [rank]
    std::vector<uint32_t> m_places;               //!< [task] among the steps of its rank
    std::map<std::vector<uint32_t>, uint32_t> m_groups;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_CHAKRA_WORKLOAD_WRITER_H
