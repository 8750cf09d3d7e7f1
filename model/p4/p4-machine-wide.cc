// SPDX-License-Identifier: GPL-2.0-only
// The part of P4Machine that computes with numbers of more than 64 bits.
#include "ns3/p4-limbs.h"
#include "ns3/p4-machine.h"

#include <algorithm>
#include <functional>

namespace ns3::gradsync
{

void
P4Machine::RunWide(const P4Instruction& i)
{
    uint64_t* s = m_store.data();
    uint64_t* out = s + i.dst;
    const uint64_t* a = s + i.a;
    const uint64_t* b = s + i.b;
    const uint32_t n = i.limbs;
    switch (i.op)
    {
    case P4Op::MOVE_WIDE:
        std::memmove(out, a, size_t{n} * sizeof(uint64_t));
        break;
    case P4Op::EXTEND_WIDE:
    case P4Op::EXTEND_SIGNED_WIDE:
        limbs::Extend(out, n, a, i.b, i.op == P4Op::EXTEND_SIGNED_WIDE);
        break;
    case P4Op::ADD_WIDE:
        limbs::Add(out, a, b, n);
        break;
    case P4Op::SUBTRACT_WIDE:
        limbs::Subtract(out, a, b, n);
        break;
    case P4Op::MULTIPLY_WIDE:
        limbs::Multiply(out, a, b, n);
        break;
    case P4Op::DIVIDE_WIDE:
    case P4Op::MODULO_WIDE:
        DivideWide(i);
        break;
    case P4Op::AND_WIDE:
        std::transform(a, a + n, b, out, std::bit_and<>());
        break;
    case P4Op::OR_WIDE:
        std::transform(a, a + n, b, out, std::bit_or<>());
        break;
    case P4Op::XOR_WIDE:
        std::transform(a, a + n, b, out, std::bit_xor<>());
        break;
    case P4Op::NOT_WIDE:
        std::transform(a, a + n, out, std::bit_not<>());
        break;
    case P4Op::SHIFT_LEFT_WIDE:
        limbs::ShiftLeft(out, a, *b, n);
        break;
    case P4Op::SHIFT_RIGHT_WIDE:
        limbs::ShiftRight(out, a, *b, n, 0);
        break;
    case P4Op::SHIFT_RIGHT_SIGNED_WIDE:
        limbs::ShiftRight(out, a, *b, n, limbs::IsNegative(a, n) ? ~uint64_t{0} : 0);
        break;
    case P4Op::SIGN_EXTEND_WIDE:
        limbs::SignExtend(out, a, i.c, n);
        break;
    case P4Op::MASK_WIDE:
        out[n - 1] &= *b;
        break;
    case P4Op::EQUAL_WIDE:
        *out = static_cast<uint64_t>(std::equal(a, a + n, b));
        break;
    case P4Op::LESS_WIDE:
        *out = static_cast<uint64_t>(limbs::Compare(a, b, n) < 0);
        break;
    case P4Op::LESS_SIGNED_WIDE:
        *out = static_cast<uint64_t>(limbs::CompareSigned(a, b, n) < 0);
        break;
    case P4Op::NOT_ZERO_WIDE:
        *out = static_cast<uint64_t>(!limbs::IsZero(a, n));
        break;
    case P4Op::SELECT_WIDE:
        std::memmove(out, s[i.c] != 0 ? a : b, size_t{n} * sizeof(uint64_t));
        break;
    default:
        Saturate(i);
    }
}

void
P4Machine::Saturate(const P4Instruction& i)
{
    const bool isSigned = i.op == P4Op::SATURATE_SIGNED;
    const uint32_t n = i.limbs;
    uint64_t* out = m_store.data() + i.dst;
    const uint64_t* a = m_store.data() + i.a;
    // The largest value has `ones` ones; the smallest is its complement, or 0.
    const auto largest = MakePrefixMask(64 * n, 64 * n - (isSigned ? i.c - 1 : i.c));
    for (uint32_t limb = 0; limb < n; ++limb)
    {
        out[limb] = a[limb];
    }
    std::vector<uint64_t> upper(n);
    std::transform(largest.begin(), largest.end(), upper.begin(), std::bit_not<>());
    std::vector<uint64_t> lower(n);
    if (isSigned)
    {
        lower = largest;
    }
    if (limbs::CompareSigned(out, upper.data(), n) > 0)
    {
        std::copy(upper.begin(), upper.end(), out);
    }
    else if (limbs::CompareSigned(out, lower.data(), n) < 0)
    {
        std::copy(lower.begin(), lower.end(), out);
    }
}

void
P4Machine::DivideWide(const P4Instruction& i)
{
    const uint32_t n = i.limbs;
    m_scratch.assign(2 * size_t{n}, 0);
    const uint64_t* divisor = m_store.data() + i.b;
    if (!limbs::IsZero(divisor, n))
    {
        limbs::Divide(m_scratch.data(), m_scratch.data() + n, m_store.data() + i.a, divisor, n);
    }
    const uint64_t* result = m_scratch.data() + (i.op == P4Op::DIVIDE_WIDE ? 0 : n);
    std::copy(result, result + n, m_store.data() + i.dst);
}

} // namespace ns3::gradsync
