// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/fault-reader.h"

#include "ns3/fault-target-reader.h"
#include "ns3/fault-trace-reader.h"
#include "ns3/time-range.h"
#include "ns3/units.h"

#include <algorithm>
#include <fmt/format.h>
#include <limits>
#include <utility>

namespace ns3::gradsync
{

namespace
{

constexpr size_t MAX_FAULTS = 10'000;
const Time DEFAULT_DETECTION_DELAY = MilliSeconds(1);

const std::vector<std::string> FAULT_KEYS{"kind",
                                          "start",
                                          "duration",
                                          "every",
                                          "count",
                                          "random",
                                          "mtbf",
                                          "ratePerHour",
                                          "mttr"};

struct KindEntry
{
    FaultKind kind;
    std::vector<std::string> keys; //!< besides the common ones and those of the targets
};

const std::vector<KindEntry> KINDS{{FaultKind::HostPauseSend, {}},
                                   {FaultKind::HostPause, {}},
                                   {FaultKind::HostCrash, {"detectionDelay"}},
                                   {FaultKind::Straggler, {"slowdown"}},
                                   {FaultKind::LinkDown, {"detectionDelay"}},
                                   {FaultKind::LinkDegraded, {"rateShare", "extraDelay", "loss"}},
                                   {FaultKind::Flood, {"rate"}},
                                   {FaultKind::SwitchDown, {"detectionDelay"}},
                                   {FaultKind::AggregatorDown, {"detectionDelay"}}};

const KindEntry&
FindKind(FaultKind kind)
{
    return *std::find_if(KINDS.begin(), KINDS.end(), [kind](const KindEntry& entry) {
        return entry.kind == kind;
    });
}

double
ReadProbability(const JsonValue& object, const std::string& key, double otherwise)
{
    const auto value = object.Find(key);
    return value ? value->AsNumber(0.0, 1.0) : otherwise;
}

/// A probability, or the four of the Gilbert-Elliott model.
LossModel
ReadLoss(const JsonValue& value)
{
    LossModel loss;
    if (!value.IsObject())
    {
        loss.lossGood = value.AsNumber(0.0, 1.0);
        return loss;
    }
    value.CheckKeys({"lossGood", "lossBad", "goodToBad", "badToGood"});
    loss.lossGood = ReadProbability(value, "lossGood", 0.0);
    loss.lossBad = ReadProbability(value, "lossBad", 1.0);
    loss.goodToBad = value.Require("goodToBad", "0.001").AsNumber(0.0, 1.0);
    loss.badToGood = value.Require("badToGood", "0.1").AsNumber(0.0, 1.0);
    return loss;
}

void
ReadDegradation(const JsonValue& value, const TransportEntry& transport, FaultSpec& fault)
{
    if (const auto share = value.Find("rateShare"))
    {
        fault.degraded.rateShare = share->AsNumber(1e-6, 1.0);
    }
    if (const auto delay = value.Find("extraDelay"))
    {
        fault.degraded.extraDelay = delay->AsTime(PicoSeconds(MAX_LINK_DELAY));
    }
    if (const auto loss = value.Find("loss"))
    {
        fault.degraded.loss = ReadLoss(*loss);
        if (fault.degraded.loss.IsLossy() && !transport.hasPackets)
        {
            loss->FailWith(
                fmt::format("the transport {} has no packets that could be lost", transport.kind));
        }
    }
    if (fault.degraded == LinkState{})
    {
        value.FailWith("nothing is degraded, expected \"rateShare\", \"extraDelay\" or \"loss\"");
    }
}

/// `{"distribution": "trace", "values": [...]}`.
void
ReadSlowdownTrace(const JsonValue& value, Slowdown& slowdown)
{
    constexpr size_t MAX_VALUES = 1'000'000;
    value.CheckKeys({"distribution", "values"});
    const auto list = value.Require("values", "[1, 1.2, 3]");
    const auto items = list.GetItems();
    if (items.empty() || items.size() > MAX_VALUES)
    {
        list.Fail(fmt::format("a list of 1 to {} factors", MAX_VALUES));
    }
    slowdown.law = Slowdown::Law::Trace;
    for (const auto& item : items)
    {
        slowdown.values.push_back(item.AsNumber(1e-3, 1e6));
    }
}

/// `{"distribution": "uniform", "low": 1, "high": 3}`, or one number.
Slowdown
ReadSlowdown(const JsonValue& value)
{
    using Law = Slowdown::Law;
    constexpr double LEAST = 1e-3;
    constexpr double MOST = 1e6;
    Slowdown slowdown;
    if (!value.IsObject())
    {
        slowdown.first = value.AsNumber(LEAST, MOST);
        return slowdown;
    }
    const auto name = value.Require("distribution", "\"lognormal\"")
                          .AsChoice({"uniform", "exponential", "lognormal", "pareto", "trace"});
    const auto read = [&](Law law, std::vector<std::pair<std::string, double>> parameters) {
        slowdown.law = law;
        std::vector<std::string> keys{"distribution"};
        std::vector<double> numbers{0.0, 0.0};
        for (size_t i = 0; i < parameters.size(); ++i)
        {
            const auto& [key, example] = parameters[i];
            keys.push_back(key);
            numbers[i] = value.Require(key, fmt::format("{}", example)).AsNumber(LEAST, MOST);
        }
        value.CheckKeys(keys);
        slowdown.first = numbers[0];
        slowdown.second = numbers[1];
    };
    if (name == "uniform")
    {
        read(Law::Uniform, {{"low", 1.0}, {"high", 3.0}});
        if (slowdown.second < slowdown.first)
        {
            value.Find("high")->Fail("at least \"low\"");
        }
    }
    else if (name == "exponential")
    {
        read(Law::Exponential, {{"mean", 0.5}});
    }
    else if (name == "lognormal")
    {
        read(Law::Lognormal, {{"median", 1.0}, {"sigma", 0.5}});
    }
    else if (name == "pareto")
    {
        read(Law::Pareto, {{"minimum", 1.0}, {"shape", 2.0}});
    }
    else
    {
        ReadSlowdownTrace(value, slowdown);
    }
    return slowdown;
}

/// Failures by chance: `mtbf` or `ratePerHour`, and `mttr`.
void
ReadGenerator(const JsonValue& value, FaultSpec& fault)
{
    const auto mtbf = value.Find("mtbf");
    const auto rate = value.Find("ratePerHour");
    const auto mttr = value.Find("mttr");
    if (!mtbf && !rate)
    {
        if (mttr)
        {
            mttr->FailWith("it needs \"mtbf\" or \"ratePerHour\"");
        }
        return;
    }
    if (mtbf && rate)
    {
        rate->FailWith("\"mtbf\" and \"ratePerHour\" are both given, expected one of them");
    }
    for (const auto* key : {"duration", "every", "count", "random"})
    {
        if (const auto other = value.Find(key))
        {
            other->FailWith("it cannot be given with failures by chance: targets fail each by "
                            "themselves, and \"mttr\" says for how long");
        }
    }
    fault.meanUp = mtbf ? mtbf->AsTime() : Hours(1.0 / rate->AsNumber(1e-3, 1e12));
    if (fault.meanUp.IsZero())
    {
        mtbf->Fail("a time above 0");
    }
    fault.meanRepair = mttr ? mttr->AsTime() : Time();
}

void
ReadTimes(const JsonValue& value, FaultSpec& fault)
{
    ReadGenerator(value, fault);
    const auto read = [&value](const std::string& key, Time& time) {
        if (const auto found = value.Find(key))
        {
            time = found->AsTime();
        }
    };
    read("start", fault.start);
    read("every", fault.every);
    fault.duration = fault.every;
    read("duration", fault.duration);
    const auto count = value.Find("count");
    if (count)
    {
        fault.count = count->AsUnsigned(1, std::numeric_limits<uint32_t>::max());
    }
    if (fault.every.IsZero() && fault.count > 1)
    {
        count->FailWith("it needs \"every\", the time from one beginning to the next");
    }
    if (fault.every.IsStrictlyPositive() &&
        (fault.duration > fault.every || fault.duration.IsZero()))
    {
        value.Find("duration")
            ->Fail(
                fmt::format("a time above 0 and at most \"every\", {}", FormatTime(fault.every)));
    }
}

/// What only some kinds have.
void
ReadDetails(const JsonValue& value, const TransportEntry& transport, FaultSpec& fault)
{
    if (const auto delay = value.Find("detectionDelay"))
    {
        fault.detectionDelay = delay->AsTime();
    }
    if (fault.kind == FaultKind::LinkDegraded)
    {
        ReadDegradation(value, transport, fault);
    }
    else if (fault.kind == FaultKind::Flood)
    {
        fault.degraded.floodBitRate = value.Require("rate", "\"10Gbps\"").AsRate().GetBitRate();
    }
    else if (fault.kind == FaultKind::Straggler)
    {
        fault.slowdown = ReadSlowdown(value.Require("slowdown", "2.5"));
    }
}

/// A link keeps the rate that every link has at least.
void
CheckRateShare(const JsonValue& value, const FaultSpec& fault, const Topology& topology)
{
    const auto share = value.Find("rateShare");
    if (fault.kind != FaultKind::LinkDegraded || !share)
    {
        return;
    }
    for (const auto id : fault.pool)
    {
        const auto& link = topology.GetLinks()[id];
        const auto left = fault.degraded.rateShare * static_cast<double>(link.rate.GetBitRate());
        if (left < static_cast<double>(MIN_LINK_BIT_RATE))
        {
            share->FailWith(fmt::format("of the {} of link {}-{} it leaves {:.6g} b/s, expected {} "
                                        "at least",
                                        FormatRate(link.rate),
                                        topology.GetNodes()[link.a].name,
                                        topology.GetNodes()[link.b].name,
                                        left,
                                        FormatRate(DataRate(MIN_LINK_BIT_RATE))));
        }
    }
}

FaultSpec
ReadFault(const JsonValue& value,
          const Topology& topology,
          const TransportEntry& transport,
          const std::vector<JobSpec>& jobs)
{
    FaultSpec fault;
    fault.kind = ReadFaultKind(value);
    if (!transport.Simulates(fault.kind))
    {
        value.Find("kind")->FailWith(fmt::format("the transport {} does not simulate {}",
                                                 transport.kind,
                                                 ToString(fault.kind)));
    }
    const auto& targetKeys = GetFaultTargetKeys(fault.kind);
    auto keys = FAULT_KEYS;
    keys.insert(keys.end(), targetKeys.begin(), targetKeys.end());
    const auto& more = FindKind(fault.kind).keys;
    keys.insert(keys.end(), more.begin(), more.end());
    value.CheckKeys(keys);
    fault.detectionDelay = DEFAULT_DETECTION_DELAY;
    ReadTimes(value, fault);
    ReadDetails(value, transport, fault);
    fault.pool = ReadFaultTargets(value, fault.kind, topology, jobs);
    if (fault.pool.empty())
    {
        value.FailWith("the network has nothing that this could happen to");
    }
    CheckRateShare(value, fault, topology);
    const auto random = value.Find("random");
    const bool isNamed = std::any_of(targetKeys.begin(), targetKeys.end(), [&](const auto& key) {
        return value.Find(key).has_value();
    });
    if (random)
    {
        fault.random = static_cast<uint32_t>(random->AsUnsigned(1, fault.pool.size()));
    }
    else if (!isNamed && fault.meanUp.IsZero())
    {
        value.FailWith(fmt::format("it does not say where, expected \"{}\" or \"random\": a number",
                                   targetKeys.front()));
    }
    return fault;
}

} // namespace

FaultKind
ReadFaultKind(const JsonValue& value)
{
    const auto names = GetFaultKindNames();
    const auto name = value.Require("kind", "\"link-down\"").AsChoice(names);
    return KINDS[std::find(names.begin(), names.end(), name) - names.begin()].kind;
}

std::vector<std::string>
GetFaultKindNames()
{
    std::vector<std::string> names;
    names.reserve(KINDS.size());
    for (const auto& entry : KINDS)
    {
        names.emplace_back(ToString(entry.kind));
    }
    return names;
}

std::vector<std::string>
GetAllFaultKeys()
{
    auto keys = FAULT_KEYS;
    keys.insert(keys.end(), {"file", "rows"});
    const auto append = [&keys](const std::vector<std::string>& more) {
        for (const auto& key : more)
        {
            if (std::find(keys.begin(), keys.end(), key) == keys.end())
            {
                keys.push_back(key);
            }
        }
    };
    for (const auto& entry : KINDS)
    {
        append(entry.keys);
        append(GetFaultTargetKeys(entry.kind));
    }
    return keys;
}

std::vector<FaultSpec>
ReadFaults(const JsonValue& list,
           const Topology& topology,
           const TransportEntry& transport,
           const std::vector<JobSpec>& jobs)
{
    const auto items = list.GetItems();
    std::vector<FaultSpec> faults;
    for (const auto& item : items)
    {
        const auto rows = item.Find("rows");
        if (!rows)
        {
            faults.push_back(ReadFault(item, topology, transport, jobs));
            continue;
        }
        item.CheckKeys({"file", "rows"});
        const auto file = item.Require("file", "\"faults.csv\"").AsName();
        for (const auto& row : rows->GetItems())
        {
            const auto line = row.Require("line", "2").AsUnsigned(1, UINT32_MAX);
            const JsonValue named(row.Get(), file, fmt::format("line {}", line));
            const auto fault = MakeFaultOfRow(named, topology);
            faults.push_back(ReadFault(JsonValue(fault, file, fmt::format("line {}", line)),
                                       topology,
                                       transport,
                                       jobs));
        }
    }
    if (faults.size() > MAX_FAULTS)
    {
        list.Fail(fmt::format("at most {} faults", MAX_FAULTS));
    }
    return faults;
}

} // namespace ns3::gradsync
