// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/gzip-text.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <limits>
#include <zlib.h>

namespace ns3::gradsync
{

namespace
{

/// zlib's state of one member after the other.
class GzipReader
{
  public:
    explicit GzipReader(std::string_view content)
        : m_rest(content)
    {
        constexpr int GZIP_ONLY = 16; // added to the size of the window
        if (inflateInit2(&m_stream, MAX_WBITS + GZIP_ONLY) != Z_OK)
        {
            throw GzipError("cannot be unpacked: no memory");
        }
    }

    ~GzipReader()
    {
        inflateEnd(&m_stream);
    }

    GzipReader(const GzipReader&) = delete;
    GzipReader& operator=(const GzipReader&) = delete;

    std::string Read(uint64_t maxBytes)
    {
        std::string text;
        while (!m_rest.empty())
        {
            ReadPart(text);
            if (text.size() > maxBytes)
            {
                throw GzipError(fmt::format("has more than {} bytes unpacked", maxBytes));
            }
        }
        if (!m_isAtEnd)
        {
            throw GzipError("is a gzip that ends too early");
        }
        return text;
    }

  private:
    void ReadPart(std::string& text)
    {
        if (m_isAtEnd)
        {
            inflateReset(&m_stream); // another member follows
        }
        const auto size =
            static_cast<uInt>(std::min<size_t>(m_rest.size(), std::numeric_limits<uInt>::max()));
        // zlib's interface is older than const.
        m_stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(m_rest.data()));
        m_stream.avail_in = size;
        m_stream.next_out = m_part.data();
        m_stream.avail_out = static_cast<uInt>(m_part.size());
        const auto result = inflate(&m_stream, Z_NO_FLUSH);
        const auto made = m_part.size() - m_stream.avail_out;
        const auto taken = size - m_stream.avail_in;
        if ((result != Z_OK && result != Z_STREAM_END) || (made == 0 && taken == 0))
        {
            throw GzipError("is no gzip that can be unpacked");
        }
        text.append(reinterpret_cast<const char*>(m_part.data()), made);
        m_rest.remove_prefix(taken);
        m_isAtEnd = result == Z_STREAM_END;
        // What is left in the window comes out without more of the content.
        while (!m_isAtEnd && m_rest.empty() && m_stream.avail_out == 0)
        {
            m_stream.next_out = m_part.data();
            m_stream.avail_out = static_cast<uInt>(m_part.size());
            m_isAtEnd = inflate(&m_stream, Z_NO_FLUSH) == Z_STREAM_END;
            text.append(reinterpret_cast<const char*>(m_part.data()),
                        m_part.size() - m_stream.avail_out);
        }
    }

    z_stream m_stream{};
    std::string_view m_rest;
    std::array<Bytef, 65'536> m_part{};
    bool m_isAtEnd{false};
};

} // namespace

bool
IsGzip(std::string_view content)
{
    return content.starts_with("\x1f\x8b");
}

std::string
Gunzip(std::string_view content, uint64_t maxBytes)
{
    return GzipReader(content).Read(maxBytes);
}

} // namespace ns3::gradsync
