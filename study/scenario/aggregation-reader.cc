// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/aggregation-reader.h"

#include "ns3/aggregation-drivers.h"
#include "ns3/aggregation-service.h"
#include "ns3/p4-compiled-programs.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <optional>

namespace ns3::gradsync
{

namespace
{

/// A key that is no Attribute; see p4-program-reader.h.
constexpr const char* PROGRAMS = "programs";

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

std::string
NamePart(const std::string& driver)
{
    return fmt::format("{}.{}", AGGREGATION_PART, driver);
}

/// The value of a key in its place or under its old name.
std::optional<JsonValue>
FindSlotKey(const JsonValue& settings, const char* key)
{
    const auto slot = settings.Find("slot");
    const auto value = slot ? slot->Find(key) : std::nullopt;
    return value ? value : settings.Find(key);
}

/// The P4 program of the engine p4 is compiled for some values.
void
CheckEngine(const JsonValue& settings)
{
    const auto engine = settings.Find("engine");
    if (!engine || engine->AsString("an engine") != "p4")
    {
        return;
    }
    const auto check = [&settings](const char* key, uint64_t least, uint64_t most) {
        const auto value = FindSlotKey(settings, key);
        const auto number = value ? value->AsUnsigned(0, UINT32_MAX) : most;
        if (number < least || number > most)
        {
            value->Fail(
                least == most
                    ? fmt::format("{}, for which the program of the engine p4 is compiled", most)
                    : fmt::format("at most {}, for which the program of the engine p4 is "
                                  "compiled",
                                  most));
        }
    };
    check("valuesPerPacket", compiled::SLOT_VALUES, compiled::SLOT_VALUES);
    check("slots", 0, compiled::SLOT_POOL);
    check("poolSlots", 0, compiled::SLOT_POOL);
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
            {NamePart(moved.driver),
             {ReadAttribute(*value, GetEntry(moved.driver).getTypeId(), moved.now)}});
        choice.renamed.push_back(
            {value->GetPath(),
             fmt::format("{}.{}.{}", settings.GetPath(), moved.driver, moved.now)});
    }
}

} // namespace

std::vector<std::string>
GetAggregationKeys()
{
    auto keys = GetAttributeKeys(AggregationService::GetTypeId());
    keys.emplace_back(PROGRAMS);
    for (const auto& entry : GetAggregationDrivers())
    {
        keys.push_back(entry.name);
    }
    return keys;
}

std::vector<std::string>
GetOldAggregationKeys()
{
    std::vector<std::string> keys;
    for (const auto& moved : MOVED)
    {
        keys.emplace_back(moved.old);
    }
    return keys;
}

std::vector<std::string>
GetAggregationDriverKeys(std::string_view driver)
{
    const auto& entries = GetAggregationDrivers();
    const auto found = std::ranges::find(entries, driver, &AggregationDriverEntry::name);
    return found == entries.end() ? std::vector<std::string>()
                                  : GetAttributeKeys(found->getTypeId());
}

AggregationChoice
ReadAggregation(const JsonValue& settings)
{
    AggregationChoice choice;
    std::vector<std::string> others{PROGRAMS};
    for (const auto& entry : GetAggregationDrivers())
    {
        others.push_back(entry.name);
    }
    // Messages that list what is allowed do not name old names.
    std::ranges::copy_if(GetOldAggregationKeys(),
                         std::back_inserter(others),
                         [&settings](const auto& key) { return settings.Find(key).has_value(); });
    choice.parts.emplace_back(AGGREGATION_PART,
                              ReadAttributes(settings, AggregationService::GetTypeId(), others));
    for (const auto& entry : GetAggregationDrivers())
    {
        if (const auto own = settings.Find(entry.name))
        {
            choice.parts.emplace_back(NamePart(entry.name),
                                      ReadAttributes(*own, entry.getTypeId(), {}));
        }
    }
    ReadMoved(settings, choice);
    CheckEngine(settings);
    return choice;
}

} // namespace ns3::gradsync
