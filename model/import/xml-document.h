// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_XML_DOCUMENT_H
#define GRADSYNC_XML_DOCUMENT_H

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

struct _xmlDoc;
struct _xmlNode;

namespace ns3::gradsync
{

/// An element of an XmlDocument, which must outlive it.
class XmlElement
{
  public:
    XmlElement(const std::string& file, _xmlNode* node);

    std::string GetName() const;

    /// Elements directly below, in order. \throws ImportError when one has another name
    std::vector<XmlElement> GetChildren(const std::string& name) const;

    /// \throws ImportError when there is no such attribute
    std::string GetText(const std::string& attribute) const;

    /// \throws ImportError as GetText, and when the text is not one of `allowed`
    std::string GetChoice(const std::string& attribute,
                          const std::vector<std::string>& allowed) const;

    /// \throws ImportError as GetText, and when it is no whole number in [minimum, maximum]
    int64_t GetInteger(const std::string& attribute, int64_t minimum, int64_t maximum) const;

    /// As GetInteger, or the default when there is no such attribute.
    int64_t GetIntegerOr(const std::string& attribute,
                         int64_t minimum,
                         int64_t maximum,
                         int64_t standard) const;

    /// File and line, for messages.
    std::string GetWhere() const;

    /// Throws an ImportError with file, line and element before the text.
    [[noreturn]] void Fail(const std::string& text) const;

  private:
    std::optional<std::string> Find(const std::string& attribute) const;

    const std::string* m_file;
    _xmlNode* m_node;
};

/// A parsed XML document (libxml2). Reads no other file.
class XmlDocument
{
  public:
    /// \param file for messages only \throws ImportError when the text is no well-formed XML
    XmlDocument(std::string file, const std::string& text);

    XmlElement GetRoot() const;

  private:
    struct Deleter
    {
        void operator()(_xmlDoc* document) const;
    };

    std::string m_file;
    std::unique_ptr<_xmlDoc, Deleter> m_document;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_XML_DOCUMENT_H
