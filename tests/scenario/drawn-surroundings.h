// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_DRAWN_SURROUNDINGS_H
#define GRADSYNC_DRAWN_SURROUNDINGS_H

#include "support/draw.h"
#include "support/in-order.h"

#include <cstdint>
#include <fmt/format.h>
#include <string>

namespace ns3::gradsync
{

/// Faults, drawn at random. \param mayLose packets, too
inline std::string
DrawFaults(Draw& draw, bool mayLose)
{
    std::string faults;
    const auto entries = draw.Between(0, 3);
    for (uint32_t i = 0; i < entries; ++i)
    {
        const auto kind =
            mayLose && draw.IsOneIn(2)
                ? draw.Of({R"("link-down", "detectionDelay": "5us")",
                           R"("link-down", "detectionDelay": "1ms")",
                           R"("switch-down", "detectionDelay": "10us")",
                           R"("host-pause")",
                           R"("link-degraded", "loss": 0.01)",
                           R"("link-degraded", "loss": {"goodToBad": 0.01, "badToGood": 0.3})"})
                : draw.Of(
                      {R"("straggler", "slowdown": 2.5)",
                       R"("straggler", "slowdown": {"distribution": "exponential", "mean": 0.5})",
                       R"("host-pause-send")",
                       R"("link-degraded", "rateShare": 0.2)",
                       R"("link-degraded", "extraDelay": "3us")",
                       R"("flood", "rate": "4Gbps")"});
        faults +=
            fmt::format(R"({}{{"kind": {}, {}}})",
                        faults.empty() ? "" : ", ",
                        kind,
                        draw.Of({R"("random": 1, "every": "50us", "duration": "20us", "count": 4)",
                                 R"("random": 2, "every": "33us", "count": 5, "duration": "33us")",
                                 R"("random": 2, "start": "20us", "duration": "100us")",
                                 R"("mtbf": "2ms", "mttr": "15us")"}));
    }
    return faults;
}

/// What may go on beside a job, drawn at random: keys of the scenario. \param mayLose packets, too
/// \param endsSoon traffic does, so that a network that cannot carry it gets empty again
inline std::string
DrawSurroundings(Draw& draw, bool mayLose, bool endsSoon)
{
    std::string traffic;
    const auto entries = draw.Between(0, 2);
    for (uint32_t i = 0; i < entries; ++i)
    {
        traffic += traffic.empty() ? "" : ", ";
        traffic += draw.Of({R"({"kind": "poisson", "sizes": "hadoop", "load": 0.4)",
                            R"({"kind": "poisson", "size": "3kB", "load": 0.2)",
                            R"({"kind": "incast", "fanIn": 2, "size": "9kB", "every": "20us")",
                            R"({"kind": "incast", "fanIn": 1, "size": "64KiB", "every": "100us")"});
        traffic += endsSoon ? R"(, "duration": "150us")"
                            : draw.Of({"", "", R"(, "start": "30us")", R"(, "duration": "150us")"});
        traffic += "}";
    }
    const auto faults = DrawFaults(draw, mayLose);
    return InOrder{R"({}{}"results": {{"messages": {}{}}})",
                   traffic.empty() ? "" : fmt::format(R"("traffic": [{}], )", traffic),
                   faults.empty() ? "" : fmt::format(R"("faults": [{}], )", faults),
                   draw.Of({"true", "false"}),
                   mayLose ? "" : draw.Of({"", R"(, "every": "3us")", R"(, "every": "800ns")"})}
        .text;
}

} // namespace ns3::gradsync

#endif // GRADSYNC_DRAWN_SURROUNDINGS_H
