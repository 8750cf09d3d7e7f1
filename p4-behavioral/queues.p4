// SPDX-License-Identifier: GPL-2.0-only
/*
 * A router that looks at its queues, as the exercises `ecn` and `mri` of the P4 tutorials do: it chooses
 * among ports, marks packets that found a long queue, and writes what they met into them. To test the
 * network around a program.
 */
#include <core.p4>
#include <v1model.p4>

#include "headers.p4"

/// IPv4's protocol number for experiments (RFC 3692): traces follow.
const bit<8> PROTOCOL_TRACE = 253;
const bit<16> TRACE_BYTES = 32;
const bit<2> NOT_ECN_CAPABLE = 0;
const bit<2> CONGESTION_EXPERIENCED = 3;

/// What a packet met at one switch; the last switch comes first.
header trace_t {
    bit<8> nextProtocol;
    bit<8> number;
    bit<16> port;
    bit<32> enqueueTimestamp;
    bit<32> dequeueTimedelta;
    bit<32> enqueueDepth;
    bit<32> dequeueDepth;
    bit<48> ingressTimestamp;
    bit<48> egressTimestamp;
}

struct headers_t {
    ethernet_t ethernet;
    ipv4_t ipv4;
    trace_t[4] traces;
}

struct metadata_t {
    bit<1> isDropped;
}

parser QueueParser(packet_in packet, out headers_t headers, inout metadata_t metadata,
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
        transition select(headers.ipv4.protocol) {
            PROTOCOL_TRACE: parseTrace;
            default: accept;
        }
    }
    state parseTrace {
        packet.extract(headers.traces.next);
        transition select(headers.traces.last.nextProtocol) {
            PROTOCOL_TRACE: parseTrace;
            default: accept;
        }
    }
}

control QueueVerifyChecksum(inout headers_t headers, inout metadata_t metadata) {
    apply {
    }
}

control QueueIngress(inout headers_t headers, inout metadata_t metadata,
                     inout standard_metadata_t standard) {
    action drop() {
        mark_to_drop(standard);
    }

    action forward(bit<9> port) {
        standard.egress_spec = port;
    }

    /// One of `count` ports from `first` on, the same for all packets between two hosts.
    action spread(bit<9> first, bit<9> count) {
        bit<9> port;
        hash(port, HashAlgorithm.crc16, first,
             { headers.ipv4.source, headers.ipv4.destination }, count);
        standard.egress_spec = port;
    }

    table route {
        key = { headers.ipv4.destination: lpm @name("destination"); }
        actions = { forward; spread; drop; }
        const default_action = drop();
        size = 1024;
    }

    apply {
        if (headers.ipv4.isValid()) {
            route.apply();
        } else {
            drop();
        }
    }
}

control QueueEgress(inout headers_t headers, inout metadata_t metadata,
                    inout standard_metadata_t standard) {
    action markFrom(bit<19> depth) {
        if (headers.ipv4.diffserv[1:0] != NOT_ECN_CAPABLE && standard.enq_qdepth >= depth) {
            headers.ipv4.diffserv[1:0] = CONGESTION_EXPERIENCED;
        }
    }

    /// Whether the packet says that it can bear it or not.
    action markAllFrom(bit<19> depth) {
        if (standard.enq_qdepth >= depth) {
            headers.ipv4.diffserv[1:0] = CONGESTION_EXPERIENCED;
        }
    }

    action dropFrom(bit<19> depth) {
        metadata.isDropped = (bit<1>)(standard.deq_qdepth >= depth);
    }

    table congestion {
        actions = { markFrom; markAllFrom; dropFrom; NoAction; }
        default_action = NoAction();
    }

    action addTrace(bit<8> number) {
        headers.traces.push_front(1);
        headers.traces[0].setValid();
        headers.traces[0].nextProtocol = headers.ipv4.protocol;
        headers.traces[0].number = number;
        headers.traces[0].port = (bit<16>)standard.egress_port;
        headers.traces[0].enqueueTimestamp = standard.enq_timestamp;
        headers.traces[0].dequeueTimedelta = standard.deq_timedelta;
        headers.traces[0].enqueueDepth = (bit<32>)standard.enq_qdepth;
        headers.traces[0].dequeueDepth = (bit<32>)standard.deq_qdepth;
        headers.traces[0].ingressTimestamp = standard.ingress_global_timestamp;
        headers.traces[0].egressTimestamp = standard.egress_global_timestamp;
        headers.ipv4.protocol = PROTOCOL_TRACE;
        headers.ipv4.totalLength = headers.ipv4.totalLength + TRACE_BYTES;
    }

    table trace {
        actions = { addTrace; NoAction; }
        default_action = NoAction();
    }

    apply {
        congestion.apply();
        trace.apply();
        if (metadata.isDropped == 1) {
            mark_to_drop(standard);
        }
    }
}

control QueueComputeChecksum(inout headers_t headers, inout metadata_t metadata) {
    apply {
        update_checksum(headers.ipv4.isValid(),
            { headers.ipv4.version, headers.ipv4.ihl, headers.ipv4.diffserv,
              headers.ipv4.totalLength, headers.ipv4.identification, headers.ipv4.flags,
              headers.ipv4.fragmentOffset, headers.ipv4.ttl, headers.ipv4.protocol,
              headers.ipv4.source, headers.ipv4.destination },
            headers.ipv4.checksum, HashAlgorithm.csum16);
    }
}

control QueueDeparser(packet_out packet, in headers_t headers) {
    apply {
        packet.emit(headers.ethernet);
        packet.emit(headers.ipv4);
        packet.emit(headers.traces);
    }
}

V1Switch(QueueParser(), QueueVerifyChecksum(), QueueIngress(), QueueEgress(),
         QueueComputeChecksum(), QueueDeparser()) main;
