// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_ROW_WRITER_H
#define GRADSYNC_ROW_WRITER_H

#include "ns3/csv-text.h"
#include "ns3/nstime.h"
#include "ns3/result-columns.h"
#include "ns3/units.h"

#include <concepts>
#include <cstddef>
#include <fmt/format.h>
#include <iterator>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>

namespace ns3::gradsync
{

/// Seconds of a time, as FormatSeconds has it.
struct TimeCell
{
    Time time;
};

/// A share of 1.
struct ShareCell
{
    double value;
};

/// Any number, to nine digits.
struct NumberCell
{
    double value;
};

/// Text as WriteCsvText has written it, once for many rows.
struct WrittenCell
{
    const std::string& text;
};

/*
 * What a cell is by the type of its value: a value that is none of these does not compile.
 */
template <typename Value>
inline constexpr ColumnType CELL_TYPE = ColumnType::Text;
template <std::integral Value>
inline constexpr ColumnType CELL_TYPE<Value> = ColumnType::Integer;
template <>
inline constexpr ColumnType CELL_TYPE<TimeCell> = ColumnType::Number;
template <>
inline constexpr ColumnType CELL_TYPE<ShareCell> = ColumnType::Number;
template <>
inline constexpr ColumnType CELL_TYPE<NumberCell> = ColumnType::Number;
template <typename Value>
inline constexpr ColumnType CELL_TYPE<std::optional<Value>> = CELL_TYPE<Value>;

/// Appends to a buffer and hands it on in large parts: millions of rows are written.
template <const auto& COLUMNS>
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

    /// A cell for each column, of its type.
    template <typename... Values>
    void Add(const Values&... values)
    {
        static_assert(sizeof...(Values) == COLUMNS.size());
        static_assert([]<size_t... I>(std::index_sequence<I...>) {
            return ((CELL_TYPE<Values> == COLUMNS[I].type) && ...);
        }(std::index_sequence_for<Values...>()));
        constexpr size_t PART = 1 << 16;
        (AppendCell(values), ...);
        m_buffer[m_buffer.size() - 1] = '\n'; // in place of the last comma
        if (m_buffer.size() >= PART)
        {
            m_stream.write(m_buffer.data(), static_cast<std::streamsize>(m_buffer.size()));
            m_buffer.clear();
        }
    }

  private:
    template <typename Value>
    void AppendCell(const Value& value)
    {
        AppendValue(value);
        m_buffer.push_back(',');
    }

    template <std::integral Value>
    void AppendValue(Value value)
    {
        const fmt::format_int digits(value);
        m_buffer.append(digits.data(), digits.data() + digits.size());
    }

    void AppendValue(const TimeCell& cell)
    {
        Append(FormatSeconds(cell.time));
    }

    void AppendValue(const ShareCell& cell)
    {
        fmt::format_to(std::back_inserter(m_buffer), "{:.6f}", cell.value);
    }

    void AppendValue(const NumberCell& cell)
    {
        fmt::format_to(std::back_inserter(m_buffer), "{:.9g}", cell.value);
    }

    void AppendValue(const WrittenCell& cell)
    {
        Append(cell.text);
    }

    void AppendValue(std::string_view text)
    {
        Append(WriteCsvText(text));
    }

    template <typename Value>
    void AppendValue(const std::optional<Value>& value)
    {
        if (value)
        {
            AppendValue(*value);
        }
    }

    void Append(std::string_view text)
    {
        m_buffer.append(text.data(), text.data() + text.size());
    }

    std::ostream& m_stream;
    fmt::memory_buffer m_buffer;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_ROW_WRITER_H
