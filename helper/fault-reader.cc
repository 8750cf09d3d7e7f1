// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/fault-reader.h"

#include "ns3/node-names.h"
#include "ns3/units.h"

#include <algorithm>
#include <fmt/format.h>
#include <limits>
#include <set>

namespace ns3::gradsync
{

namespace
{

constexpr size_t MAX_FAULTS = 10'000;
const Time DEFAULT_DETECTION_DELAY = MilliSeconds(1);

const std::vector<std::string> COMMON_KEYS{"kind", "start", "duration", "every", "count", "random"};

struct KindEntry
{
    FaultKind kind;
    std::vector<std::string> keys; //!< besides the common ones
};

const std::vector<KindEntry> KINDS{
    {FaultKind::HostPauseSend, {"hosts"}},
    {FaultKind::HostPause, {"hosts"}},
    {FaultKind::LinkDown, {"links", "at", "detectionDelay"}},
    {FaultKind::LinkDegraded, {"links", "at", "rateShare", "extraDelay", "loss"}},
    {FaultKind::SwitchDown, {"switches", "detectionDelay"}}};

const KindEntry&
ReadKind(const JsonValue& value)
{
    std::vector<std::string> names;
    names.reserve(KINDS.size());
    for (const auto& entry : KINDS)
    {
        names.emplace_back(ToString(entry.kind));
    }
    const auto name = value.Require("kind", "\"link-down\"").AsChoice(names);
    return KINDS[std::find(names.begin(), names.end(), name) - names.begin()];
}

bool
IsEthernet(const TopologyLink& link)
{
    return link.kind == LinkKind::Host || link.kind == LinkKind::Fabric;
}

/// `[["leaf0", "spine1"], ...]`: all links between the two nodes.
std::vector<uint32_t>
ReadLinks(const JsonValue& list, const Topology& topology)
{
    const auto names = NodeNames::OfAll(topology);
    std::set<uint32_t> links;
    for (const auto& item : list.GetItems())
    {
        const auto ends = item.GetItems();
        if (ends.size() != 2)
        {
            item.Fail("two names of nodes: [\"leaf0\", \"spine1\"]");
        }
        const auto a = names.Read(ends[0]);
        const auto b = names.Read(ends[1]);
        const auto before = links.size();
        for (const auto& port : topology.GetPorts(a))
        {
            if (port.peer == b)
            {
                links.insert(port.link);
            }
        }
        if (links.size() == before)
        {
            item.FailWith(fmt::format("there is no link between them, or it is listed twice"));
        }
    }
    return {links.begin(), links.end()};
}

/// Without `links`: the network's links between switches, or those of the node `at`.
std::vector<uint32_t>
SelectLinks(const JsonValue& value, const Topology& topology)
{
    const auto list = value.Find("links");
    const auto at = value.Find("at");
    if (list && at)
    {
        at->FailWith("\"links\" and \"at\" are both given, expected one of them");
    }
    if (list)
    {
        return ReadLinks(*list, topology);
    }
    std::vector<uint32_t> links;
    const auto node = at ? NodeNames::OfAll(topology).Read(*at) : 0;
    for (uint32_t id = 0; id < topology.GetLinks().size(); ++id)
    {
        const auto& link = topology.GetLinks()[id];
        const bool isWanted = at ? (link.a == node || link.b == node) && IsEthernet(link)
                                 : link.kind == LinkKind::Fabric;
        if (isWanted)
        {
            links.push_back(id);
        }
    }
    // A leaf loses links to its spines, not those to its servers; a server has no others.
    if (at)
    {
        const auto isFabric = [&topology](uint32_t id) {
            return topology.GetLinks()[id].kind == LinkKind::Fabric;
        };
        if (std::any_of(links.begin(), links.end(), isFabric))
        {
            std::erase_if(links, [&](uint32_t id) { return !isFabric(id); });
        }
    }
    return links;
}

std::vector<uint32_t>
ReadNames(const JsonValue& list, const NodeNames& names)
{
    std::set<uint32_t> indices;
    for (const auto& item : list.GetItems())
    {
        if (!indices.insert(names.Read(item)).second)
        {
            item.FailWith(fmt::format("{} is listed twice", ShowJson(item.Get())));
        }
    }
    return {indices.begin(), indices.end()};
}

std::vector<uint32_t>
ReadPool(const JsonValue& value, FaultKind kind, const Topology& topology)
{
    if (GetTarget(kind) == FaultTarget::Link)
    {
        return SelectLinks(value, topology);
    }
    const bool isSwitch = GetTarget(kind) == FaultTarget::Node;
    if (const auto list = value.Find(isSwitch ? "switches" : "hosts"))
    {
        return ReadNames(*list,
                         isSwitch ? NodeNames::OfForwarders(topology)
                                  : NodeNames::OfEndpoints(topology));
    }
    std::vector<uint32_t> all;
    const auto size = isSwitch ? topology.GetNodes().size() : topology.GetEndpoints().size();
    for (uint32_t i = 0; i < size; ++i)
    {
        if (!isSwitch || topology.GetNodes()[i].kind == NodeKind::Switch)
        {
            all.push_back(i);
        }
    }
    return all;
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
        fault.degraded.extraDelay = delay->AsTime();
    }
    if (const auto loss = value.Find("loss"))
    {
        fault.degraded.loss = ReadLoss(*loss);
        if (fault.degraded.loss.IsLossy() && !transport.packets)
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

void
ReadTimes(const JsonValue& value, FaultSpec& fault)
{
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

FaultSpec
ReadFault(const JsonValue& value, const Topology& topology, const TransportEntry& transport)
{
    const auto& entry = ReadKind(value);
    auto keys = COMMON_KEYS;
    keys.insert(keys.end(), entry.keys.begin(), entry.keys.end());
    value.CheckKeys(keys);
    FaultSpec fault;
    fault.kind = entry.kind;
    fault.detectionDelay = DEFAULT_DETECTION_DELAY;
    ReadTimes(value, fault);
    if (const auto delay = value.Find("detectionDelay"))
    {
        fault.detectionDelay = delay->AsTime();
    }
    if (fault.kind == FaultKind::LinkDegraded)
    {
        ReadDegradation(value, transport, fault);
    }
    fault.pool = ReadPool(value, fault.kind, topology);
    if (fault.pool.empty())
    {
        value.FailWith("the network has nothing that this could happen to");
    }
    const auto random = value.Find("random");
    const bool isNamed =
        value.Find("hosts") || value.Find("links") || value.Find("at") || value.Find("switches");
    if (random)
    {
        fault.random = static_cast<uint32_t>(random->AsUnsigned(1, fault.pool.size()));
    }
    else if (!isNamed)
    {
        value.FailWith(fmt::format("it does not say where, expected \"{}\" or \"random\": a number",
                                   entry.keys.front()));
    }
    return fault;
}

} // namespace

std::vector<std::string>
GetAllFaultKeys()
{
    auto keys = COMMON_KEYS;
    for (const auto& entry : KINDS)
    {
        for (const auto& key : entry.keys)
        {
            if (std::find(keys.begin(), keys.end(), key) == keys.end())
            {
                keys.push_back(key);
            }
        }
    }
    return keys;
}

std::vector<FaultSpec>
ReadFaults(const JsonValue& list, const Topology& topology, const TransportEntry& transport)
{
    const auto items = list.GetItems();
    if (items.size() > MAX_FAULTS)
    {
        list.Fail(fmt::format("a list of at most {} faults", MAX_FAULTS));
    }
    if (!items.empty() && !transport.faults)
    {
        list.FailWith(fmt::format("the transport {} does not simulate faults", transport.kind));
    }
    std::vector<FaultSpec> faults;
    faults.reserve(items.size());
    for (const auto& item : items)
    {
        faults.push_back(ReadFault(item, topology, transport));
    }
    return faults;
}

} // namespace ns3::gradsync
