// SPDX-License-Identifier: GPL-2.0-only
// The ingress control behind the declaration of registers, in both architectures. Each register is
// touched once in a pass; what it did is told by what it gave.
    action drop(bit<8> event) {
        metadata.event = event;
        metadata.isDropped = 1;
    }

    action contribution(bit<32> workerBit, bit<32> allWorkers, bit<32> base, bit<32> slots,
                        bit<16> group, bit<48> switchMac, bit<32> switchIp) {
        metadata.workerBit = workerBit;
        metadata.allWorkers = allWorkers;
        metadata.base = base;
        metadata.slots = slots;
        metadata.jobGroup = group;
        metadata.switchMac = switchMac;
        metadata.switchIp = switchIp;
    }

    action partialSum(bit<32> workerBit, bit<32> allWorkers, bit<32> base, bit<32> slots,
                      bit<16> group, bit<48> switchMac, bit<32> switchIp) {
        contribution(workerBit, allWorkers, base, slots, group, switchMac, switchIp);
        metadata.flagMask = 0xFF;
    }

    action result(bit<32> allWorkers, bit<32> base, bit<32> slots, bit<16> group,
                  bit<48> switchMac, bit<32> switchIp) {
        contribution(0, allWorkers, base, slots, group, switchMac, switchIp);
        metadata.flagMask = 0xFF;
        metadata.messageType = RESULT;
    }

    action unknownWorker() {
        drop(EVENT_UNKNOWN_WORKER);
    }

    table worker {
        key = {
            headers.slot.job: exact @name("job");
            headers.slot.worker: exact @name("worker");
            metadata.port: exact @name("port");
        }
        actions = { contribution; partialSum; result; unknownWorker; }
        const default_action = unknownWorker();
        size = 4096;
    }

    action sendUp(bit<9> port, bit<16> number, bit<48> mac, bit<32> ip, bit<32> ownIp) {
        metadata.hasParent = 1;
        metadata.parentPort = (bit<16>)port;
        metadata.numberAbove = number;
        metadata.parentMac = mac;
        metadata.parentIp = ip;
        metadata.addressAbove = ownIp;
    }

    action isRoot() {
        metadata.hasParent = 0;
    }

    table parent {
        key = { headers.slot.job: exact @name("job"); }
        actions = { sendUp; isRoot; }
        const default_action = isRoot();
        size = 1024;
    }

    action forward(bit<9> port) {
        headers.ipv4.ttl = headers.ipv4.ttl - 1;
        metadata.egressPort = (bit<16>)port;
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

    /// A packet that only loads: what it brings must not count. The neutral elements of sum, maximum.
    action bringNothing() {
        headers.active.lane0 = 0;
        headers.active.lane1 = 0;
        headers.active.lane2 = 0;
        headers.active.lane3 = 0;
        headers.active.lane4 = 0;
        headers.active.lane5 = 0;
        headers.active.lane6 = 0;
        headers.active.lane7 = 0;
        headers.active.lane8 = 0;
        headers.active.lane9 = 0;
        headers.active.lane10 = 0;
        headers.active.lane11 = 0;
        headers.active.lane12 = 0;
        headers.active.lane13 = 0;
        headers.active.lane14 = 0;
        headers.active.lane15 = 0;
        headers.slot.exponentA = -128;
        headers.slot.exponentB = -128;
        metadata.flags = 0;
    }

    /// Likewise of all later passes.
    action bringNothingLater() {
#if PASSES > 1
        headers.next1.lane0 = 0;
        headers.next1.lane1 = 0;
        headers.next1.lane2 = 0;
        headers.next1.lane3 = 0;
        headers.next1.lane4 = 0;
        headers.next1.lane5 = 0;
        headers.next1.lane6 = 0;
        headers.next1.lane7 = 0;
        headers.next1.lane8 = 0;
        headers.next1.lane9 = 0;
        headers.next1.lane10 = 0;
        headers.next1.lane11 = 0;
        headers.next1.lane12 = 0;
        headers.next1.lane13 = 0;
        headers.next1.lane14 = 0;
        headers.next1.lane15 = 0;
#endif
#if PASSES > 2
        headers.next2 = headers.next1;
        headers.next3 = headers.next1;
#endif
    }

    LANE(0)
    LANE_TABLE(0)
    LANE(1)
    LANE_TABLE(1)
    LANE(2)
    LANE_TABLE(2)
    LANE(3)
    LANE_TABLE(3)
    LANE(4)
    LANE_TABLE(4)
    LANE(5)
    LANE_TABLE(5)
    LANE(6)
    LANE_TABLE(6)
    LANE(7)
    LANE_TABLE(7)
    LANE(8)
    LANE_TABLE(8)
    LANE(9)
    LANE_TABLE(9)
    LANE(10)
    LANE_TABLE(10)
    LANE(11)
    LANE_TABLE(11)
    LANE(12)
    LANE_TABLE(12)
    LANE(13)
    LANE_TABLE(13)
    LANE(14)
    LANE_TABLE(14)
    LANE(15)
    LANE_TABLE(15)

    /// What follows from who has contributed.
    action hold() {
        metadata.verdict = VERDICT_HELD;
    }

    action tellAll() {
        metadata.event = EVENT_COMPLETED;
        metadata.verdict = VERDICT_RESULT_TO_ALL;
    }

    action tellSender() {
        metadata.event = EVENT_RESENT;
        metadata.verdict = VERDICT_RESULT_TO_SENDER;
    }

    action passUp() {
        metadata.event = EVENT_PARTIAL;
        metadata.verdict = VERDICT_PARTIAL_SUM;
    }

    /// Behind the last pass; the receiver's address follows in egress.
    action addressResult() {
        headers.ethernet.source = metadata.switchMac;
        headers.ipv4.source = metadata.switchIp;
        headers.slot.messageType = RESULT;
    }

    action addressPartial() {
        headers.ethernet.destination = metadata.parentMac;
        headers.ethernet.source = metadata.switchMac;
        headers.ipv4.source = metadata.addressAbove;
        headers.ipv4.destination = metadata.parentIp;
        headers.slot.worker = metadata.numberAbove;
        metadata.egressPort = metadata.parentPort;
    }

    action finishHeaders() {
        headers.ipv4.diffserv = 0;
        headers.ipv4.identification = 0;
        headers.ipv4.flags = 0;
        headers.ipv4.ttl = RESULT_TTL;
        headers.udp.sourcePort = AGGREGATION_PORT;
        headers.udp.destinationPort = AGGREGATION_PORT;
        // None: no checksum over the payload.
        headers.udp.checksum = 0;
        headers.slot.reserved = 0;
    }

    apply {
        metadata.event = EVENT_NONE;
        enter();
        if (headers.again.isValid()) {
            metadata.pass = headers.again.pass;
            metadata.verdict = headers.again.verdict;
            metadata.isWritten = headers.again.isWritten;
            metadata.hasOverflowed = headers.again.hasOverflowed;
            metadata.port = headers.again.port;
            metadata.cell = headers.again.cell;
        } else if (metadata.isIpv4 == 0 || headers.ipv4.version != 4 || headers.ipv4.ihl != 5 ||
                   (metadata.isUdp == 1 && !headers.udp.isValid())) {
            drop(EVENT_MALFORMED);
        } else if (metadata.checksumError == 1) {
            drop(EVENT_CHECKSUM);
        } else if (metadata.isAggregation == 0) {
            if (headers.ipv4.ttl == 0 || headers.ipv4.ttl == 1) {
                drop(EVENT_NO_ROUTE);
            } else {
                route.apply();
            }
        } else if (!IS_WHOLE || IS_TOO_LONG || headers.slot.count != VALUES) {
            drop(EVENT_MALFORMED);
        }
        if (metadata.isDropped == 0 && metadata.isAggregation == 1) {
            worker.apply();
        }
        if (metadata.isDropped == 0 && metadata.isAggregation == 1) {
            parent.apply();
            if (metadata.pass == 0) {
                // Comparisons of two fields by subtraction: Tofino compares with constants only.
                metadata.place = metadata.base |+| (bit<32>)headers.slot.slot;
                metadata.slotsLeft = metadata.slots |-| (bit<32>)headers.slot.slot;
                metadata.poolLeft = POOL_SIZE |-| metadata.place;
                if (headers.slot.messageType != metadata.messageType) {
                    drop(EVENT_MALFORMED);
                } else if (metadata.slotsLeft == 0 || metadata.poolLeft == 0) {
                    drop(EVENT_SLOT_OUT_OF_RANGE);
                } else {
                    metadata.cell = metadata.place;
                    if (headers.slot.epoch[0:0] == 1) {
                        metadata.cell = metadata.cell + POOL_SIZE;
                    }
                    metadata.epoch = headers.slot.epoch ++ 16w0;
                    metadata.flags = headers.slot.flags & metadata.flagMask;
                    // Stage of epochs.
                    if (metadata.messageType == RESULT) {
                        lookAtEpoch();
                    } else {
                        claimEpoch();
                    }
                    // Stage of bitmaps; the bit of the switch above is 0.
                    if (metadata.found == EPOCH_BEGINS && metadata.messageType == CONTRIBUTION) {
                        startBitmap();
                    } else if (metadata.found == metadata.epoch) {
                        joinBitmap();
                    }
                    metadata.joined = metadata.bitmap | metadata.workerBit;
                    metadata.repeated = metadata.bitmap & metadata.workerBit;
                    metadata.missing = metadata.joined ^ metadata.allWorkers;
                    // Stage of answers from above.
                    if (metadata.messageType == RESULT) {
                        if (metadata.found != metadata.epoch || metadata.missing != 0) {
                            drop(EVENT_STALE);
                        } else {
                            if (metadata.hasParent == 0) {
                                metadata.isAnswered = 1;
                            } else {
                                setAnswered();
                            }
                            if (metadata.isAnswered == 1) {
                                drop(EVENT_DUPLICATE);
                            } else {
                                metadata.isWritten = 1;
                                tellAll();
                            }
                        }
                    } else if (metadata.found == EPOCH_BEGINS) {
                        clearAnswered();
                        metadata.isWritten = 1;
                        if (metadata.missing != 0) {
                            hold();
                        } else if (metadata.hasParent == 0) {
                            tellAll();
                        } else {
                            passUp();
                        }
                    } else if (metadata.found != metadata.epoch) {
                        drop(EVENT_STALE);
                    } else if (metadata.repeated == 0) {
                        if (metadata.missing != 0) {
                            hold();
                        } else if (metadata.hasParent == 0) {
                            tellAll();
                        } else {
                            passUp();
                        }
                    } else if (metadata.missing != 0) {
                        drop(EVENT_DUPLICATE);
                    } else {
                        loadAnswered();
                        bringNothing();
                        bringNothingLater();
                        if (metadata.hasParent == 0 || metadata.isAnswered == 1) {
                            tellSender();
                        } else {
                            passUp();
                        }
                    }
                }
            }
        }
        if (metadata.isDropped == 0 && metadata.isAggregation == 1) {
            // Stages of the header's registers, in the first pass.
            if (metadata.pass == 0) {
                if (metadata.isWritten == 1) {
                    writeOffset();
                    writeExponents();
                } else {
                    loadOffset();
                    raiseExponents();
                }
            }
            // Stages of values: the rows of a cell lie side by side, two passes share a row.
#if ROWS_OF_A_CELL == 1
            metadata.row = metadata.cell;
#else
            metadata.row = metadata.cell[30:0] ++ metadata.pass[1:1];
#endif
            if (metadata.pass[0:0] == 0) {
                metadata.step = STEP_ADD_FIRST - metadata.isWritten;
            } else {
                metadata.step = STEP_ADD_SECOND - metadata.isWritten;
            }
            APPLY_LANE(0, 0)
            APPLY_LANE(1, 1)
            APPLY_LANE(2, 2)
            APPLY_LANE(3, 3)
            APPLY_LANE(4, 0)
            APPLY_LANE(5, 1)
            APPLY_LANE(6, 2)
            APPLY_LANE(7, 3)
            APPLY_LANE(8, 0)
            APPLY_LANE(9, 1)
            APPLY_LANE(10, 2)
            APPLY_LANE(11, 3)
            APPLY_LANE(12, 0)
            APPLY_LANE(13, 1)
            APPLY_LANE(14, 2)
            APPLY_LANE(15, 3)
            metadata.overflow0 = metadata.overflow0 | metadata.overflow1;
            metadata.overflow2 = metadata.overflow2 | metadata.overflow3;
            metadata.overflow0 = metadata.overflow0 | metadata.overflow2;
            if (metadata.overflow0[31:31] == 1) {
                metadata.flags = metadata.flags | FLAG_OVERFLOW;
                metadata.hasOverflowed = 1;
            }
            // Stage of flags: behind the values, which may add one in every pass.
            if (metadata.pass == 0 && metadata.isWritten == 1) {
                writeFlags();
            } else {
                addFlags();
            }
            if (metadata.pass == PASSES - 1) {
                headers.again.setInvalid();
                headers.slot.flags = metadata.flags;
                finishHeaders();
                if (metadata.hasOverflowed == 1) {
                    countOverflow();
                }
                if (metadata.verdict == VERDICT_RESULT_TO_ALL) {
                    addressResult();
                    metadata.group = metadata.jobGroup;
                    // For egress, which then takes the worker's number from the copy's.
                    headers.slot.reserved = 1;
                } else if (metadata.verdict == VERDICT_RESULT_TO_SENDER) {
                    addressResult();
                    metadata.egressPort = metadata.port;
                } else if (metadata.verdict == VERDICT_PARTIAL_SUM) {
                    addressPartial();
                } else {
                    metadata.isDropped = 1;
                }
            } else {
                headers.again.setValid();
                headers.again.pass = metadata.pass + 1;
                headers.again.verdict = metadata.verdict;
                headers.again.isWritten = metadata.isWritten;
                headers.again.hasOverflowed = metadata.hasOverflowed;
                headers.again.port = metadata.port;
                headers.again.reserved = 0;
                headers.again.cell = metadata.cell;
                goRound();
            }
        }
        // A packet is counted in its first pass.
        if (metadata.event != EVENT_NONE) {
            countEvent();
        }
        LEAVE
    }
