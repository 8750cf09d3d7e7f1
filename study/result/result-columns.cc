// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/result-columns.h"

#include "ns3/result-files.h"
#include "ns3/run-store.h"
#include "ns3/summary-columns.h"
#include "ns3/swept-columns.h"

#include <algorithm>
#include <string>
#include <vector>

namespace ns3::gradsync
{

namespace
{

constexpr std::array<TableFile, 14> TABLES{{
    {RunStore::ITERATION_FILE, ITERATION_COLUMNS},
    {RunStore::LINK_FILE, LINK_COLUMNS},
    {RunStore::MESSAGE_FILE, MESSAGE_COLUMNS},
    {RunStore::FAULT_FILE, FAULT_COLUMNS},
    {RunStore::SAMPLE_FILE, SAMPLE_COLUMNS},
    {RunStore::FLOW_FILE, FLOW_COLUMNS},
    {RunStore::UNFINISHED_FILE, UNFINISHED_COLUMNS},
    {RunStore::BLOCKED_FILE, BLOCKED_COLUMNS},
    {RunStore::TRAINING_FILE, TRAINING_COLUMNS},
    {RunStore::STREAM_FILE, STREAM_COLUMNS},
    {RunStore::COLLECTIVE_FILE, COLLECTIVE_COLUMNS},
    {RunStore::CRITICAL_FILE, CRITICAL_COLUMNS},
    {RunStore::UPDATE_FILE, UPDATE_COLUMNS},
    {RunStore::WORKER_FILE, WORKER_COLUMNS},
}};

std::string
NameType(ColumnType type)
{
    switch (type)
    {
    case ColumnType::Integer:
        return "integer";
    case ColumnType::Number:
        return "number";
    case ColumnType::Flag:
        return "flag";
    case ColumnType::Text:
        break;
    }
    return "text";
}

std::string
NameCompared(Compared compared)
{
    switch (compared)
    {
    case Compared::SameProgram:
        return "same-program";
    case Compared::Never:
        return "never";
    case Compared::Always:
        break;
    }
    return "always";
}

Json
Describe(const ResultColumn& column)
{
    Json json;
    json["name"] = column.name;
    json["label"] = column.label;
    json["unit"] = column.unit;
    json["type"] = NameType(column.type);
    json["compared"] = NameCompared(column.compared);
    return json;
}

Json
DescribeRunColumns(const Scenario& scenario)
{
    Json columns = Json::array({Describe(RUN_COLUMN)});
    for (const auto& column : ListSweptColumns(scenario))
    {
        const auto unit = GetUnit(column);
        columns.push_back(Describe({column.name.c_str(), "", unit.c_str(), column.type}));
        if (column.number == Quantity::None)
        {
            columns.back()["swept"] = true;
        }
        else
        {
            columns.back()["of"] = scenario.axes[column.axis].path;
        }
    }
    const bool hasSeed = HasSeedAxis(scenario);
    for (const auto& entry : GetSummaryColumns())
    {
        if (!hasSeed || &entry != &GetSummaryColumns().front())
        {
            columns.push_back(Describe(entry.column));
        }
    }
    return columns;
}

} // namespace

std::span<const TableFile>
GetTableFiles()
{
    return TABLES;
}

bool
HasSeedAxis(const Scenario& scenario)
{
    return std::ranges::find(scenario.axes, "seed", &SweepAxis::path) != scenario.axes.end();
}

Json
DescribeColumns(const Scenario& scenario)
{
    Json tables;
    tables[RUNS_FILE] = DescribeRunColumns(scenario);
    for (const auto& table : TABLES)
    {
        Json columns = Json::array({Describe(RUN_COLUMN)});
        for (const auto& column : table.columns)
        {
            columns.push_back(Describe(column));
        }
        tables[table.name] = std::move(columns);
    }
    return tables;
}

} // namespace ns3::gradsync
