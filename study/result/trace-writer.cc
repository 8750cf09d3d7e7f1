// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/trace-writer.h"

#include "ns3/exchange-trace.h"
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
        const auto next = WriteExchangeTrace(m_result, {GetFirstFree(), 1}, *this);
        WriteBlocked();
        WriteFaults();
        WriteLinks();
        WriteTrainingTrace(m_result, next, *this);
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

    void WriteBlocked()
    {
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
