// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/stored-summary.h"

#include "ns3/summary-columns.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace ns3::gradsync
{

namespace
{

/// Calls `visit` with the name of each field and the field.
template <typename Stored, typename Visit>
void
VisitFields(Stored& summary, Visit visit)
{
    visit("row", summary.row);
    visit("finished", summary.finished);
    visit("failure", summary.failure);
    visit("meanIctPs", summary.meanIctPs);
    visit("timesBound", summary.timesBound);
    visit("crossRackBytes", summary.crossRackBytes);
    visit("longestChain", summary.longestChain);
    visit("peakReceivedBytes", summary.peakReceivedBytes);
    visit("wallSeconds", summary.wallSeconds);
    visit("training", summary.training);
}

} // namespace

StoredSummary
Store(const RunSummary& summary)
{
    auto lines = DescribeTraining(summary.training);
    std::ranges::move(DescribeAsynchronous(summary.asynchronous), std::back_inserter(lines));
    return {FormatSummary(summary),
            summary.finished,
            summary.failure,
            summary.meanIctPs,
            summary.timesBound,
            summary.crossRackBytes,
            summary.longestChain,
            summary.peakReceivedBytes,
            summary.wallSeconds,
            std::move(lines)};
}

Json
ToJson(const StoredSummary& summary)
{
    Json json;
    VisitFields(summary, [&json](const char* name, const auto& field) { json[name] = field; });
    return json;
}

StoredSummary
ToStoredSummary(const Json& json)
{
    StoredSummary summary;
    VisitFields(summary, [&json](const char* name, auto& field) { json.at(name).get_to(field); });
    return summary;
}

} // namespace ns3::gradsync
