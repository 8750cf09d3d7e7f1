// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/aggregation-reader.h"

#include "ns3/aggregation-drivers.h"
#include "ns3/aggregation-service.h"
#include "ns3/p4-program-reader.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <iterator>
#include <optional>
#include <string_view>

namespace ns3::gradsync
{

namespace
{

/// Where a key of `transport.aggregation` of earlier versions is now.
struct MovedKey
{
    const char* old;
    const char* driver;
    const char* now;
};

constexpr MovedKey MOVED[] = {
    {"atpAggregators", "atp", "aggregators"},
    {"atpBusyShare", "atp", "busyShare"},
    {"atpFirstTimeout", "atp", "firstTimeout"},
    {"atpTimeout", "atp", "timeout"},
    {"atpWindow", "atp", "window"},
    {"netReduceMessagePackets", "netreduce", "messagePackets"},
    {"netReduceWindow", "netreduce", "window"},
    {"poolSlots", "slot", "poolSlots"},
    {"sharing", "slot", "sharing"},
    {"slots", "slot", "slots"},
    {"timeout", "slot", "timeout"},
    {"valuesPerPacket", "slot", "valuesPerPacket"},
};

const AggregationDriverEntry&
GetEntry(std::string_view name)
{
    const auto& entries = GetAggregationDrivers();
    return *std::ranges::find(entries, name, &AggregationDriverEntry::name);
}

/// The value of a driver's key in its place or under its old name.
std::optional<JsonValue>
FindDriverKey(const JsonValue& settings, const std::string& driver, const std::string& key)
{
    if (const auto own = settings.Find(driver))
    {
        if (auto value = own->Find(key))
        {
            return value;
        }
    }
    const auto moved = std::ranges::find_if(MOVED, [&](const MovedKey& entry) {
        return entry.driver == driver && entry.now == key;
    });
    return moved == std::end(MOVED) ? std::nullopt : settings.Find(moved->old);
}

/// The P4 programs of the engine p4 are compiled for some values.
void
CheckEngine(const JsonValue& settings)
{
    const auto engine = settings.Find("engine");
    if (!engine || engine->AsString("an engine") != "p4")
    {
        return;
    }
    for (const auto& entry : GetAggregationDrivers())
    {
        for (const auto& [attribute, least, most] : entry.compiled)
        {
            const auto value = FindDriverKey(settings, entry.name, GetAttributeKey(attribute));
            const auto number = value ? value->AsUnsigned(0, UINT32_MAX) : most;
            if (number < least || number > most)
            {
                value->Fail(fmt::format("{}{}, for which the program of the engine p4 is compiled",
                                        least == most ? "" : "at most ",
                                        most));
            }
        }
        for (const auto& [attribute, choice] : entry.chosen)
        {
            const auto value = FindDriverKey(settings, entry.name, GetAttributeKey(attribute));
            if (value && value->AsString("a choice") != choice)
            {
                value->Fail(
                    fmt::format("\"{}\", which alone the program of the engine p4 knows", choice));
            }
        }
    }
}

void
ReadMoved(const JsonValue& settings, AggregationChoice& choice)
{
    for (const auto& moved : MOVED)
    {
        const auto value = settings.Find(moved.old);
        if (!value)
        {
            continue;
        }
        const auto driver = settings.Find(moved.driver);
        if (driver && driver->Find(moved.now))
        {
            value->FailWith(
                fmt::format("is the old name of {}.{}, which is set too", moved.driver, moved.now));
        }
        choice.parts.push_back(
            {GetDriverPart(moved.driver),
             {ReadAttribute(*value, GetEntry(moved.driver).getTypeId(), moved.now)}});
        choice.renamed.push_back(
            {value->GetPath(),
             fmt::format("{}.{}.{}", settings.GetPath(), moved.driver, moved.now)});
    }
}

} // namespace

std::string
GetDriverPart(const std::string& driver)
{
    return fmt::format("{}.{}", AGGREGATION_PART, driver);
}

const std::vector<ParameterSpec>&
GetAggregationParameters()
{
    static const std::vector<ParameterSpec> specs = [] {
        auto list = DescribeAttributes(AggregationService::GetTypeId());
        list.push_back(DescribePrograms());
        for (const auto& entry : GetAggregationDrivers())
        {
            list.push_back(
                MakeObjectSpec(entry.name,
                               fmt::format("of the protocol {}", fmt::join(entry.protocols, ", ")),
                               DescribeAttributes(entry.getTypeId())));
        }
        for (const auto& moved : MOVED)
        {
            ParameterSpec old{moved.old, std::string(), ""};
            old.renamedTo = fmt::format("{}.{}", moved.driver, moved.now);
            list.push_back(std::move(old));
        }
        return list;
    }();
    return specs;
}

AggregationChoice
ReadAggregation(const JsonValue& settings)
{
    AggregationChoice choice;
    std::vector<std::string> others;
    for (const auto& spec : GetAggregationParameters())
    {
        // Messages that list what is allowed do not name old names.
        if (spec.renamedTo.empty() || settings.Find(spec.name))
        {
            others.push_back(spec.name);
        }
    }
    choice.parts.emplace_back(AGGREGATION_PART,
                              ReadAttributes(settings, AggregationService::GetTypeId(), others));
    for (const auto& entry : GetAggregationDrivers())
    {
        if (const auto own = settings.Find(entry.name))
        {
            choice.parts.emplace_back(GetDriverPart(entry.name),
                                      ReadAttributes(*own, entry.getTypeId(), {}));
        }
    }
    ReadMoved(settings, choice);
    CheckEngine(settings);
    return choice;
}

} // namespace ns3::gradsync
