// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_MSCCL_PLANNER_H
#define GRADSYNC_MSCCL_PLANNER_H

#include "ns3/msccl-algorithm.h"
#include "ns3/plan.h"

#include <bitset>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

namespace ns3::gradsync
{

/**
 * Turns an MSCCL algorithm into a plan.
 *
 * It executes the algorithm symbolically, to know which chunk each place holds: a plan moves a
 * chunk to the same chunk of the receiver. Scratch places become staging buffers. The edges then
 * follow from what is read and written (DataflowBuilder); that a thread block is busy with one step
 * at a time orders nothing else. doc/import.rst says more.
 */
class MscclPlanner
{
  public:
    /// \param algorithm must outlive the planner
    MscclPlanner(const MscclAlgorithm& algorithm, uint64_t gradientBytes, uint32_t elementBytes);

    /// \throws ImportError with the step that cannot be executed. Call once.
    Plan Build();

  private:
    static constexpr uint32_t NO_CHUNK = UINT32_MAX;

    /// What a place holds.
    struct Content
    {
        uint32_t chunk{NO_CHUNK};
        uint8_t buffer{0};   //!< of the plan
        uint32_t version{0}; //!< times it was written
    };

    /// A chunk on its way, and the place that it was read from.
    struct Moving
    {
        Content content;
        uint32_t rank;
        MscclPlace place;
    };

    struct BlockState
    {
        size_t next{0};          //!< step
        bool hasReceived{false}; //!< of that step, what it sends is still to be sent
    };

    /// (source, destination, channel)
    using Connection = std::tuple<uint32_t, uint32_t, uint32_t>;

    void FillPlaces();
    Content& At(uint32_t rank, MscclPlace place, uint32_t index);
    bool Advance(uint32_t rank, uint32_t block);
    bool IsHeldBack(uint32_t rank, const MscclStep& step) const;
    bool Receive(uint32_t rank, const MscclBlock& block, const MscclStep& step);
    void Send(uint32_t rank, const MscclBlock& block, const MscclStep& step);
    void MoveLocally(uint32_t rank, const MscclStep& step);
    void Move(const Moving& from,
              uint32_t rank,
              MscclPlace place,
              const MscclStep& step,
              uint32_t index,
              uint32_t stream);
    void TakeBuffer(uint32_t rank, uint32_t chunk, Content& place);
    void CheckIdle() const;
    Collective GetCollective() const;

    struct Operation
    {
        bool reduces;
        uint32_t src;
        uint32_t dst;
        uint32_t chunk;
        uint32_t count;
        uint32_t stream;
        BufferPair buffers;
    };

    void Add(const Operation& operation, bool joins);

    const MscclAlgorithm& m_algorithm;
    ChunkLayout m_layout;
    std::vector<std::vector<Content>> m_main;    //!< [rank][chunk]: input and output
    std::vector<std::vector<Content>> m_scratch; //!< [rank][offset]
    /// [rank][chunk]: staging buffers that hold it
    std::vector<std::map<uint32_t, std::bitset<256>>> m_taken;
    std::vector<std::vector<BlockState>> m_states;
    std::map<Connection, std::deque<std::vector<Moving>>> m_underway;
    std::vector<Operation> m_operations;
    uint32_t m_bufferCount{1};
};

} // namespace ns3::gradsync

#endif // GRADSYNC_MSCCL_PLANNER_H
