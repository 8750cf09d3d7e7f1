// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/trace-events.h"

#include "ns3/json-document.h"

#include <fmt/format.h>

namespace ns3::gradsync
{

std::string
FormatMicroseconds(const Time& time)
{
    const auto picoseconds = time.GetPicoSeconds();
    return fmt::format("{}.{:06}", picoseconds / 1'000'000, picoseconds % 1'000'000);
}

std::string
QuoteJson(const std::string& text)
{
    return Json(text).dump();
}

uint32_t
Lanes::Take(const Time& start, const Time& end)
{
    while (!m_busy.empty() && m_busy.top().first <= start)
    {
        m_free.push(m_busy.top().second);
        m_busy.pop();
    }
    uint32_t lane = m_count;
    if (m_free.empty())
    {
        ++m_count;
    }
    else
    {
        lane = m_free.top();
        m_free.pop();
    }
    m_busy.emplace(end, lane);
    return lane;
}

void
TraceEvents::Begin()
{
    m_stream << "{\"displayTimeUnit\": \"ms\", \"traceEvents\": [";
}

void
TraceEvents::End()
{
    m_stream << "\n]}\n";
}

void
TraceEvents::Add(char phase, uint32_t process, uint32_t thread, const std::string& more)
{
    m_stream << fmt::format("{}\n{{\"ph\": \"{}\", \"pid\": {}, \"tid\": {}, {}}}",
                            m_isFirst ? "" : ",",
                            phase,
                            process,
                            thread,
                            more);
    m_isFirst = false;
}

void
TraceEvents::AddSpan(uint32_t process,
                     uint32_t thread,
                     const std::string& name,
                     const Time& start,
                     const Time& end,
                     const std::string& more)
{
    Add('X',
        process,
        thread,
        fmt::format("\"name\": {}, \"ts\": {}, \"dur\": {}{}",
                    QuoteJson(name),
                    FormatMicroseconds(start),
                    FormatMicroseconds(end - start),
                    more));
}

void
TraceEvents::Describe(uint32_t process,
                      uint32_t thread,
                      const std::string& what,
                      const std::string& value)
{
    const auto member = what.substr(what.find('_') + 1);
    Add('M',
        process,
        thread,
        fmt::format("\"name\": \"{}\", \"args\": {{\"{}\": {}}}", what, member, value));
}

void
TraceEvents::NameProcess(uint32_t process, const std::string& name)
{
    Describe(process, 0, "process_name", QuoteJson(name));
    Describe(process, 0, "process_sort_index", std::to_string(process));
}

void
TraceEvents::NameThread(uint32_t process,
                        uint32_t thread,
                        const std::string& name,
                        std::optional<uint32_t> place)
{
    Describe(process, thread, "thread_name", QuoteJson(name));
    Describe(process, thread, "thread_sort_index", std::to_string(place.value_or(thread)));
}

void
TraceEvents::AddArrowEnd(char phase,
                         uint32_t process,
                         uint32_t thread,
                         const std::string& name,
                         uint64_t flow,
                         const Time& at,
                         bool isCritical)
{
    Add(phase,
        process,
        thread,
        fmt::format("\"name\": {}, \"cat\": \"{}\", \"id\": {}, \"ts\": {}{}",
                    QuoteJson(name),
                    isCritical ? "critical" : "message",
                    flow,
                    FormatMicroseconds(at),
                    phase == 'f' ? ", \"bp\": \"e\"" : ""));
}

} // namespace ns3::gradsync
