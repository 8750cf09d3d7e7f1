// SPDX-License-Identifier: GPL-2.0-only
// The states behind the start of the parser, in both architectures.
    state parseAgain {
        packet.extract(headers.again);
        transition parseEthernet;
    }
    state parseEthernet {
        packet.extract(headers.ethernet);
        transition select(headers.ethernet.etherType) {
            ETHERTYPE_IPV4: parseIpv4;
            default: accept;
        }
    }
    state parseIpv4 {
        packet.extract(headers.ipv4);
        metadata.isIpv4 = 1;
        VERIFY_IPV4_CHECKSUM
        // Options and fragments are not looked into.
        transition select(headers.ipv4.version, headers.ipv4.ihl, headers.ipv4.flags[0:0],
                          headers.ipv4.fragmentOffset, headers.ipv4.protocol) {
            (4, 5, 0, 0, PROTOCOL_UDP): parseUdp;
            default: accept;
        }
    }
    state parseUdp {
        metadata.isUdp = 1;
        packet.extract(headers.udp);
        transition select(headers.udp.destinationPort) {
            AGGREGATION_PORT: parseLengths;
            default: accept;
        }
    }
    state parseLengths {
        metadata.isAggregation = 1;
        transition select(headers.ipv4.totalLength, headers.udp.length) {
            (IPV4_LENGTH, UDP_LENGTH): parseSlot;
            default: accept;
        }
    }
    state parseSlot {
        packet.extract(headers.slot);
        packet.extract(headers.active);
#if PASSES > 1
        packet.extract(headers.next1);
#endif
#if PASSES > 2
        packet.extract(headers.next2);
        packet.extract(headers.next3);
#endif
        transition AFTER_VALUES;
    }
    // Tofino's ingress does not know how long a frame is: a good one ends here with a parser error.
    state parseEnd {
        packet.extract(headers.extra);
        transition accept;
    }
