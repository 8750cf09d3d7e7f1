// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/fault-kinds.h"

#include "ns3/slowdown-parameters.h"
#include "ns3/time-range.h"

#include <algorithm>
#include <array>
#include <limits>

namespace ns3::gradsync
{

namespace
{

struct FaultEntry
{
    FaultKind kind;
    const char* summary;
    std::vector<ParameterSpec> parameters; //!< beside those of all, and the targets
};

ParameterSpec
MakeTimeSpec(const char* name, const char* help, const Time& example)
{
    return Optional({name, example, help});
}

std::vector<ParameterSpec>
GetCommonSpecs()
{
    constexpr double MOST = std::numeric_limits<uint32_t>::max();
    auto mtbf = MakeTimeSpec("mtbf",
                             "by chance: mean time from a target's repair to its next failure",
                             Seconds(10));
    mtbf.minimum = 1;
    return {
        {"start", Time(), "beginning of the first occurrence"},
        MakeTimeSpec("duration",
                     "of each occurrence; by default `every`, or to the end of the run",
                     MilliSeconds(1)),
        MakeTimeSpec("every", "from one beginning to the next; by default once", MilliSeconds(10)),
        Optional({"count",
                  int64_t{1},
                  "occurrences; by default with `every` no end, else 1",
                  {},
                  1,
                  MOST}),
        Optional({"random",
                  int64_t{1},
                  "so many targets are drawn anew for each occurrence; by default all that are "
                  "named",
                  {},
                  1,
                  MOST}),
        mtbf,
        Optional({"ratePerHour",
                  1.0,
                  "by chance: failures an hour of each target, in place of `mtbf`",
                  {},
                  1e-3,
                  1e12}),
        MakeTimeSpec("mttr",
                     "by chance: mean time to repair; by default what fails stays so",
                     Seconds(1))};
}

std::vector<ParameterSpec>
GetTargetSpecs(FaultKind kind)
{
    switch (GetTarget(kind))
    {
    case FaultTarget::Endpoint:
        return {Optional({"hosts",
                          SharedShape{"endpoints"},
                          "names or numbers of endpoints; by default all"}),
                Optional({"role",
                          std::string("server"),
                          "the endpoints whose ranks have this role in any job",
                          {"server", "aggregator"}})};
    case FaultTarget::Link:
        return {Optional({"links",
                          SharedShape{"links"},
                          "pairs of node names; by default the links between switches"}),
                Optional({"at",
                          SharedShape{"node"},
                          "a node, whose links to other switches are meant; of a host all"})};
    case FaultTarget::Node:
        break;
    }
    return {Optional({"switches", SharedShape{"switches"}, "names; by default all switches"})};
}

ParameterSpec
MakeDetectionSpec(const char* help)
{
    return {"detectionDelay", DEFAULT_DETECTION_DELAY, help};
}

ParameterSpec
MakeShareSpec(const char* name, const char* help, double byDefault)
{
    return {name, byDefault, help, {}, 0.0, 1.0};
}

/// A probability, or the four of the Gilbert-Elliott model.
ParameterSpec
MakeLossSpec()
{
    auto loss =
        Optional(MakeShareSpec("loss",
                               "probability that a packet is lost, or a Gilbert-Elliott model",
                               0.01));
    loss.forms = {MakeObjectSpec(
        "loss",
        "",
        {MakeShareSpec("lossGood", "loss in the good state", 0.0),
         MakeShareSpec("lossBad", "loss in the bad state", 1.0),
         Required(MakeShareSpec("goodToBad", "of entering the bad state before a packet", 0.001)),
         Required(MakeShareSpec("badToGood", "of leaving it", 0.1))})};
    return loss;
}

std::vector<ParameterSpec>
GetDegradationSpecs()
{
    auto delay = MakeTimeSpec("extraDelay", "added to the propagation delay", MicroSeconds(1));
    delay.maximum = static_cast<double>(MAX_LINK_DELAY);
    return {Optional({"rateShare", 0.5, "share of the rate that is left", {}, 1e-6, 1.0}),
            delay,
            MakeLossSpec()};
}

std::vector<FaultEntry>
GetEntries()
{
    constexpr const char* ROUTES = "until routes and trees of switches change";
    return {
        {FaultKind::HostPauseSend,
         "a host sends no message data; it receives and acknowledges",
         {}},
        {FaultKind::HostPause, "a host neither sends nor receives", {}},
        {FaultKind::HostCrash,
         "a host is gone with all it has, and is back without it",
         {MakeDetectionSpec("until jobs react")}},
        {FaultKind::Straggler, "a host computes more slowly", {MakeSlowdownSpec()}},
        {FaultKind::LinkDown, "a link carries nothing", {MakeDetectionSpec(ROUTES)}},
        {FaultKind::LinkDegraded,
         "a link has less rate, more delay or loss",
         GetDegradationSpecs()},
        {FaultKind::Flood,
         "background traffic on a link",
         {Required({"rate",
                    DataRate("10Gbps"),
                    "of the background traffic on the wire, in each direction"})}},
        {FaultKind::SwitchDown, "all links of a switch carry nothing", {MakeDetectionSpec(ROUTES)}},
        {FaultKind::AggregatorDown,
         "a switch forwards, but does not aggregate",
         {MakeDetectionSpec(ROUTES)}}};
}

} // namespace

std::span<const KindSpec>
GetFaultKinds()
{
    static const std::vector<KindSpec> kinds = [] {
        std::vector<KindSpec> list;
        for (const auto& entry : GetEntries())
        {
            auto parameters = GetCommonSpecs();
            const auto targets = GetTargetSpecs(entry.kind);
            parameters.insert(parameters.end(), targets.begin(), targets.end());
            parameters.insert(parameters.end(), entry.parameters.begin(), entry.parameters.end());
            list.push_back({std::string(ToString(entry.kind)), entry.summary, parameters});
        }
        return list;
    }();
    return kinds;
}

FaultKind
FindFaultKind(std::string_view name)
{
    const auto entries = GetEntries();
    return std::ranges::find_if(entries,
                                [name](const auto& entry) { return ToString(entry.kind) == name; })
        ->kind;
}

std::vector<std::string>
GetFaultTargetNames(FaultKind kind)
{
    std::vector<std::string> names;
    for (const auto& spec : GetTargetSpecs(kind))
    {
        names.push_back(spec.name);
    }
    return names;
}

} // namespace ns3::gradsync
