// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/document-path.h"

#include "ns3/json-value.h"
#include "ns3/scenario-error.h"

#include <charconv>
#include <utility>

namespace ns3::gradsync
{

std::vector<std::string>
SplitPath(std::string_view path)
{
    std::vector<std::string> segments;
    size_t start = 0;
    for (size_t dot = path.find('.'); dot != std::string_view::npos; dot = path.find('.', start))
    {
        segments.emplace_back(path.substr(start, dot - start));
        start = dot + 1;
    }
    segments.emplace_back(path.substr(start));
    return segments;
}

std::string
JoinSegments(const std::vector<std::string>& segments, size_t count)
{
    std::string path;
    for (size_t i = 0; i < count && i < segments.size(); ++i)
    {
        path += (i == 0 ? "" : ".") + segments[i];
    }
    return path;
}

size_t
ToIndex(std::string_view segment, size_t size)
{
    size_t index = size;
    const auto* end = segment.data() + segment.size();
    const auto [stop, error] = std::from_chars(segment.data(), end, index);
    return error == std::errc{} && stop == end && index < size ? index : size;
}

const Json*
FindAtPath(const Json& document, const std::vector<std::string>& segments)
{
    const Json* value = &document;
    for (const auto& segment : segments)
    {
        if (value->is_array())
        {
            const size_t index = ToIndex(segment, value->size());
            if (index == value->size())
            {
                return nullptr;
            }
            value = &(*value)[index];
        }
        else if (value->is_object() && value->contains(segment))
        {
            value = &*value->find(segment);
        }
        else
        {
            return nullptr;
        }
    }
    return value;
}

Json*
FindAtPath(Json& document, const std::vector<std::string>& segments)
{
    return const_cast<Json*>(FindAtPath(std::as_const(document), segments));
}

void
SetAtPath(Json& document, std::string_view path, Json value)
{
    const auto segments = SplitPath(path);
    Json* place = &document;
    for (size_t i = 0; i < segments.size(); ++i)
    {
        if (place->is_array())
        {
            const size_t index = ToIndex(segments[i], place->size());
            if (index == place->size())
            {
                throw ScenarioError(std::string(path),
                                    "\"" + segments[i] + "\" is no index of the list " +
                                        JoinSegments(segments, i));
            }
            place = &(*place)[index];
        }
        else if (place->is_object())
        {
            place = &(*place)[segments[i]];
            if (place->is_null() && i + 1 < segments.size())
            {
                *place = Json::object();
            }
        }
        else
        {
            throw ScenarioError(std::string(path),
                                JoinSegments(segments, i) + " is " + ShowJson(*place) +
                                    ", which has no member \"" + segments[i] + "\"");
        }
    }
    *place = std::move(value);
}

void
MergeInto(Json& target, const Json& changes)
{
    if (!target.is_object() || !changes.is_object())
    {
        target = changes;
        return;
    }
    for (const auto& [key, value] : changes.items())
    {
        if (target.contains(key))
        {
            MergeInto(target[key], value);
        }
        else
        {
            target[key] = value;
        }
    }
}

} // namespace ns3::gradsync
