// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_P4_MUTATOR_H
#define GRADSYNC_P4_MUTATOR_H

#include <cstdint>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

namespace ns3::gradsync
{

/**
 * Makes broken programs out of a good one: values are replaced, moved and removed. The same seed
 * gives the same programs everywhere (only the generator of <random> is used).
 */
class P4Mutator
{
  public:
    P4Mutator(nlohmann::json program, uint64_t seed)
        : m_program(std::move(program)),
          m_random(seed)
    {
        RemoveSources(m_program);
    }

    std::string Next()
    {
        nlohmann::json document = m_program;
        for (size_t change = 1 + Draw(3); change > 0; --change)
        {
            Change(document);
        }
        std::string text = document.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
        if (Draw(8) == 0)
        {
            text.resize(Draw(text.size()));
        }
        return text;
    }

  private:
    size_t Draw(size_t bound)
    {
        return static_cast<size_t>(m_random() % (bound == 0 ? 1 : bound));
    }

    /// Where in the source something is, which only makes the file long.
    static void RemoveSources(nlohmann::json& value)
    {
        if (value.is_object())
        {
            value.erase("source_info");
        }
        if (value.is_structured())
        {
            for (auto& item : value)
            {
                RemoveSources(item);
            }
        }
    }

    /// A place anywhere in a value, deep ones as likely as shallow ones.
    nlohmann::json& Find(nlohmann::json& value)
    {
        nlohmann::json* place = &value;
        while (place->is_structured() && !place->empty() && Draw(40) != 0)
        {
            auto item = place->begin();
            std::advance(item, static_cast<std::ptrdiff_t>(Draw(place->size())));
            place = &*item;
        }
        return *place;
    }

    void Change(nlohmann::json& document)
    {
        static const std::vector<std::string> values{"null",
                                                     "true",
                                                     "0",
                                                     "1",
                                                     "-1",
                                                     "7",
                                                     "64",
                                                     "65",
                                                     "4096",
                                                     "4294967295",
                                                     "1e300",
                                                     "[]",
                                                     "{}",
                                                     "\"\"",
                                                     "\"0x\"",
                                                     "\"0xffffffffffffffffffff\"",
                                                     "\"-0x1\"",
                                                     "\"+\"",
                                                     "\"*\"",
                                                     "\"<<\"",
                                                     "\">>\"",
                                                     "\"/\"",
                                                     "\"?\"",
                                                     "\"ternary\"",
                                                     "\"ethernet\"",
                                                     "\"field\"",
                                                     "\"header\"",
                                                     "\"stack\"",
                                                     "\"start\"",
                                                     "\"_jump\"",
                                                     "\"recirculate\"",
                                                     "[\"ipv4\", \"ttl\"]",
                                                     "[\"values\", \"lanes\"]",
                                                     "[\"values\", \"$valid$\"]"};
        nlohmann::json& place = Find(document);
        switch (Draw(4))
        {
        case 0:
            // Something else of the same program.
            place = nlohmann::json(Find(m_program));
            break;
        case 1:
            if (place.is_object() && !place.empty())
            {
                auto item = place.begin();
                std::advance(item, static_cast<std::ptrdiff_t>(Draw(place.size())));
                place.erase(item);
                break;
            }
            [[fallthrough]];
        case 2:
            if (place.is_array() && !place.empty())
            {
                place.erase(Draw(place.size()));
                break;
            }
            [[fallthrough]];
        default:
            place = nlohmann::json::parse(values[Draw(values.size())]);
        }
    }

    nlohmann::json m_program;
    std::mt19937_64 m_random;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_P4_MUTATOR_H
