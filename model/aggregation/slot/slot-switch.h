// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_SLOT_SWITCH_H
#define GRADSYNC_SLOT_SWITCH_H

#include "ns3/slot-header.h"

#include <array>
#include <bitset>
#include <compare>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

namespace ns3::gradsync
{

/// What a slot switch does with a packet.
enum class SlotVerdict : uint8_t
{
    Held,          //!< it counts, and others are missing
    Multicast,     //!< it was the last one: the result goes to all
    Unicast,       //!< a repetition of what is complete: the result goes to the sender
    ForwardUp,     //!< as Multicast, below another switch: the partial sum goes there
    Malformed,     //!< dropped, as all that follow: of another type or number of values
    UnknownWorker, //!< no worker of that job at that port
    OutOfRange,    //!< no such slot
    Stale,         //!< of an earlier use of the slot
    Duplicate      //!< a repetition of what is not complete
};

inline constexpr size_t SLOT_VERDICTS = 9;

/**
 * The aggregating switch of SwitchML (Sapio et al., NSDI 2021, algorithm 3) and PASSING (Yu et al.
 * 2025), with a 16-bit epoch for each use of a slot in place of SwitchML's one bit: one bit is safe
 * only where no packet overtakes another (doc/aggregation.rst).
 *
 * A state machine without a network: packets in, verdicts out. Slots are never cleared, the first
 * packet of an epoch overwrites what an earlier one left. Two sets of them take turns, so that a
 * result stays until every worker has it: epoch e+2 begins only after some worker saw the result of
 * e+1, for which all workers contributed, which they do only when they have the result of e.
 *
 * With a version bit it is SwitchML's published program (p4lang/p4app-switchML,
 * dev_root/p4/bitmap_checker.p4, workers_counter.p4): who contributes to a set leaves the other
 * one, and a counter says which contribution is the first and which the last.
 */
class SlotSwitch
{
  public:
    /// Most workers of a job at one switch: bits of a slot's bitmap.
    static constexpr uint32_t MAX_WORKERS = 256;

    /// Some workers of a job.
    using Bitmap = std::bitset<MAX_WORKERS>;

    /// The first of them.
    static Bitmap MakeBitmap(size_t workers)
    {
        return workers == 0 ? Bitmap() : ~Bitmap() >> (MAX_WORKERS - workers);
    }

    struct Config
    {
        uint32_t poolSize{512};  //!< slots of each of the two sets, shared by all jobs
        uint16_t valueCount{64}; //!< values of a packet
        bool saturate{false};    //!< sums stop at the ends of int32; false: they wrap around
        bool computesSums{true}; //!< false: only sizes matter, values are empty
        bool versionBit{false};  //!< of an epoch packets have the lowest bit alone, as SwitchML's
    };

    /// Who may contribute: the key of the switch's worker table.
    struct WorkerKey
    {
        uint16_t job;
        uint16_t worker;
        uint16_t port; //!< by which its packets come in

        auto operator<=>(const WorkerKey&) const = default;
    };

    struct WorkerEntry
    {
        Bitmap bit;           //!< of this worker: one bit
        Bitmap all;           //!< of all workers of the job at this switch
        uint32_t base;        //!< first slot of the job
        uint32_t slots;       //!< number of them
        bool isRoot{true};    //!< false: what is complete here goes to another switch
        bool isSwitch{false}; //!< not a worker but a switch below: its flags count
    };

    /// What a slot holds.
    struct Slot
    {
        Bitmap bitmap; //!< who contributed; none: never used
        uint32_t offset{0};
        uint16_t epoch{0};
        uint8_t flags{0};
        int8_t exponentA{0};
        int8_t exponentB{0};
        bool hasResult{false}; //!< below another switch: its answer is here
        uint16_t missing{0};   //!< with a version bit: so many have not contributed yet
    };

    explicit SlotSwitch(const Config& config);

    void AddWorker(const WorkerKey& key, const WorkerEntry& entry);

    /// Makes slots as if they had never been used, as a switch's control plane does for a new job
    /// and for one that starts again at epoch 0. Slots beyond the pool are left out.
    void Reset(uint32_t base, uint32_t slots);

    /**
     * Makes one of the cells of a slot as if it had never been used: what
     * `register_write SlotIngress.bitmaps CELL 0` does to the P4 program.
     * \param cell set * poolSize + slot \throws std::out_of_range when there is no such cell
     */
    void ClearCell(uint32_t cell)
    {
        m_slots.at(cell) = Slot();
    }

    /// Forgets the workers of a job. Its slots stay as they are.
    void RemoveJob(uint16_t job);

    /**
     * A contribution comes in.
     * \param values of the packet, Config::valueCount of them; empty where only sizes matter
     */
    SlotVerdict Contribute(const SlotHeader& header,
                           uint16_t port,
                           std::span<const int32_t> values);

    /**
     * The switch above answers with the result.
     * \returns Multicast the first time; Stale for an epoch that is not the slot's, Duplicate for a
     * repetition, OutOfRange or UnknownWorker for a slot or job that is not here
     */
    SlotVerdict AcceptResult(const SlotHeader& header, std::span<const int32_t> values);

    /// The slot that a packet of a known job is about. \param base of the job
    const Slot& GetSlot(const SlotHeader& header, uint32_t base) const
    {
        return m_slots[GetIndex(header, base)];
    }

    /// The sums in it; empty where only sizes matter.
    std::span<const int32_t> GetValues(const SlotHeader& header, uint32_t base) const;

    /// The entry of a contribution, or nullptr.
    const WorkerEntry* FindWorker(const WorkerKey& key) const;

    /// Packets that met this fate.
    uint64_t GetCount(SlotVerdict verdict) const
    {
        return m_counts[static_cast<size_t>(verdict)];
    }

    /// Packets whose values drove a sum out of int32.
    uint64_t GetOverflows() const
    {
        return m_overflows;
    }

    const Config& GetConfig() const
    {
        return m_config;
    }

  private:
    size_t GetIndex(const SlotHeader& header, uint32_t base) const
    {
        return GetIndex(header.GetSet(), base, header);
    }

    size_t GetIndex(uint32_t set, uint32_t base, const SlotHeader& header) const
    {
        return size_t{set} * m_config.poolSize + base + header.slot;
    }

    bool IsInRange(const SlotHeader& header, const WorkerEntry& entry) const;
    SlotVerdict Classify(const SlotHeader& header,
                         const WorkerEntry& entry,
                         std::span<const int32_t> values);
    SlotVerdict ClassifyByVersion(const SlotHeader& header,
                                  const WorkerEntry& entry,
                                  std::span<const int32_t> values);
    bool AwaitsResult(const Slot& slot, const SlotHeader& header, const WorkerEntry& entry) const;
    void Overwrite(size_t index, const SlotHeader& header, std::span<const int32_t> values);
    void Add(size_t index, const SlotHeader& header, std::span<const int32_t> values);
    bool AddValues(size_t index, std::span<const int32_t> values);
    SlotVerdict Answer(const WorkerEntry& entry, const Slot& slot, SlotVerdict whenKnown) const;
    SlotVerdict Count(SlotVerdict verdict);

    Config m_config;
    std::map<WorkerKey, WorkerEntry> m_workers;
    std::vector<Slot> m_slots;     //!< [set * poolSize + slot]
    std::vector<int32_t> m_values; //!< [slot * valueCount ..]
    std::array<uint64_t, SLOT_VERDICTS> m_counts{};
    uint64_t m_overflows{0};
};

} // namespace ns3::gradsync

#endif // GRADSYNC_SLOT_SWITCH_H
