// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_PLAN_DOCUMENT_H
#define GRADSYNC_PLAN_DOCUMENT_H

#include "ns3/plan.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ns3::gradsync
{

/**
 * A plan as a file of JSON says it, the one that `./ns3 plan --json` prints and programs write;
 * doc/import.rst has the keys. What one value can be was checked, what several have to agree in was
 * not.
 */
struct PlanDocument
{
    /// What the key `format` has to be.
    static constexpr const char* FORMAT = "gradsync plan 1";

    struct Entry
    {
        Operation operation{};
        uint64_t bytes{NO_BYTES}; //!< of its message
        uint64_t picoseconds{0};
        size_t afterBegin{0}; //!< in `after`
        size_t afterCount{0};
    };

    static constexpr uint64_t NO_BYTES = UINT64_MAX;

    std::string file; //!< for messages
    uint32_t ranks{0};
    uint32_t workers{0};
    std::string collective{"all-reduce"};
    Collective::Sum sum{Collective::Sum::Exact};
    std::vector<uint32_t> sources{Collective::ALL};
    std::vector<uint32_t> targets{Collective::ALL};
    bool isCompressed{false};
    bool selectsSums{false};
    // One of three says how the buffer is cut.
    std::vector<uint64_t> chunkBytes;
    std::vector<double> chunkWeights;
    uint32_t evenChunks{0};
    std::vector<Entry> operations;
    std::vector<OperationId> after;
    std::optional<PlanGate> gate;
};

/// \param file for messages \throws ImportError with file, path, what was found and what is allowed
PlanDocument ReadPlanDocument(const std::string& file, std::string_view text);

/**
 * The plan of a document.
 * \param gradientBytes, elementBytes of the buffer that is cut
 * \throws ImportError with file, path and what does not fit
 */
Plan BuildDocumentPlan(const PlanDocument& document, uint64_t gradientBytes, uint32_t elementBytes);

} // namespace ns3::gradsync

#endif // GRADSYNC_PLAN_DOCUMENT_H
