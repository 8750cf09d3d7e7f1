// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_ORACLE_TABLE_H
#define GRADSYNC_ORACLE_TABLE_H

#include "ns3/scheme.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace ns3::gradsync::oracles
{

/// An exact value.
struct Fraction
{
    uint64_t numerator;
    uint64_t denominator{1};

    double GetValue() const
    {
        return static_cast<double>(numerator) / static_cast<double>(denominator);
    }

    /// This share of a whole that the denominator divides.
    uint64_t Of(uint64_t whole) const
    {
        return whole / denominator * numerator;
    }
};

/// Where a value of the table comes from.
enum class OracleKind
{
    Reference, //!< printed in the project's reference (section 6, or 5 for the study)
    ClosedForm //!< follows from a closed form of the reference, section 1
};

/**
 * One exchange on the ideal network and what it takes there.
 *
 * The network is `racks` equal racks of hosts at rate B below one core, each with an uplink of
 * w_r B / oversubscription. Times are in tau = K / B, bytes in K.
 */
struct Oracle
{
    std::string name;
    std::string scheme;
    uint32_t workers;
    uint32_t racks;
    uint64_t oversubscription;
    std::vector<std::pair<std::string, ParameterValue>> parameters;
    Fraction time;
    std::optional<Fraction> crossRack; //!< bytes that leave racks, both phases
    OracleKind kind{OracleKind::Reference};
};

/// PS with dedicated servers: 2 max(1, s/p), pipelined over m chunks max(1, s/p)(1 + 1/m).
inline std::vector<Oracle>
GetDedicatedPsOracles()
{
    const auto make = [](std::string name, uint32_t s, int64_t p, int64_t m, Fraction time) {
        return Oracle{std::move(name),
                      "ps",
                      s,
                      1,
                      1,
                      {{"servers", p}, {"pipelineChunks", m}},
                      time,
                      std::nullopt};
    };
    return {
        make("psS4P1", 4, 1, 1, {8}),
        make("psS4P2", 4, 2, 1, {4}),
        make("psS2P4", 2, 4, 1, {2}),
        make("psS4P1M4", 4, 1, 4, {5}),
        make("psS4P4M4", 4, 4, 4, {5, 4}),
    };
}

/// RAT with every rack a region, as the table of the reference has it also where o = 1.
inline std::vector<std::pair<std::string, ParameterValue>>
RatParameters(int64_t chunks, bool barrier)
{
    return {{"pipelineChunks", chunks}, {"barrier", barrier}, {"levels", std::string("all")}};
}

/// The table of schemes over w, r, o.
inline std::vector<Oracle>
GetRackOracles()
{
    const auto treeOf = [] { return RatParameters(1, false); };
    const auto levels = [] { return RatParameters(1, true); };
    return {
        {"psW4R2O1", "ps", 4, 2, 1, {}, {3, 2}, Fraction{4}},
        {"psW4R2O2", "ps", 4, 2, 2, {}, {2}, Fraction{4}},
        {"psW8R2O1", "ps", 8, 2, 1, {}, {7, 4}, Fraction{8}},
        {"psW8R2O4", "ps", 8, 2, 4, {}, {4}, Fraction{8}},
        {"psW16R4O2", "ps", 16, 4, 2, {}, {3}, Fraction{24}},
        {"ringW4R2O1", "ring", 4, 2, 1, {}, {3, 2}, Fraction{3}},
        {"ringW4R2O2", "ring", 4, 2, 2, {}, {3, 2}, Fraction{3}},
        {"ringW8R2O1", "ring", 8, 2, 1, {}, {7, 4}, Fraction{7, 2}},
        {"ringW8R2O4", "ring", 8, 2, 4, {}, {7, 4}, Fraction{7, 2}},
        {"ratTreeW4R2O1", "rat", 4, 2, 1, treeOf(), {3, 2}, Fraction{2}},
        {"ratTreeW4R2O2", "rat", 4, 2, 2, treeOf(), {7, 4}, Fraction{2}},
        {"ratTreeW8R2O1", "rat", 8, 2, 1, treeOf(), {7, 4}, Fraction{2}},
        {"ratTreeW8R2O4", "rat", 8, 2, 4, treeOf(), {17, 8}, Fraction{2}},
        {"ratTreeW16R4O2", "rat", 16, 4, 2, treeOf(), {33, 16}, Fraction{6}},
        {"ratLevelW4R2O1", "rat", 4, 2, 1, levels(), {3, 2}, Fraction{2}},
        {"ratLevelW4R2O2", "rat", 4, 2, 2, levels(), {2}, Fraction{2}},
        {"ratLevelW8R2O1", "rat", 8, 2, 1, levels(), {7, 4}, Fraction{2}},
        {"ratLevelW8R2O4", "rat", 8, 2, 4, levels(), {5, 2}, Fraction{2}},
        {"ratLevelW16R4O2", "rat", 16, 4, 2, levels(), {9, 4}, Fraction{6}},
        {"plinkW4R2O1", "plink", 4, 2, 1, {}, {3, 2}, Fraction{2}},
    };
}

/// Recursive halving-doubling and trees over w, r, o.
inline std::vector<Oracle>
GetHypercubeOracles()
{
    const std::vector<std::pair<std::string, ParameterValue>> far = {
        {"order", std::string("far-first")}};
    return {
        {"rhdNearW4R2O1", "halving-doubling", 4, 2, 1, {}, {3, 2}, Fraction{2}},
        {"rhdNearW4R2O2", "halving-doubling", 4, 2, 2, {}, {2}, Fraction{2}},
        {"rhdNearW8R2O1", "halving-doubling", 8, 2, 1, {}, {7, 4}, Fraction{2}},
        {"rhdNearW8R2O4", "halving-doubling", 8, 2, 4, {}, {5, 2}, Fraction{2}},
        {"rhdFarW4R2O1", "halving-doubling", 4, 2, 1, far, {3, 2}, Fraction{4}},
        {"rhdFarW4R2O2", "halving-doubling", 4, 2, 2, far, {5, 2}, Fraction{4}},
        {"rhdFarW8R2O1", "halving-doubling", 8, 2, 1, far, {7, 4}, Fraction{8}},
        {"rhdFarW8R2O4", "halving-doubling", 8, 2, 4, far, {19, 4}, Fraction{8}},
        // A rack's w_r ranks swap K each over its uplink, which is w_r B / o, in log2 r steps.
        {"butterflyW4R2O1", "butterfly", 4, 2, 1, {}, {2}, Fraction{4}},
        {"butterflyW4R2O2", "butterfly", 4, 2, 2, {}, {3}, Fraction{4}},
        {"butterflyW8R2O1", "butterfly", 8, 2, 1, {}, {3}, Fraction{8}},
        {"butterflyW8R2O4", "butterfly", 8, 2, 4, {}, {6}, Fraction{8}},
        {"binomialW4R2O1", "k-nomial", 4, 2, 1, {}, {4}, Fraction{2}},
        {"binomialW4R2O2", "k-nomial", 4, 2, 2, {}, {4}, Fraction{2}},
        {"binomialW8R2O1", "k-nomial", 8, 2, 1, {}, {6}, Fraction{2}},
        {"binomialW8R2O4", "k-nomial", 8, 2, 4, {}, {6}, Fraction{2}},
    };
}

/// RAT in sub-chunks: from 4 on it meets the bound (2/w) max(w - 1, o(r - 1)).
inline std::vector<Oracle>
GetSubChunkOracles()
{
    const auto make = [](std::string name, uint32_t w, uint64_t o, int64_t chunks, Fraction time) {
        return Oracle{std::move(name),
                      "rat",
                      w,
                      2,
                      o,
                      RatParameters(chunks, false),
                      time,
                      Fraction{2}};
    };
    return {
        make("ratW4R2O2M2", 4, 2, 2, {13, 8}),
        make("ratW4R2O2M4", 4, 2, 4, {3, 2}),
        make("ratW4R2O2M8", 4, 2, 8, {3, 2}),
        make("ratW4R2O2M16", 4, 2, 16, {3, 2}),
        make("ratW8R2O4M2", 8, 4, 2, {31, 16}),
        make("ratW8R2O4M4", 8, 4, 4, {7, 4}),
        make("ratW8R2O4M8", 8, 4, 8, {7, 4}),
        make("ratW8R2O4M16", 8, 4, 16, {7, 4}),
    };
}

/// Tencent's hierarchical exchange: [2(g-1)/g + 2(D-1)/D] + T_bc. Groups are racks.
inline std::vector<Oracle>
GetHierarchicalOracles()
{
    const auto make = [](std::string name,
                         uint32_t groupSize,
                         std::string broadcast,
                         Fraction time,
                         OracleKind kind = OracleKind::Reference) {
        return Oracle{std::move(name),
                      "hierarchical",
                      2 * groupSize,
                      2,
                      1,
                      {{"broadcast", std::move(broadcast)}},
                      time,
                      // The ring of the D = 2 roots: 2(D - 1)K.
                      Fraction{2},
                      kind};
    };
    return {
        make("tencentD2G2Star", 2, "star", {3}),
        make("tencentD2G2Scatter", 2, "scatter-allgather", {3}),
        make("tencentD2G2Chain", 2, "chain", {3}),
        make("tencentD2G4Star", 4, "star", {11, 2}),
        make("tencentD2G4Scatter", 4, "scatter-allgather", {4}),
        // A chain of g - 1 hops over 16 pieces: (16 + g - 2)/16; 3/2 + 1 + 18/16.
        make("tencentD2G4Chain", 4, "chain", {29, 8}, OracleKind::ClosedForm),
    };
}

/// One row of the oversubscription study: r = 4 racks, o = w_r / 2.
struct StudyRow
{
    uint64_t oversubscription;
    uint32_t workers;
    Fraction ps;       //!< 2 o (1 - 1/r)
    Fraction ring;     //!< 2 (w - 1)/w, and RAT's bound when pipelined
    Fraction ratLevel; //!< (2/w)[(w - r) + o(r - 1)]
};

inline std::vector<StudyRow>
GetStudyRows()
{
    return {
        {2, 16, {3}, {15, 8}, {9, 4}},
        {4, 32, {6}, {31, 16}, {5, 2}},
        {6, 48, {9}, {47, 24}, {31, 12}},
        {8, 64, {12}, {63, 32}, {21, 8}},
        {10, 80, {15}, {79, 40}, {53, 20}},
        {12, 96, {18}, {95, 48}, {8, 3}},
    };
}

/// The study as oracles: PS, ring, RAT pipelined, with a barrier per level, and in one piece.
inline std::vector<Oracle>
GetStudyOracles()
{
    std::vector<Oracle> oracles;
    for (const auto& row : GetStudyRows())
    {
        const auto w = row.workers;
        const auto o = row.oversubscription;
        const auto suffix = "Study" + std::to_string(o);
        const auto addRat = [&](const std::string& name,
                                int64_t chunks,
                                bool barrier,
                                Fraction time) {
            // 2(r - 1) across racks, however it is cut.
            oracles.push_back(
                {name + suffix, "rat", w, 4, o, RatParameters(chunks, barrier), time, Fraction{6}});
        };
        // Bytes across racks: 2(w - w_r) and 2r(1 - 1/w).
        oracles.push_back({"ps" + suffix, "ps", w, 4, o, {}, row.ps, Fraction{2 * (w - w / 4)}});
        oracles.push_back(
            {"ring" + suffix, "ring", w, 4, o, {}, row.ring, Fraction{8 * (w - 1), w}});
        addRat("ratM4", 4, false, row.ring);
        addRat("ratM8", 8, false, row.ring);
        addRat("ratLevel", 1, true, row.ratLevel);
        // In one piece nothing overlaps but the root's broadcast in its own rack with that between
        // racks: [(w - r) + o(r - 1)] to reduce, [o(r - 1) + (r - 1)(w_r - 1)] to broadcast, over
        // w.
        addRat("ratTree", 1, false, {20 * o - 7, w});
        oracles.back().kind = OracleKind::ClosedForm;
    }
    return oracles;
}

/// The whole table.
inline std::vector<Oracle>
GetAllOracles()
{
    std::vector<Oracle> all;
    for (const auto& group : {GetDedicatedPsOracles(),
                              GetRackOracles(),
                              GetHypercubeOracles(),
                              GetSubChunkOracles(),
                              GetHierarchicalOracles(),
                              GetStudyOracles()})
    {
        all.insert(all.end(), group.begin(), group.end());
    }
    return all;
}

} // namespace ns3::gradsync::oracles

#endif // GRADSYNC_ORACLE_TABLE_H
