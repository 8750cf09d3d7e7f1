// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/result-rows.h"

#include "ns3/run-timeline.h"
#include "ns3/units.h"

#include <array>
#include <cmath>
#include <fmt/format.h>
#include <iterator>

namespace ns3::gradsync
{

namespace
{

constexpr const char* SUMMARY_COLUMNS = "workers,oversubscription,ict_mean_s,ict_min_s,ict_max_s,"
                                        "bound_s,times_bound,"
                                        "cross_rack_bytes,peak_received_bytes,longest_chain,"
                                        "auto_choice,auto_estimate_s,goodput_bytes,wire_bytes,"
                                        "dropped_packets,ecn_marked_packets,pfc_pause_s,"
                                        "retransmitted_packets,retransmitted_bytes,sum_packets,sum_"
                                        "overflows,overflowed_sums,wrong_sums,sum_relative_error,"
                                        "sum_largest_error,float_packets,"
                                        "server_packets,fallbacks,tree_rebuilds,"
                                        "packet_hops,events,wall_s,"
                                        "peak_rss_bytes,status";
constexpr size_t SUMMARY_COLUMN_COUNT = 34;

/// Appends to a buffer and hands it on in large parts: millions of rows are written.
class RowWriter
{
  public:
    explicit RowWriter(std::ostream& stream)
        : m_stream(stream)
    {
    }

    ~RowWriter()
    {
        m_stream.write(m_buffer.data(), static_cast<std::streamsize>(m_buffer.size()));
    }

    RowWriter(const RowWriter&) = delete;
    RowWriter& operator=(const RowWriter&) = delete;

    template <typename... Values>
    void Add(fmt::format_string<Values...> format, Values&&... values)
    {
        constexpr size_t PART = 1 << 16;
        fmt::format_to(std::back_inserter(m_buffer), format, std::forward<Values>(values)...);
        if (m_buffer.size() >= PART)
        {
            m_stream.write(m_buffer.data(), static_cast<std::streamsize>(m_buffer.size()));
            m_buffer.clear();
        }
    }

  private:
    std::ostream& m_stream;
    fmt::memory_buffer m_buffer;
};

std::vector<std::string>
QuoteNodeNames(const Topology& topology)
{
    std::vector<std::string> names;
    for (const auto& node : topology.GetNodes())
    {
        names.push_back(QuoteCsv(node.name));
    }
    return names;
}

/// Share of the link's capacity that was used, over the whole run.
double
GetUtilisation(const LinkStatistics& statistics, const TopologyLink& link, const Time& duration)
{
    const double capacityBits = static_cast<double>(link.rate.GetBitRate()) * duration.GetSeconds();
    return capacityBits > 0.0 ? static_cast<double>(statistics.wireBytes) * 8.0 / capacityBits
                              : 0.0;
}

} // namespace

std::string
QuoteCsv(std::string_view text)
{
    if (text.find_first_of(",\"\r\n") == std::string_view::npos)
    {
        return std::string(text);
    }
    std::string quoted = "\"";
    for (const char letter : text)
    {
        quoted += letter;
        if (letter == '"')
        {
            quoted += '"';
        }
    }
    return quoted + '"';
}

std::string
GetSummaryHeader(bool hasSeed)
{
    return fmt::format("{}{}", hasSeed ? "" : "seed,", SUMMARY_COLUMNS);
}

std::string
FormatSummary(const RunSummary& summary, bool hasSeed)
{
    const auto time = [&summary](int64_t picoseconds) {
        return summary.iterations > 0 ? FormatPicoseconds(picoseconds) : std::string();
    };
    const bool isBounded = summary.iterations > 0 && summary.timesBound > 0.0;
    const bool isChosen = !summary.autoChoice.empty();
    const bool hasFloats = summary.aggregation.squaredSums > 0.0;
    const auto& sums = summary.aggregation;
    return fmt::format(
        "{}{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{"
        "},{},{:.3f},{},{}",
        hasSeed ? "" : fmt::format("{},", summary.seed),
        summary.workers,
        summary.oversubscription,
        time(summary.meanIctPs),
        time(summary.minIctPs),
        time(summary.maxIctPs),
        isBounded ? fmt::format("{:.12f}", summary.meanBoundSeconds) : "",
        isBounded ? fmt::format("{:.6f}", summary.timesBound) : "",
        summary.crossRackBytes,
        summary.peakReceivedBytes,
        summary.longestChain,
        QuoteCsv(summary.autoChoice),
        isChosen ? fmt::format("{:.12f}", summary.autoEstimateSeconds) : "",
        summary.goodputBytes,
        summary.wireBytes,
        summary.droppedPackets,
        summary.ecnMarkedPackets,
        FormatPicoseconds(summary.pfcPausePs),
        summary.retransmittedPackets,
        summary.retransmittedBytes,
        sums.results,
        sums.overflows,
        sums.checkedSums > 0 ? std::to_string(sums.overflowedSums) : "",
        sums.checkedSums > 0 ? std::to_string(sums.wrongSums) : "",
        hasFloats ? fmt::format("{:.6g}", std::sqrt(sums.squaredSumErrors / sums.squaredSums)) : "",
        hasFloats ? fmt::format("{:.6g}", sums.largestSumError) : "",
        hasFloats ? std::to_string(sums.floatPackets) : "",
        sums.serverPackets,
        summary.fallbacks,
        sums.rebuilds,
        summary.packetHops,
        summary.events,
        summary.wallSeconds,
        summary.peakRssBytes,
        summary.finished ? "ok" : "unfinished");
}

std::string
FormatCrashedSummary(bool hasSeed)
{
    return std::string(SUMMARY_COLUMN_COUNT - (hasSeed ? 1 : 0), ',') + "crashed";
}

void
WriteIterations(const RunResult& result, std::ostream& stream)
{
    RowWriter rows(stream);
    for (const auto& record : result.iterations)
    {
        const auto& plan = *result.jobs[record.job].plan;
        const bool isGated = plan.GetGate().has_value();
        const Time exchange = record.end - record.exchangeStart;
        const Time network = plan.IsCompressed() || isGated ? record.network : exchange;
        rows.Add("{},{},{},{},{},{},{},{},{},{},{}\n",
                 QuoteCsv(result.jobs[record.job].name),
                 record.iteration,
                 FormatSeconds(record.start),
                 FormatSeconds(record.end - record.start),
                 FormatSeconds(record.exchangeStart - record.start + record.training),
                 FormatSeconds(record.compress),
                 FormatSeconds(network),
                 FormatSeconds(record.decompress),
                 FormatSeconds(record.training + record.compress + network + record.decompress -
                               exchange),
                 isGated ? std::to_string(record.replies) : "",
                 isGated ? std::to_string(record.late) : "");
    }
}

void
WriteLinks(const RunResult& result, std::ostream& stream)
{
    RowWriter rows(stream);
    const auto names = QuoteNodeNames(*result.topology);
    const auto links = result.topology->GetLinks();
    for (size_t i = 0; i < result.links.size(); ++i)
    {
        const auto& link = links[i / 2];
        const auto& statistics = result.links[i];
        rows.Add("{},{},{},{},{},{},{},{:.6f},{},{},{},{},{},{}\n",
                 names[i % 2 == 0 ? link.a : link.b],
                 names[i % 2 == 0 ? link.b : link.a],
                 ToString(link.kind),
                 link.rate.GetBitRate(),
                 statistics.payloadBytes,
                 statistics.wireBytes,
                 statistics.packets,
                 GetUtilisation(statistics, link, result.duration),
                 statistics.droppedPackets,
                 statistics.ecnMarkedPackets,
                 FormatSeconds(statistics.pfcPause),
                 statistics.maxQueueBytes,
                 statistics.pfcPauses,
                 statistics.blockedBytes);
    }
}

void
WriteSamples(const RunResult& result, std::ostream& stream)
{
    RowWriter rows(stream);
    const auto names = QuoteNodeNames(*result.topology);
    const auto links = result.topology->GetLinks();
    for (const auto& sample : result.samples)
    {
        const auto& link = links[sample.port / 2];
        const bool isForward = sample.port % 2 == 0;
        rows.Add("{},{},{},{},{},{}\n",
                 FormatSeconds(sample.time),
                 names[isForward ? link.a : link.b],
                 names[isForward ? link.b : link.a],
                 sample.wireBytes,
                 sample.queueBytes,
                 FormatSeconds(sample.paused));
    }
}

std::string
DescribeReaction(const RunResult& result, const ReactionRecord& reaction, const std::string& verb)
{
    const auto& job = result.jobs[reaction.job];
    switch (reaction.kind)
    {
    case ReactionKind::Fallback:
        return job.name + verb + " without switches that add up";
    case ReactionKind::Rebuild:
        return job.name + verb + " by other switches";
    case ReactionKind::Replan:
        break;
    }
    return fmt::format(
        "{}{} without {}",
        job.name,
        verb,
        NameTarget(*result.topology, FaultKind::HostCrash, job.endpointOf[reaction.rank]));
}

void
WriteFaults(const RunResult& result, std::ostream& stream)
{
    RowWriter rows(stream);
    const auto recoveries = FindRecoveryTimes(result);
    auto reaction = result.reactions.begin();
    const auto writeReactions = [&](const Time& until) {
        for (; reaction != result.reactions.end() && reaction->time <= until; ++reaction)
        {
            rows.Add("{},,reaction,{},{},\n",
                     FormatSeconds(reaction->time),
                     QuoteCsv(DescribeReaction(result, *reaction)),
                     ToString(reaction->kind));
        }
    };
    for (size_t i = 0; i < result.faults.size(); ++i)
    {
        const auto& record = result.faults[i];
        writeReactions(record.time - TimeStep(1));
        rows.Add("{},{},{},{},{},{}\n",
                 FormatSeconds(record.time),
                 record.fault,
                 ToString(record.kind),
                 QuoteCsv(NameTarget(*result.topology, record.kind, record.target)),
                 record.begins ? "begin" : "end",
                 recoveries[i] ? FormatSeconds(*recoveries[i]) : "");
    }
    writeReactions(result.duration);
}

void
WriteBlocked(const RunResult& result, std::ostream& stream)
{
    RowWriter rows(stream);
    for (const auto& count : CountBlocked(result))
    {
        rows.Add("{},{},{}\n",
                 FormatSeconds(count.time),
                 QuoteCsv(result.jobs[count.job].name),
                 count.workers);
    }
}

void
WriteFlows(const RunResult& result, std::ostream& stream)
{
    RowWriter rows(stream);
    const auto name = [&result](uint32_t endpoint) {
        const auto node = result.topology->GetEndpoints()[endpoint];
        return QuoteCsv(result.topology->GetNodes()[node].name);
    };
    for (const auto& flow : result.flows)
    {
        rows.Add("{},{},{},{},{},{},{}\n",
                 flow.traffic,
                 name(flow.src),
                 name(flow.dst),
                 flow.bytes,
                 FormatSeconds(flow.start),
                 FormatSeconds(flow.end),
                 flow.failed ? "failed" : "ok");
    }
}

void
WriteMessages(const RunResult& result, std::ostream& stream)
{
    RowWriter rows(stream);
    const auto names = QuoteNodeNames(*result.topology);
    const auto endpoints = result.topology->GetEndpoints();
    for (const auto& record : result.transfers)
    {
        const auto& job = result.jobs[record.job];
        const auto& plan = job.plans[record.plan].plan;
        const auto& ranks = job.plans[record.plan].ranks;
        const auto& operation = plan->GetOperations()[record.operation];
        rows.Add("{},{},{},{},{},{},{},{}\n",
                 QuoteCsv(job.name),
                 record.iteration,
                 record.operation,
                 names[endpoints[job.endpointOf[ranks[operation.src]]]],
                 names[endpoints[job.endpointOf[ranks[operation.dst]]]],
                 plan->GetBytes(record.operation),
                 FormatSeconds(record.start),
                 FormatSeconds(record.end));
    }
}

void
WriteUnfinished(const RunResult& result, std::ostream& stream)
{
    if (!result.failure)
    {
        return;
    }
    RowWriter rows(stream);
    const auto& failure = *result.failure;
    const auto& job = result.jobs[failure.job];
    const auto& executed = job.plans[failure.plan];
    const auto names = QuoteNodeNames(*result.topology);
    const auto endpoints = result.topology->GetEndpoints();
    const auto name = [&](uint32_t rank) {
        return names[endpoints[job.endpointOf[executed.ranks[rank]]]];
    };
    for (const auto id : failure.unfinished)
    {
        const auto& operation = executed.plan->GetOperations()[id];
        if (operation.IsTransfer())
        {
            const bool isSent = std::ranges::binary_search(failure.inNetwork, id);
            rows.Add("{},{},{},{},{},{},{},{}\n",
                     QuoteCsv(job.name),
                     failure.iteration,
                     id,
                     ToString(operation.kind),
                     name(operation.src),
                     name(operation.dst),
                     executed.plan->GetBytes(id),
                     isSent ? "network" : "waiting");
        }
    }
}

Json
ToJson(const RunSummary& summary)
{
    const auto& sums = summary.aggregation;
    Json json;
    json["finished"] = summary.finished;
    json["failure"] = summary.failure;
    json["seed"] = summary.seed;
    json["workers"] = summary.workers;
    json["oversubscription"] = summary.oversubscription;
    json["iterations"] = summary.iterations;
    json["meanIctPs"] = summary.meanIctPs;
    json["minIctPs"] = summary.minIctPs;
    json["maxIctPs"] = summary.maxIctPs;
    json["meanBoundSeconds"] = summary.meanBoundSeconds;
    json["timesBound"] = summary.timesBound;
    json["crossRackBytes"] = summary.crossRackBytes;
    json["peakReceivedBytes"] = summary.peakReceivedBytes;
    json["longestChain"] = summary.longestChain;
    json["autoChoice"] = summary.autoChoice;
    json["autoEstimateSeconds"] = summary.autoEstimateSeconds;
    json["goodputBytes"] = summary.goodputBytes;
    json["wireBytes"] = summary.wireBytes;
    json["droppedPackets"] = summary.droppedPackets;
    json["ecnMarkedPackets"] = summary.ecnMarkedPackets;
    json["pfcPausePs"] = summary.pfcPausePs;
    json["retransmittedPackets"] = summary.retransmittedPackets;
    json["retransmittedBytes"] = summary.retransmittedBytes;
    json["sumPackets"] = summary.aggregation.results;
    json["sumOverflows"] = summary.aggregation.overflows;
    json["checkedSums"] = summary.aggregation.checkedSums;
    json["overflowedSums"] = summary.aggregation.overflowedSums;
    json["wrongSums"] = summary.aggregation.wrongSums;
    json["squaredSumErrors"] = sums.squaredSumErrors;
    json["squaredSums"] = sums.squaredSums;
    json["largestSumError"] = sums.largestSumError;
    json["floatPackets"] = sums.floatPackets;
    json["fallbacks"] = summary.fallbacks;
    json["treeRebuilds"] = sums.rebuilds;
    json["serverPackets"] = summary.aggregation.serverPackets;
    json["packetHops"] = summary.packetHops;
    json["events"] = summary.events;
    json["wallSeconds"] = summary.wallSeconds;
    json["peakRssBytes"] = summary.peakRssBytes;
    return json;
}

RunSummary
ToSummary(const Json& json)
{
    RunSummary summary;
    json.at("finished").get_to(summary.finished);
    json.at("failure").get_to(summary.failure);
    json.at("seed").get_to(summary.seed);
    json.at("workers").get_to(summary.workers);
    json.at("oversubscription").get_to(summary.oversubscription);
    json.at("iterations").get_to(summary.iterations);
    json.at("meanIctPs").get_to(summary.meanIctPs);
    json.at("minIctPs").get_to(summary.minIctPs);
    json.at("maxIctPs").get_to(summary.maxIctPs);
    json.at("meanBoundSeconds").get_to(summary.meanBoundSeconds);
    json.at("timesBound").get_to(summary.timesBound);
    json.at("crossRackBytes").get_to(summary.crossRackBytes);
    json.at("peakReceivedBytes").get_to(summary.peakReceivedBytes);
    json.at("longestChain").get_to(summary.longestChain);
    json.at("autoChoice").get_to(summary.autoChoice);
    json.at("autoEstimateSeconds").get_to(summary.autoEstimateSeconds);
    json.at("goodputBytes").get_to(summary.goodputBytes);
    json.at("wireBytes").get_to(summary.wireBytes);
    json.at("droppedPackets").get_to(summary.droppedPackets);
    json.at("ecnMarkedPackets").get_to(summary.ecnMarkedPackets);
    json.at("pfcPausePs").get_to(summary.pfcPausePs);
    json.at("retransmittedPackets").get_to(summary.retransmittedPackets);
    json.at("retransmittedBytes").get_to(summary.retransmittedBytes);
    json.at("sumPackets").get_to(summary.aggregation.results);
    json.at("sumOverflows").get_to(summary.aggregation.overflows);
    json.at("checkedSums").get_to(summary.aggregation.checkedSums);
    json.at("overflowedSums").get_to(summary.aggregation.overflowedSums);
    json.at("wrongSums").get_to(summary.aggregation.wrongSums);
    json.at("squaredSumErrors").get_to(summary.aggregation.squaredSumErrors);
    json.at("squaredSums").get_to(summary.aggregation.squaredSums);
    json.at("largestSumError").get_to(summary.aggregation.largestSumError);
    json.at("floatPackets").get_to(summary.aggregation.floatPackets);
    json.at("fallbacks").get_to(summary.fallbacks);
    json.at("treeRebuilds").get_to(summary.aggregation.rebuilds);
    json.at("serverPackets").get_to(summary.aggregation.serverPackets);
    json.at("packetHops").get_to(summary.packetHops);
    json.at("events").get_to(summary.events);
    json.at("wallSeconds").get_to(summary.wallSeconds);
    json.at("peakRssBytes").get_to(summary.peakRssBytes);
    return summary;
}

} // namespace ns3::gradsync
