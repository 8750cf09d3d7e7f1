// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_GRADIENT_STATES_H
#define GRADSYNC_GRADIENT_STATES_H

#include "ns3/plan.h"

#include <cstdint>
#include <limits>
#include <vector>

namespace ns3::gradsync
{

/**
 * What is in every chunk of every buffer while a plan with a codec is walked through: how many
 * selections of a sparse codec have been merged, and which data are the same.
 *
 * Data are dense until they go through a sparse codec. A sum of selections is their union; where
 * dense data come in, the sum is dense again, and so it is in plans that select from sums
 * (Plan::SelectsSums).
 */
class GradientStates
{
  public:
    static constexpr OperationId NONE = std::numeric_limits<OperationId>::max();

    /// A range of chunks at one place.
    struct Range
    {
        uint32_t selections{0};      //!< merged in the chunk that has most of them
        bool hasDense{false};        //!< a chunk with data that were not selected
        bool isOwn{true};            //!< nothing but the rank's own gradient, as it was
        uint64_t content{0};         //!< the same for the same data of a rank
        OperationId arrivedBy{NONE}; //!< encoded copy that brought all of it, and nothing since
    };

    /// How a message carries data.
    enum class Coding : uint8_t
    {
        None,
        Dense, //!< by a codec that sends every element
        Sparse
    };

    explicit GradientStates(const Plan& plan);

    /// Chunks [first, first + count) of a buffer.
    Range Read(uint32_t rank, uint32_t buffer, uint32_t first, uint32_t count) const;

    /// The move `id`, after what it waits for.
    void Write(OperationId id, Coding coding);

  private:
    /// A chunk in a buffer of a rank.
    struct Place
    {
        uint64_t content{0};         //!< 0: what was there at the start
        uint32_t selections{0};      //!< merged in it; 0: dense
        OperationId arrivedBy{NONE}; //!< the encoded copy that brought it
        bool isEmpty{true};
    };

    const Place& GetPlace(uint32_t rank, uint32_t buffer, uint32_t chunk) const;
    Place& GetPlace(uint32_t rank, uint32_t buffer, uint32_t chunk);
    uint32_t CountSum(const Place& place, uint32_t incoming) const;

    const Plan& m_plan;
    uint32_t m_chunks;
    uint64_t m_lastContent{0};
    std::vector<Place> m_places; //!< [(rank * buffers + buffer) * chunks + chunk]
};

} // namespace ns3::gradsync

#endif // GRADSYNC_GRADIENT_STATES_H
