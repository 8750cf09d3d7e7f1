// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/swept-columns.h"

#include "ns3/csv-text.h"
#include "ns3/document-path.h"
#include "ns3/json-value.h"
#include "ns3/scenario-error.h"
#include "ns3/scenario-reader.h"
#include "ns3/scenario-vocabulary.h"
#include "ns3/summary-columns.h"
#include "ns3/time-resolution.h"
#include "ns3/units.h"

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <variant>

namespace ns3::gradsync
{

namespace
{

ColumnType
GetColumnType(const ParameterValue& value)
{
    return std::holds_alternative<bool>(value)      ? ColumnType::Flag
           : std::holds_alternative<int64_t>(value) ? ColumnType::Integer
           : std::holds_alternative<double>(value)  ? ColumnType::Number
                                                    : ColumnType::Text;
}

/// Of values whose parameter is not declared by itself, as a member of a list.
ColumnType
FindType(const std::vector<Json>& values)
{
    const auto all = [&values](auto is) {
        return std::ranges::all_of(values, [is](const Json& value) { return (value.*is)(); });
    };
    return all(&Json::is_number_integer) ? ColumnType::Integer
           : all(&Json::is_number)       ? ColumnType::Number
           : all(&Json::is_boolean)      ? ColumnType::Flag
                                         : ColumnType::Text;
}

/// That of the parameter, so that the tables of two sweeps have one type; text where a sweep takes
/// another form of it.
ColumnType
FindType(const std::optional<ParameterSpec>& spec, const std::vector<Json>& values)
{
    if (!spec)
    {
        return FindType(values);
    }
    const auto type = GetColumnType(spec->defaultValue);
    const bool isOne = std::ranges::all_of(values, [type](const Json& value) {
        return type == ColumnType::Flag ? value.is_boolean() : value.is_number();
    });
    return isOne ? type : ColumnType::Text;
}

Quantity
FindQuantity(const ParameterSpec& spec)
{
    const auto& value = spec.defaultValue;
    if (std::holds_alternative<ByteCount>(value))
    {
        return Quantity::Bytes;
    }
    if (std::holds_alternative<DataRate>(value))
    {
        return Quantity::Rate;
    }
    if (std::holds_alternative<Time>(value))
    {
        return Quantity::Time;
    }
    for (const auto& form : spec.forms)
    {
        if (const auto quantity = FindQuantity(form); quantity != Quantity::None)
        {
            return quantity;
        }
    }
    return Quantity::None;
}

/// As the other columns of results name their units.
std::string
GetSuffix(Quantity quantity)
{
    switch (quantity)
    {
    case Quantity::Bytes:
        return "_bytes";
    case Quantity::Rate:
        return "_bps";
    case Quantity::Time:
        return "_s";
    case Quantity::None:
        break;
    }
    return "";
}

/// \throws std::invalid_argument for what is no such quantity
std::string
FormatNumber(Quantity quantity, const std::string& text)
{
    switch (quantity)
    {
    case Quantity::Bytes:
        return std::to_string(ParseBytes(text));
    case Quantity::Rate:
        return std::to_string(ParseRate(text).GetBitRate());
    case Quantity::Time:
        UsePicoseconds();
        return FormatSeconds(ParseTime(text));
    case Quantity::None:
        break;
    }
    return "";
}

/// What runs.csv has, and of it what is a number.
struct RunColumnNames
{
    std::vector<std::string> all;
    std::vector<std::string> numbers;

    void Add(const std::string& name, ColumnType type)
    {
        if (std::ranges::count(all, name) > 0)
        {
            return;
        }
        all.push_back(name);
        if (type == ColumnType::Integer || type == ColumnType::Number)
        {
            numbers.push_back(name);
        }
    }
};

RunColumnNames
ListRunColumns(const Scenario& scenario)
{
    RunColumnNames names;
    names.Add(RUN_COLUMN.name, RUN_COLUMN.type);
    for (const auto& column : ListSweptColumns(scenario))
    {
        names.Add(column.name, column.type);
    }
    for (const auto& entry : GetSummaryColumns())
    {
        names.Add(entry.column.name, entry.column.type);
    }
    return names;
}

/// A path that is not swept, as an override took it out, is no mistake: a hint at it says nothing.
bool
IsFixed(const Scenario& scenario, const std::string& name)
{
    const bool isInside = std::ranges::any_of(scenario.axes, [&name](const SweepAxis& axis) {
        return axis.path.starts_with(name + ".");
    });
    return !isInside && (FindAtPath(scenario.document, SplitPath(name)) != nullptr ||
                         ScenarioVocabulary(scenario.document).FindParameter(name));
}

void
CheckColumn(const JsonValue& hint, const std::vector<std::string>& names, const Scenario& scenario)
{
    if (!IsFixed(scenario, hint.AsString("a column of runs.csv")))
    {
        hint.AsChoice(names);
    }
}

} // namespace

std::string
GetUnit(const SweptColumn& column)
{
    switch (column.number)
    {
    case Quantity::Bytes:
        return "B";
    case Quantity::Rate:
        return "b/s";
    case Quantity::Time:
        return "s";
    case Quantity::None:
        break;
    }
    return "";
}

std::vector<SweptColumn>
ListSweptColumns(const Scenario& scenario)
{
    const ScenarioVocabulary vocabulary(scenario.document);
    std::vector<SweptColumn> columns;
    std::vector<SweptColumn> numbers;
    for (size_t i = 0; i < scenario.axes.size(); ++i)
    {
        const auto& [path, values] = scenario.axes[i];
        const auto spec = vocabulary.FindParameter(path);
        columns.push_back({i, path, FindType(spec, values)});
        const auto quantity = spec ? FindQuantity(*spec) : Quantity::None;
        if (quantity != Quantity::None)
        {
            const auto type = quantity == Quantity::Time ? ColumnType::Number : ColumnType::Integer;
            numbers.push_back({i, path + GetSuffix(quantity), type, quantity});
        }
    }
    columns.insert(columns.end(), numbers.begin(), numbers.end());
    return columns;
}

std::string
FormatSwept(const SweptColumn& column, const Json& value)
{
    const auto text = ShowSweptValue(value);
    if (column.number == Quantity::None)
    {
        return value.is_string() ? WriteCsvText(text) : QuoteCsv(text);
    }
    if (!value.is_string())
    {
        return "";
    }
    try
    {
        return FormatNumber(column.number, text);
    }
    catch (const std::invalid_argument&)
    {
        // A word that the parameter allows beside quantities.
        return "";
    }
}

void
CheckPlotColumns(const Scenario& scenario)
{
    const JsonValue root(scenario.document, scenario.file, "");
    const auto plot = root.Find("plot");
    if (!plot)
    {
        return;
    }
    const auto names = ListRunColumns(scenario);
    for (const auto* key : {"x", "series"})
    {
        if (const auto hint = plot->Find(key))
        {
            CheckColumn(*hint, names.all, scenario);
        }
    }
    if (const auto y = plot->Find("y"))
    {
        CheckColumn(*y, names.numbers, scenario);
    }
    if (const auto panels = plot->Find("panels"))
    {
        for (const auto& panel : panels->GetItems())
        {
            CheckColumn(panel, names.numbers, scenario);
        }
    }
}

} // namespace ns3::gradsync
