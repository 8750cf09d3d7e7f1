// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/summary-columns.h"

#include "ns3/csv-text.h"
#include "ns3/units.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <concepts>
#include <fmt/format.h>

namespace ns3::gradsync
{

namespace
{

using enum ColumnType;

template <std::integral Value>
std::string
ShowCount(Value value)
{
    return std::to_string(value);
}

std::string
ShowTime(const RunSummary& summary, int64_t picoseconds)
{
    return summary.iterations > 0 ? FormatPicoseconds(picoseconds) : "";
}

std::string
ShowBound(const RunSummary& summary, const std::string& text)
{
    return summary.iterations > 0 && summary.timesBound > 0.0 ? text : "";
}

/// Of sums that are compared with exact ones.
std::string
ShowChecked(const RunSummary& summary, uint64_t count)
{
    return summary.aggregation.checkedSums > 0 ? ShowCount(count) : "";
}

/// Of sums of gradients.
std::string
ShowFloats(const RunSummary& summary, const std::string& text)
{
    return summary.aggregation.squaredSums > 0.0 ? text : "";
}

/// Of switches that add by handlers on cores.
std::string
ShowCores(const RunSummary& summary, const std::string& text)
{
    return summary.aggregation.handlers > 0 ? text : "";
}

std::string
ShowSumError(const RunSummary& summary)
{
    const auto& sums = summary.aggregation;
    return ShowFloats(summary,
                      fmt::format("{:.6g}", std::sqrt(sums.squaredSumErrors / sums.squaredSums)));
}

/// Mean times of training iterations.
std::string
ShowTraining(const RunSummary& summary, int64_t picoseconds)
{
    return summary.training.iterations > 0 ? FormatPicoseconds(picoseconds) : "";
}

/// Of asynchronous jobs.
std::string
ShowAsynchronous(const RunSummary& summary, const std::string& text)
{
    return summary.asynchronous.steps > 0 ? text : "";
}

/// Of what a scenario may leave unknown.
std::string
ShowKnown(double value)
{
    return value > 0.0 ? fmt::format("{:.9g}", value) : "";
}

constexpr std::array<SummaryColumn, 60> SUMMARY_COLUMNS{{
    {{"seed", "Seed", "", Integer}, [](const RunSummary& s) { return ShowCount(s.seed); }},
    {{"workers", "Workers", "", Integer}, [](const RunSummary& s) { return ShowCount(s.workers); }},
    {{"oversubscription", "Oversubscription", "x : 1", Number},
     [](const RunSummary& s) { return fmt::format("{}", s.oversubscription); }},
    {{"ict_mean_s", "Iteration completion time", "s", Number},
     [](const RunSummary& s) { return ShowTime(s, s.meanIctPs); }},
    {{"ict_min_s", "Shortest iteration completion time", "s", Number},
     [](const RunSummary& s) { return ShowTime(s, s.minIctPs); }},
    {{"ict_max_s", "Longest iteration completion time", "s", Number},
     [](const RunSummary& s) { return ShowTime(s, s.maxIctPs); }},
    {{"bound_s", "Least time of the exchange", "s", Number},
     [](const RunSummary& s) { return ShowBound(s, fmt::format("{:.12f}", s.meanBoundSeconds)); }},
    {{"times_bound", "Exchange time over the bound", "", Number},
     [](const RunSummary& s) { return ShowBound(s, fmt::format("{:.6f}", s.timesBound)); }},
    {{"algbw_bytes_per_s", "Algorithm bandwidth", "B/s", Number},
     [](const RunSummary& s) { return ShowKnown(s.algorithmBandwidth); }},
    {{"busbw_bytes_per_s", "Bus bandwidth", "B/s", Number},
     [](const RunSummary& s) { return ShowKnown(s.busBandwidth); }},
    {{"cross_rack_bytes", "Bytes across racks", "B", Integer},
     [](const RunSummary& s) { return ShowCount(s.crossRackBytes); }},
    {{"peak_received_bytes", "Most bytes that a rank receives", "B", Integer},
     [](const RunSummary& s) { return ShowCount(s.peakReceivedBytes); }},
    {{"longest_chain", "Longest chain of transfers", "", Integer},
     [](const RunSummary& s) { return ShowCount(s.longestChain); }},
    {{"auto_choice", "Choice of the scheme auto", "", Text},
     [](const RunSummary& s) { return WriteCsvText(s.autoChoice); }},
    {{"auto_estimate_s", "Estimate of the scheme auto", "s", Number},
     [](const RunSummary& s) {
         return s.autoChoice.empty() ? "" : fmt::format("{:.12f}", s.autoEstimateSeconds);
     }},
    {{"codec_times", "Origin of the times of codecs", "", Text},
     [](const RunSummary& s) { return s.codecTimes; }},
    {{"goodput_bytes", "Payload delivered", "B", Integer},
     [](const RunSummary& s) { return ShowCount(s.goodputBytes); }},
    {{"lost_bytes", "Payload lost for good", "B", Integer},
     [](const RunSummary& s) { return ShowCount(s.lostBytes); }},
    {{"wire_bytes", "Bytes on links", "B", Integer},
     [](const RunSummary& s) { return ShowCount(s.wireBytes); }},
    {{"dropped_packets", "Dropped packets", "", Integer},
     [](const RunSummary& s) { return ShowCount(s.droppedPackets); }},
    {{"ecn_marked_packets", "ECN-marked packets", "", Integer},
     [](const RunSummary& s) { return ShowCount(s.ecnMarkedPackets); }},
    {{"pfc_pause_s", "Time paused by PFC", "s", Number},
     [](const RunSummary& s) { return FormatPicoseconds(s.pfcPausePs); }},
    {{"retransmitted_packets", "Retransmitted packets", "", Integer},
     [](const RunSummary& s) { return ShowCount(s.retransmittedPackets); }},
    {{"retransmitted_bytes", "Retransmitted bytes", "B", Integer},
     [](const RunSummary& s) { return ShowCount(s.retransmittedBytes); }},
    {{"sum_packets", "Sums from switches", "", Integer},
     [](const RunSummary& s) { return ShowCount(s.aggregation.results); }},
    {{"sum_overflows", "Packets that overflowed a sum", "", Integer},
     [](const RunSummary& s) { return ShowCount(s.aggregation.overflows); }},
    {{"overflowed_sums", "Sums beyond int32", "", Integer},
     [](const RunSummary& s) { return ShowChecked(s, s.aggregation.overflowedSums); }},
    {{"wrong_sums", "Wrong sums", "", Integer},
     [](const RunSummary& s) { return ShowChecked(s, s.aggregation.wrongSums); }},
    {{"sum_relative_error", "Error of the sums over the sums", "", Number}, ShowSumError},
    {{"sum_largest_error", "Largest error of a sum", "", Number},
     [](const RunSummary& s) {
         return ShowFloats(s, fmt::format("{:.6g}", s.aggregation.largestSumError));
     }},
    {{"float_packets", "Contributions sent as floats", "", Integer},
     [](const RunSummary& s) { return ShowFloats(s, ShowCount(s.aggregation.floatPackets)); }},
    {{"server_packets", "Packets at parameter servers", "", Integer},
     [](const RunSummary& s) { return ShowCount(s.aggregation.serverPackets); }},
    {{"sum_print", "Fingerprint of the sums", "", Text},
     [](const RunSummary& s) {
         return s.aggregation.checkedSums > 0 ? fmt::format("{:016x}", s.aggregation.sumPrint) : "";
     }},
    {{"core_busy_s", "Time that the cores of the busiest switch are busy", "s", Number},
     [](const RunSummary& s) { return ShowCores(s, FormatSeconds(s.aggregation.busiestCores)); }},
    {{"core_wait_s", "Time that packets wait for cores, all together", "s", Number},
     [](const RunSummary& s) { return ShowCores(s, FormatSeconds(s.aggregation.handlerWait)); }},
    {{"core_queue_max", "Most packets that wait for the cores of a switch", "", Integer},
     [](const RunSummary& s) {
         return ShowCores(s, ShowCount(s.aggregation.longestHandlerQueue));
     }},
    {{"fallbacks", "Fallbacks to an exchange without switches", "", Integer},
     [](const RunSummary& s) { return ShowCount(s.fallbacks); }},
    {{"tree_rebuilds", "Times that other switches took over", "", Integer},
     [](const RunSummary& s) { return ShowCount(s.aggregation.rebuilds); }},
    {{"iteration_mean_s", "Training iteration", "s", Number},
     [](const RunSummary& s) { return ShowTraining(s, s.training.iterationPs); }},
    {{"computation_s", "Computation", "s", Number},
     [](const RunSummary& s) { return ShowTraining(s, s.training.computationPs); }},
    {{"hidden_s", "Hidden communication", "s", Number},
     [](const RunSummary& s) { return ShowTraining(s, s.training.hiddenPs); }},
    {{"exposed_s", "Exposed communication", "s", Number},
     [](const RunSummary& s) { return ShowTraining(s, s.training.exposedPs); }},
    {{"bubble_s", "Bubble", "s", Number},
     [](const RunSummary& s) { return ShowTraining(s, s.training.bubblePs); }},
    {{"mfu", "Model FLOPs utilisation", "", Number},
     [](const RunSummary& s) { return ShowKnown(s.training.mfu); }},
    {{"samples_per_s", "Samples a second", "", Number},
     [](const RunSummary& s) { return ShowKnown(s.training.samplesPerSecond); }},
    {{"tokens_per_s", "Tokens a second", "", Number},
     [](const RunSummary& s) { return ShowKnown(s.training.tokensPerSecond); }},
    {{"device_memory_bytes", "Most memory of a device", "B", Integer},
     [](const RunSummary& s) {
         return s.training.memoryBytes > 0 ? ShowCount(s.training.memoryBytes) : "";
     }},
    {{"updates", "Updates", "", Integer},
     [](const RunSummary& s) { return ShowAsynchronous(s, ShowCount(s.asynchronous.updates)); }},
    {{"steps_per_s", "Steps a second of all workers", "", Number},
     [](const RunSummary& s) { return ShowKnown(s.asynchronous.stepsPerSecond); }},
    {{"staleness_mean", "Mean staleness", "updates", Number},
     [](const RunSummary& s) {
         return ShowAsynchronous(s, fmt::format("{:.9g}", s.asynchronous.meanStaleness));
     }},
    {{"staleness_max", "Largest staleness", "updates", Integer},
     [](const RunSummary& s) {
         return ShowAsynchronous(s, ShowCount(s.asynchronous.mostStaleness));
     }},
    {{"ahead_max", "Most steps ahead of the slowest worker", "", Integer},
     [](const RunSummary& s) { return ShowAsynchronous(s, ShowCount(s.asynchronous.mostAhead)); }},
    {{"held_s", "Time that a worker is held for the bound", "s", Number},
     [](const RunSummary& s) {
         return ShowAsynchronous(s, FormatPicoseconds(s.asynchronous.heldPs));
     }},
    {{"packet_hops", "Packet hops", "", Integer},
     [](const RunSummary& s) { return ShowCount(s.packetHops); }},
    {{"events", "Events", "", Integer, Compared::SameProgram},
     [](const RunSummary& s) { return ShowCount(s.events); }},
    {{"skipped_iterations", "Iterations not simulated twice", "", Integer, Compared::Never},
     [](const RunSummary& s) { return ShowCount(s.skippedIterations); }},
    {{"recorded_collectives", "Collectives not simulated twice", "", Integer, Compared::Never},
     [](const RunSummary& s) { return ShowCount(s.recordedCollectives); }},
    {{"wall_s", "Wall-clock time", "s", Number, Compared::Never},
     [](const RunSummary& s) { return fmt::format("{:.3f}", s.wallSeconds); }},
    {{"peak_rss_bytes", "Peak memory", "B", Integer, Compared::Never},
     [](const RunSummary& s) { return ShowCount(s.peakRssBytes); }},
    {{"status", "Status", "", Text},
     [](const RunSummary& s) { return std::string(s.finished ? "ok" : "unfinished"); }},
}};

} // namespace

std::span<const SummaryColumn>
GetSummaryColumns()
{
    return SUMMARY_COLUMNS;
}

std::string
FormatSummaryHeader(bool hasSeed)
{
    std::string names;
    for (const auto& column : SUMMARY_COLUMNS)
    {
        names += std::string(names.empty() ? "" : ",") + column.column.name;
    }
    return hasSeed ? std::string(DropSeed(names)) : names;
}

std::string
FormatSummary(const RunSummary& summary)
{
    std::string row;
    for (const auto& column : SUMMARY_COLUMNS)
    {
        row += (&column == SUMMARY_COLUMNS.data() ? "" : ",") + column.text(summary);
    }
    return row;
}

std::string
FormatCrashedSummary()
{
    return std::string(SUMMARY_COLUMNS.size() - 1, ',') + "crashed";
}

std::string_view
DropSeed(std::string_view row)
{
    return row.substr(row.find(',') + 1);
}

std::string_view
GetOutcome(std::string_view row)
{
    // Costs and the status come last, and none of them has a comma.
    const auto cost =
        std::ranges::find(SUMMARY_COLUMNS, Compared::Never, [](const SummaryColumn& column) {
            return column.column.compared;
        });
    for (auto left = SUMMARY_COLUMNS.end() - cost; left > 0; --left)
    {
        row = row.substr(0, row.rfind(','));
    }
    return DropSeed(row);
}

} // namespace ns3::gradsync
