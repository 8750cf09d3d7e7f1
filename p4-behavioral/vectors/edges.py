# SPDX-License-Identifier: GPL-2.0-only
"""Edge cases whose expected packets are stated by hand: nothing here asks a switch model."""

import struct
from dataclasses import replace

from packets import SLOT, VALUES, Frame, contribution, result
from reference import INT32_MAX, INT32_MIN, Parent
from stf import Vector, add_parent, job_configuration


def lanes(start: int, step: int = 1) -> tuple[int, ...]:
    return tuple(start + step * i for i in range(VALUES))


def scene(name: str, purpose: str, configuration=None, program: str = "slot-aggregation") -> Vector:
    return Vector(name, purpose, configuration or job_configuration(1, [0, 1]), program)


def silent(vector: Vector, why: str, port: int, frame: Frame) -> None:
    vector.comment(why)
    vector.packet(port, frame.to_bytes())


def answered(vector: Vector, why: str, port: int, frame: Frame, answers: dict[int, Frame]) -> None:
    silent(vector, why, port, frame)
    for out in sorted(answers):
        vector.expect(out, answers[out].to_bytes())


def results(ports: dict[int, int], **fields) -> dict[int, Frame]:
    """The same result for the worker of each port, from port to rank."""
    return {port: result(port, worker=rank, **fields) for port, rank in ports.items()}


BOTH = {0: 0, 1: 1}
A, B = lanes(1), lanes(100, -3)
SUM = tuple(a + b for a, b in zip(A, B))


def two_workers(epoch: int, slot: int = 0, **fields) -> tuple[Frame, Frame]:
    return (
        contribution(0, worker=0, epoch=epoch, slot=slot, values=A, **fields),
        contribution(1, worker=1, epoch=epoch, slot=slot, values=B, **fields),
    )


def checksums() -> Vector:
    v = scene("edge-checksum", "Checksums: wrong ones are dropped, none in UDP is accepted")
    a, b = two_workers(0)
    silent(v, "a wrong IPv4 checksum", 0, a.but(values=B, ip_checksum=0x1234))
    silent(v, "a wrong UDP checksum", 0, a.but(values=B, udp_checksum=0x4321))
    silent(v, "no UDP checksum: counts", 0, a.but(udp_checksum=0))
    answered(v, "a good one completes", 1, b, results(BOTH, values=SUM))
    # The identifications are chosen so that the header's checksum computes to 0x0000.
    spare = next(
        i
        for i in range(65536)
        if a.but(epoch=1, identification=i).to_bytes()[24:26] == b"\0\0"
    )
    odd = a.but(epoch=1, identification=spare)
    silent(v, "an IPv4 checksum of 0x0000", 0, odd)
    spare = next(
        i
        for i in range(65536)
        if b.but(epoch=1, identification=i).to_bytes()[24:26] == b"\0\0"
    )
    answered(
        v,
        "0xFFFF is 0x0000 in one's complement",
        1,
        b.but(epoch=1, identification=spare, ip_checksum=0xFFFF),
        results(BOTH, epoch=1, values=SUM),
    )
    return v


def zero_checksum() -> Vector:
    """A result whose UDP checksum computes to 0 leaves with 0xFFFF."""
    v = scene("edge-zero-checksum", "A UDP checksum of 0 is sent and accepted as 0xFFFF")
    a, b = two_workers(0)

    def tuned(frame: Frame) -> Frame:
        bare = frame.but(offset=0).to_bytes()[40:42]
        # Without the checksum 0xFFFF - x the sum is x; adding the rest to the offset gives 0xFFFF.
        return frame.but(offset=int.from_bytes(bare, "big"))

    silent(v, "a contribution with the checksum 0xFFFF", 0, tuned(a))
    assert tuned(a).to_bytes()[40:42] == b"\xff\xff"
    offset = tuned(result(0, worker=0, epoch=1, values=SUM)).offset
    answered(
        v,
        "the first contribution's offset is the result's",
        1,
        b,
        results(BOTH, values=SUM, offset=tuned(a).offset),
    )
    silent(v, "the next epoch has the offset that makes the result's checksum 0", 0,
           a.but(epoch=1, offset=offset))
    sent = results(BOTH, epoch=1, values=SUM, offset=offset)
    assert sent[0].to_bytes()[40:42] == b"\xff\xff"
    answered(v, "sent as 0xFFFF to port 0", 1, b.but(epoch=1, offset=7), sent)
    return v


def malformed() -> Vector:
    v = scene("edge-malformed", "Packets that are no contribution, and one that completes after all")
    a, b = two_workers(0)
    for why, bad in (
        ("a result sent to the switch", a.but(message_type=1)),
        ("an unknown message type", a.but(message_type=2)),
        ("63 values said", a.but(count=63)),
        ("no values said", a.but(count=0)),
        ("63 values there", a.but(values=A[:63])),
        ("65 values there", a.but(values=(*A, 7))),
        ("a byte behind the datagram", a.but(trailer=b"\0")),
        ("an IPv4 length too long", a.but(ip_length=305)),
        ("a UDP length too short", a.but(udp_length=283)),
        ("IP version 6 in the IPv4 header", a.but(version=6)),
        ("an IPv4 header with options", a.but(ihl=6)),
        ("not IPv4", a.but(ether_type=0x86DD)),
        ("a fragment: nothing to look into, no route", a.but(fragment=0x2000)),
        ("the rest of a fragment", a.but(fragment=3)),
        ("TCP", a.but(protocol=6)),
        ("another UDP port", a.but(destination_port=0xBEE1)),
    ):
        silent(v, why, 0, bad)
    for length in (0, 13, 14, 33, 34, 41, 42, 61, 62, 317):
        v.comment(f"the first {length} bytes")
        if length:
            v.packet(0, a.to_bytes()[:length])
    silent(v, "none of these counted", 1, b)
    answered(v, "a whole one does", 0, a, results(BOTH, values=SUM))
    return v


def unknown() -> Vector:
    v = scene("edge-unknown", "Unknown jobs, workers and ports touch nothing")
    a, b = two_workers(0)
    silent(v, "an unknown job", 0, a.but(job=2))
    silent(v, "an unknown worker", 0, a.but(worker=2))
    silent(v, "a worker at another's port", 1, a)
    silent(v, "a port where nobody is", 9, a)
    silent(v, "the right one", 0, a)
    answered(v, "and the other", 1, b, results(BOTH, values=SUM))
    return v


def slot_ranges() -> Vector:
    configuration = job_configuration(1, [0, 1], base=0, slots=4)
    job_configuration(2, [2, 3], base=4, slots=4, into=configuration)
    job_configuration(3, [4], base=4092, slots=8, into=configuration)
    job_configuration(4, [5], base=0xFFFFFFFF, slots=8, into=configuration)
    v = scene("edge-slot-range", "Slots outside a job's pool or the switch's", configuration)
    a, b = two_workers(0, slot=4)
    silent(v, "slot 4 of 4", 0, a)
    silent(v, "from the other worker: still nothing", 1, b)
    silent(v, "slot 65535", 0, a.but(slot=65535))
    silent(v, "from the other worker", 1, b.but(slot=65535))
    silent(v, "slot 3 is in the pool", 0, a.but(slot=3))
    silent(v, "the neighbour's slot 0 is another cell", 2, a.but(job=2, slot=0,
           source_mac=0x020000000102, source_ip=0x0A000102))
    answered(v, "slot 3 completes", 1, b.but(slot=3), results(BOTH, slot=3, values=SUM))
    alone = contribution(4, job=3, values=A, slot=3)
    answered(v, "cell 4095, the last of the switch", 4, alone,
             {4: result(4, job=3, slot=3, values=A)})
    silent(v, "cell 4096", 4, alone.but(slot=4))
    silent(v, "cell 4096 of the other set", 4, alone.but(slot=4, epoch=1))
    silent(v, "a base so high that adding the slot wraps", 5, contribution(5, job=4, values=A, slot=1))
    answered(v, "cell 4095 keeps its result", 4, alone.but(values=B),
             {4: result(4, job=3, slot=3, values=A)})
    return v


def duplicates() -> Vector:
    v = scene("edge-duplicates", "Duplicates before and after completion, and the retained result")
    a, b = two_workers(
        4, slot=2, offset=640, exponents=(3, -7), ttl=7, diffserv=0xB8, identification=99,
        fragment=0x4000, source_port=7777,
    )
    silent(v, "the first contribution", 0, a)
    silent(v, "again before completion: dropped, not added", 0, a)
    silent(v, "again with other values: dropped all the same", 0, a.but(values=B))
    whole = results(BOTH, slot=2, epoch=4, offset=640, exponents=(3, -7), values=SUM)
    answered(v, "the second completes: to both ports", 1, b, whole)
    answered(v, "worker 0 missed the result: the stored one, to it alone", 0, a, {0: whole[0]})
    answered(v, "worker 1 too, with another offset and other exponents in its packet", 1,
             b.but(offset=1, exponents=(99, 99), reserved=5), {1: whole[1]})
    answered(v, "and as often as asked", 1, b, {1: whole[1]})
    return v


def both_sets() -> Vector:
    v = scene("edge-both-sets", "Two epochs of one slot at once; the older one's result is kept")
    a0, b0 = two_workers(0)
    a1, b1 = two_workers(1)
    a2, b2 = two_workers(2)
    r0, r1, r2 = (results(BOTH, epoch=e, values=SUM) for e in range(3))
    silent(v, "epoch 0 from worker 0", 0, a0)
    answered(v, "epoch 0 completes; worker 0 does not get its result", 1, b0, r0)
    silent(v, "worker 1 goes on with epoch 1", 1, b1)
    answered(v, "worker 0 asks for epoch 0 again while epoch 1 is under way", 0, a0, {0: r0[0]})
    answered(v, "epoch 1 completes", 0, a1, r1)
    answered(v, "epoch 0 is kept until epoch 2 begins", 1, b0, {1: r0[1]})
    silent(v, "epoch 2 overwrites it", 0, a2)
    silent(v, "epoch 0 is stale now", 1, b0)
    answered(v, "epoch 1 is still there", 1, b1, {1: r1[1]})
    answered(v, "epoch 2 has nothing of epoch 0 in it", 1, b2, r2)
    return v


def stale() -> Vector:
    v = scene("edge-stale", "Stale packets and epochs that wrap")
    a, b = two_workers(0xFFFE)
    silent(v, "a first epoch of 65534: an unused slot takes any", 0, a)
    answered(v, "completes", 1, b, results(BOTH, epoch=0xFFFE, values=SUM))
    silent(v, "epoch 0 is newer than 65534", 0, a.but(epoch=0))
    silent(v, "65534 is stale now", 1, b)
    silent(v, "and so is 32768, the farthest behind", 1, b.but(epoch=32768))
    silent(v, "32770 is 32766 behind 0", 1, b.but(epoch=32770))
    answered(v, "epoch 0 completes", 1, b.but(epoch=0), results(BOTH, epoch=0, values=SUM))
    silent(v, "32766 is the farthest ahead of 0: new", 0, a.but(epoch=32766))
    silent(v, "0 is stale", 1, b.but(epoch=0))
    answered(v, "32766 completes", 1, b.but(epoch=32766), results(BOTH, epoch=32766, values=SUM))
    silent(v, "epoch 40000, then abandoned", 0, a.but(epoch=40000))
    silent(v, "40002 overwrites it", 0, a.but(epoch=40002, values=B))
    answered(v, "only 40002 counts", 1, b.but(epoch=40002),
             results(BOTH, epoch=40002, values=tuple(2 * x for x in B)))
    return v


def overflow(program: str) -> Vector:
    saturates = program.endswith("saturate")
    v = scene(
        "edge-overflow" + ("-saturates" if saturates else ""),
        "Lanes at the limits of int32; an overflow touches neither neighbour",
        program=program,
    )
    top, bottom = INT32_MAX, INT32_MIN
    # lane: a, b, wrapped, saturated
    table = [
        (top, 1, bottom, top),
        (-1, -1, -2, -2),
        (bottom, -1, top, bottom),
        (0, 0, 0, 0),
        (top, top, -2, top),
        (bottom, bottom, 0, bottom),
        (top, bottom, -1, -1),
        (bottom, top, -1, -1),
        (top, 0, top, top),
        (bottom, 0, bottom, bottom),
        (1, -1, 0, 0),
        (2**30, 2**30, bottom, top),
        (-(2**30), -(2**30), bottom, bottom),
        (-(2**30), -(2**30) - 1, top, bottom),
    ]
    rows = [table[i % len(table)] for i in range(VALUES)]
    a = contribution(0, worker=0, values=tuple(row[0] for row in rows), flags=0xFF)
    b = contribution(1, worker=1, values=tuple(row[1] for row in rows), flags=0xFE)
    total = tuple(row[3 if saturates else 2] for row in rows)
    silent(v, "the first", 0, a)
    answered(v, "flag 0x01 says that a lane overflowed", 1, b, results(BOTH, flags=1, values=total))
    answered(v, "the stored result has the flag too", 0, a,
             {0: result(0, worker=0, flags=1, values=total)})
    edge = tuple(top if i % 2 else bottom for i in range(VALUES))
    zero = (0,) * VALUES
    silent(v, "the limits themselves", 0, a.but(epoch=1, values=edge))
    answered(v, "are no overflow; the next epoch starts without the flag", 1,
             b.but(epoch=1, values=zero), results(BOTH, epoch=1, values=edge))
    for lane in (0, 63):
        one = tuple(top if i == lane else 0 for i in range(VALUES))
        epoch = 2 + lane % 2
        sum_ = tuple((top if saturates else -2) if i == lane else 0 for i in range(VALUES))
        silent(v, f"only lane {lane} overflows", 0, a.but(epoch=epoch, values=one))
        answered(v, "and sets the flag", 1, b.but(epoch=epoch, values=one),
                 results(BOTH, epoch=epoch, flags=1, values=sum_))
    return v


def exponents() -> Vector:
    v = scene("edge-exponents", "The largest exponent of each kind, as signed numbers",
              job_configuration(1, [0, 1, 2]))
    for epoch, (x, y, z, largest) in enumerate([
        ((-128, 127), (-1, -128), (-2, 0), (-1, 127)),
        ((5, -5), (5, -5), (4, -6), (5, -5)),
        ((0, 0), (-128, -1), (-127, -127), (0, 0)),
        ((-3, 1), (-2, 2), (-1, 3), (-1, 3)),
    ]):
        for rank, pair in enumerate((x, y)):
            silent(v, f"{pair} from worker {rank}", rank, contribution(
                rank, worker=rank, epoch=epoch, exponents=pair, values=A))
        answered(v, f"{z} gives {largest}", 2,
                 contribution(2, worker=2, epoch=epoch, exponents=z, values=A),
                 results({0: 0, 1: 1, 2: 2}, epoch=epoch, exponents=largest,
                         values=tuple(3 * a for a in A)))
    return v


def forwarding() -> Vector:
    configuration = job_configuration(1, [0, 1])
    configuration.routes = [
        (0x0A000000, 8, 4),
        (0x0A010000, 16, 5),
        (0x0A010203, 32, 6),
    ]
    v = scene("edge-forwarding", "What is not of the protocol is routed", configuration)
    base = Frame(source_mac=0x020000AA0001, destination_mac=0x0200000000FE, source_ip=0x0A000001,
                 destination_port=53, values=(1, 2, 3), ttl=9, diffserv=0x2E, identification=77)
    for why, ip, port in (
        ("the /8", 0x0AFF0001, 4),
        ("the /16 is longer", 0x0A01FFFF, 5),
        ("the /32 is the longest", 0x0A010203, 6),
    ):
        frame = base.but(destination_ip=ip)
        answered(v, why, 1, frame, {port: frame.but(ttl=8)})
    silent(v, "no route", 1, base.but(destination_ip=0x0B000001))
    silent(v, "its last hop was before", 1, base.but(destination_ip=0x0A000009, ttl=1))
    silent(v, "TTL 0", 1, base.but(destination_ip=0x0A000009, ttl=0))
    silent(v, "a wrong IPv4 checksum", 1, base.but(destination_ip=0x0A000009, ip_checksum=9))
    wrong = base.but(destination_ip=0x0A000009, udp_checksum=9)
    answered(v, "its UDP checksum is its receiver's business", 1, wrong, {4: wrong.but(ttl=8)})
    other = base.but(destination_ip=0x0A000009, protocol=6)
    answered(v, "TCP", 1, other, {4: other.but(ttl=8)})
    piece = base.but(destination_ip=0x0A000009, destination_port=0xBEE0, fragment=0x2000)
    answered(v, "a fragment to the protocol's port", 1, piece, {4: piece.but(ttl=8)})
    return v


def receivers() -> Vector:
    configuration = job_configuration(1, [0, 1], switch=(0x020000000077, 0x0A0000AA))
    del configuration.receivers[1, 1]
    configuration.groups[1] = [(0, 0), (1, 1), (5, 5)]
    v = scene("edge-receivers", "Without an address no result; the job names the switch",
              configuration)
    a, b = two_workers(0)
    silent(v, "the first", 0, a)
    answered(v, "workers 1 and 5 have no address", 1, b, {0: result(0, worker=0, values=SUM).but(
        source_mac=0x020000000077, source_ip=0x0A0000AA)})
    silent(v, "nor does asking again help", 1, b)
    return v


def restart() -> Vector:
    configuration = job_configuration(1, [0, 1], base=3, slots=2)
    job_configuration(2, [0, 1], base=5, slots=1, into=configuration)
    v = scene("edge-restart", "A job that starts again at epoch 0, before and after the reset of its"
              " slots", configuration)
    a, b = two_workers(0, slot=1)
    other = two_workers(3, job=2, offset=64)
    for epoch in (6, 7):
        silent(v, f"epoch {epoch} of job 1", 0, a.but(epoch=epoch))
        answered(v, "completes", 1, b.but(epoch=epoch), results(BOTH, slot=1, epoch=epoch, values=SUM))
    silent(v, "job 2 beside it", 0, other[0])
    whole = results(BOTH, job=2, epoch=3, offset=64, values=SUM)
    answered(v, "completes", 1, other[1], whole)
    silent(v, "job 1 starts again: epoch 0 is stale", 0, a)
    silent(v, "and so is epoch 1", 1, b.but(epoch=1))
    v.clear(3)
    v.clear(4)
    silent(v, "after the reset epoch 0 is the first", 0, a)
    silent(v, "and epoch 1, with nothing of epoch 7 in it", 1, b.but(epoch=1))
    answered(v, "epoch 0 completes", 1, b, results(BOTH, slot=1, values=SUM))
    answered(v, "epoch 1 too", 0, a.but(epoch=1), results(BOTH, slot=1, epoch=1, values=SUM))
    answered(v, "job 2 still has its result", 0, other[0], {0: whole[0]})
    silent(v, "a packet of before the reset, late: it is ahead, and takes the cell", 1, b.but(epoch=6))
    silent(v, "hence epoch 2 is stale: wait until none is under way", 0, a.but(epoch=2))
    v.clear(4)
    silent(v, "another reset", 0, a)
    answered(v, "mends it", 1, b, results(BOTH, slot=1, values=SUM))
    return v


def restart_below() -> Vector:
    configuration = job_configuration(1, [0, 1])
    add_parent(configuration, 1, ABOVE)
    v = scene("edge-restart-below", "The reset below another switch: its answer goes, too",
              configuration)
    a, b = two_workers(0)
    up = partial(values=SUM)
    total = tuple(3 * x for x in SUM)
    silent(v, "the first contribution", 0, a)
    answered(v, "the sum goes up", 1, b, {8: up})
    whole = results(BOTH, values=total)
    answered(v, "the answer goes to all", 8, answer(values=total), whole)
    answered(v, "and to who asks again", 0, a, {0: whole[0]})
    v.clear(0)
    silent(v, "after the reset it is a first contribution again", 0, a)
    silent(v, "the answer of before is for an epoch that is not complete", 8, answer(values=total))
    answered(v, "complete, but not answered: up", 1, b, {8: up})
    answered(v, "the answer to it goes to all", 8, answer(values=total), whole)
    return v


# The switch above, where there is one: at port 8, where this one is number 7.
ABOVE = Parent(8, 7, 0x0200000000AA, 0x0A8000AA, 0x0A900007)


def partial(**fields) -> Frame:
    """What the switch sends up."""
    return Frame(worker=7, source_mac=0x0200000000FE, destination_mac=ABOVE.mac,
                 source_ip=ABOVE.own_ip, destination_ip=ABOVE.ip, source_port=0xBEE0, **fields)


def answer(**fields) -> Frame:
    """What the switch above sends down."""
    return Frame(message_type=1, worker=7, source_mac=ABOVE.mac, destination_mac=0x0200000000FE,
                 source_ip=ABOVE.ip, destination_ip=ABOVE.own_ip, source_port=0xBEE0, **fields)


def answer_to(sent: bytes, added: list[tuple[int, ...]]) -> bytes:
    """What the switch above answers to a sum when it adds what the offset points at."""
    _, flags, job, _, _, slot, epoch, offset, a, b, _ = SLOT.unpack(sent[42 : 42 + SLOT.size])
    lanes_ = struct.unpack(f"!{VALUES}i", sent[42 + SLOT.size :])
    values = tuple(x + y for x, y in zip(lanes_, added[offset // VALUES]))
    return answer(job=job, slot=slot, epoch=epoch, offset=offset, flags=flags, exponents=(a, b),
                  values=values).to_bytes()


def levels() -> Vector:
    configuration = job_configuration(1, [0, 1])
    add_parent(configuration, 1, ABOVE)
    v = scene("edge-levels", "A switch that is a worker of a switch above", configuration)
    a, b = two_workers(0, slot=2, offset=640, exponents=(3, -7))
    total = tuple(3 * x for x in SUM)
    silent(v, "the first contribution", 0, a)
    silent(v, "an answer before all have contributed", 8, answer(slot=2, values=total))
    up = partial(slot=2, offset=640, exponents=(3, -7), values=SUM)
    answered(v, "the last: the sum goes up", 1, b, {8: up})
    answered(v, "worker 0 asks again: the sum goes up again", 0, a, {8: up})
    silent(v, "an answer of another epoch", 8, answer(slot=2, epoch=2, values=total))
    silent(v, "an answer for another number", 8, answer(slot=2, values=total).but(worker=6))
    silent(v, "an answer from another port", 9, answer(slot=2, values=total))
    silent(v, "a result from a worker", 0, a.but(message_type=1, values=total))
    silent(v, "a contribution from above", 8, answer(slot=2, values=total).but(message_type=0))
    down = answer(slot=2, flags=1, offset=641, exponents=(9, -1), values=total, reserved=5)
    whole = results(BOTH, slot=2, flags=1, offset=641, exponents=(9, -1), values=total)
    answered(v, "the answer goes to all", 8, down, whole)
    silent(v, "once", 8, down)
    answered(v, "worker 1 asks again: it alone gets the answer", 1, b, {1: whole[1]})
    silent(v, "the next epoch but one starts without it", 1, b.but(epoch=2))
    answered(v, "and is a sum again", 0, a.but(epoch=2), {8: up.but(epoch=2)})
    answered(v, "as often as asked", 1, b.but(epoch=2), {8: up.but(epoch=2)})
    silent(v, "epoch 0 is over, above too", 8, down)
    return v


def flags_of_switches() -> Vector:
    configuration = job_configuration(1, [0, 1])
    known = configuration.workers[1, 1, 1]
    configuration.workers[1, 1, 1] = replace(known, kind="switch")
    v = scene("edge-switch-flags", "Flags count of a switch below, not of a worker", configuration)
    a, b = two_workers(0)
    silent(v, "a worker's flag", 0, a.but(flags=0xFF))
    answered(v, "does not count", 1, b, results(BOTH, values=SUM))
    silent(v, "the flag of a switch below, first", 1, b.but(epoch=1, flags=1))
    answered(v, "counts", 0, a.but(epoch=1, flags=0xFE), results(BOTH, epoch=1, flags=1, values=SUM))
    silent(v, "a worker first", 0, a.but(epoch=2, flags=1))
    answered(v, "then the switch", 1, b.but(epoch=2, flags=1),
             results(BOTH, epoch=2, flags=1, values=SUM))
    return v


def vectors() -> list[Vector]:
    return [
        checksums(),
        zero_checksum(),
        malformed(),
        unknown(),
        slot_ranges(),
        duplicates(),
        both_sets(),
        stale(),
        overflow("slot-aggregation"),
        overflow("slot-aggregation-saturate"),
        exponents(),
        forwarding(),
        receivers(),
        restart(),
        restart_below(),
        levels(),
        flags_of_switches(),
    ]
