"""One JSON Schema, written for the subset each provider takes.

`encode_schema(schema, dialect)` returns the schema in one of `DIALECTS`; every loss is reported as
a `Change`. Inputs are never changed; a schema that already fits is returned as the same object.
Only keywords are touched: a *property* that is called `title`, `default`, `const`, `$ref` or
`properties` survives everywhere.
"""

from dragoman.codecs.schemas.convert import encode_schema, is_in_dialect
from dragoman.codecs.schemas.dialects import DIALECTS, RECURSION_DEPTH, Dialect

__all__ = ["DIALECTS", "RECURSION_DEPTH", "Dialect", "encode_schema", "is_in_dialect"]
