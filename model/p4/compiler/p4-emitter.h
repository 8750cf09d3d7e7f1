// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_P4_EMITTER_H
#define GRADSYNC_P4_EMITTER_H

#include "ns3/p4-json.h"
#include "ns3/p4-program.h"

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace ns3::gradsync
{

/// A number in the store while a program is compiled.
struct P4Value
{
    uint32_t slot = 0;
    uint32_t limbs = 1;
    /// Bits that the value needs; with the sign bit if it is signed.
    uint32_t bits = 1;
    bool isSigned = false;
    /// False when only the lowest bits that were asked for are right.
    bool isExact = true;
    bool isConstant = false;
};

/**
 * Collects code and store of a program that is being compiled, and knows what its names mean.
 */
class P4Emitter
{
  public:
    explicit P4Emitter(P4Program& program);

    P4Program& GetProgram()
    {
        return m_program;
    }

    /// New limbs at the end of the store.
    uint32_t Allocate(uint32_t limbs);
    /// A place for a number that is needed until EndStatement.
    uint32_t AllocateTemporary(uint32_t limbs);
    /// Temporaries may be used again.
    void EndStatement();
    /// A constant's place; equal constants share one.
    P4Value AddConstant(std::vector<uint64_t> value, bool isNegative = false);
    P4Value AddConstant(uint64_t value);
    /// The limbs of a constant.
    std::vector<uint64_t> GetConstant(const P4Value& value) const;

    /// Appends an instruction; returns its address.
    uint32_t Emit(P4Op op, uint32_t dst = 0, uint32_t a = 0, uint32_t b = 0, uint32_t c = 0);
    uint32_t EmitWide(P4Op op,
                      uint32_t limbs,
                      uint32_t dst,
                      uint32_t a,
                      uint32_t b,
                      uint32_t c = 0);
    /// Makes the jump at an address go to the next instruction that is emitted.
    void PatchHere(uint32_t jump);
    uint32_t GetAddress() const;

    /// Index of a header, by name. \throws P4Error when there is none, as all below do
    uint32_t FindHeader(const P4Json& name) const;
    uint32_t FindStack(const P4Json& name) const;
    uint32_t FindUnion(const P4Json& name) const;
    uint32_t FindUnionStack(const P4Json& name) const;
    /// The stack of one member of a stack of unions. \param pair of their names
    uint32_t FindMemberStack(const P4Json& pair) const;
    uint32_t FindRegister(const P4Json& name) const;
    uint32_t FindCounter(const P4Json& name) const;
    uint32_t FindCalculation(const P4Json& name) const;
    uint32_t FindMeter(const P4Json& name) const;
    uint32_t FindValueSet(const P4Json& name) const;
    uint32_t FindProfile(const P4Json& name) const;
    /// The digest of an id, or nothing.
    std::optional<uint32_t> FindDigest(uint32_t id) const;
    /// The field of a ["header", "field"] pair.
    const P4Field& FindField(const P4Json& pair) const;
    /// Whether the pair names a header's validity.
    static bool IsValidity(const P4Json& pair);

    void AddHeaderName(const std::string& name, uint32_t index, const P4Json& where);
    void AddStackName(const std::string& name, uint32_t index, const P4Json& where);
    void AddUnionName(const std::string& name, uint32_t index, const P4Json& where);
    void AddUnionStackName(const std::string& name, uint32_t index, const P4Json& where);
    void AddRegisterName(const std::string& name, uint32_t index, const P4Json& where);
    void AddCounterName(const std::string& name, uint32_t index, const P4Json& where);
    void AddCalculationName(const std::string& name, uint32_t index, const P4Json& where);
    void AddMeterName(const std::string& name, uint32_t index, const P4Json& where);
    void AddValueSetName(const std::string& name, uint32_t index, const P4Json& where);
    void AddProfileName(const std::string& name, uint32_t index, const P4Json& where);
    void AddDigest(uint32_t id, uint32_t index);

  private:
    using Names = std::map<std::string, uint32_t>;

    static void AddName(Names& names, const std::string& name, uint32_t index, const P4Json& where);
    static uint32_t FindName(const Names& names, const P4Json& name, const std::string& what);

    P4Program& m_program;
    std::vector<std::pair<uint32_t, uint32_t>> m_temporaries;
    std::vector<bool> m_isTaken;
    std::map<std::vector<uint64_t>, uint32_t> m_constants;
    Names m_headers;
    Names m_stacks;
    Names m_unions;
    Names m_unionStacks;
    Names m_registers;
    Names m_counters;
    Names m_calculations;
    Names m_meters;
    Names m_valueSets;
    Names m_profiles;
    std::map<uint32_t, uint32_t> m_digests;
};

/// A BMv2 hexadecimal string as limbs of its magnitude, and whether it has a minus.
std::pair<std::vector<uint64_t>, bool> ParseHexadecimal(const P4Json& text);

/// Bits up to the highest one that is set; 1 for zero.
uint32_t CountBits(const std::vector<uint64_t>& value);

} // namespace ns3::gradsync

#endif // GRADSYNC_P4_EMITTER_H
