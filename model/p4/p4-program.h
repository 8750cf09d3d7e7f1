// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_P4_PROGRAM_H
#define GRADSYNC_P4_PROGRAM_H

#include "ns3/p4-log.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace ns3::gradsync
{

/// v1model's port that stands for dropping.
constexpr uint32_t P4_DROP_PORT = 511;

/**
 * What a P4 program is compiled to: a flat list of instructions over one array of 64-bit limbs, the
 * store. Its first part is the packet's own (fields, validity of headers, next of stacks), then
 * follow action parameters, temporaries and constants. Operands are indices in the store.
 */
enum class P4Op : uint16_t
{
    // Flow. `a` is a condition, `c` an address.
    END,
    RETURN,
    JUMP,
    JUMP_IF_ZERO,
    APPLY_TABLE,
    CALL_ACTION,
    // One limb: dst = a op b.
    MOVE,
    ADD,
    SUBTRACT,
    MULTIPLY,
    DIVIDE,
    MODULO,
    AND,
    OR,
    XOR,
    NOT,
    SHIFT_LEFT,
    SHIFT_RIGHT,
    SHIFT_RIGHT_SIGNED,
    SIGN_EXTEND,
    EQUAL,
    LESS,
    LESS_SIGNED,
    LOGICAL_NOT,
    SELECT,
    // n limbs: dst = a op b.
    MOVE_WIDE,
    EXTEND_WIDE,
    EXTEND_SIGNED_WIDE,
    ADD_WIDE,
    SUBTRACT_WIDE,
    MULTIPLY_WIDE,
    DIVIDE_WIDE,
    MODULO_WIDE,
    AND_WIDE,
    OR_WIDE,
    XOR_WIDE,
    NOT_WIDE,
    SHIFT_LEFT_WIDE,
    SHIFT_RIGHT_WIDE,
    SHIFT_RIGHT_SIGNED_WIDE,
    SIGN_EXTEND_WIDE,
    MASK_WIDE,
    EQUAL_WIDE,
    LESS_WIDE,
    LESS_SIGNED_WIDE,
    NOT_ZERO_WIDE,
    SELECT_WIDE,
    SATURATE_UNSIGNED,
    SATURATE_SIGNED,
    // Parser.
    EXTRACT,
    EXTRACT_STACK,
    EXTRACT_VARIABLE,
    EXTRACT_STACK_VARIABLE,
    LOOKAHEAD,
    ADVANCE,
    VERIFY,
    SELECT_STATE,
    // Primitives and externs.
    REGISTER_READ,
    REGISTER_WRITE,
    COUNT,
    MARK_TO_DROP,
    SET_VALID,
    SET_INVALID,
    COPY_HEADER,
    COPY_STACK,
    PUSH,
    POP,
    LAST_STACK_FIELD,
    LAST_STACK_INDEX,
    HASH,
    VERIFY_CHECKSUM,
    UPDATE_CHECKSUM,
    CLONE,
    RESUBMIT,
    RECIRCULATE,
    TRUNCATE,
    EXIT,
    ASSERT,
    EXECUTE_METER,
    DIGEST,
    LOG,
    RANDOM,
    // Headers that are found at run time: operands are slots that hold their indices.
    STACK_HEADER,
    LAST_STACK_HEADER,
    LOAD_FIELD_AT,
    STORE_FIELD_AT,
    VALID_AT,
    SET_VALID_AT,
    SET_INVALID_AT,
    COPY_HEADER_AT,
    PUSH_UNION,
    POP_UNION,
};

struct P4Instruction
{
    P4Op op = P4Op::END;
    /// Limbs of a wide operation.
    uint16_t limbs = 1;
    uint32_t dst = 0;
    uint32_t a = 0;
    uint32_t b = 0;
    uint32_t c = 0;
};

struct P4Field
{
    std::string name;
    uint32_t bits = 0;
    bool isSigned = false;
    /// Where its limbs are in the store.
    uint32_t slot = 0;
    uint32_t limbs = 1;
    /// Bits before it in its header; behind the field of variable length, without that field's.
    uint32_t offset = 0;
    /// Whether its length changes from packet to packet; `bits` is the most then.
    bool isVariable = false;
    /**
     * Of a signed field, the limb behind its others: 1 while its value is that of its bits without
     * a sign. BMv2 leaves a number as it is that fits in the bits, so that what a register<int<8>>,
     * a parameter or a hash gives is 128 to 255 where it was -128 to -1. Slot 0: it is not signed.
     */
    uint32_t beyond = 0;

    /// The limbs that a copy of it takes.
    uint32_t CountLimbs() const
    {
        return limbs + (beyond != 0 ? 1 : 0);
    }
};

/// A header that is not there: an index out of a stack.
constexpr uint32_t P4_NO_HEADER = UINT32_MAX;

struct P4Header
{
    std::string name;
    bool isMetadata = false;
    std::vector<P4Field> fields;
    /// Bytes without the field of variable length, and at most with it.
    uint32_t bytes = 0;
    uint32_t maxBytes = 0;
    /// 1 in the store while the header is valid.
    uint32_t valid = 0;
    /// Where the store has the bits of its field of variable length, multiples of 8; 0: it has
    /// none.
    uint32_t variableBits = 0;
    bool hasSigned = false;
    /// Validity of the other headers of its union, of which one at most is valid.
    std::vector<uint32_t> rivals;
    /// The limbs of its fields, one behind the other.
    uint32_t slot = 0;
    uint32_t limbs = 0;

    /// The field of a name, or null.
    const P4Field* FindField(const std::string& field) const;
    /// Whether the headers' fields have the same widths.
    bool HasLayoutOf(const P4Header& other) const;

    /// Bytes that it takes in a packet. Slot 0 of the store is always 0.
    uint64_t CountBytes(const uint64_t* store) const
    {
        return bytes + store[variableBits] / 8;
    }
};

/// Headers of which one at most is valid.
struct P4Union
{
    std::string name;
    std::vector<uint32_t> headers;
};

struct P4Stack
{
    std::string name;
    std::vector<uint32_t> headers;
    /// Index of the header that the next extract fills.
    uint32_t next = 0;
};

/// A stack of header unions: a stack for each member, all with the same `next`, in a row.
struct P4UnionStack
{
    std::string name;
    uint32_t firstStack = 0;
    std::vector<std::string> members;
};

struct P4RegisterArray
{
    std::string name;
    uint32_t size = 0;
    uint32_t bits = 0;
    uint32_t limbs = 1;
};

struct P4CounterArray
{
    std::string name;
    uint32_t size = 0;
    /// The table whose entries it counts the packets of; empty: it is counted by the program.
    std::string table;
};

/// What a counter has seen.
struct P4CounterValue
{
    uint64_t packets = 0;
    uint64_t bytes = 0;
};

enum class P4HashAlgorithm
{
    CSUM16,
    XOR16,
    CRC16,
    CRC32,
    IDENTITY,
};

struct P4CalculationInput
{
    uint32_t slot = 0;
    uint32_t bits = 0;
    /// Validity of its header: the fields of invalid headers are left out.
    uint32_t valid = 0;
    /// Where the bits of a field of variable length are; 0: there are always as many.
    uint32_t variableBits = 0;
};

struct P4Calculation
{
    P4HashAlgorithm algorithm = P4HashAlgorithm::CSUM16;
    std::vector<P4CalculationInput> inputs;
    bool withPayload = false;
};

struct P4Action
{
    std::string name;
    uint32_t address = 0;
    std::vector<std::string> parameterNames;
    std::vector<uint32_t> parameterBits;
    /// The parameters' limbs in the store, one behind the other.
    uint32_t slot = 0;
    uint32_t limbs = 0;
};

enum class P4MatchKind
{
    EXACT,
    LPM,
    TERNARY,
    RANGE,
};

struct P4TableKey
{
    std::string name;
    P4MatchKind kind = P4MatchKind::EXACT;
    uint32_t slot = 0;
    uint32_t bits = 0;
    uint32_t limbs = 1;
    /// Slot of the static mask, or 0.
    uint32_t mask = 0;
};

/// A key as an entry has it: value and mask, or the two ends of a range, or a prefix length.
struct P4EntryKey
{
    std::vector<uint64_t> value;
    std::vector<uint64_t> other;
    uint32_t prefixLength = 0;

    bool operator==(const P4EntryKey&) const = default;
};

/// What an entry leads to: an action of its own, or a member or a group of the action profile.
enum class P4EntryTarget : uint8_t
{
    ACTION,
    MEMBER,
    GROUP,
};

/// An action with the limbs of its parameters, one behind the other.
struct P4ActionCall
{
    uint32_t action = 0;
    std::vector<uint64_t> parameters;
};

struct P4TableEntry
{
    std::vector<P4EntryKey> keys;
    uint32_t priority = 0;
    P4EntryTarget target = P4EntryTarget::ACTION;
    /// The handle of the member or group, in a table with an action profile.
    uint32_t member = 0;
    uint32_t action = 0;
    std::vector<uint64_t> parameters;
    /// Its place in the table at run time.
    uint32_t number = 0;
};

/// The actions that entries of one or several tables share; with a selector, groups of them.
struct P4ActionProfile
{
    std::string name;
    uint32_t maxSize = 0;
    bool hasSelector = false;
    /// The calculation whose hash chooses a member of a group.
    uint32_t calculation = 0;
    /// The actions of its tables, and the limbs of their parameters.
    std::vector<uint32_t> actions;
    std::vector<uint32_t> limbs;
};

struct P4MeterArray
{
    std::string name;
    uint32_t size = 0;
    bool countsBytes = false;
    uint32_t rates = 2;
    /// The table whose entries have one meter each; empty when the program names the meter.
    std::string table;
    /// Where a direct meter's colour is written, and the bits of that field.
    uint32_t result = 0;
    uint32_t resultBits = 0;
};

/// Values that a control plane gives, which a parser's transition compares with.
struct P4ValueSet
{
    std::string name;
    uint32_t bits = 0;
};

struct P4Table
{
    std::string name;
    std::vector<P4TableKey> keys;
    uint32_t maxSize = 0;
    std::vector<uint32_t> actions;
    /// Address after an action: of the table's actions in their order.
    std::vector<uint32_t> nextOfAction;
    bool branchesOnHit = false;
    uint32_t nextOnHit = 0;
    uint32_t nextOnMiss = 0;
    /// The action profile that its entries lead to.
    std::optional<uint32_t> profile;
    /// The meters of its entries.
    std::optional<uint32_t> meter;
    bool isConstant = false;
    /// Whether each entry counts its packets.
    bool hasCounters = false;
    bool hasConstantDefault = false;
    P4TableEntry defaultEntry;
    bool hasDefault = false;
    std::vector<P4TableEntry> entries;

    bool HasAction(uint32_t action) const
    {
        return std::find(actions.begin(), actions.end(), action) != actions.end();
    }
};

struct P4SelectCase
{
    std::vector<uint64_t> value;
    std::vector<uint64_t> mask;
    uint32_t address = 0;
    /// The value set that takes the place of value and mask.
    std::optional<uint32_t> valueSet;
};

/// The transition of a parser state.
struct P4Select
{
    /// Slot and bits of each part of the key; the parts are padded to bytes.
    std::vector<std::pair<uint32_t, uint32_t>> parts;
    uint32_t limbs = 1;
    std::vector<P4SelectCase> cases;
    bool hasDefault = false;
    uint32_t defaultAddress = 0;
};

/// What a program tells its control plane of a packet.
struct P4DigestList
{
    std::string name;
    /// Names are "header.field".
    std::vector<P4Field> fields;
};

/// Metadata that a clone, a resubmitted or a recirculated packet keeps: slot and limbs.
using P4FieldList = std::vector<std::pair<uint32_t, uint32_t>>;

/// Where the architecture's own fields are; those that a program lacks are somewhere unused.
struct P4StandardMetadata
{
    uint32_t ingressPort = 0;
    uint32_t egressSpec = 0;
    uint32_t egressPort = 0;
    uint32_t instanceType = 0;
    uint32_t packetLength = 0;
    uint32_t parserError = 0;
    uint32_t checksumError = 0;
    uint32_t multicastGroup = 0;
    uint32_t replicationId = 0;
    uint32_t ingressTimestamp = 0;
    uint32_t egressTimestamp = 0;
    /// Of the queue at the egress port: 32, 19, 32 and 19 bits.
    uint32_t enqueueTimestamp = 0;
    uint32_t enqueueDepth = 0;
    uint32_t dequeueTimedelta = 0;
    uint32_t dequeueDepth = 0;
    /// Where the architecture writes fields that the program does not have.
    uint32_t unused = 0;
};

struct P4Program
{
    std::string file;
    std::vector<P4Instruction> code;
    /// What the store holds when a switch starts; constants keep it.
    std::vector<uint64_t> store;
    /// The first limbs of the store that belong to a packet.
    uint32_t packetLimbs = 0;
    std::vector<P4Header> headers;
    std::vector<P4Stack> stacks;
    std::vector<P4Union> unions;
    std::vector<P4UnionStack> unionStacks;
    std::vector<P4RegisterArray> registers;
    std::vector<P4CounterArray> counters;
    std::vector<P4MeterArray> meters;
    std::vector<P4ActionProfile> profiles;
    std::vector<P4ValueSet> valueSets;
    std::vector<P4DigestList> digests;
    std::vector<P4LogMessage> logMessages;
    std::vector<P4Calculation> calculations;
    std::vector<P4Action> actions;
    std::vector<P4Table> tables;
    std::vector<P4Select> selects;
    std::map<uint32_t, P4FieldList> fieldLists;
    std::vector<uint32_t> deparserOrder;
    P4StandardMetadata standard;
    /// Whether it names any metadata that is known only when a packet has left its queue.
    bool readsQueues = false;
    uint32_t parserAddress = 0;
    uint32_t verifyAddress = 0;
    uint32_t ingressAddress = 0;
    uint32_t egressAddress = 0;
    uint32_t updateAddress = 0;
    uint32_t deparserAddress = 0;
    uint32_t errorPacketTooShort = 1;
    uint32_t errorNoMatch = 2;
    uint32_t errorStackOutOfBounds = 3;
    uint32_t errorHeaderTooShort = 4;
    uint32_t errorInvalidArgument = 6;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_P4_PROGRAM_H
