// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_P4_MACHINE_H
#define GRADSYNC_P4_MACHINE_H

#include "ns3/p4-action-members.h"
#include "ns3/p4-match-table.h"
#include "ns3/p4-meter.h"
#include "ns3/p4-program.h"

#include <cstdint>
#include <memory>
#include <random>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace ns3::gradsync
{

/**
 * Runs the code of a compiled program: holds the store, the registers, the counters and the tables
 * of one switch. What happens between ingress and egress is P4Pipeline's.
 */
class P4Machine
{
  public:
    /// What primitives ask of the switch for a packet.
    struct Requests
    {
        bool clone = false;
        uint32_t cloneSession = 0;
        uint32_t cloneFields = 0;
        bool resubmit = false;
        uint32_t resubmitFields = 0;
        bool recirculate = false;
        uint32_t recirculateFields = 0;
        uint64_t truncateBytes = UINT64_MAX;
        bool digest = false;
        uint32_t digestList = 0;
    };

    explicit P4Machine(std::shared_ptr<const P4Program> program);

    /// Makes tables, registers and counters those of a new switch.
    void ResetState();
    /// A new packet: metadata 0, no header valid. The bytes must stay until the next call.
    void Begin(std::span<const uint8_t> frame);

    /// What counters and meters of bytes take as the packet's size; Begin says the frame's.
    void SetFrameBytes(size_t bytes)
    {
        m_frameBytes = bytes;
    }

    size_t GetFrameBytes() const
    {
        return m_frameBytes;
    }

    /// Runs code up to its end. \throws P4Error when the program asserts what is not so
    void Run(uint32_t address);
    /// Appends the valid headers and what the parser left to `out`, which is emptied before.
    void Deparse(std::vector<uint8_t>& out) const;

    /// What meters take as the time. \param us not before the last
    void SetTime(uint64_t us)
    {
        m_timeUs = us;
    }

    /// Random numbers from here on follow from this.
    void SeedRandom(uint64_t seed)
    {
        m_random.seed(seed);
    }

    /// Messages of log_msg: the first ones, and how many there were.
    const std::vector<std::string>& GetLog() const
    {
        return m_log;
    }

    uint64_t CountLogged() const
    {
        return m_logged;
    }

    uint64_t& At(uint32_t slot)
    {
        return m_store[slot];
    }

    /// The packet's part of the store.
    std::span<uint64_t> GetPacket()
    {
        return {m_store.data(), m_program->packetLimbs};
    }

    /// What the parser left of the frame.
    std::span<const uint8_t> GetPayload() const;

    /// Bytes of the packet, as headers are added and removed.
    uint64_t GetPacketLength() const
    {
        return m_packetLength;
    }

    void SetPacketLength(uint64_t bytes)
    {
        m_packetLength = bytes;
    }

    /// Bytes of the frame that the parser took.
    size_t GetCursor() const
    {
        return m_cursor;
    }

    /// \param bytes that the parser took of this frame before
    void SetCursor(size_t bytes)
    {
        m_cursor = bytes;
    }

    uint64_t GetParserError() const
    {
        return m_parserError;
    }

    bool HasChecksumError() const
    {
        return m_hasChecksumError;
    }

    Requests& GetRequests()
    {
        return m_requests;
    }

    std::vector<P4MatchTable>& GetTables()
    {
        return m_tables;
    }

    /// Action profiles, meters and value sets, by the program's indices.
    std::vector<P4ActionMembers>& GetProfiles()
    {
        return m_profiles;
    }

    std::vector<P4MeterArrayState>& GetMeters()
    {
        return m_meters;
    }

    std::vector<std::set<std::vector<uint64_t>>>& GetValueSets()
    {
        return m_valueSets;
    }

    /// Register and counter arrays, by the program's indices; a register's limbs lie in a row.
    std::vector<std::vector<uint64_t>>& GetRegisters()
    {
        return m_registers;
    }

    const std::vector<std::vector<uint64_t>>& GetRegisters() const
    {
        return m_registers;
    }

    std::vector<std::vector<P4CounterValue>>& GetCounters()
    {
        return m_counters;
    }

    const std::vector<std::vector<P4CounterValue>>& GetCounters() const
    {
        return m_counters;
    }

    /// Accesses to registers and counters outside their arrays, which did nothing.
    uint64_t GetOutOfRange() const
    {
        return m_outOfRange;
    }

  private:
    void RunWide(const P4Instruction& instruction);
    uint32_t RunTable(const P4Instruction& instruction, uint32_t& link);
    uint32_t RunSelect(const P4Select& select);
    /// These return false when the parser must stop.
    bool Extract(uint32_t header);
    bool ExtractToStack(const P4Instruction& instruction);
    void ReadSigns(const P4Header& header);
    /// A header with a field of variable length. \param bits of that field
    bool ExtractVariable(const P4Header& header, uint64_t bits);
    bool RunParserStep(const P4Instruction& instruction);
    void RunPrimitive(const P4Instruction& instruction);
    void Saturate(const P4Instruction& instruction);
    void DivideWide(const P4Instruction& instruction);
    void RunHeaderStep(const P4Instruction& instruction);
    /// Makes the other headers of its union invalid, too.
    void MakeValid(const P4Header& header);
    void AddHeader(const P4Header& header);
    void RemoveHeader(const P4Header& header);
    void SwapHeaders(const P4Header& a, const P4Header& b);
    void CopyHeader(const P4Header& to, const P4Header& from);
    void Push(const P4Stack& stack, uint32_t count);
    void Pop(const P4Stack& stack, uint32_t count);
    void ShiftUnions(const P4UnionStack& unions, uint32_t count, bool isPush);
    void FindStackHeader(const P4Instruction& instruction);
    void LoadLastOfStack(const P4Instruction& instruction);
    void Count(uint32_t counter, uint64_t index);
    void ExecuteMeter(const P4Instruction& instruction);
    void ExecuteDirectMeter(uint32_t meter, const P4TableEntry& entry);
    /// The member that an entry leads to; null for an empty group.
    const P4ActionCall* FindMember(const P4Table& table, const P4TableEntry& entry);
    bool IsInValueSet(const P4Select& select, uint32_t set) const;
    void Log(const P4LogMessage& message);
    void DrawRandom(const P4Instruction& instruction);
    bool FailParser(uint32_t error);
    void Emit(uint8_t* at, const P4Header& header) const;

    std::shared_ptr<const P4Program> m_program;
    std::vector<uint64_t> m_store;
    std::vector<std::vector<uint64_t>> m_registers;
    std::vector<std::vector<P4CounterValue>> m_counters;
    std::vector<P4MatchTable> m_tables;
    std::vector<P4ActionMembers> m_profiles;
    std::vector<P4MeterArrayState> m_meters;
    std::vector<std::set<std::vector<uint64_t>>> m_valueSets;
    std::vector<uint64_t> m_scratch;
    std::span<const uint8_t> m_frame;
    size_t m_frameBytes = 0;
    size_t m_cursor = 0;
    uint64_t m_packetLength = 0;
    uint64_t m_parserError = 0;
    bool m_hasChecksumError = false;
    bool m_isExiting = false;
    Requests m_requests;
    uint64_t m_outOfRange = 0;
    uint64_t m_timeUs = 0;
    std::mt19937_64 m_random;
    std::vector<std::string> m_log;
    uint64_t m_logged = 0;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_P4_MACHINE_H
