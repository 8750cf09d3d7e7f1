// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/json-document.h"

#include "ns3/input-file.h"
#include "ns3/nearest-name.h"
#include "ns3/scenario-error.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>
#include <system_error>
#include <utility>
#include <vector>

namespace ns3::gradsync
{

namespace
{

std::string
Position(std::string_view text, size_t byte)
{
    const std::string_view before = text.substr(0, std::min(byte, text.size()));
    const auto line = 1 + std::count(before.begin(), before.end(), '\n');
    const auto lineStart = before.rfind('\n');
    const size_t column = before.size() - (lineStart == std::string_view::npos ? 0 : lineStart + 1);
    return fmt::format("line {}, column {} (byte {})", line, std::max<size_t>(1, column), byte);
}

/// Bytes outside printable ASCII would garble a terminal: messages show them as '?'.
std::string
Printable(std::string text)
{
    std::replace_if(
        text.begin(),
        text.end(),
        [](char letter) { return letter < ' ' || letter > '~'; },
        '?');
    return text;
}

/// Builds the document while it watches for what nlohmann::json lets pass: duplicate keys and
/// depth.
class StrictSax : public nlohmann::json_sax<Json>
{
  public:
    StrictSax(std::string_view text, const std::string& file)
        : m_text(text),
          m_file(file)
    {
    }

    Json Take()
    {
        return std::move(m_root);
    }

    bool null() override
    {
        return Add(nullptr);
    }

    bool boolean(bool value) override
    {
        return Add(value);
    }

    bool number_integer(number_integer_t value) override
    {
        return Add(value);
    }

    bool number_unsigned(number_unsigned_t value) override
    {
        return Add(value);
    }

    bool number_float(number_float_t value, const string_t&) override
    {
        return Add(value);
    }

    bool string(string_t& value) override
    {
        return Add(std::move(value));
    }

    bool binary(binary_t&) override
    {
        throw ScenarioError(m_file, "binary values are not allowed");
    }

    bool start_object(size_t) override
    {
        return Open(Json::object());
    }

    bool start_array(size_t) override
    {
        return Open(Json::array());
    }

    bool key(string_t& name) override
    {
        if (!m_open.back().names.insert(name).second)
        {
            throw ScenarioError(m_file, "duplicate key \"" + Printable(Path(name)) + "\"");
        }
        m_open.back().key = std::move(name);
        return true;
    }

    bool end_object() override
    {
        return Close();
    }

    bool end_array() override
    {
        return Close();
    }

    bool parse_error(size_t byte,
                     const std::string&,
                     const nlohmann::detail::exception& error) override
    {
        const std::string_view what = error.what();
        std::string problem;
        if (what.find("UTF-8") != std::string_view::npos)
        {
            problem = "invalid UTF-8";
        }
        else if (what.find("unexpected end of input") != std::string_view::npos ||
                 byte > m_text.size())
        {
            problem = "the file ends too early: truncated JSON";
        }
        else
        {
            const auto start = what.find(" - ");
            problem = "invalid JSON: " +
                      std::string(start == std::string_view::npos ? what : what.substr(start + 3));
        }
        throw ScenarioError(m_file, Position(m_text, byte) + ": " + Printable(problem));
    }

  private:
    struct Level
    {
        Json value;
        std::string key;             //!< objects: of the value that comes next
        std::set<std::string> names; //!< objects: keys so far
    };

    std::string Path(const std::string& last) const
    {
        std::string path;
        for (size_t i = 0; i + 1 < m_open.size(); ++i)
        {
            const auto& level = m_open[i];
            path += (level.value.is_array() ? std::to_string(level.value.size()) : level.key) + ".";
        }
        return path + last;
    }

    bool Open(Json value)
    {
        if (m_open.size() >= MAX_JSON_DEPTH)
        {
            throw ScenarioError(m_file,
                                fmt::format("nested deeper than {} levels", MAX_JSON_DEPTH));
        }
        m_open.push_back({std::move(value), {}, {}});
        return true;
    }

    bool Close()
    {
        Json value = std::move(m_open.back().value);
        m_open.pop_back();
        return Add(std::move(value));
    }

    bool Add(Json value)
    {
        if (m_open.empty())
        {
            m_root = std::move(value);
        }
        else if (auto& level = m_open.back(); level.value.is_array())
        {
            level.value.push_back(std::move(value));
        }
        else
        {
            // The set of names has ruled out duplicates; the map's own check is linear for each
            // key.
            level.value.get_ref<Json::object_t&>().emplace_back(std::move(level.key),
                                                                std::move(value));
        }
        return true;
    }

    std::string_view m_text;
    const std::string& m_file;
    Json m_root;
    std::vector<Level> m_open;
};

/// Missing files are mostly misspelt ones: look for the nearest name in the same folder.
[[noreturn]] void
FailMissing(const std::filesystem::path& file)
{
    std::vector<std::string> names;
    std::error_code error;
    const auto folder = file.has_parent_path() ? file.parent_path() : std::filesystem::path(".");
    for (auto entry = std::filesystem::directory_iterator(folder, error);
         !error && entry != std::filesystem::directory_iterator() && names.size() < 1000;
         entry.increment(error))
    {
        names.push_back(entry->path().filename().string());
    }
    std::sort(names.begin(), names.end());
    throw ScenarioError(file.string(),
                        "no such file" + SuggestName(file.filename().string(), names));
}

void
CheckFile(const std::filesystem::path& file)
{
    std::error_code error;
    const auto status = std::filesystem::status(file, error);
    if (status.type() == std::filesystem::file_type::not_found)
    {
        FailMissing(file);
    }
    if (error)
    {
        throw ScenarioError(file.string(), "cannot be read: " + error.message());
    }
}

} // namespace

Json
ParseJson(std::string_view text, const std::string& file)
{
    if (text.find_first_not_of(" \t\r\n") == std::string_view::npos)
    {
        throw ScenarioError(file, "the file is empty, expected a JSON object");
    }
    StrictSax sax(text, file);
    Json::sax_parse(text.begin(), text.end(), &sax);
    return sax.Take();
}

std::string
ReadJsonFile(const std::filesystem::path& file)
{
    CheckFile(file);
    try
    {
        return ReadInputFile(file, MAX_JSON_FILE_BYTES);
    }
    catch (const InputFileError& error)
    {
        throw ScenarioError(file.string(), error.what());
    }
}

Json
LoadJson(const std::filesystem::path& file)
{
    return ParseJson(ReadJsonFile(file), file.string());
}

} // namespace ns3::gradsync
