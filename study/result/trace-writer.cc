// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/trace-writer.h"

#include "ns3/failure-text.h"
#include "ns3/result-rows.h"
#include "ns3/run-timeline.h"
#include "ns3/trace-events.h"
#include "ns3/training-trace.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace ns3::gradsync
{

namespace
{

constexpr uint32_t NETWORK = 0; //!< process; a host's is its endpoint + 1
constexpr uint32_t COMPUTE = 1; //!< threads of a host
constexpr uint32_t BLOCKED = 2;
constexpr uint32_t SENDS = 3; //!< and all after: as many as there are sends at a time

/// Writes one run.
class TraceWriter : private TraceEvents
{
  public:
    TraceWriter(const RunResult& result, std::ostream& stream)
        : TraceEvents(stream),
          m_result(result)
    {
    }

    void Write()
    {
        Begin();
        NameProcess(NETWORK, "network and faults");
        for (const auto& [endpoint, name] : ListHosts())
        {
            NameProcess(endpoint + 1, name);
        }
        WriteComputations();
        WriteSends();
        WriteBlocked();
        WriteFaults();
        WriteLinks();
        WriteTrainingTrace(m_result, GetFirstFree(), *this);
        End();
    }

  private:
    std::string NameHost(uint32_t endpoint) const
    {
        return m_result.topology->GetNodes()[m_result.topology->GetEndpoints()[endpoint]].name;
    }

    std::map<uint32_t, std::string> ListHosts() const
    {
        std::map<uint32_t, std::string> hosts;
        for (const auto& job : m_result.jobs)
        {
            for (const auto endpoint : job.endpointOf)
            {
                // What trains has processes of its own.
                if (job.plan)
                {
                    hosts[endpoint] = NameHost(endpoint);
                }
            }
        }
        return hosts;
    }

    /// The process after those of all hosts.
    uint32_t GetFirstFree() const
    {
        return static_cast<uint32_t>(m_result.topology->GetEndpoints().size()) + 1;
    }

    uint32_t GetProcess(uint32_t job, uint32_t rank) const
    {
        return m_result.jobs[job].endpointOf[rank] + 1;
    }

    std::string NameIteration(uint32_t job, uint32_t iteration) const
    {
        return fmt::format(", \"args\": {{\"job\": {}, \"iteration\": {}}}",
                           QuoteJson(m_result.jobs[job].name),
                           iteration);
    }

    void WriteComputations()
    {
        for (const auto& record : m_result.computations)
        {
            if (record.end > record.start)
            {
                AddSpan(GetProcess(record.job, record.rank),
                        COMPUTE,
                        "compute",
                        record.start,
                        record.end,
                        NameIteration(record.job, record.iteration));
            }
        }
    }

    void WriteSends()
    {
        std::vector<uint32_t> order(m_result.transfers.size());
        for (uint32_t i = 0; i < order.size(); ++i)
        {
            order[i] = i;
        }
        std::stable_sort(order.begin(), order.end(), [this](uint32_t first, uint32_t second) {
            return m_result.transfers[first].start < m_result.transfers[second].start;
        });
        std::map<uint32_t, Lanes> lanes; // by process
        for (const auto index : order)
        {
            WriteSend(m_result.transfers[index], lanes);
        }
        for (const auto& [process, used] : lanes)
        {
            NameThread(process, COMPUTE, "compute");
            NameThread(process, BLOCKED, "blocked");
            for (uint32_t lane = 0; lane < used.GetCount(); ++lane)
            {
                NameThread(process, SENDS + lane, fmt::format("send {}", lane));
            }
        }
    }

    void WriteSend(const TransferRecord& record, std::map<uint32_t, Lanes>& lanes)
    {
        const auto& job = m_result.jobs[record.job];
        const auto& plan = job.plans[record.plan].plan;
        const auto& ranks = job.plans[record.plan].ranks;
        const auto& operation = plan->GetOperations()[record.operation];
        const auto process = GetProcess(record.job, ranks[operation.src]);
        const auto lane = lanes[process].Take(record.start, record.end);
        AddSpan(process,
                SENDS + lane,
                fmt::format("to {}", NameHost(job.endpointOf[ranks[operation.dst]])),
                record.start,
                record.end,
                fmt::format(", \"args\": {{\"job\": {}, \"iteration\": {}, \"plan\": {}, "
                            "\"operation\": {}, \"bytes\": {}}}",
                            QuoteJson(job.name),
                            record.iteration,
                            record.plan,
                            QuoteJson(DescribeOperation(*plan, record.operation)),
                            plan->GetBytes(record.operation)));
    }

    void WriteBlocked()
    {
        for (const auto& span : FindBlockedSpans(m_result))
        {
            AddSpan(GetProcess(span.job, span.rank),
                    BLOCKED,
                    "blocked",
                    span.start,
                    span.end,
                    NameIteration(span.job, span.iteration));
        }
        for (const auto& count : CountBlocked(m_result))
        {
            const auto name = fmt::format("blocked workers of {}", m_result.jobs[count.job].name);
            Add('C',
                NETWORK,
                0,
                fmt::format("\"name\": {}, \"ts\": {}, \"args\": {{\"workers\": {}}}",
                            QuoteJson(name),
                            FormatMicroseconds(count.time),
                            count.workers));
        }
    }

    void WriteFaults()
    {
        std::vector<std::pair<FaultRecord, Time>> spans; // with their ends
        for (const auto& record : m_result.faults)
        {
            if (record.begins)
            {
                spans.emplace_back(record, m_result.duration);
                continue;
            }
            const auto open = std::find_if(spans.rbegin(), spans.rend(), [&](const auto& span) {
                return span.first.fault == record.fault && span.first.target == record.target;
            });
            open->second = record.time;
        }
        Lanes lanes;
        for (const auto& [record, end] : spans)
        {
            const auto last = std::max(record.time, end);
            AddSpan(NETWORK,
                    1 + lanes.Take(record.time, last),
                    fmt::format("{} {}",
                                ToString(record.kind),
                                NameTarget(*m_result.topology, record.kind, record.target)),
                    record.time,
                    last);
        }
        for (uint32_t lane = 0; lane < lanes.GetCount(); ++lane)
        {
            NameThread(NETWORK, 1 + lane, fmt::format("faults {}", lane));
        }
        WriteReactions();
    }

    /// How much of its rate each direction of a link used, and what waited for it.
    void AddLinkCounter(uint32_t port, const Time& from, double share, uint64_t queueBytes)
    {
        const auto& link = m_result.topology->GetLinks()[port / 2];
        const auto nodes = m_result.topology->GetNodes();
        const bool isForward = port % 2 == 0;
        const auto name = fmt::format("link {} -> {}",
                                      nodes[isForward ? link.a : link.b].name,
                                      nodes[isForward ? link.b : link.a].name);
        Add('C',
            NETWORK,
            0,
            fmt::format("\"name\": {}, \"ts\": {}, \"args\": {{\"utilisation_percent\": {:.2f}, "
                        "\"queue_bytes\": {}}}",
                        QuoteJson(name),
                        FormatMicroseconds(from),
                        100.0 * share,
                        queueBytes));
    }

    void WriteLinks()
    {
        std::map<uint32_t, Time> usedUntil; // by port: end of its last sample
        const auto links = m_result.topology->GetLinks();
        const auto every = m_result.sampleEvery;
        for (const auto& sample : m_result.samples)
        {
            const auto from = sample.time - every;
            const auto [last, isFirst] = usedUntil.try_emplace(sample.port, Time());
            if (last->second < from)
            {
                AddLinkCounter(sample.port, last->second, 0.0, 0);
            }
            last->second = sample.time;
            const auto bits =
                static_cast<double>(links[sample.port / 2].rate.GetBitRate()) * every.GetSeconds();
            AddLinkCounter(sample.port,
                           from,
                           8.0 * static_cast<double>(sample.wireBytes) / bits,
                           sample.queueBytes);
        }
        for (const auto& [port, end] : usedUntil)
        {
            AddLinkCounter(port, end, 0.0, 0);
        }
    }

    void WriteReactions()
    {
        for (const auto& record : m_result.reactions)
        {
            Add('i',
                NETWORK,
                1,
                fmt::format("\"name\": {}, \"ts\": {}, \"s\": \"g\"",
                            QuoteJson(DescribeReaction(m_result, record, " goes on")),
                            FormatMicroseconds(record.time)));
        }
    }

    const RunResult& m_result;
};

} // namespace

void
WriteTrace(const RunResult& result, std::ostream& stream)
{
    TraceWriter(result, stream).Write();
}

} // namespace ns3::gradsync
