// SPDX-License-Identifier: GPL-2.0-only
/*
 * The twin of slot-aggregation-tna.p4 for v1model: the same stages, tables and passes, so that BMv2 and
 * gradsync's pipeline run what a Tofino would. A register is read once and written once in a pass, at
 * one index. README.md has the limits that this meets.
 */
#include <core.p4>
#include <v1model.p4>

#include "headers.p4"
#include "stages/types.p4"

const bit<32> INSTANCE_RECIRCULATED = 4;
/// Any port: packets that go round do not leave by it.
const bit<16> PORT_ROUND = 68;

#define VERIFY_IPV4_CHECKSUM
#define AFTER_VALUES parseEnd
#define IS_TOO_LONG headers.extra.isValid()
#define REPLICATION_ID standard.egress_rid
#define LEAVE \
    if (metadata.isDropped == 1) { \
        mark_to_drop(standard); \
    } else { \
        leave(); \
    }

/// One register of values, in whose rows two passes have a word each. Both write and give the old word.
#define LANE(i) \
    register<bit<64>>(ROWS) values##i; \
    action writeFirst##i() { \
        bit<64> pair; \
        values##i.read(pair, metadata.row); \
        metadata.old##i = 0; \
        values##i.write(metadata.row, headers.active.lane##i ++ pair[31:0]); \
    } \
    action writeSecond##i() { \
        bit<64> pair; \
        values##i.read(pair, metadata.row); \
        metadata.old##i = 0; \
        values##i.write(metadata.row, pair[63:32] ++ headers.active.lane##i); \
    } \
    action addFirst##i() { \
        bit<64> pair; \
        values##i.read(pair, metadata.row); \
        metadata.old##i = pair[63:32]; \
        values##i.write(metadata.row, \
                        ADD_WORDS(pair[63:32], headers.active.lane##i) ++ pair[31:0]); \
    } \
    action addSecond##i() { \
        bit<64> pair; \
        values##i.read(pair, metadata.row); \
        metadata.old##i = pair[31:0]; \
        values##i.write(metadata.row, \
                        pair[63:32] ++ ADD_WORDS(pair[31:0], headers.active.lane##i)); \
    }

#ifdef SATURATE
#define ADD_WORDS(a, b) ((bit<32>)((int<32>)(a) |+| (int<32>)(b)))
#else
#define ADD_WORDS(a, b) ((a) + (b))
#endif

parser SlotParser(packet_in packet, out headers_t headers, inout metadata_t metadata,
                  inout standard_metadata_t standard) {
    state start {
        transition select(standard.instance_type) {
            INSTANCE_RECIRCULATED: parseAgain;
            default: parseEthernet;
        }
    }
#include "stages/parser.p4"
}

control SlotVerifyChecksum(inout headers_t headers, inout metadata_t metadata) {
    apply {
        verify_checksum(headers.ipv4.isValid() && headers.ipv4.ihl == 5,
            { headers.ipv4.version, headers.ipv4.ihl, headers.ipv4.diffserv,
              headers.ipv4.totalLength, headers.ipv4.identification, headers.ipv4.flags,
              headers.ipv4.fragmentOffset, headers.ipv4.ttl, headers.ipv4.protocol,
              headers.ipv4.checksum, headers.ipv4.source, headers.ipv4.destination },
            metadata.zero, HashAlgorithm.csum16);
    }
}

control SlotIngress(inout headers_t headers, inout metadata_t metadata,
                    inout standard_metadata_t standard) {
    /// The epoch in the upper 16 bits of the upper word; 1 in the lower one: used.
    register<bit<64>>(CELLS) epochs;
    register<bit<32>>(CELLS) bitmaps;
    register<bit<8>>(CELLS) answered;
    register<bit<32>>(CELLS) offsets;
    register<bit<8>>(CELLS) exponentsA;
    register<bit<8>>(CELLS) exponentsB;
    register<bit<8>>(CELLS) flags;
    counter((bit<32>)EVENTS, CounterType.packets) events;
    counter(1, CounterType.packets) overflows;

    action enter() {
        metadata.port = (bit<16>)standard.ingress_port;
        metadata.checksumError = standard.checksum_error;
    }

    action claimEpoch() {
        bit<64> pair;
        epochs.read(pair, metadata.cell);
        bit<32> ahead = metadata.epoch - pair[63:32];
        metadata.found = pair[63:32];
        if (pair[31:0] == 0 || (ahead != 0 && ahead[31:31] == 0)) {
            metadata.found = EPOCH_BEGINS;
            pair = metadata.epoch ++ 32w1;
        }
        epochs.write(metadata.cell, pair);
    }

    action lookAtEpoch() {
        bit<64> pair;
        epochs.read(pair, metadata.cell);
        metadata.found = pair[63:32];
        if (pair[31:0] == 0) {
            metadata.found = EPOCH_BEGINS;
        }
    }

    action startBitmap() {
        metadata.bitmap = 0;
        bitmaps.write(metadata.cell, metadata.workerBit);
    }

    action joinBitmap() {
        bitmaps.read(metadata.bitmap, metadata.cell);
        bitmaps.write(metadata.cell, metadata.bitmap | metadata.workerBit);
    }

    action clearAnswered() {
        answered.write(metadata.cell, 0);
    }

    action loadAnswered() {
        bit<8> word;
        answered.read(word, metadata.cell);
        metadata.isAnswered = word[0:0];
    }

    action setAnswered() {
        loadAnswered();
        answered.write(metadata.cell, 1);
    }

    action writeOffset() {
        offsets.write(metadata.cell, headers.slot.offset);
    }

    action loadOffset() {
        offsets.read(headers.slot.offset, metadata.cell);
    }

    action writeExponents() {
        exponentsA.write(metadata.cell, (bit<8>)headers.slot.exponentA);
        exponentsB.write(metadata.cell, (bit<8>)headers.slot.exponentB);
    }

    action raiseExponents() {
        // BMv2's registers know no signs.
        bit<8> a;
        bit<8> b;
        exponentsA.read(a, metadata.cell);
        exponentsB.read(b, metadata.cell);
        if ((int<8>)a > headers.slot.exponentA) {
            headers.slot.exponentA = (int<8>)a;
        }
        if ((int<8>)b > headers.slot.exponentB) {
            headers.slot.exponentB = (int<8>)b;
        }
        exponentsA.write(metadata.cell, (bit<8>)headers.slot.exponentA);
        exponentsB.write(metadata.cell, (bit<8>)headers.slot.exponentB);
    }

    action writeFlags() {
        flags.write(metadata.cell, metadata.flags);
    }

    action addFlags() {
        bit<8> word;
        flags.read(word, metadata.cell);
        metadata.flags = metadata.flags | word;
        flags.write(metadata.cell, metadata.flags);
    }

    action countEvent() {
        events.count((bit<32>)metadata.event);
    }

    action countOverflow() {
        overflows.count(0);
    }

    action goRound() {
        metadata.egressPort = PORT_ROUND;
    }

    action leave() {
        standard.egress_spec = metadata.egressPort[8:0];
        standard.mcast_grp = metadata.group;
    }

#include "stages/ingress.p4"
}

control SlotEgress(inout headers_t headers, inout metadata_t metadata,
                   inout standard_metadata_t standard) {
    counter(1, CounterType.packets) noReceivers;

    action countNoReceiver() {
        noReceivers.count(0);
    }

    action leave() {
    }

    action goRound() {
        recirculate_preserving_field_list(0);
    }

#include "stages/egress.p4"
}

control SlotComputeChecksum(inout headers_t headers, inout metadata_t metadata) {
    apply {
        update_checksum(headers.ipv4.isValid(),
            { headers.ipv4.version, headers.ipv4.ihl, headers.ipv4.diffserv,
              headers.ipv4.totalLength, headers.ipv4.identification, headers.ipv4.flags,
              headers.ipv4.fragmentOffset, headers.ipv4.ttl, headers.ipv4.protocol,
              headers.ipv4.source, headers.ipv4.destination },
            headers.ipv4.checksum, HashAlgorithm.csum16);
    }
}

control SlotDeparser(packet_out packet, in headers_t headers) {
    apply {
        packet.emit(headers.again);
        packet.emit(headers.ethernet);
        packet.emit(headers.ipv4);
        packet.emit(headers.udp);
        packet.emit(headers.slot);
#if PASSES > 1
        packet.emit(headers.next1);
#endif
#if PASSES > 2
        packet.emit(headers.next2);
        packet.emit(headers.next3);
#endif
        packet.emit(headers.active);
    }
}

V1Switch(SlotParser(), SlotVerifyChecksum(), SlotIngress(), SlotEgress(), SlotComputeChecksum(),
         SlotDeparser()) main;
