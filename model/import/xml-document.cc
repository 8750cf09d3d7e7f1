// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/xml-document.h"

#include "ns3/import-error.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <libxml/parser.h>
#include <libxml/tree.h>
#include <utility>

namespace ns3::gradsync
{

namespace
{

/// libxml2 counts bytes in an int.
constexpr size_t LONGEST = 1 << 30;

/// Of one element. libxml2 compares each attribute with all before it.
constexpr size_t MOST_ATTRIBUTES = 64;

/// \throws ImportError when an element has too many attributes, before libxml2 looks at them
void
CheckAttributes(const std::string& file, const std::string& text)
{
    char quote = '\0';
    bool inTag = false;
    size_t attributes = 0;
    for (const char letter : text)
    {
        if (!inTag)
        {
            inTag = letter == '<';
            attributes = 0;
        }
        else if (quote != '\0')
        {
            quote = letter == quote ? '\0' : quote;
        }
        else if (letter == '"' || letter == '\'')
        {
            quote = letter;
        }
        else if (letter == '=' && ++attributes > MOST_ATTRIBUTES)
        {
            throw ImportError(
                fmt::format("{}: an element has more than {} attributes", file, MOST_ATTRIBUTES));
        }
        else
        {
            inTag = letter != '>';
        }
    }
}

const xmlChar*
ToXml(const std::string& text)
{
    return reinterpret_cast<const xmlChar*>(text.c_str());
}

std::string
FromXml(const xmlChar* text)
{
    return reinterpret_cast<const char*>(text);
}

/// libxml2's messages end with a new line.
std::string
GetLastMessage()
{
    const auto* error = xmlGetLastError();
    std::string text =
        error != nullptr && error->message != nullptr ? error->message : "unreadable";
    text.erase(text.find_last_not_of(" \n") + 1);
    return error != nullptr && error->line > 0 ? fmt::format("{}: {}", error->line, text) : text;
}

/// What libxml2 would write to stderr, whatever its options are: of encodings that break off.
/// \tparam Error constant or not, by its version
template <class Error>
void
BeSilent(void* /* context */, Error* /* error */)
{
}

/// Errors are thrown, not printed, as long as it lives.
class SilentXml
{
  public:
    SilentXml()
    {
        xmlSetStructuredErrorFunc(nullptr, &BeSilent);
    }

    ~SilentXml()
    {
        xmlSetStructuredErrorFunc(nullptr, nullptr);
    }

    SilentXml(const SilentXml&) = delete;
    SilentXml& operator=(const SilentXml&) = delete;
};

} // namespace

XmlElement::XmlElement(const std::string& file, _xmlNode* node)
    : m_file(&file),
      m_node(node)
{
}

std::string
XmlElement::GetName() const
{
    return FromXml(m_node->name);
}

std::string
XmlElement::GetWhere() const
{
    return fmt::format("{}:{}", *m_file, xmlGetLineNo(m_node));
}

void
XmlElement::Fail(const std::string& text) const
{
    throw ImportError(fmt::format("{}: <{}>: {}", GetWhere(), GetName(), text));
}

std::vector<XmlElement>
XmlElement::GetChildren(const std::string& name) const
{
    std::vector<XmlElement> children;
    for (auto* node = m_node->children; node != nullptr; node = node->next)
    {
        if (node->type != XML_ELEMENT_NODE)
        {
            continue;
        }
        children.emplace_back(*m_file, node);
        if (children.back().GetName() != name)
        {
            children.back().Fail(fmt::format("expected <{}> here", name));
        }
    }
    return children;
}

std::optional<std::string>
XmlElement::Find(const std::string& attribute) const
{
    const std::unique_ptr<xmlChar, decltype(xmlFree)> value(xmlGetProp(m_node, ToXml(attribute)),
                                                            xmlFree);
    return value ? std::optional(FromXml(value.get())) : std::nullopt;
}

std::string
XmlElement::GetText(const std::string& attribute) const
{
    const auto value = Find(attribute);
    if (!value)
    {
        Fail(fmt::format("the attribute \"{}\" is missing", attribute));
    }
    return *value;
}

std::string
XmlElement::GetChoice(const std::string& attribute, const std::vector<std::string>& allowed) const
{
    auto text = GetText(attribute);
    if (std::find(allowed.begin(), allowed.end(), text) == allowed.end())
    {
        Fail(fmt::format("{}: found \"{}\" (allowed: {})",
                         attribute,
                         text,
                         fmt::join(allowed, ", ")));
    }
    return text;
}

int64_t
XmlElement::GetInteger(const std::string& attribute, int64_t minimum, int64_t maximum) const
{
    const auto text = GetText(attribute);
    int64_t value = 0;
    const auto* end = text.data() + text.size();
    const auto [stop, problem] = std::from_chars(text.data(), end, value);
    if (problem != std::errc() || stop != end || value < minimum || value > maximum)
    {
        Fail(fmt::format("{}: found \"{}\", expected a whole number from {} to {}",
                         attribute,
                         text,
                         minimum,
                         maximum));
    }
    return value;
}

int64_t
XmlElement::GetIntegerOr(const std::string& attribute,
                         int64_t minimum,
                         int64_t maximum,
                         int64_t standard) const
{
    return Find(attribute) ? GetInteger(attribute, minimum, maximum) : standard;
}

XmlDocument::XmlDocument(std::string file, const std::string& text)
    : m_file(std::move(file))
{
    if (text.size() > LONGEST)
    {
        throw ImportError(fmt::format("{}: more than {} bytes", m_file, LONGEST));
    }
    CheckAttributes(m_file, text);
    const SilentXml silent;
    m_document.reset(xmlReadMemory(text.data(),
                                   static_cast<int>(text.size()),
                                   nullptr,
                                   nullptr,
                                   XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING));
    if (!m_document || xmlDocGetRootElement(m_document.get()) == nullptr)
    {
        throw ImportError(fmt::format("{}:{}", m_file, GetLastMessage()));
    }
    if (xmlGetIntSubset(m_document.get()) != nullptr)
    {
        // It could define entities that make gigabytes of a line; no algorithm needs one.
        throw ImportError(fmt::format("{}: a DOCTYPE is not allowed", m_file));
    }
}

XmlElement
XmlDocument::GetRoot() const
{
    return {m_file, xmlDocGetRootElement(m_document.get())};
}

void
XmlDocument::Deleter::operator()(_xmlDoc* document) const
{
    xmlFreeDoc(document);
}

} // namespace ns3::gradsync
