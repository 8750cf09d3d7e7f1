// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/progress-meter.h"

#include "ns3/shown-text.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <numeric>
#include <utility>

namespace ns3::gradsync
{

namespace
{

std::string
FormatBytes(double bytes)
{
    constexpr const char* UNITS[] = {"B", "kB", "MB", "GB", "TB", "PB"};
    size_t unit = 0;
    while (bytes >= 1000.0 && unit + 1 < std::size(UNITS))
    {
        bytes /= 1000.0;
        ++unit;
    }
    return fmt::format("{:.{}f} {}", bytes, unit == 0 ? 0 : 1, UNITS[unit]);
}

std::string
FormatDuration(double seconds)
{
    const auto whole = static_cast<uint64_t>(std::llround(seconds));
    return whole >= 3600 ? fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60)
                         : fmt::format("{}:{:02}", whole / 60, whole % 60);
}

double
Sum(const std::vector<uint64_t>& values)
{
    return std::accumulate(values.begin(), values.end(), 0.0, [](double sum, uint64_t value) {
        return sum + static_cast<double>(value);
    });
}

} // namespace

ProgressMeter::ProgressMeter(ProgressStyle style,
                             std::ostream& stream,
                             std::vector<uint64_t> runBytes)
    : m_style(style),
      m_stream(stream),
      m_total(std::move(runBytes)),
      m_done(m_total.size(), 0)
{
    m_runs = static_cast<uint32_t>(
        std::count_if(m_total.begin(), m_total.end(), [](uint64_t bytes) { return bytes > 0; }));
}

void
ProgressMeter::Update(uint32_t run, uint64_t deliveredBytes)
{
    m_done[run] = std::min(deliveredBytes, m_total[run]);
}

void
ProgressMeter::Finish(uint32_t run, const std::string& line)
{
    m_done[run] = m_total[run];
    ++m_finished;
    if (m_style != ProgressStyle::None)
    {
        Clear();
        m_stream << ShowMessage(line) << std::endl;
        m_drawn = {};
        Draw();
    }
}

std::string
ProgressMeter::FormatBar() const
{
    constexpr size_t CELLS = 30;
    const double total = Sum(m_total);
    const double done = Sum(m_done);
    const double share = total > 0.0 ? done / total : 1.0;
    const auto cells = static_cast<size_t>(share * CELLS);
    const double elapsed = std::chrono::duration<double>(Clock::now() - m_begin).count();
    // Before a hundredth is done an estimate would only mislead.
    const std::string left =
        share < 0.01 ? "ETA --:--" : "ETA " + FormatDuration(elapsed * (1.0 - share) / share);
    return fmt::format("[{}{}] {:3.0f} % {} of {}, {} of {} runs, {}",
                       std::string(cells, '#'),
                       std::string(CELLS - cells, '.'),
                       share * 100.0,
                       FormatBytes(done),
                       FormatBytes(total),
                       m_finished,
                       m_runs,
                       left);
}

void
ProgressMeter::Draw()
{
    const auto now = Clock::now();
    if (m_style != ProgressStyle::Bar || now - m_drawn < std::chrono::milliseconds(200))
    {
        return;
    }
    m_drawn = now;
    const std::string bar = FormatBar();
    const size_t rest = m_width > bar.size() ? m_width - bar.size() : 0;
    m_stream << '\r' << bar << std::string(rest, ' ') << std::flush;
    m_width = bar.size();
}

void
ProgressMeter::Clear()
{
    if (m_width > 0)
    {
        m_stream << '\r' << std::string(m_width, ' ') << '\r' << std::flush;
        m_width = 0;
    }
}

} // namespace ns3::gradsync
