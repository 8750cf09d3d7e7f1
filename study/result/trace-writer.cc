// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/trace-writer.h"

#include "ns3/failure-text.h"
#include "ns3/json-document.h"
#include "ns3/result-rows.h"
#include "ns3/run-timeline.h"

#include <algorithm>
#include <fmt/format.h>
#include <functional>
#include <map>
#include <queue>
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

std::string
FormatUs(const Time& time)
{
    const auto picoseconds = time.GetPicoSeconds();
    return fmt::format("{}.{:06}", picoseconds / 1'000'000, picoseconds % 1'000'000);
}

std::string
Quote(const std::string& text)
{
    return Json(text).dump();
}

/// Which of the parallel lanes are free: the lowest one is taken, so that few are needed.
class Lanes
{
  public:
    uint32_t Take(const Time& start, const Time& end)
    {
        while (!m_busy.empty() && m_busy.top().first <= start)
        {
            m_free.push(m_busy.top().second);
            m_busy.pop();
        }
        uint32_t lane = m_count;
        if (m_free.empty())
        {
            ++m_count;
        }
        else
        {
            lane = m_free.top();
            m_free.pop();
        }
        m_busy.emplace(end, lane);
        return lane;
    }

    uint32_t GetCount() const
    {
        return m_count;
    }

  private:
    template <typename Item>
    using LeastFirst = std::priority_queue<Item, std::vector<Item>, std::greater<>>;

    uint32_t m_count{0};
    LeastFirst<uint32_t> m_free;
    LeastFirst<std::pair<Time, uint32_t>> m_busy; //!< (until, lane)
};

/// Writes one run.
class TraceWriter
{
  public:
    TraceWriter(const RunResult& result, std::ostream& stream)
        : m_result(result),
          m_stream(stream)
    {
    }

    void Write()
    {
        m_stream << "{\"displayTimeUnit\": \"ms\", \"traceEvents\": [";
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
        m_stream << "\n]}\n";
    }

  private:
    /// One event; `more` are further members.
    void Add(char phase, uint32_t process, uint32_t thread, const std::string& more)
    {
        m_stream << fmt::format("{}\n{{\"ph\": \"{}\", \"pid\": {}, \"tid\": {}, {}}}",
                                m_isFirst ? "" : ",",
                                phase,
                                process,
                                thread,
                                more);
        m_isFirst = false;
    }

    void AddSpan(uint32_t process,
                 uint32_t thread,
                 const std::string& name,
                 const Time& start,
                 const Time& end,
                 const std::string& more = "")
    {
        Add('X',
            process,
            thread,
            fmt::format("\"name\": {}, \"ts\": {}, \"dur\": {}{}",
                        Quote(name),
                        FormatUs(start),
                        FormatUs(end - start),
                        more));
    }

    /// What viewers know of a process or thread: its name and its place.
    void Describe(uint32_t process, uint32_t thread, const std::string& what, const Json& value)
    {
        const auto member = what.substr(what.find('_') + 1);
        Add('M',
            process,
            thread,
            fmt::format("\"name\": \"{}\", \"args\": {{\"{}\": {}}}", what, member, value.dump()));
    }

    void NameProcess(uint32_t process, const std::string& name)
    {
        Describe(process, 0, "process_name", name);
        Describe(process, 0, "process_sort_index", process);
    }

    void NameThread(uint32_t process, uint32_t thread, const std::string& name)
    {
        Describe(process, thread, "thread_name", name);
        Describe(process, thread, "thread_sort_index", thread);
    }

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
                hosts[endpoint] = NameHost(endpoint);
            }
        }
        return hosts;
    }

    uint32_t GetProcess(uint32_t job, uint32_t rank) const
    {
        return m_result.jobs[job].endpointOf[rank] + 1;
    }

    std::string NameIteration(uint32_t job, uint32_t iteration) const
    {
        return fmt::format(", \"args\": {{\"job\": {}, \"iteration\": {}}}",
                           Quote(m_result.jobs[job].name),
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
                            Quote(job.name),
                            record.iteration,
                            record.plan,
                            Quote(DescribeOperation(*plan, record.operation)),
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
                            Quote(name),
                            FormatUs(count.time),
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
                        Quote(name),
                        FormatUs(from),
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
                            Quote(DescribeReaction(m_result, record, " goes on")),
                            FormatUs(record.time)));
        }
    }

    const RunResult& m_result;
    std::ostream& m_stream;
    bool m_isFirst{true};
};

} // namespace

void
WriteTrace(const RunResult& result, std::ostream& stream)
{
    TraceWriter(result, stream).Write();
}

} // namespace ns3::gradsync
