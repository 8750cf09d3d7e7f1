// SPDX-License-Identifier: GPL-2.0-only
/*
 * Aggregation of int32 vectors in a switch, after SwitchML (NSDI'21) and PASSING, with an epoch per
 * slot in place of SwitchML's one-bit set, so that packets may be lost, repeated, reordered or come
 * late. A switch may be a worker of a switch above: it passes its sums on and answers with what
 * that one answers. README.md has the header, the state machine and the reasons.
 *
 * Compile-time settings:
 *   VALUES     int32 values per packet, 1 to 64 (64)
 *   POOL_SIZE  slots of the switch, shared by its jobs (4096)
 *   SATURATE   when defined, sums saturate at the limits of int32; otherwise they wrap
 */
#include <core.p4>
#include <v1model.p4>

#include "headers.p4"

#ifndef VALUES
#define VALUES 64
#endif
#ifndef POOL_SIZE
#define POOL_SIZE 4096
#endif
#if VALUES < 1 || VALUES > 64
#error "VALUES: 1 to 64, as the sign bits below are made for 64 lanes"
#endif
#if POOL_SIZE < 1 || POOL_SIZE > 65536
#error "POOL_SIZE: 1 to 65536, as slots are numbered by 16 bits"
#endif

const bit<16> AGGREGATION_PORT = 0xBEE0;
const bit<8> CONTRIBUTION = 0;
const bit<8> RESULT = 1;
const bit<8> FLAG_OVERFLOW = 1;

const bit<16> SLOT_BYTES = 20;
const bit<16> UDP_LENGTH = UDP_BYTES + SLOT_BYTES + 4 * VALUES;
const bit<16> IPV4_LENGTH = IPV4_BYTES + UDP_LENGTH;
const bit<32> FRAME_LENGTH = (bit<32>)(ETHERNET_BYTES + IPV4_LENGTH);

/// All lanes of a packet as one number: value 0 has the highest bits, as on the wire.
typedef bit<(32 * VALUES)> lanes_t;

// The sign bit of every lane, by doubling; what exceeds VALUES lanes is cut off.
const bit<2048> SIGNS_1 = 0x80000000;
const bit<2048> SIGNS_2 = SIGNS_1 | (SIGNS_1 << 32);
const bit<2048> SIGNS_4 = SIGNS_2 | (SIGNS_2 << 64);
const bit<2048> SIGNS_8 = SIGNS_4 | (SIGNS_4 << 128);
const bit<2048> SIGNS_16 = SIGNS_8 | (SIGNS_8 << 256);
const bit<2048> SIGNS_32 = SIGNS_16 | (SIGNS_16 << 512);
const bit<2048> SIGNS_64 = SIGNS_32 | (SIGNS_32 << 1024);
const lanes_t SIGNS = SIGNS_64[32 * VALUES - 1:0];

/// Why a packet was dropped, and what else is counted: the index in the counter `events`.
const bit<32> EVENT_CHECKSUM = 0;
const bit<32> EVENT_MALFORMED = 1;
const bit<32> EVENT_UNKNOWN_WORKER = 2;
const bit<32> EVENT_SLOT_OUT_OF_RANGE = 3;
const bit<32> EVENT_STALE = 4;
const bit<32> EVENT_DUPLICATE = 5;
const bit<32> EVENT_NO_ROUTE = 6;
const bit<32> EVENT_RESENT = 7;
const bit<32> EVENT_COMPLETED = 8;
const bit<32> EVENT_OVERFLOW = 9;
const bit<32> EVENT_PARTIAL = 10;
const bit<32> EVENTS = 11;

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

header values_t {
    lanes_t lanes;
}

struct headers_t {
    ethernet_t ethernet;
    ipv4_t ipv4;
    udp_t udp;
    slot_t slot;
    values_t values;
}

struct metadata_t {
    /// What a one's complement sum over a datagram and its own checksum must be.
    bit<16> zero;
    bit<1> isAggregation;
    bit<1> isResult;
    bit<1> isPartial;
    bit<1> isForwarded;
    /// What the sender may send: contributions, or results if it is the switch above.
    bit<8> messageType;
    /// Flags of contributions that count: none of a worker's, all of a switch's.
    bit<8> flagMask;
    bit<32> workerBit;
    bit<32> allWorkers;
    bit<32> base;
    bit<32> slots;
    bit<16> group;
    bit<48> switchMac;
    bit<32> switchIp;
    /// Of the switch above, if there is one.
    bit<1> hasParent;
    bit<9> parentPort;
    bit<16> numberAbove;
    bit<48> parentMac;
    bit<32> parentIp;
    bit<32> addressAbove;
}

parser SlotParser(packet_in packet, out headers_t headers, inout metadata_t metadata,
                  inout standard_metadata_t standard) {
    state start {
        packet.extract(headers.ethernet);
        transition select(headers.ethernet.etherType) {
            ETHERTYPE_IPV4: parseIpv4;
            default: accept;
        }
    }
    state parseIpv4 {
        packet.extract(headers.ipv4);
        // Options and fragments are not looked into.
        transition select(headers.ipv4.version, headers.ipv4.ihl, headers.ipv4.flags[0:0],
                          headers.ipv4.fragmentOffset, headers.ipv4.protocol) {
            (4, 5, 0, 0, PROTOCOL_UDP): parseUdp;
            default: accept;
        }
    }
    state parseUdp {
        packet.extract(headers.udp);
        transition select(headers.udp.destinationPort) {
            AGGREGATION_PORT: parseLengths;
            default: accept;
        }
    }
    // A datagram whose lengths lie has no checksum that could be verified.
    state parseLengths {
        metadata.isAggregation = 1;
        transition select(standard.packet_length, headers.ipv4.totalLength, headers.udp.length) {
            (FRAME_LENGTH, IPV4_LENGTH, UDP_LENGTH): parseSlot;
            default: accept;
        }
    }
    state parseSlot {
        packet.extract(headers.slot);
        packet.extract(headers.values);
        transition accept;
    }
}

control SlotVerifyChecksum(inout headers_t headers, inout metadata_t metadata) {
    apply {
        // The sums include the received checksum, hence 0xFFFF and 0x0000 are the same to them.
        verify_checksum(headers.ipv4.isValid() && headers.ipv4.ihl == 5,
            { headers.ipv4.version, headers.ipv4.ihl, headers.ipv4.diffserv,
              headers.ipv4.totalLength, headers.ipv4.identification, headers.ipv4.flags,
              headers.ipv4.fragmentOffset, headers.ipv4.ttl, headers.ipv4.protocol,
              headers.ipv4.checksum, headers.ipv4.source, headers.ipv4.destination },
            metadata.zero, HashAlgorithm.csum16);
        verify_checksum(headers.values.isValid() && headers.udp.checksum != 0,
            { headers.ipv4.source, headers.ipv4.destination, 8w0, headers.ipv4.protocol,
              headers.udp.length, headers.udp.sourcePort, headers.udp.destinationPort,
              headers.udp.length, headers.udp.checksum, headers.slot.messageType,
              headers.slot.flags, headers.slot.job, headers.slot.worker, headers.slot.count,
              headers.slot.slot, headers.slot.epoch, headers.slot.offset, headers.slot.exponentA,
              headers.slot.exponentB, headers.slot.reserved, headers.values.lanes },
            metadata.zero, HashAlgorithm.csum16);
    }
}

control SlotIngress(inout headers_t headers, inout metadata_t metadata,
                    inout standard_metadata_t standard) {
    // Two sets of every slot: cell = set * POOL_SIZE + base + slot.
    register<bit<32>>(2 * POOL_SIZE) bitmaps;
    register<bit<16>>(2 * POOL_SIZE) epochs;
    register<bit<8>>(2 * POOL_SIZE) flags;
    register<bit<32>>(2 * POOL_SIZE) offsets;
    register<bit<16>>(2 * POOL_SIZE) exponents;
    register<lanes_t>(2 * POOL_SIZE) values;
    // Whether the cell holds the answer of the switch above, no longer the partial sum.
    register<bit<1>>(2 * POOL_SIZE) answered;
    counter(EVENTS, CounterType.packets) events;

    bit<32> cell = 0;
    bit<32> bitmap = 0;
    bool overflowed = false;

    action drop(bit<32> event) {
        events.count(event);
        mark_to_drop(standard);
    }

    action contribution(bit<32> workerBit, bit<32> allWorkers, bit<32> base, bit<32> slots,
                        bit<16> group, bit<48> switchMac, bit<32> switchIp) {
        metadata.workerBit = workerBit;
        metadata.allWorkers = allWorkers;
        metadata.base = base;
        metadata.slots = slots;
        metadata.group = group;
        metadata.switchMac = switchMac;
        metadata.switchIp = switchIp;
    }

    /// As contribution, of a switch below: what it sends is a sum, and its flags tell of it.
    action partialSum(bit<32> workerBit, bit<32> allWorkers, bit<32> base, bit<32> slots,
                      bit<16> group, bit<48> switchMac, bit<32> switchIp) {
        contribution(workerBit, allWorkers, base, slots, group, switchMac, switchIp);
        metadata.flagMask = 0xFF;
    }

    /// Results of the switch above; worker is the number by which it knows this switch.
    action result(bit<32> allWorkers, bit<32> base, bit<32> slots, bit<16> group,
                  bit<48> switchMac, bit<32> switchIp) {
        contribution(0, allWorkers, base, slots, group, switchMac, switchIp);
        metadata.messageType = RESULT;
    }

    action unknownWorker() {
        drop(EVENT_UNKNOWN_WORKER);
    }

    table worker {
        key = {
            headers.slot.job: exact @name("job");
            headers.slot.worker: exact @name("worker");
            standard.ingress_port: exact @name("port");
        }
        actions = { contribution; partialSum; result; unknownWorker; }
        const default_action = unknownWorker();
        size = 4096;
    }

    action sendUp(bit<9> port, bit<16> number, bit<48> mac, bit<32> ip, bit<32> ownIp) {
        metadata.hasParent = 1;
        metadata.parentPort = port;
        metadata.numberAbove = number;
        metadata.parentMac = mac;
        metadata.parentIp = ip;
        metadata.addressAbove = ownIp;
    }

    action isRoot() {
        metadata.hasParent = 0;
    }

    /// The switch to which sums of a job go on; none: this one tells the workers.
    table parent {
        key = { headers.slot.job: exact @name("job"); }
        actions = { sendUp; isRoot; }
        const default_action = isRoot();
        size = 1024;
    }

    action forward(bit<9> port) {
        headers.ipv4.ttl = headers.ipv4.ttl - 1;
        metadata.isForwarded = 1;
        standard.egress_spec = port;
    }

    action noRoute() {
        drop(EVENT_NO_ROUTE);
    }

    table route {
        key = { headers.ipv4.destination: lpm @name("destination"); }
        actions = { forward; noRoute; }
        const default_action = noRoute();
        size = 1024;
    }

    /// The first contribution of an epoch overwrites all that was there: nothing is ever cleared.
    action startSlot() {
        bitmap = metadata.workerBit;
        headers.slot.flags = headers.slot.flags & metadata.flagMask;
        epochs.write(cell, headers.slot.epoch);
        offsets.write(cell, headers.slot.offset);
        answered.write(cell, 0);
    }

    action addLanes() {
        lanes_t sum;
        lanes_t stored;
        bit<8> storedFlags;
        bit<16> storedExponents;
        values.read(stored, cell);
        flags.read(storedFlags, cell);
        exponents.read(storedExponents, cell);
        offsets.read(headers.slot.offset, cell);
        // Lanes are added without their sign bits, so that no carry crosses into the next lane; the
        // sign bits are then added without carry.
        sum = ((stored & ~SIGNS) + (headers.values.lanes & ~SIGNS)) ^
            ((stored ^ headers.values.lanes) & SIGNS);
        // A lane overflowed when both terms have one sign and the sum has the other.
        lanes_t overflow = (stored ^ sum) & (headers.values.lanes ^ sum) & SIGNS;
#ifdef SATURATE
        lanes_t largest = overflow - (overflow >> 31);
        sum = (sum & ~(overflow | largest)) | (largest + ((stored & overflow) >> 31));
#endif
        headers.values.lanes = sum;
        overflowed = overflow != 0;
        if (overflowed) {
            storedFlags = storedFlags | FLAG_OVERFLOW;
        }
        headers.slot.flags = storedFlags | (headers.slot.flags & metadata.flagMask);
        if ((int<8>)storedExponents[15:8] > headers.slot.exponentA) {
            headers.slot.exponentA = (int<8>)storedExponents[15:8];
        }
        if ((int<8>)storedExponents[7:0] > headers.slot.exponentB) {
            headers.slot.exponentB = (int<8>)storedExponents[7:0];
        }
        bitmap = bitmap | metadata.workerBit;
    }

    action storeSums() {
        flags.write(cell, headers.slot.flags);
        exponents.write(cell,
            (bit<8>)headers.slot.exponentA ++ (bit<8>)headers.slot.exponentB);
        values.write(cell, headers.values.lanes);
        mark_to_drop(standard);
    }

    action storeSlot() {
        bitmaps.write(cell, bitmap);
        storeSums();
    }

    /// The answer takes the place of the partial sum.
    action storeAnswer() {
        offsets.write(cell, headers.slot.offset);
        answered.write(cell, 1);
        storeSums();
    }

    action loadResult() {
        bit<16> storedExponents;
        values.read(headers.values.lanes, cell);
        flags.read(headers.slot.flags, cell);
        offsets.read(headers.slot.offset, cell);
        exponents.read(storedExponents, cell);
        headers.slot.exponentA = (int<8>)storedExponents[15:8];
        headers.slot.exponentB = (int<8>)storedExponents[7:0];
    }

    action resend() {
        events.count(EVENT_RESENT);
        metadata.isResult = 1;
        standard.egress_spec = standard.ingress_port;
    }

    action complete() {
        events.count(EVENT_COMPLETED);
        metadata.isResult = 1;
        standard.mcast_grp = metadata.group;
    }

    action passUp() {
        events.count(EVENT_PARTIAL);
        metadata.isPartial = 1;
        standard.egress_spec = metadata.parentPort;
    }

    apply {
        if (standard.parser_error != error.NoError || !headers.ipv4.isValid() ||
            headers.ipv4.version != 4 || headers.ipv4.ihl != 5) {
            drop(EVENT_MALFORMED);
        } else if (standard.checksum_error == 1) {
            drop(EVENT_CHECKSUM);
        } else if (metadata.isAggregation == 0) {
            if (headers.ipv4.ttl <= 1) {
                drop(EVENT_NO_ROUTE);
            } else {
                route.apply();
            }
        } else if (!headers.values.isValid() || headers.slot.count != VALUES) {
            drop(EVENT_MALFORMED);
        } else if (worker.apply().hit) {
            bit<32> slot = (bit<32>)headers.slot.slot;
            parent.apply();
            if (headers.slot.messageType != metadata.messageType) {
                drop(EVENT_MALFORMED);
            } else if (slot >= metadata.slots || metadata.base >= POOL_SIZE ||
                slot >= POOL_SIZE - metadata.base) {
                drop(EVENT_SLOT_OUT_OF_RANGE);
            } else {
                bit<16> storedEpoch;
                bit<1> isAnswered;
                cell = metadata.base + slot;
                if (headers.slot.epoch[0:0] == 1) {
                    cell = cell + POOL_SIZE;
                }
                // What the cell is and what becomes of it are one step: no other packet comes between.
                @atomic {
                    bitmaps.read(bitmap, cell);
                    epochs.read(storedEpoch, cell);
                    answered.read(isAnswered, cell);
                    bool isKnown = metadata.hasParent == 0 || isAnswered == 1;
                    // Serial number arithmetic (RFC 1982): epochs wrap.
                    bit<16> ahead = headers.slot.epoch - storedEpoch;
                    if (metadata.messageType == RESULT) {
                        if (bitmap != metadata.allWorkers || ahead != 0) {
                            drop(EVENT_STALE);
                        } else if (isKnown) {
                            drop(EVENT_DUPLICATE);
                        } else {
                            storeAnswer();
                            complete();
                        }
                    } else if (bitmap != 0 && ahead[15:15] == 1) {
                        drop(EVENT_STALE);
                    } else if (bitmap != 0 && ahead == 0 && (bitmap & metadata.workerBit) != 0) {
                        loadResult();
                        if (bitmap != metadata.allWorkers) {
                            drop(EVENT_DUPLICATE);
                        } else if (isKnown) {
                            resend();
                        } else {
                            passUp();
                        }
                    } else {
                        if (bitmap == 0 || ahead != 0) {
                            startSlot();
                        } else {
                            addLanes();
                            if (overflowed) {
                                events.count(EVENT_OVERFLOW);
                            }
                        }
                        storeSlot();
                        if (bitmap == metadata.allWorkers) {
                            if (metadata.hasParent == 0) {
                                complete();
                            } else {
                                passUp();
                            }
                        }
                    }
                }
            }
        }
    }
}

control SlotEgress(inout headers_t headers, inout metadata_t metadata,
                   inout standard_metadata_t standard) {
    /// Results that were dropped since their worker has no address.
    counter(1, CounterType.packets) noReceivers;

    action address(bit<48> mac, bit<32> ip, bit<32> ownIp) {
        headers.ethernet.destination = mac;
        headers.ethernet.source = metadata.switchMac;
        headers.ipv4.diffserv = 0;
        headers.ipv4.identification = 0;
        headers.ipv4.flags = 0;
        headers.ipv4.ttl = RESULT_TTL;
        headers.ipv4.source = ownIp;
        headers.ipv4.destination = ip;
        headers.udp.sourcePort = AGGREGATION_PORT;
        headers.udp.destinationPort = AGGREGATION_PORT;
        headers.slot.reserved = 0;
    }

    action addressResult(bit<48> mac, bit<32> ip) {
        address(mac, ip, metadata.switchIp);
        headers.slot.messageType = RESULT;
    }

    action addressPartial() {
        address(metadata.parentMac, metadata.parentIp, metadata.addressAbove);
        headers.slot.worker = metadata.numberAbove;
    }

    action noReceiver() {
        noReceivers.count(0);
        mark_to_drop(standard);
    }

    table receiver {
        key = {
            headers.slot.job: exact @name("job");
            headers.slot.worker: exact @name("worker");
        }
        actions = { addressResult; noReceiver; }
        const default_action = noReceiver();
        size = 4096;
    }

    apply {
        if (metadata.isPartial == 1) {
            addressPartial();
        } else if (metadata.isResult == 1) {
            if (standard.mcast_grp != 0) {
                // The nodes of a group have the numbers of the workers.
                headers.slot.worker = standard.egress_rid;
            }
            receiver.apply();
        }
    }
}

control SlotComputeChecksum(inout headers_t headers, inout metadata_t metadata) {
    apply {
        update_checksum(metadata.isResult == 1 || metadata.isPartial == 1 ||
            metadata.isForwarded == 1,
            { headers.ipv4.version, headers.ipv4.ihl, headers.ipv4.diffserv,
              headers.ipv4.totalLength, headers.ipv4.identification, headers.ipv4.flags,
              headers.ipv4.fragmentOffset, headers.ipv4.ttl, headers.ipv4.protocol,
              headers.ipv4.source, headers.ipv4.destination },
            headers.ipv4.checksum, HashAlgorithm.csum16);
        update_checksum(metadata.isResult == 1 || metadata.isPartial == 1,
            { headers.ipv4.source, headers.ipv4.destination, 8w0, headers.ipv4.protocol,
              headers.udp.length, headers.udp.sourcePort, headers.udp.destinationPort,
              headers.udp.length, headers.slot.messageType, headers.slot.flags, headers.slot.job,
              headers.slot.worker, headers.slot.count, headers.slot.slot, headers.slot.epoch,
              headers.slot.offset, headers.slot.exponentA, headers.slot.exponentB,
              headers.slot.reserved, headers.values.lanes },
            headers.udp.checksum, HashAlgorithm.csum16);
        // A UDP checksum of 0 is sent as 0xFFFF (RFC 768), which is the checksum of one zero word.
        update_checksum((metadata.isResult == 1 || metadata.isPartial == 1) &&
            headers.udp.checksum == 0, { 16w0 }, headers.udp.checksum, HashAlgorithm.csum16);
    }
}

control SlotDeparser(packet_out packet, in headers_t headers) {
    apply {
        packet.emit(headers.ethernet);
        packet.emit(headers.ipv4);
        packet.emit(headers.udp);
        packet.emit(headers.slot);
        packet.emit(headers.values);
    }
}

V1Switch(SlotParser(), SlotVerifyChecksum(), SlotIngress(), SlotEgress(), SlotComputeChecksum(),
         SlotDeparser()) main;
