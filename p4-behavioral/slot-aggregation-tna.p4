// SPDX-License-Identifier: GPL-2.0-only
/*
 * The slot protocol of slot-aggregation.p4 for Tofino (TNA): registers of at most two 32-bit words, each
 * touched once in a pass by its stateful ALU; 16 values a pass, and recirculation for more; no checksum
 * over the payload. slot-aggregation-stages.p4 is its twin for v1model, which the vectors run.
 *
 * Packets that go round return in the order in which they left, hence the passes of two packets keep
 * the order of their first ones, as the registers of the later passes need it.
 */
#include <core.p4>
#include <tna.p4>

#include "headers.p4"
#include "stages/types.p4"

/// The port for recirculation of the first pipe.
const PortId_t PORT_ROUND = 68;

struct pair_t {
    bit<32> first;
    bit<32> second;
}

#define AFTER_VALUES parseEnd
// Reading parser_err keeps packets with an error, as all good ones are.
#define IS_TOO_LONG (fromParser.parser_err == 0)
// verify() gives 1 for a wrong checksum: so the programs that Barefoot has published use it.
#define VERIFY_IPV4_CHECKSUM \
    ipv4Checksum.add(headers.ipv4); \
    metadata.checksumError = (bit<1>)ipv4Checksum.verify();

#define LANE(i) \
    Register<pair_t, bit<32>>(ROWS) values##i; \
    RegisterAction<pair_t, bit<32>, bit<32>>(values##i) doWriteFirst##i = { \
        void apply(inout pair_t pair, out bit<32> old) { \
            old = 0; \
            pair.first = headers.active.lane##i; \
        } \
    }; \
    RegisterAction<pair_t, bit<32>, bit<32>>(values##i) doWriteSecond##i = { \
        void apply(inout pair_t pair, out bit<32> old) { \
            old = 0; \
            pair.second = headers.active.lane##i; \
        } \
    }; \
    RegisterAction<pair_t, bit<32>, bit<32>>(values##i) doAddFirst##i = { \
        void apply(inout pair_t pair, out bit<32> old) { \
            old = pair.first; \
            pair.first = ADD_WORDS(pair.first, headers.active.lane##i); \
        } \
    }; \
    RegisterAction<pair_t, bit<32>, bit<32>>(values##i) doAddSecond##i = { \
        void apply(inout pair_t pair, out bit<32> old) { \
            old = pair.second; \
            pair.second = ADD_WORDS(pair.second, headers.active.lane##i); \
        } \
    }; \
    action writeFirst##i() { \
        metadata.old##i = doWriteFirst##i.execute(metadata.row); \
    } \
    action writeSecond##i() { \
        metadata.old##i = doWriteSecond##i.execute(metadata.row); \
    } \
    action addFirst##i() { \
        metadata.old##i = doAddFirst##i.execute(metadata.row); \
    } \
    action addSecond##i() { \
        metadata.old##i = doAddSecond##i.execute(metadata.row); \
    }

#ifdef SATURATE
#define ADD_WORDS(a, b) ((bit<32>)((int<32>)(a) |+| (int<32>)(b)))
#else
#define ADD_WORDS(a, b) ((a) + (b))
#endif

parser SlotIngressParser(packet_in packet, out headers_t headers, out metadata_t metadata,
                         out ingress_intrinsic_metadata_t intrinsic) {
    Checksum() ipv4Checksum;

    state start {
        packet.extract(intrinsic);
        packet.advance(PORT_METADATA_SIZE);
        transition select(intrinsic.ingress_port) {
            PORT_ROUND: parseAgain;
            default: parseEthernet;
        }
    }
#include "stages/parser.p4"
}

#define LEAVE \
    if (metadata.isDropped == 1) { \
        deparser_.drop_ctl = 1; \
    } else if (metadata.group != 0) { \
        manager.mcast_grp_a = metadata.group; \
    } else { \
        manager.ucast_egress_port = metadata.egressPort[8:0]; \
    }

control SlotIngress(inout headers_t headers, inout metadata_t metadata,
                    in ingress_intrinsic_metadata_t intrinsic,
                    in ingress_intrinsic_metadata_from_parser_t fromParser,
                    inout ingress_intrinsic_metadata_for_deparser_t deparser_,
                    inout ingress_intrinsic_metadata_for_tm_t manager) {
    /// The epoch in the upper 16 bits of the first word; 1 in the second one: used.
    Register<pair_t, bit<32>>(CELLS) epochs;
    Register<bit<32>, bit<32>>(CELLS) bitmaps;
    Register<bit<8>, bit<32>>(CELLS) answered;
    Register<bit<32>, bit<32>>(CELLS) offsets;
    Register<int<8>, bit<32>>(CELLS) exponentsA;
    Register<int<8>, bit<32>>(CELLS) exponentsB;
    Register<bit<8>, bit<32>>(CELLS) flags;
    Counter<bit<32>, bit<8>>((bit<32>)EVENTS, CounterType_t.PACKETS) events;
    Counter<bit<32>, bit<8>>(1, CounterType_t.PACKETS) overflows;

    RegisterAction<pair_t, bit<32>, bit<32>>(epochs) doClaimEpoch = {
        void apply(inout pair_t pair, out bit<32> found) {
            found = pair.first;
            if (pair.second == 0 || (int<32>)(metadata.epoch - pair.first) > 0) {
                found = EPOCH_BEGINS;
                pair.first = metadata.epoch;
                pair.second = 1;
            }
        }
    };
    RegisterAction<pair_t, bit<32>, bit<32>>(epochs) doLookAtEpoch = {
        void apply(inout pair_t pair, out bit<32> found) {
            found = pair.first;
            if (pair.second == 0) {
                found = EPOCH_BEGINS;
            }
        }
    };
    RegisterAction<bit<32>, bit<32>, bit<32>>(bitmaps) doStartBitmap = {
        void apply(inout bit<32> bitmap, out bit<32> before) {
            before = 0;
            bitmap = metadata.workerBit;
        }
    };
    RegisterAction<bit<32>, bit<32>, bit<32>>(bitmaps) doJoinBitmap = {
        void apply(inout bit<32> bitmap, out bit<32> before) {
            before = bitmap;
            bitmap = bitmap | metadata.workerBit;
        }
    };
    RegisterAction<bit<8>, bit<32>, bit<8>>(answered) doClearAnswered = {
        void apply(inout bit<8> word, out bit<8> before) {
            before = word;
            word = 0;
        }
    };
    RegisterAction<bit<8>, bit<32>, bit<8>>(answered) doLoadAnswered = {
        void apply(inout bit<8> word, out bit<8> before) {
            before = word;
        }
    };
    RegisterAction<bit<8>, bit<32>, bit<8>>(answered) doSetAnswered = {
        void apply(inout bit<8> word, out bit<8> before) {
            before = word;
            word = 1;
        }
    };
    RegisterAction<bit<32>, bit<32>, bit<32>>(offsets) doWriteOffset = {
        void apply(inout bit<32> offset, out bit<32> now) {
            offset = headers.slot.offset;
            now = offset;
        }
    };
    RegisterAction<bit<32>, bit<32>, bit<32>>(offsets) doLoadOffset = {
        void apply(inout bit<32> offset, out bit<32> now) {
            now = offset;
        }
    };
    RegisterAction<int<8>, bit<32>, int<8>>(exponentsA) doWriteExponentA = {
        void apply(inout int<8> exponent, out int<8> now) {
            exponent = headers.slot.exponentA;
            now = exponent;
        }
    };
    RegisterAction<int<8>, bit<32>, int<8>>(exponentsA) doRaiseExponentA = {
        void apply(inout int<8> exponent, out int<8> now) {
            exponent = max(exponent, headers.slot.exponentA);
            now = exponent;
        }
    };
    RegisterAction<int<8>, bit<32>, int<8>>(exponentsB) doWriteExponentB = {
        void apply(inout int<8> exponent, out int<8> now) {
            exponent = headers.slot.exponentB;
            now = exponent;
        }
    };
    RegisterAction<int<8>, bit<32>, int<8>>(exponentsB) doRaiseExponentB = {
        void apply(inout int<8> exponent, out int<8> now) {
            exponent = max(exponent, headers.slot.exponentB);
            now = exponent;
        }
    };
    RegisterAction<bit<8>, bit<32>, bit<8>>(flags) doWriteFlags = {
        void apply(inout bit<8> word, out bit<8> now) {
            word = metadata.flags;
            now = word;
        }
    };
    RegisterAction<bit<8>, bit<32>, bit<8>>(flags) doAddFlags = {
        void apply(inout bit<8> word, out bit<8> now) {
            word = word | metadata.flags;
            now = word;
        }
    };

    action enter() {
        metadata.port = (bit<16>)intrinsic.ingress_port;
    }

    action claimEpoch() {
        metadata.found = doClaimEpoch.execute(metadata.cell);
    }

    action lookAtEpoch() {
        metadata.found = doLookAtEpoch.execute(metadata.cell);
    }

    action startBitmap() {
        metadata.bitmap = doStartBitmap.execute(metadata.cell);
    }

    action joinBitmap() {
        metadata.bitmap = doJoinBitmap.execute(metadata.cell);
    }

    action clearAnswered() {
        doClearAnswered.execute(metadata.cell);
    }

    action loadAnswered() {
        metadata.isAnswered = doLoadAnswered.execute(metadata.cell)[0:0];
    }

    action setAnswered() {
        metadata.isAnswered = doSetAnswered.execute(metadata.cell)[0:0];
    }

    action writeOffset() {
        headers.slot.offset = doWriteOffset.execute(metadata.cell);
    }

    action loadOffset() {
        headers.slot.offset = doLoadOffset.execute(metadata.cell);
    }

    action writeExponents() {
        headers.slot.exponentA = doWriteExponentA.execute(metadata.cell);
        headers.slot.exponentB = doWriteExponentB.execute(metadata.cell);
    }

    action raiseExponents() {
        headers.slot.exponentA = doRaiseExponentA.execute(metadata.cell);
        headers.slot.exponentB = doRaiseExponentB.execute(metadata.cell);
    }

    action writeFlags() {
        metadata.flags = doWriteFlags.execute(metadata.cell);
    }

    action addFlags() {
        metadata.flags = doAddFlags.execute(metadata.cell);
    }

    action countEvent() {
        events.count(metadata.event);
    }

    action countOverflow() {
        overflows.count(0);
    }

    action goRound() {
        metadata.egressPort = (bit<16>)PORT_ROUND;
        manager.bypass_egress = 1;
    }

#include "stages/ingress.p4"
}

control SlotIngressDeparser(packet_out packet, inout headers_t headers, in metadata_t metadata,
                            in ingress_intrinsic_metadata_for_deparser_t deparser_) {
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

#undef VERIFY_IPV4_CHECKSUM
#define VERIFY_IPV4_CHECKSUM
#undef AFTER_VALUES
#define AFTER_VALUES accept
#undef LEAVE
#define LEAVE \
    if (metadata.isDropped == 1) { \
        deparser_.drop_ctl = 1; \
    }
#define REPLICATION_ID intrinsic.egress_rid

parser SlotEgressParser(packet_in packet, out headers_t headers, out metadata_t metadata,
                        out egress_intrinsic_metadata_t intrinsic) {
    state start {
        packet.extract(intrinsic);
        transition parseEthernet;
    }
#include "stages/parser.p4"
}

control SlotEgress(inout headers_t headers, inout metadata_t metadata,
                   in egress_intrinsic_metadata_t intrinsic,
                   in egress_intrinsic_metadata_from_parser_t fromParser,
                   inout egress_intrinsic_metadata_for_deparser_t deparser_,
                   inout egress_intrinsic_metadata_for_output_port_t output) {
    Counter<bit<32>, bit<8>>(1, CounterType_t.PACKETS) noReceivers;

    action countNoReceiver() {
        noReceivers.count(0);
    }

    // What goes round passes no egress.
    action goRound() {
    }

#include "stages/egress.p4"
}

control SlotEgressDeparser(packet_out packet, inout headers_t headers, in metadata_t metadata,
                           in egress_intrinsic_metadata_for_deparser_t deparser_) {
    Checksum() ipv4Checksum;

    apply {
        headers.ipv4.checksum = ipv4Checksum.update(
            { headers.ipv4.version, headers.ipv4.ihl, headers.ipv4.diffserv,
              headers.ipv4.totalLength, headers.ipv4.identification, headers.ipv4.flags,
              headers.ipv4.fragmentOffset, headers.ipv4.ttl, headers.ipv4.protocol,
              headers.ipv4.source, headers.ipv4.destination });
        packet.emit(headers.ethernet);
        packet.emit(headers.ipv4);
        packet.emit(headers.udp);
        packet.emit(headers.slot);
        // As they came: egress is not a pass.
        packet.emit(headers.active);
#if PASSES > 1
        packet.emit(headers.next1);
#endif
#if PASSES > 2
        packet.emit(headers.next2);
        packet.emit(headers.next3);
#endif
    }
}

Pipeline(SlotIngressParser(), SlotIngress(), SlotIngressDeparser(), SlotEgressParser(), SlotEgress(),
         SlotEgressDeparser()) pipe;

Switch(pipe) main;
