// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_PARAMETER_SPEC_H
#define GRADSYNC_PARAMETER_SPEC_H

#include "ns3/data-rate.h"
#include "ns3/nstime.h"

#include <compare>
#include <cstdint>
#include <limits>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace ns3::gradsync
{

/// A quantity that scenarios write with a unit, as "97MiB".
struct ByteCount
{
    uint64_t bytes{0};

    auto operator<=>(const ByteCount&) const = default;
};

/// A part of a scenario that has a reader of its own, which knows more than its text (the network,
/// say): what is declared is its shape alone, by the name that the schema has for it.
struct SharedShape
{
    std::string name; //!< as "endpoints"

    auto operator<=>(const SharedShape&) const = default;
};

class ParameterSet;

/// A parameter, as a scenario file can give it. Objects are sets: one, or those of a list.
using ParameterValue = std::variant<bool,
                                    int64_t,
                                    double,
                                    std::string,
                                    std::vector<double>,
                                    Time,
                                    DataRate,
                                    ByteCount,
                                    std::vector<ParameterSet>,
                                    SharedShape>;

/// Parameters by name, complete: defaults are filled in before anybody sees them.
class ParameterSet
{
  public:
    void Set(const std::string& name, ParameterValue value);

    bool Has(const std::string& name) const
    {
        return m_values.contains(name);
    }

    /// \throws std::out_of_range for an unknown name, std::bad_variant_access for another type
    template <typename T>
    const T& Get(const std::string& name) const
    {
        return std::get<T>(m_values.at(name));
    }

    /// Null where it is not given, or has another type.
    template <typename T>
    const T* Find(const std::string& name) const
    {
        const auto found = m_values.find(name);
        return found == m_values.end() ? nullptr : std::get_if<T>(&found->second);
    }

    /// The only object of that name, which must be there.
    const ParameterSet& GetObject(const std::string& name) const;

    const std::map<std::string, ParameterValue>& GetAll() const
    {
        return m_values;
    }

    bool operator==(const ParameterSet&) const = default;

    bool operator<(const ParameterSet& other) const
    {
        return m_values < other.m_values;
    }

  private:
    std::map<std::string, ParameterValue> m_values;
};

/// A whole number whose range its ParameterSpec keeps within 32 bits.
uint32_t GetNumber(const ParameterSet& parameters, const std::string& name);

/// A time, which its ParameterSpec keeps from being negative.
uint64_t GetPicoseconds(const ParameterSet& parameters, const std::string& name);

/// What holds where a scenario does not give a parameter.
enum class Presence : uint8_t
{
    Default,  //!< its default
    Required, //!< it must be given
    Optional  //!< nothing: its set does not have it
};

/**
 * What is declared of one parameter, next to what it is for: the readers of scenarios, their
 * messages, the JSON schema and `list` are made from it.
 */
struct ParameterSpec
{
    std::string name; //!< camelCase, as in scenario files
    /// Its type is that of the parameter. Where there is no default, an example for messages.
    ParameterValue defaultValue;
    std::string help; //!< one line: meaning, unit, meaning of 0 or of an empty list
    std::vector<std::string> allowed{}; //!< for strings: the values that exist; empty: any
    /// For numbers and list members; of rates in bit/s, of times in picoseconds. Inclusive, but
    /// for times above 0, which have a minimum of 1. Of strings: 1 for names, which are not empty
    /// and have no control characters.
    double minimum{-std::numeric_limits<double>::infinity()};
    double maximum{std::numeric_limits<double>::infinity()};
    /// Other values that the scheme `auto` tries; of strings it tries all that are allowed.
    std::vector<ParameterValue> alternatives{};
    bool isFile{false};  //!< of strings: a path, which in a scenario is relative to its file
    bool isWhole{false}; //!< of lists: of whole numbers
    Presence presence{Presence::Default};
    std::vector<ParameterSpec> members{}; //!< of objects
    bool isList{false};                   //!< of objects: a list of them
    /**
     * Other forms that the value may take, told apart by their JSON type. Of several objects the
     * first member tells which it is: each allows one value of it.
     */
    std::vector<ParameterSpec> forms{};
    bool isSeed{false};      //!< of whole numbers: in a scenario by default the seed of the run
    std::string renamedTo{}; //!< not empty: an old name of the key that is called so now
    bool isTried{true};      //!< by the scheme `auto`: its other values may take less time
};

/// The same parameter, which a scenario must give.
ParameterSpec Required(ParameterSpec spec);

/// The same parameter, without a default.
ParameterSpec Optional(ParameterSpec spec);

/// An object with these members, which need not be there.
ParameterSpec MakeObjectSpec(std::string name,
                             std::string help,
                             std::vector<ParameterSpec> members);

/// One of the kinds that a section of a scenario can name with `kind`, and what that one knows.
struct KindSpec
{
    std::string name;
    std::string summary;
    std::vector<ParameterSpec> parameters; //!< beside `kind`
    std::string source{};                  //!< paper and section
};

/**
 * Thrown where parameters do not go together, each of which is in its range; the text is meant for
 * the user.
 */
class ParameterError : public std::runtime_error
{
  public:
    /// \param path of the parameter that is wrong in its set, dotted; empty: the set itself
    ParameterError(std::string path, const std::string& problem);

    /// "found X, expected `expected`", for a parameter that is given.
    static ParameterError Expected(std::string path, const std::string& expected);

    /// For a parameter that is needed here. \param example of its value, as JSON
    static ParameterError Missing(std::string_view name, std::string_view example);

    const std::string& GetPath() const
    {
        return m_path;
    }

    /// Whether the text is what was expected, to which belongs what was found.
    bool IsExpectation() const
    {
        return m_isExpectation;
    }

  private:
    std::string m_path;
    bool m_isExpectation{false};
};

/// Defaults of those parameters that have one.
ParameterSet MakeDefaults(const std::vector<ParameterSpec>& specs);

} // namespace ns3::gradsync

#endif // GRADSYNC_PARAMETER_SPEC_H
