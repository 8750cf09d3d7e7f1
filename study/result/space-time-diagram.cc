// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/space-time-diagram.h"

#include "ns3/shown-text.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <string_view>

namespace ns3::gradsync
{

namespace
{

// Pixels.
constexpr double LEFT = 90.0;
constexpr double TOP = 60.0;
constexpr double WIDTH = 1000.0; //!< of the time axis
constexpr double LANE = 28.0;
constexpr double BOTTOM = 50.0;

// Two of Okabe and Ito's colours, which colour-blind readers can tell apart.
constexpr const char* REDUCE = "stroke=\"#0072B2\"";
constexpr const char* COPY = "stroke=\"#D55E00\" stroke-dasharray=\"5 3\"";

std::string
Escape(std::string_view text)
{
    std::string escaped;
    for (const char letter : text)
    {
        switch (letter)
        {
        case '&':
            escaped += "&amp;";
            break;
        case '<':
            escaped += "&lt;";
            break;
        case '>':
            escaped += "&gt;";
            break;
        default:
            escaped += letter;
        }
    }
    return escaped;
}

double
GetLane(uint32_t rank)
{
    return TOP + LANE * (rank + 0.5);
}

/// 1, 2 or 5 times a power of ten, so that about ten steps fill the time.
double
GetTickMs(double totalMs)
{
    const double rough = totalMs / 10.0;
    const double power = std::pow(10.0, std::floor(std::log10(rough)));
    for (const double factor : {1.0, 2.0, 5.0})
    {
        if (factor * power >= rough)
        {
            return factor * power;
        }
    }
    return 10.0 * power;
}

void
DrawAxes(const Plan& plan, double totalMs, std::ostream& stream)
{
    const double bottom = TOP + LANE * plan.GetRankCount();
    for (uint32_t rank = 0; rank < plan.GetRankCount(); ++rank)
    {
        const bool isServer = rank >= plan.GetWorkerCount();
        stream << fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" "
                              "stroke=\"#cccccc\"/>\n<text x=\"{:.1f}\" y=\"{:.1f}\" "
                              "text-anchor=\"end\">{} {}</text>\n",
                              LEFT,
                              GetLane(rank),
                              LEFT + WIDTH,
                              GetLane(rank),
                              LEFT - 8.0,
                              GetLane(rank) + 4.0,
                              isServer ? "server" : "worker",
                              rank);
    }
    const double tick = GetTickMs(totalMs);
    for (uint32_t i = 0; i * tick <= totalMs * (1.0 + 1e-9); ++i)
    {
        const double x = LEFT + WIDTH * i * tick / totalMs;
        stream << fmt::format("<line x1=\"{0:.1f}\" y1=\"{5:.1f}\" x2=\"{0:.1f}\" y2=\"{1:.1f}\" "
                              "stroke=\"#eeeeee\"/>\n"
                              "<line x1=\"{0:.1f}\" y1=\"{1:.1f}\" x2=\"{0:.1f}\" y2=\"{2:.1f}\" "
                              "stroke=\"#888888\"/>\n<text x=\"{0:.1f}\" y=\"{3:.1f}\" "
                              "text-anchor=\"middle\">{4:.6g}</text>\n",
                              x,
                              bottom,
                              bottom + 5.0,
                              bottom + 20.0,
                              i * tick,
                              TOP);
    }
    stream << fmt::format(
        "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">time, ms</text>\n",
        LEFT + WIDTH / 2.0,
        bottom + 40.0);
}

void
DrawLegend(std::ostream& stream)
{
    const auto entry = [&stream](double x, const char* style, const char* name) {
        stream << fmt::format("<line x1=\"{:.1f}\" y1=\"42\" x2=\"{:.1f}\" y2=\"42\" {} "
                              "stroke-width=\"2\"/>\n<text x=\"{:.1f}\" y=\"46\">{}</text>\n",
                              x,
                              x + 30.0,
                              style,
                              x + 36.0,
                              name);
    };
    entry(LEFT, REDUCE, "added at the receiver");
    entry(LEFT + 220.0, COPY, "copied to the receiver");
}

} // namespace

void
DrawSpaceTime(const std::string& title,
              const Plan& plan,
              std::span<const TransferRecord> transfers,
              std::ostream& stream)
{
    double totalMs = 1e-9;
    for (const auto& record : transfers)
    {
        totalMs = std::max(totalMs, record.end.GetSeconds() * 1e3);
    }
    stream << fmt::format("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" "
                          "height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} {1:.0f}\" "
                          "font-family=\"sans-serif\" font-size=\"12\">\n"
                          "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n"
                          "<text x=\"{2:.1f}\" y=\"24\" font-size=\"16\">{3}</text>\n",
                          LEFT + WIDTH + 30.0,
                          TOP + LANE * plan.GetRankCount() + BOTTOM,
                          LEFT,
                          Escape(EscapeText(title)));
    DrawLegend(stream);
    DrawAxes(plan, totalMs, stream);
    stream << "<g stroke-width=\"1.2\" stroke-opacity=\"0.7\">\n";
    for (const auto& record : transfers)
    {
        const auto& operation = plan.GetOperations()[record.operation];
        const auto x = [totalMs](const Time& time) {
            return LEFT + WIDTH * time.GetSeconds() * 1e3 / totalMs;
        };
        stream << fmt::format(
            "<line x1=\"{:.2f}\" y1=\"{:.1f}\" x2=\"{:.2f}\" y2=\"{:.1f}\" {}><title>{}: {} -> {}, "
            "{} bytes</title></line>\n",
            x(record.start),
            GetLane(operation.src),
            x(record.end),
            GetLane(operation.dst),
            operation.kind == OperationKind::TransferReduce ? REDUCE : COPY,
            record.operation,
            operation.src,
            operation.dst,
            plan.GetBytes(record.operation));
    }
    stream << "</g>\n</svg>\n";
}

} // namespace ns3::gradsync
