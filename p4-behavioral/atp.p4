// SPDX-License-Identifier: GPL-2.0-only
/*
 * The switch of ATP (Lao et al., "ATP: In-network aggregation for multi-tenant learning", NSDI 2021):
 * aggregators that jobs share, picked by a hash that workers put into their packets. A packet whose
 * aggregator is another's goes to the parameter server (PS) as it is; one that is sent again takes
 * along what its aggregator has; the answer of the PS frees the aggregator on its way back. Two
 * levels: the workers' switch uses bitmap0, fanIn0 and index0, the PS's bitmap1, fanIn1 and index1.
 * README.md has the header and what the switch does.
 *
 * Compile-time settings:
 *   VALUES       int32 values per packet, 1 to 64 (62)
 *   AGGREGATORS  of each level (1024)
 */
#include <core.p4>
#include <v1model.p4>

#include "headers.p4"

#ifndef VALUES
#define VALUES 62
#endif
#ifndef AGGREGATORS
#define AGGREGATORS 1024
#endif
#if VALUES < 1 || VALUES > 64
#error "VALUES: 1 to 64, as the sign bits below are made for 64 lanes"
#endif
#if AGGREGATORS < 1 || AGGREGATORS > 65536
#error "AGGREGATORS: 1 to 65536, as the header names them by 16 bits"
#endif

const bit<16> ATP_PORT = 0xBEE1;
const bit<16> ATP_BYTES = 18;
const bit<16> UDP_LENGTH = UDP_BYTES + ATP_BYTES + 4 * VALUES;
const bit<16> IPV4_LENGTH = IPV4_BYTES + UDP_LENGTH;
const bit<32> FRAME_LENGTH = (bit<32>)(ETHERNET_BYTES + IPV4_LENGTH);
/// IPv4's explicit congestion notification: congestion experienced (RFC 3168).
const bit<2> ECN_CONGESTED = 3;

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

/// What is counted: the index in the counter `events`.
const bit<32> EVENT_CHECKSUM = 0;
const bit<32> EVENT_MALFORMED = 1;
const bit<32> EVENT_NO_ROUTE = 2;
const bit<32> EVENT_DUPLICATE = 3;
const bit<32> EVENT_COLLISION = 4;
const bit<32> EVENT_EVICTED = 5;
const bit<32> EVENT_COMPLETED = 6;
const bit<32> EVENT_FREED = 7;
const bit<32> EVENTS = 8;

header atp_t {
    bit<32> bitmap0;
    bit<32> bitmap1;
    bit<5> fanIn0;
    bit<5> fanIn1;
    bit<1> overflow;
    bit<1> ecn;
    bit<1> resend;
    bit<1> collision;
    bit<1> ack;
    bit<1> level;
    bit<16> job;
    bit<16> sequence;
    bit<16> index0;
    bit<16> index1;
}

header values_t {
    lanes_t lanes;
}

struct headers_t {
    ethernet_t ethernet;
    ipv4_t ipv4;
    udp_t udp;
    atp_t atp;
    values_t values;
}

struct metadata_t {
    /// What a one's complement sum over a datagram and its own checksum must be.
    bit<16> zero;
    bit<1> isAtp;
    bit<1> isChanged;
    bit<1> isForwarded;
    bit<1> isAnswer;
    bit<32> bitmap;
    bit<5> fanIn;
    bit<16> index;
}

parser AtpParser(packet_in packet, out headers_t headers, inout metadata_t metadata,
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
        transition select(headers.ipv4.version, headers.ipv4.ihl, headers.ipv4.flags[0:0],
                          headers.ipv4.fragmentOffset, headers.ipv4.protocol) {
            (4, 5, 0, 0, PROTOCOL_UDP): parseUdp;
            default: accept;
        }
    }
    state parseUdp {
        packet.extract(headers.udp);
        transition select(headers.udp.destinationPort) {
            ATP_PORT: parseLengths;
            default: accept;
        }
    }
    state parseLengths {
        metadata.isAtp = 1;
        transition select(standard.packet_length, headers.ipv4.totalLength, headers.udp.length) {
            (FRAME_LENGTH, IPV4_LENGTH, UDP_LENGTH): parseAtp;
            default: accept;
        }
    }
    state parseAtp {
        packet.extract(headers.atp);
        packet.extract(headers.values);
        transition accept;
    }
}

control AtpVerifyChecksum(inout headers_t headers, inout metadata_t metadata) {
    apply {
        verify_checksum(headers.ipv4.isValid() && headers.ipv4.ihl == 5,
            { headers.ipv4.version, headers.ipv4.ihl, headers.ipv4.diffserv,
              headers.ipv4.totalLength, headers.ipv4.identification, headers.ipv4.flags,
              headers.ipv4.fragmentOffset, headers.ipv4.ttl, headers.ipv4.protocol,
              headers.ipv4.checksum, headers.ipv4.source, headers.ipv4.destination },
            metadata.zero, HashAlgorithm.csum16);
        verify_checksum(headers.values.isValid() && headers.udp.checksum != 0,
            { headers.ipv4.source, headers.ipv4.destination, 8w0, headers.ipv4.protocol,
              headers.udp.length, headers.udp.sourcePort, headers.udp.destinationPort,
              headers.udp.length, headers.udp.checksum, headers.atp.bitmap0, headers.atp.bitmap1,
              headers.atp.fanIn0, headers.atp.fanIn1, headers.atp.overflow, headers.atp.ecn,
              headers.atp.resend, headers.atp.collision, headers.atp.ack, headers.atp.level,
              headers.atp.job, headers.atp.sequence, headers.atp.index0, headers.atp.index1,
              headers.values.lanes },
            metadata.zero, HashAlgorithm.csum16);
    }
}

control AtpIngress(inout headers_t headers, inout metadata_t metadata,
                   inout standard_metadata_t standard) {
    // Aggregators of both levels: cell = level * AGGREGATORS + index. A bitmap of 0: free.
    register<bit<32>>(2 * AGGREGATORS) bitmaps;
    register<bit<32>>(2 * AGGREGATORS) owners;
    register<bit<2>>(2 * AGGREGATORS) marks;
    register<lanes_t>(2 * AGGREGATORS) values;
    counter(EVENTS, CounterType.packets) events;

    bit<32> cell = 0;
    bit<32> bitmap = 0;
    bit<32> owner = 0;

    action drop(bit<32> event) {
        events.count(event);
        mark_to_drop(standard);
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

    action answer(bit<16> group) {
        metadata.isAnswer = 1;
        standard.mcast_grp = group;
    }

    /// Who gets the answers of a job from this switch: switches below, or workers.
    table receivers {
        key = {
            headers.atp.job: exact @name("job");
            headers.atp.level: exact @name("level");
        }
        actions = { answer; noRoute; }
        const default_action = noRoute();
        size = 1024;
    }

    action startAggregator() {
        bitmaps.write(cell, metadata.bitmap);
        owners.write(cell, headers.atp.job ++ headers.atp.sequence);
        marks.write(cell, headers.atp.overflow ++ headers.atp.ecn);
        values.write(cell, headers.values.lanes);
        bitmap = metadata.bitmap;
    }

    /// Adds the packet to the aggregator; the packet then holds the sum.
    action addLanes() {
        lanes_t stored;
        bit<2> mark;
        values.read(stored, cell);
        marks.read(mark, cell);
        lanes_t sum = ((stored & ~SIGNS) + (headers.values.lanes & ~SIGNS)) ^
            ((stored ^ headers.values.lanes) & SIGNS);
        lanes_t overflow = (stored ^ sum) & (headers.values.lanes ^ sum) & SIGNS;
        headers.values.lanes = sum;
        headers.atp.ecn = headers.atp.ecn | mark[0:0];
        headers.atp.overflow = headers.atp.overflow | mark[1:1];
        if (overflow != 0) {
            headers.atp.overflow = 1;
        }
        bitmap = bitmap | metadata.bitmap;
        values.write(cell, headers.values.lanes);
        marks.write(cell, headers.atp.overflow ++ headers.atp.ecn);
        bitmaps.write(cell, bitmap);
    }

    action loadAggregator() {
        bit<2> mark;
        values.read(headers.values.lanes, cell);
        marks.read(mark, cell);
        headers.atp.overflow = mark[1:1];
        headers.atp.ecn = headers.atp.ecn | mark[0:0];
    }

    action freeAggregator(bit<32> event) {
        bitmaps.write(cell, 0);
        events.count(event);
    }

    action takeBitmap() {
        metadata.isChanged = 1;
        metadata.bitmap = bitmap;
    }

    /// Up to the PS, in the packet's own direction; the next switch is of the second level.
    action sendUp() {
        if (headers.atp.level == 0) {
            headers.atp.bitmap0 = metadata.bitmap;
        } else {
            headers.atp.bitmap1 = metadata.bitmap;
        }
        headers.atp.level = 1;
        metadata.isChanged = 1;
    }

    apply {
        if (standard.parser_error != error.NoError || !headers.ipv4.isValid() ||
            headers.ipv4.version != 4 || headers.ipv4.ihl != 5) {
            drop(EVENT_MALFORMED);
        } else if (standard.checksum_error == 1) {
            drop(EVENT_CHECKSUM);
        } else if (metadata.isAtp == 1 && !headers.values.isValid()) {
            drop(EVENT_MALFORMED);
        } else if (headers.ipv4.ttl <= 1) {
            drop(EVENT_NO_ROUTE);
        } else if (metadata.isAtp == 0) {
            route.apply();
        } else {
            if (headers.atp.level == 0) {
                metadata.bitmap = headers.atp.bitmap0;
                metadata.fanIn = headers.atp.fanIn0;
                metadata.index = headers.atp.index0;
            } else {
                metadata.bitmap = headers.atp.bitmap1;
                metadata.fanIn = headers.atp.fanIn1;
                metadata.index = headers.atp.index1;
            }
            // Only workers that the fan-in counts; a packet of nobody is nobody's.
            bit<32> all = ((bit<32>)1 << (bit<8>)metadata.fanIn) - 1;
            if (metadata.index >= AGGREGATORS || metadata.bitmap == 0 ||
                (metadata.bitmap & ~all) != 0) {
                drop(EVENT_MALFORMED);
            } else {
                cell = (bit<32>)metadata.index;
                if (headers.atp.level == 1) {
                    cell = cell + AGGREGATORS;
                }
                // One step, as no other packet may come between what is read and what is written.
                @atomic {
                    bitmaps.read(bitmap, cell);
                    owners.read(owner, cell);
                    bool isMine = bitmap != 0 && owner == headers.atp.job ++ headers.atp.sequence;
                    if (headers.ipv4.diffserv[1:0] == ECN_CONGESTED && headers.atp.ecn == 0) {
                        headers.atp.ecn = 1;
                        metadata.isChanged = 1;
                    }
                    if (headers.atp.ack == 1) {
                        if (isMine) {
                            freeAggregator(EVENT_FREED);
                        }
                        receivers.apply();
                    } else if (headers.atp.level == 1 &&
                               (headers.atp.resend == 1 || headers.atp.collision == 1)) {
                        // Not all of a rack, though bitmap1 has its bit: nothing to add it to.
                        sendUp();
                        route.apply();
                    } else if (headers.atp.resend == 1) {
                        if (isMine) {
                            if ((bitmap & metadata.bitmap) == 0) {
                                addLanes();
                            } else {
                                loadAggregator();
                            }
                            takeBitmap();
                            freeAggregator(EVENT_EVICTED);
                        }
                        sendUp();
                        route.apply();
                    } else if (bitmap == 0 || isMine) {
                        if (isMine && (bitmap & metadata.bitmap) != 0) {
                            drop(EVENT_DUPLICATE);
                        } else {
                            if (isMine) {
                                addLanes();
                            } else {
                                startAggregator();
                            }
                            if (bitmap == all) {
                                events.count(EVENT_COMPLETED);
                                takeBitmap();
                                sendUp();
                                route.apply();
                            } else {
                                mark_to_drop(standard);
                            }
                        }
                    } else {
                        events.count(EVENT_COLLISION);
                        headers.atp.collision = 1;
                        sendUp();
                        route.apply();
                    }
                }
            }
        }
    }
}

control AtpEgress(inout headers_t headers, inout metadata_t metadata,
                  inout standard_metadata_t standard) {
    action addressAnswer(bit<48> mac, bit<32> ip) {
        headers.ethernet.destination = mac;
        headers.ipv4.destination = ip;
        headers.ipv4.ttl = headers.ipv4.ttl - 1;
        headers.atp.level = 0;
        metadata.isChanged = 1;
    }

    action noReceiver() {
        mark_to_drop(standard);
    }

    table receiver {
        key = {
            headers.atp.job: exact @name("job");
            standard.egress_port: exact @name("port");
        }
        actions = { addressAnswer; noReceiver; }
        const default_action = noReceiver();
        size = 4096;
    }

    apply {
        if (metadata.isAnswer == 1) {
            receiver.apply();
        }
    }
}

control AtpComputeChecksum(inout headers_t headers, inout metadata_t metadata) {
    apply {
        update_checksum(metadata.isForwarded == 1 || metadata.isAnswer == 1,
            { headers.ipv4.version, headers.ipv4.ihl, headers.ipv4.diffserv,
              headers.ipv4.totalLength, headers.ipv4.identification, headers.ipv4.flags,
              headers.ipv4.fragmentOffset, headers.ipv4.ttl, headers.ipv4.protocol,
              headers.ipv4.source, headers.ipv4.destination },
            headers.ipv4.checksum, HashAlgorithm.csum16);
        update_checksum(metadata.isChanged == 1,
            { headers.ipv4.source, headers.ipv4.destination, 8w0, headers.ipv4.protocol,
              headers.udp.length, headers.udp.sourcePort, headers.udp.destinationPort,
              headers.udp.length, headers.atp.bitmap0, headers.atp.bitmap1, headers.atp.fanIn0,
              headers.atp.fanIn1, headers.atp.overflow, headers.atp.ecn, headers.atp.resend,
              headers.atp.collision, headers.atp.ack, headers.atp.level, headers.atp.job,
              headers.atp.sequence, headers.atp.index0, headers.atp.index1, headers.values.lanes },
            headers.udp.checksum, HashAlgorithm.csum16);
        // A UDP checksum of 0 is sent as 0xFFFF (RFC 768), which is the checksum of one zero word.
        update_checksum(metadata.isChanged == 1 && headers.udp.checksum == 0, { 16w0 },
            headers.udp.checksum, HashAlgorithm.csum16);
    }
}

control AtpDeparser(packet_out packet, in headers_t headers) {
    apply {
        packet.emit(headers.ethernet);
        packet.emit(headers.ipv4);
        packet.emit(headers.udp);
        packet.emit(headers.atp);
        packet.emit(headers.values);
    }
}

V1Switch(AtpParser(), AtpVerifyChecksum(), AtpIngress(), AtpEgress(), AtpComputeChecksum(),
         AtpDeparser()) main;
