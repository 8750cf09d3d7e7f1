// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/exchange-trace.h"

#include "ns3/exchange-paths.h"
#include "ns3/failure-text.h"
#include "ns3/run-timeline.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

namespace ns3::gradsync
{

namespace
{

/// Tracks of a host. Each has as many threads as it has things at a time.
enum class Track : uint8_t
{
    Compute,
    Blocked,
    Send,
    Receive
};

constexpr std::array<const char*, 4> TRACKS{"compute", "blocked", "send", "receive"};
constexpr uint32_t PATH_THREAD = 1;

/// What a span on a track is of: an index of that table.
enum class SpanSource : uint8_t
{
    Computation,
    Work,
    Blocked,
    Send,
    Receive
};

struct HostSpan
{
    Time start;
    Time end;
    SpanSource source;
    uint32_t index;

    bool operator<(const HostSpan& other) const
    {
        return std::tie(start, source, index) < std::tie(other.start, other.source, other.index);
    }
};

const char*
NameWork(OperationKind kind)
{
    switch (kind)
    {
    case OperationKind::Encode:
        return "encode";
    case OperationKind::Decode:
        return "decode";
    case OperationKind::TransferReduce:
        return "add";
    case OperationKind::TransferCopy:
    case OperationKind::Aggregate:
    case OperationKind::Join:
    case OperationKind::Compute:
    case OperationKind::Signal:
    case OperationKind::Train:
    case OperationKind::Gate:
        break;
    }
    return "compute";
}

/// Writes all jobs of a run.
class ExchangeTrace
{
  public:
    ExchangeTrace(const RunResult& result, TraceNumbers next, TraceEvents& events)
        : m_result(result),
          m_next(next),
          m_events(events),
          m_paths(FindExchangePaths(result)),
          m_blocked(FindBlockedSpans(result))
    {
        for (const auto& path : m_paths)
        {
            for (const auto& step : path.steps)
            {
                m_critical.insert({step.kind,
                                   path.job,
                                   path.iteration,
                                   step.kind == ExchangeStepKind::Computation
                                       ? GetRank(path.job, path.plan, step.rank)
                                       : step.operation});
            }
        }
    }

    TraceNumbers Write()
    {
        for (const auto& span : CollectSpans())
        {
            WriteSpan(span);
        }
        NameThreads();
        WritePaths();
        m_next.flow += m_result.transfers.size();
        return m_next;
    }

  private:
    std::string NameHost(uint32_t job, uint32_t rank) const
    {
        const auto endpoint = m_result.jobs[job].endpointOf[rank];
        return m_result.topology->GetNodes()[m_result.topology->GetEndpoints()[endpoint]].name;
    }

    /// Of a job, that a rank of its plan is.
    uint32_t GetRank(uint32_t job, uint32_t plan, uint32_t rank) const
    {
        return m_result.jobs[job].plans[plan].ranks[rank];
    }

    template <typename Record>
    Operation GetOperation(const Record& record) const
    {
        return m_result.jobs[record.job].plans[record.plan].plan->GetOperations()[record.operation];
    }

    uint32_t GetProcess(uint32_t job, uint32_t rank) const
    {
        return m_result.jobs[job].endpointOf[rank] + 1;
    }

    std::vector<HostSpan> CollectSpans() const
    {
        std::vector<HostSpan> spans;
        const auto add = [&spans](const auto& records, SpanSource source) {
            for (uint32_t i = 0; i < records.size(); ++i)
            {
                if (records[i].start < records[i].end || source == SpanSource::Send)
                {
                    spans.push_back({records[i].start, records[i].end, source, i});
                }
            }
        };
        add(m_result.computations, SpanSource::Computation);
        add(m_result.work, SpanSource::Work);
        add(m_blocked, SpanSource::Blocked);
        add(m_result.transfers, SpanSource::Send);
        AddReceipts(spans);
        std::sort(spans.begin(), spans.end());
        return spans;
    }

    /// From when a message is there until what it brought is added.
    void AddReceipts(std::vector<HostSpan>& spans) const
    {
        std::map<std::tuple<uint32_t, uint32_t, uint32_t, OperationId>, Time> added;
        for (const auto& record : m_result.work)
        {
            added[{record.job, record.iteration, record.plan, record.operation}] = record.end;
        }
        for (uint32_t i = 0; i < m_result.transfers.size(); ++i)
        {
            const auto& record = m_result.transfers[i];
            if (GetOperation(record).IsAggregate())
            {
                continue; // who gives to a sum receives it: there is no message between two
            }
            const auto found =
                added.find({record.job, record.iteration, record.plan, record.operation});
            const auto end = found == added.end() ? record.end : found->second;
            spans.push_back({record.end, std::max(record.end, end), SpanSource::Receive, i});
        }
    }

    void WriteSpan(const HostSpan& span)
    {
        switch (span.source)
        {
        case SpanSource::Computation:
            WriteOwn(span, m_result.computations[span.index], Track::Compute, "compute");
            break;
        case SpanSource::Blocked:
            WriteOwn(span, m_blocked[span.index], Track::Blocked, "blocked");
            break;
        case SpanSource::Work:
            WriteWork(span, m_result.work[span.index]);
            break;
        case SpanSource::Send:
            WriteSend(span, m_result.transfers[span.index]);
            break;
        case SpanSource::Receive:
            WriteReceive(span, m_result.transfers[span.index]);
            break;
        }
    }

    /// \returns the thread
    uint32_t Add(uint32_t process,
                 Track track,
                 const HostSpan& span,
                 const std::string& name,
                 const std::string& more)
    {
        const auto index = static_cast<uint32_t>(track);
        const auto lane = m_lanes[{process, track}].Take(span.start, span.end);
        const auto thread = GetThread(index, lane);
        m_events.AddSpan(process, thread, name, span.start, span.end, more);
        return thread;
    }

    static uint32_t GetThread(uint32_t track, uint32_t lane)
    {
        return 1 + track + lane * static_cast<uint32_t>(TRACKS.size());
    }

    std::string GetCategory(ExchangeStepKind kind,
                            uint32_t job,
                            uint32_t iteration,
                            uint32_t what) const
    {
        return m_critical.contains({kind, job, iteration, what}) ? ", \"cat\": \"critical\"" : "";
    }

    /// Of a rank, without an operation.
    template <typename Record>
    void WriteOwn(const HostSpan& span, const Record& record, Track track, const char* name)
    {
        auto more = fmt::format(", \"args\": {{\"job\": {}, \"iteration\": {}}}",
                                QuoteJson(m_result.jobs[record.job].name),
                                record.iteration);
        if (track == Track::Compute)
        {
            more += GetCategory(ExchangeStepKind::Computation,
                                record.job,
                                record.iteration,
                                record.rank);
        }
        Add(GetProcess(record.job, record.rank), track, span, name, more);
    }

    template <typename Record>
    std::string DescribeArguments(const Record& record, bool hasBytes) const
    {
        const auto& job = m_result.jobs[record.job];
        const auto& plan = *job.plans[record.plan].plan;
        auto text = fmt::format(", \"args\": {{\"job\": {}, \"iteration\": {}, \"plan\": {}, "
                                "\"operation\": {}",
                                QuoteJson(job.name),
                                record.iteration,
                                record.plan,
                                QuoteJson(DescribeOperation(plan, record.operation)));
        if (hasBytes)
        {
            text += fmt::format(", \"bytes\": {}", plan.GetBytes(record.operation));
        }
        return text + "}";
    }

    void WriteWork(const HostSpan& span, const WorkRecord& record)
    {
        const auto operation = GetOperation(record);
        Add(GetProcess(record.job, GetRank(record.job, record.plan, operation.dst)),
            Track::Compute,
            span,
            NameWork(operation.kind),
            DescribeArguments(record, !operation.IsCompute()) + GetCategory(ExchangeStepKind::Work,
                                                                            record.job,
                                                                            record.iteration,
                                                                            record.operation));
    }

    std::string GetCategory(const TransferRecord& record) const
    {
        return GetCategory(ExchangeStepKind::Transfer,
                           record.job,
                           record.iteration,
                           record.operation);
    }

    void WriteSend(const HostSpan& span, const TransferRecord& record)
    {
        const auto operation = GetOperation(record);
        const auto to = GetRank(record.job, record.plan, operation.dst);
        const auto process =
            GetProcess(record.job, GetRank(record.job, record.plan, operation.src));
        const bool isMessage = !operation.IsAggregate();
        const auto thread =
            Add(process,
                Track::Send,
                span,
                isMessage ? fmt::format("to {}", NameHost(record.job, to)) : "aggregate",
                DescribeArguments(record, true) + GetCategory(record));
        if (isMessage)
        {
            WriteArrowEnd('s', process, thread, span.start, record);
        }
    }

    void WriteReceive(const HostSpan& span, const TransferRecord& record)
    {
        const auto operation = GetOperation(record);
        const auto from = GetRank(record.job, record.plan, operation.src);
        const auto process =
            GetProcess(record.job, GetRank(record.job, record.plan, operation.dst));
        const auto thread = Add(process,
                                Track::Receive,
                                span,
                                fmt::format("from {}", NameHost(record.job, from)),
                                GetCategory(record));
        WriteArrowEnd('f', process, thread, span.start, record);
    }

    void WriteArrowEnd(char phase,
                       uint32_t process,
                       uint32_t thread,
                       const Time& at,
                       const TransferRecord& record)
    {
        m_events.AddArrowEnd(phase,
                             process,
                             thread,
                             "message",
                             m_next.flow +
                                 static_cast<uint64_t>(&record - m_result.transfers.data()),
                             at,
                             !GetCategory(record).empty());
    }

    void NameThreads()
    {
        for (const auto& [key, used] : m_lanes)
        {
            const auto& [process, track] = key;
            const auto index = static_cast<uint32_t>(track);
            for (uint32_t lane = 0; lane < used.GetCount(); ++lane)
            {
                const auto* name = TRACKS[index];
                m_events.NameThread(process,
                                    GetThread(index, lane),
                                    lane == 0 ? name : fmt::format("{} {}", name, lane + 1),
                                    index);
            }
        }
    }

    void WritePaths()
    {
        std::map<uint32_t, uint32_t> processes; // by job
        for (const auto& path : m_paths)
        {
            const auto [found, isFirst] = processes.try_emplace(path.job, m_next.process);
            if (isFirst)
            {
                m_events.NameProcess(m_next.process,
                                     "critical path of " + m_result.jobs[path.job].name);
                m_events.NameThread(m_next.process, PATH_THREAD, "critical path");
                ++m_next.process;
            }
            for (const auto& step : path.steps)
            {
                WriteStep(found->second, path, step);
            }
        }
    }

    void WriteStep(uint32_t process, const ExchangePath& path, const ExchangeStep& step)
    {
        auto name = std::string("wait");
        auto more =
            fmt::format(", \"cat\": \"critical\", \"args\": {{\"iteration\": {}", path.iteration);
        if (step.kind == ExchangeStepKind::Computation)
        {
            name = NameHost(path.job, GetRank(path.job, path.plan, step.rank)) + ": compute";
        }
        else if (step.kind != ExchangeStepKind::Wait)
        {
            const auto& plan = *m_result.jobs[path.job].plans[path.plan].plan;
            name = NameStep(path, step, plan.GetOperations()[step.operation]);
            more += fmt::format(", \"operation\": {}, \"bytes\": {}",
                                QuoteJson(DescribeOperation(plan, step.operation)),
                                plan.GetBytes(step.operation));
        }
        m_events.AddSpan(process, PATH_THREAD, name, step.span.begin, step.span.end, more + "}");
    }

    std::string NameStep(const ExchangePath& path,
                         const ExchangeStep& step,
                         const Operation& operation) const
    {
        const auto from = NameHost(path.job, GetRank(path.job, path.plan, operation.src));
        const auto to = NameHost(path.job, GetRank(path.job, path.plan, operation.dst));
        if (step.kind == ExchangeStepKind::Work)
        {
            return fmt::format("{}: {}", to, NameWork(operation.kind));
        }
        return operation.IsAggregate() ? from + ": aggregate" : fmt::format("{} to {}", from, to);
    }

    const RunResult& m_result;
    TraceNumbers m_next;
    TraceEvents& m_events;
    std::vector<ExchangePath> m_paths;
    std::vector<BlockedSpan> m_blocked;
    /// What is on a path: its kind, job and iteration, and the operation or the rank of the job.
    std::set<std::tuple<ExchangeStepKind, uint32_t, uint32_t, uint32_t>> m_critical;
    std::map<std::pair<uint32_t, Track>, Lanes> m_lanes; //!< by process
};

} // namespace

TraceNumbers
WriteExchangeTrace(const RunResult& result, TraceNumbers next, TraceEvents& events)
{
    return ExchangeTrace(result, next, events).Write();
}

} // namespace ns3::gradsync
