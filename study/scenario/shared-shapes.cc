// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/shared-shapes.h"

namespace ns3::gradsync
{

Json
MakeSharedShapes()
{
    return ParseJson(R"({
  "rate": {
    "description": "Bits per second, units are powers of 1000.",
    "type": "string",
    "pattern": "^[0-9]*\\.?[0-9]*(bps|kbps|Mbps|Gbps|Tbps)$",
    "examples": ["40Gbps"]
  },
  "time": {
    "description": "A whole number of picoseconds.",
    "type": "string",
    "pattern": "^[0-9]*\\.?[0-9]*(ps|ns|us|ms|s|min|h)$",
    "examples": ["1us"]
  },
  "size": {
    "description": "A whole number of bytes. kB, MB, GB, TB are powers of 1000; KiB, MiB, GiB, TiB of 1024.",
    "type": "string",
    "pattern": "^[0-9]*\\.?[0-9]*(B|kB|MB|GB|TB|KiB|MiB|GiB|TiB)$",
    "examples": ["97MiB"]
  },
  "times": {"type": "array", "items": {"$ref": "#/$defs/time"}},
  "texts": {"type": "array", "items": {"type": "string"}},
  "labels": {"type": "object", "additionalProperties": {"type": "string"}},
  "node": {"type": "string"},
  "switches": {"$ref": "#/$defs/texts"},
  "endpoints": {
    "type": "array",
    "items": {"anyOf": [{"type": "string"}, {"type": "integer", "minimum": 0}]}
  },
  "serverEndpoints": {
    "anyOf": [
      {"$ref": "#/$defs/endpoints"},
      {"type": "object", "additionalProperties": {"$ref": "#/$defs/endpoints"}}
    ]
  },
  "links": {
    "type": "array",
    "items": {"type": "array", "items": {"type": "string"}, "minItems": 2, "maxItems": 2}
  },
  "rows": {"type": "array", "items": {"type": "object"}},
  "profile": {"type": "string", "minLength": 1},
  "faults": {"type": "array", "items": {"$ref": "#/$defs/fault"}},
  "trafficList": {"type": "array", "items": {"$ref": "#/$defs/traffic"}},
  "sweep": {
    "type": "object",
    "additionalProperties": {"type": "array", "minItems": 1, "uniqueItems": true}
  }
})",
                     "shapes");
}

} // namespace ns3::gradsync
