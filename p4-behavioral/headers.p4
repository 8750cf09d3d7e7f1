// SPDX-License-Identifier: GPL-2.0-only
// What both programs parse below the aggregation header, and how they forward what is not theirs.
#ifndef GRADSYNC_HEADERS_P4
#define GRADSYNC_HEADERS_P4

const bit<16> ETHERTYPE_IPV4 = 0x0800;
const bit<8> PROTOCOL_UDP = 17;
/// Bytes of Ethernet; of an IPv4 header without options; of UDP.
const bit<16> ETHERNET_BYTES = 14;
const bit<16> IPV4_BYTES = 20;
const bit<16> UDP_BYTES = 8;
const bit<8> RESULT_TTL = 64;

header ethernet_t {
    bit<48> destination;
    bit<48> source;
    bit<16> etherType;
}

header ipv4_t {
    bit<4> version;
    bit<4> ihl;
    bit<8> diffserv;
    bit<16> totalLength;
    bit<16> identification;
    bit<3> flags;
    bit<13> fragmentOffset;
    bit<8> ttl;
    bit<8> protocol;
    bit<16> checksum;
    bit<32> source;
    bit<32> destination;
}

header udp_t {
    bit<16> sourcePort;
    bit<16> destinationPort;
    bit<16> length;
    bit<16> checksum;
}

#endif
