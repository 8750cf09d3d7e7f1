// SPDX-License-Identifier: GPL-2.0-only
// The egress control behind its counter, in both architectures: the addresses of results.
    action addressResult(bit<48> mac, bit<32> ip) {
        headers.ethernet.destination = mac;
        headers.ipv4.destination = ip;
    }

    action noReceiver() {
        countNoReceiver();
        metadata.isDropped = 1;
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
        if (headers.again.isValid()) {
            goRound();
        }
        // Ingress lets no other packet of the protocol pass.
        if (headers.slot.isValid() && !headers.again.isValid()) {
            if (headers.slot.reserved == 1) {
                // The nodes of a group have the numbers of the workers.
                headers.slot.worker = REPLICATION_ID;
                headers.slot.reserved = 0;
            }
            if (headers.slot.messageType == RESULT) {
                receiver.apply();
            }
        }
        LEAVE
    }
