// SPDX-License-Identifier: GPL-2.0-only
/*
 * What v1model programs may do, in one program, to test gradsync's pipeline against BMv2: a packet says
 * what is to be done with it. The answers in vectors/features.stf were recorded from simple_switch.
 */
#include <core.p4>
#include <v1model.p4>

const bit<9> OUT_PORT = 1;
// Packets that went through the switch again, which overtake and are overtaken, are by themselves.
const bit<9> AGAIN_PORT = 6;
const bit<32> INGRESS_MIRROR_SESSION = 5;
const bit<32> EGRESS_MIRROR_SESSION = 6;
const bit<32> CELLS = 4;
const bit<8> KEEP_CLONE = 1;
const bit<8> KEEP_AGAIN = 2;

header command_t {
    bit<16> number;
    bit<8> kind;
    bit<8> count;
    bit<16> result;
}

header label_t {
    bit<20> label;
    bit<3> trafficClass;
    bit<1> bottom;
    bit<8> ttl;
}

header operands_t {
    bit<128> a;
    bit<128> b;
    int<32> c;
    int<32> d;
    int<7> narrow;
    bit<9> odd;
    bit<64> e;
    bit<8> shift;
}

header note_t {
    bit<8> instanceType;
    bit<16> replicationId;
    bit<32> length;
    bit<8> kept;
}

struct headers_t {
    command_t command;
    note_t note;
    label_t[4] labels;
    operands_t operands;
}

struct metadata_t {
    @field_list(KEEP_CLONE, KEEP_AGAIN)
    bit<8> kept;
    @field_list(KEEP_AGAIN)
    bit<8> rounds;
    bit<8> lost;
    bit<16> ahead;
}

parser FeatureParser(packet_in packet, out headers_t headers, inout metadata_t metadata,
                     inout standard_metadata_t standard) {
    state start {
        packet.extract(headers.command);
        transition select(headers.command.kind[7:4], headers.command.kind[3:0]) {
            (0, _): parseLabels;
            (1, 0x0 &&& 0x8): parseOperands;
            (1, _): skipTwoAndParse;
            (2, _): lookAhead;
            default: accept;
        }
    }
    state parseLabels {
        packet.extract(headers.labels.next);
        verify(headers.labels.last.ttl != 0xFF, error.ParserInvalidArgument);
        transition select(headers.labels.last.bottom) {
            1: accept;
            default: parseLabels;
        }
    }
    state skipTwoAndParse {
        packet.advance(16);
        transition parseOperands;
    }
    state parseOperands {
        packet.extract(headers.operands);
        transition accept;
    }
    state lookAhead {
        metadata.ahead = packet.lookahead<bit<16>>();
        transition accept;
    }
}

control FeatureVerify(inout headers_t headers, inout metadata_t metadata) {
    apply {}
}

control FeatureIngress(inout headers_t headers, inout metadata_t metadata,
                       inout standard_metadata_t standard) {
    register<bit<16>>(CELLS) cells;

    action classify(bit<16> result) {
        headers.command.result = result;
    }

    action stop(bit<16> result) {
        headers.command.result = result;
        exit;
    }

    table byTernary {
        key = { headers.operands.e: ternary; headers.operands.shift: exact; }
        actions = { classify; stop; NoAction; }
        default_action = classify(0xFFFF);
    }

    table byRange {
        key = { headers.operands.odd: range; headers.operands.b: ternary; }
        actions = { classify; NoAction; }
        const entries = {
            (50..300, 1 &&& 1): classify(0x0300);
            (0..99, _): classify(0x0099);
        }
        default_action = NoAction();
    }

    table byConstant {
        key = { headers.operands.shift: exact; }
        actions = { classify; NoAction; }
        const entries = {
            1: classify(0x1001);
            2: classify(0x1002);
        }
        const default_action = NoAction();
    }

    table byPrefix {
        key = { headers.operands.a: lpm; }
        actions = { classify; NoAction; }
        default_action = NoAction();
    }

    action arithmetic() {
        bit<128> a = headers.operands.a;
        bit<128> b = headers.operands.b;
        int<32> c = headers.operands.c;
        headers.operands.a = (a + b) * (a - b);
        headers.operands.b = (a << headers.operands.shift) ^ (b >> headers.operands.shift) ^ ~a;
        headers.operands.c = (c |+| headers.operands.d) >> 3;
        headers.operands.d = c - headers.operands.d;
        headers.operands.e = headers.operands.e |-| (bit<64>)headers.operands.b;
        headers.operands.narrow = headers.operands.narrow * (int<7>)c[6:0] - 5;
        headers.operands.odd = headers.operands.odd |+| (bit<9>)a[8:0];
    }

    action compare() {
        bit<16> flags = 0;
        if (headers.operands.c < headers.operands.d) { flags = flags | 1; }
        if (headers.operands.a <= headers.operands.b) { flags = flags | 2; }
        if (headers.operands.narrow > -3) { flags = flags | 4; }
        if (headers.operands.e == 0xFFFFFFFFFFFFFFFF) { flags = flags | 8; }
        if (headers.operands.a[127:64] != headers.operands.e) { flags = flags | 16; }
        if ((bit<64>)headers.operands.odd >= headers.operands.e) { flags = flags | 32; }
        headers.command.result = flags;
    }

    apply {
        standard.egress_spec = OUT_PORT;
        metadata.lost = 0x77;
        metadata.kept = metadata.kept + headers.command.count;
        if (standard.parser_error != error.NoError) {
            headers.command.result = 0xEEEE;
        } else if (headers.command.kind == 0x00) {
            headers.labels.push_front(1);
            headers.labels[0].setValid();
            headers.labels[0] = { 0x12345, 5, 0, 9 };
        } else if (headers.command.kind == 0x01) {
            headers.labels.pop_front(1);
        } else if (headers.command.kind == 0x02) {
            if (headers.labels[1].isValid()) {
                headers.labels[0] = headers.labels[1];
                headers.command.result = headers.labels[1].label[19:4];
            }
            headers.labels[2].setInvalid();
        } else if (headers.command.kind == 0x03 && (bit<32>)headers.command.count < CELLS) {
            cells.read(headers.command.result, (bit<32>)headers.command.count);
            cells.write((bit<32>)headers.command.count, headers.command.number);
        } else if (headers.command.kind == 0x04) {
            truncate((bit<32>)headers.command.count);
        } else if (headers.command.kind == 0x10) {
            arithmetic();
        } else if (headers.command.kind == 0x11) {
            compare();
        } else if (headers.command.kind == 0x12) {
            switch (byTernary.apply().action_run) {
                classify: { byRange.apply(); }
                NoAction: { headers.command.result = 0xAAAA; }
            }
            headers.command.count = 0x55;
        } else if (headers.command.kind == 0x13) {
            if (!byPrefix.apply().hit) {
                byConstant.apply();
            }
        } else if (headers.command.kind == 0x14) {
            hash(headers.command.result, HashAlgorithm.crc16, 16w3, { headers.operands.a,
                headers.operands.narrow, headers.operands.odd }, 16w60000);
        } else if (headers.command.kind == 0x15) {
            hash(headers.operands.e, HashAlgorithm.crc32, 32w0, { headers.operands.a,
                headers.operands.e }, 64w0xFFFFFFFFFF);
        } else if (headers.command.kind == 0x16) {
            hash(headers.command.result, HashAlgorithm.xor16, 16w1, { headers.operands.b,
                headers.operands.shift }, 32w65536);
        } else if (headers.command.kind == 0x17) {
            hash(headers.operands.e, HashAlgorithm.identity, 16w0, { headers.operands.odd,
                headers.operands.narrow, headers.operands.shift }, 64w0xFFFFFFFFFF);
        } else if (headers.command.kind == 0x20) {
            headers.command.result = metadata.ahead;
        } else if (headers.command.kind == 0x30) {
            standard.mcast_grp = (bit<16>)headers.command.count;
        } else if (headers.command.kind == 0x31) {
            clone_preserving_field_list(CloneType.I2E, INGRESS_MIRROR_SESSION, KEEP_CLONE);
            headers.command.result = 0xC1;
        } else if (headers.command.kind == 0x33) {
            if (standard.instance_type == 0) {
                metadata.rounds = 1;
                resubmit_preserving_field_list(KEEP_AGAIN);
            }
            headers.command.result = (bit<16>)metadata.rounds;
        } else if (headers.command.kind == 0x34 && metadata.rounds == 3) {
            standard.egress_spec = AGAIN_PORT;
        } else if (headers.command.kind == 0x35) {
            mark_to_drop(standard);
        }
    }
}

control FeatureEgress(inout headers_t headers, inout metadata_t metadata,
                      inout standard_metadata_t standard) {
    apply {
        if (headers.command.kind[7:4] == 3) {
            headers.note.setValid();
            headers.note.instanceType = (bit<8>)standard.instance_type;
            headers.note.replicationId = standard.egress_rid;
            headers.note.length = standard.packet_length;
            headers.note.kept = metadata.kept + metadata.rounds;
        }
        if (headers.command.kind == 0x32 && standard.instance_type == 0) {
            clone_preserving_field_list(CloneType.E2E, EGRESS_MIRROR_SESSION, KEEP_CLONE);
            headers.command.result = 0xC2;
        }
        if (headers.command.kind == 0x34 && metadata.rounds < 3) {
            headers.command.count = headers.command.count + 1;
            metadata.rounds = metadata.rounds + 1;
            headers.note.setInvalid();
            recirculate_preserving_field_list(KEEP_AGAIN);
        }
        if (headers.command.kind == 0x36 && standard.egress_rid == 2) {
            mark_to_drop(standard);
        }
    }
}

control FeatureCompute(inout headers_t headers, inout metadata_t metadata) {
    apply {}
}

control FeatureDeparser(packet_out packet, in headers_t headers) {
    apply {
        packet.emit(headers.command);
        packet.emit(headers.note);
        packet.emit(headers.labels);
        packet.emit(headers.operands);
    }
}

V1Switch(FeatureParser(), FeatureVerify(), FeatureIngress(), FeatureEgress(), FeatureCompute(),
         FeatureDeparser()) main;
