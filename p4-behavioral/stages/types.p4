// SPDX-License-Identifier: GPL-2.0-only
/*
 * What slot-aggregation-tna.p4 and its twin for v1model share: settings, headers, metadata.
 *
 * Compile-time settings:
 *   VALUES     int32 values per packet: 16, 32 or 64 (64), 16 in each pass through the pipeline
 *   POOL_SIZE  slots of the switch, shared by its jobs (4096)
 *   SATURATE   when defined, sums saturate at the limits of int32; otherwise they wrap
 */
#ifndef VALUES
#define VALUES 64
#endif
#ifndef POOL_SIZE
#define POOL_SIZE 4096
#endif
#if VALUES != 16 && VALUES != 32 && VALUES != 64
#error "VALUES: 16, 32 or 64, as a pass takes 16 of them and a register holds those of two passes"
#endif
#if POOL_SIZE < 1 || POOL_SIZE > 65536
#error "POOL_SIZE: 1 to 65536, as slots are numbered by 16 bits"
#endif

#define LANES 16
#define PASSES (VALUES / LANES)
/// Rows of a register of values that a cell has: each holds the words of two passes.
#define ROWS_OF_A_CELL ((PASSES + 1) / 2)
#define CELLS (2 * POOL_SIZE)
#define ROWS (CELLS * ROWS_OF_A_CELL)

const bit<16> AGGREGATION_PORT = 0xBEE0;
const bit<8> CONTRIBUTION = 0;
const bit<8> RESULT = 1;
const bit<8> FLAG_OVERFLOW = 1;
const bit<16> SLOT_BYTES = 20;
const bit<16> UDP_LENGTH = UDP_BYTES + SLOT_BYTES + 4 * VALUES;
const bit<16> IPV4_LENGTH = IPV4_BYTES + UDP_LENGTH;

/// Index in the counter `events`, as in slot-aggregation.p4; overflows have a counter of their own.
const bit<8> EVENT_CHECKSUM = 0;
const bit<8> EVENT_MALFORMED = 1;
const bit<8> EVENT_UNKNOWN_WORKER = 2;
const bit<8> EVENT_SLOT_OUT_OF_RANGE = 3;
const bit<8> EVENT_STALE = 4;
const bit<8> EVENT_DUPLICATE = 5;
const bit<8> EVENT_NO_ROUTE = 6;
const bit<8> EVENT_RESENT = 7;
const bit<8> EVENT_COMPLETED = 8;
const bit<8> EVENT_PARTIAL = 10;
const bit<8> EVENTS = 12;
/// In place of one: nothing is counted.
const bit<8> EVENT_NONE = 11;

/// What becomes of a packet behind its last pass.
const bit<8> VERDICT_HELD = 0;
const bit<8> VERDICT_RESULT_TO_ALL = 1;
const bit<8> VERDICT_RESULT_TO_SENDER = 2;
const bit<8> VERDICT_PARTIAL_SUM = 3;

/// What a pass does with the registers of values. Loading is adding zeros.
const bit<8> STEP_NONE = 0;
const bit<8> STEP_WRITE_FIRST = 1;
const bit<8> STEP_ADD_FIRST = 2;
const bit<8> STEP_WRITE_SECOND = 3;
const bit<8> STEP_ADD_SECOND = 4;

/// In place of the epoch that a cell had: it takes the packet's. Epochs are in the upper 16 bits.
const bit<32> EPOCH_BEGINS = 1;

/// Before Ethernet while a packet goes round: what the passes before have found.
header again_t {
    bit<8> pass;
    bit<8> verdict;
    bit<8> isWritten;
    bit<8> hasOverflowed;
    bit<16> port;
    bit<16> reserved;
    bit<32> cell;
}

header slot_t {
    bit<8> messageType;
    bit<8> flags;
    bit<16> job;
    bit<16> worker;
    bit<16> count;
    bit<16> slot;
    bit<16> epoch;
    bit<32> offset;
    int<8> exponentA;
    int<8> exponentB;
    bit<16> reserved;
}

/// The values of one pass.
header values_t {
    bit<32> lane0;
    bit<32> lane1;
    bit<32> lane2;
    bit<32> lane3;
    bit<32> lane4;
    bit<32> lane5;
    bit<32> lane6;
    bit<32> lane7;
    bit<32> lane8;
    bit<32> lane9;
    bit<32> lane10;
    bit<32> lane11;
    bit<32> lane12;
    bit<32> lane13;
    bit<32> lane14;
    bit<32> lane15;
}

header byte_t {
    bit<8> value;
}

/// Values go round: those of this pass come first, and leave behind the others.
struct headers_t {
    again_t again;
    ethernet_t ethernet;
    ipv4_t ipv4;
    udp_t udp;
    slot_t slot;
    values_t active;
#if PASSES > 1
    values_t next1;
#endif
#if PASSES > 2
    values_t next2;
    values_t next3;
#endif
    /// Behind the last value: of a frame that is too long.
    byte_t extra;
}

struct metadata_t {
    /// What the one's complement sum over an IPv4 header and its own checksum must be.
    bit<16> zero;
    bit<1> checksumError;
    bit<1> isIpv4;
    bit<1> isUdp;
    bit<1> isAggregation;
    bit<1> isDropped;
    bit<1> hasParent;
    bit<1> isAnswered;
    bit<16> port;
    bit<16> egressPort;
    bit<16> group;
    bit<8> event;
    /// Of this pass: from the first pass or from the header `again`.
    bit<8> pass;
    bit<8> verdict;
    bit<8> step;
    bit<8> isWritten;
    bit<8> hasOverflowed;
    bit<32> cell;
    bit<32> row;
    /// Of the entry in `worker`, as in slot-aggregation.p4.
    bit<8> messageType;
    bit<8> flagMask;
    bit<32> workerBit;
    bit<32> allWorkers;
    bit<32> base;
    bit<32> slots;
    bit<16> jobGroup;
    bit<48> switchMac;
    bit<32> switchIp;
    bit<16> parentPort;
    bit<16> numberAbove;
    bit<48> parentMac;
    bit<32> parentIp;
    bit<32> addressAbove;
    /// Between stages.
    bit<32> place;
    bit<32> slotsLeft;
    bit<32> poolLeft;
    bit<32> epoch;
    bit<32> found;
    bit<32> bitmap;
    bit<32> joined;
    bit<32> repeated;
    bit<32> missing;
    bit<8> flags;
    /// Of each lane: what the register held; the sum; where both terms differ from it in sign.
    bit<32> old0;
    bit<32> old1;
    bit<32> old2;
    bit<32> old3;
    bit<32> old4;
    bit<32> old5;
    bit<32> old6;
    bit<32> old7;
    bit<32> old8;
    bit<32> old9;
    bit<32> old10;
    bit<32> old11;
    bit<32> old12;
    bit<32> old13;
    bit<32> old14;
    bit<32> old15;
    bit<32> sum0;
    bit<32> sum1;
    bit<32> sum2;
    bit<32> sum3;
    bit<32> sum4;
    bit<32> sum5;
    bit<32> sum6;
    bit<32> sum7;
    bit<32> sum8;
    bit<32> sum9;
    bit<32> sum10;
    bit<32> sum11;
    bit<32> sum12;
    bit<32> sum13;
    bit<32> sum14;
    bit<32> sum15;
    bit<32> bits0;
    bit<32> bits1;
    bit<32> bits2;
    bit<32> bits3;
    bit<32> bits4;
    bit<32> bits5;
    bit<32> bits6;
    bit<32> bits7;
    bit<32> bits8;
    bit<32> bits9;
    bit<32> bits10;
    bit<32> bits11;
    bit<32> bits12;
    bit<32> bits13;
    bit<32> bits14;
    bit<32> bits15;
    /// The lanes' overflows in their sign bits, a column of lanes each.
    bit<32> overflow0;
    bit<32> overflow1;
    bit<32> overflow2;
    bit<32> overflow3;
}

#if PASSES == 1
#define IS_WHOLE headers.active.isValid()
#elif PASSES == 2
#define IS_WHOLE headers.next1.isValid()
#else
#define IS_WHOLE headers.next3.isValid()
#endif

/// A table for each register of values: what this pass does with it.
#define LANE_TABLE(i) \
    table lane##i { \
        key = { metadata.step: exact; } \
        actions = { writeFirst##i; addFirst##i; writeSecond##i; addSecond##i; NoAction; } \
        const entries = { \
            STEP_WRITE_FIRST: writeFirst##i(); \
            STEP_ADD_FIRST: addFirst##i(); \
            STEP_WRITE_SECOND: writeSecond##i(); \
            STEP_ADD_SECOND: addSecond##i(); \
        } \
        const default_action = NoAction(); \
    }

#ifdef SATURATE
#define TAKE_SUM(i) \
    headers.active.lane##i = (bit<32>)((int<32>)metadata.old##i |+| (int<32>)headers.active.lane##i);
#else
#define TAKE_SUM(i) headers.active.lane##i = metadata.sum##i;
#endif

/// The register gave what it held before: the sum is made again behind it, and whether it overflowed,
/// which is where both terms have another sign than the sum.
#define APPLY_LANE(i, column) \
    lane##i.apply(); \
    metadata.sum##i = metadata.old##i + headers.active.lane##i; \
    metadata.bits##i = metadata.old##i ^ metadata.sum##i; \
    metadata.bits##i = metadata.bits##i & (headers.active.lane##i ^ metadata.sum##i); \
    metadata.overflow##column = metadata.overflow##column | metadata.bits##i; \
    TAKE_SUM(i)
