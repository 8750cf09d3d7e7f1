// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/p4-limbs.h"

#include <boost/multiprecision/cpp_int.hpp>

namespace ns3::gradsync::limbs
{

namespace
{

using Number = boost::multiprecision::cpp_int;

Number
Import(const uint64_t* limbs, uint32_t n)
{
    Number number;
    import_bits(number, limbs, limbs + n, 64, false);
    return number;
}

/// \param number of at most n limbs
void
Export(uint64_t* out, const Number& number, uint32_t n)
{
    std::fill(out, out + n, 0);
    export_bits(number, out, 64, false);
}

} // namespace

void
Divide(uint64_t* quotient, uint64_t* remainder, const uint64_t* a, const uint64_t* b, uint32_t n)
{
    Number whole;
    Number rest;
    divide_qr(Import(a, n), Import(b, n), whole, rest);
    Export(quotient, whole, n);
    Export(remainder, rest, n);
}

std::string
ToDecimal(const uint64_t* a, uint32_t n, bool isSigned)
{
    Number number = Import(a, n);
    if (isSigned && IsNegative(a, n))
    {
        number -= Number(1) << (64 * n);
    }
    return number.str();
}

} // namespace ns3::gradsync::limbs
