"""Writing one JSON schema in a provider's dialect."""

from typing import Any

from dragoman.codecs.contract import Change
from dragoman.codecs.schemas import merge, rewrite
from dragoman.codecs.schemas.dialects import DIALECTS, RECURSION_DEPTH, Dialect
from dragoman.codecs.schemas.refs import LISTS, MAPS, SINGLES, References
from dragoman.errors import EncodeError, short

__all__ = ["encode_schema", "is_in_dialect"]

_MAX_NESTING = 100
_MAX_NODES = 20_000

_Trail = tuple[str, ...]
"""The references that were written out on the way to a node."""


def encode_schema(
    schema: dict[str, Any],
    dialect: str,
    *,
    changes: list[Change] | None = None,
    path: str = "$",
    depth: int = RECURSION_DEPTH,
) -> dict[str, Any]:
    """Return `schema` in the subset of JSON Schema that a provider takes.

    Args:
        schema: A JSON schema; never changed. The result may share parts with it, and is `schema`
            itself when nothing had to change.
        dialect: A key of `DIALECTS`: `openai` and `anthropic` and `bedrock` for tools without
            `strict`, `openai_strict`, `anthropic_strict`, `bedrock_strict` for strict tools and
            structured output, `gemini` for `parameters` and `responseSchema`, `gemini_json` for
            `parametersJsonSchema` and `responseJsonSchema`.
        changes: Receives a `Change` for everything that was written differently; `lossy` where the
            reply may now differ from what `schema` asked for.
        path: Where the schema stands, for the paths of changes and errors.
        depth: How often a recursive definition is written out where `$ref` is not taken; below it
            stands a schema with the type only, reported as `cut_recursion`.

    Raises:
        EncodeError: If the dialect is unknown, a reference points nowhere, something that is not a
            schema stands where one must, or the result would be nested deeper than 100 or larger
            than 20,000 schemas.

    Example:
        >>> encode_schema({"type": ["string", "null"], "title": "T"}, "gemini")
        {'type': 'string', 'nullable': True}
    """
    row = DIALECTS.get(dialect)
    if row is None:
        message = f"no schema dialect named {short(dialect)}"
        raise EncodeError(message, path=path, hint=f"one of {', '.join(DIALECTS)}")
    if _is_plain(schema, row):
        return schema
    found: list[Change] = []
    result = _Writer(row, schema, found, path, depth).write_root()
    if changes is not None:
        changes.extend(found)
    try:
        return schema if result == schema else result
    except RecursionError:  # nested deeper than Python compares
        return result


def is_in_dialect(schema: Any, dialect: str) -> bool:
    """Return whether `encode_schema` would write a schema as it is.

    Decoders ask: a tool whose schema would be written otherwise has to stay as it was read, or the
    request would not come back the same.
    """
    try:
        return isinstance(schema, dict) and encode_schema(schema, dialect) is schema
    except EncodeError:
        return False


_PLAIN_ROOT = {"type", "properties", "required", "description", "additionalProperties"}
_PLAIN_LEAF = {"type", "description"}
_SCALARS = ("string", "integer", "number", "boolean")


def _is_plain(schema: Any, row: Dialect) -> bool:
    """Return whether this is a flat object of scalars that fits as it is: most tools are."""
    if schema.__class__ is not dict or schema.get("type") != "object":
        return False
    properties = schema.get("properties")
    if properties.__class__ is not dict or not schema.keys() <= _PLAIN_ROOT:
        return False
    for leaf in properties.values():
        if leaf.__class__ is not dict or not leaf.keys() <= _PLAIN_LEAF:
            return False
        if leaf.get("type") not in _SCALARS:
            return False
    required = schema.get("required", [])
    if required.__class__ is not list or not all(n.__class__ is str for n in required):
        return False
    if row.closed and schema.get("additionalProperties") is not False:
        return False
    if row.all_required and ("required" not in schema or set(required) != set(properties)):
        return False
    if row.keywords is not None and not schema.keys() <= row.keywords:
        return False
    return all(n in properties for n in required)


class _Writer:
    def __init__(
        self, dialect: Dialect, root: Any, changes: list[Change], path: str, depth: int
    ) -> None:
        if not isinstance(root, dict):
            message = f"a schema is an object, not {type(root).__name__}"
            raise EncodeError(message, path=path)
        self.dialect = dialect
        self.root: dict[str, Any] = root
        self.changes = changes
        self.path = path
        self.depth = depth
        self.references = References(root, path)
        self.n_nodes = 0

    def write_root(self) -> dict[str, Any]:
        root = self.root
        if self.dialect.plain_root:
            root = self._plain_root(root)
        result = self._write(root, self.path, (), 0)
        if self.dialect.refs == "acyclic":
            result = _without_unused(result)
        return result

    def _plain_root(self, root: dict[str, Any]) -> dict[str, Any]:
        """Return the outermost schema as an object that is no union and no reference."""
        seen: list[str] = []
        while isinstance(ref := root.get("$ref"), str) and ref not in seen and ref != "#":
            seen.append(ref)
            target = self.references.target(ref, self.path)
            if not isinstance(target, dict):
                break
            root = {**target, **{k: v for k, v in root.items() if k != "$ref"}}
        if isinstance(parts := root.get("allOf"), list):
            known = [p for p in (self._shallow(p) for p in parts) if p is not None]
            rest = {k: v for k, v in root.items() if k != "allOf"}
            root = merge.all_of([*known, rest])
        branches = [b for k in ("anyOf", "oneOf") if isinstance(root.get(k), list) for b in root[k]]
        if branches:
            joined = merge.any_of_objects([self._shallow(b) for b in branches], root)
            if joined is not None:
                text = "the outermost schema may not be a union; its branches are one object now"
                self._report(self.path, "merged_union", lossy=True, text=text)
                root = joined
        kind = root.get("type")
        if kind is None or (isinstance(kind, list) and "object" in kind):
            root = {**root, "type": "object"}
        if self.dialect.root_properties and root["type"] == "object" and "properties" not in root:
            # OpenAI: "object schema missing properties".
            root = {**root, "properties": {}}
        return root

    def _shallow(self, schema: Any) -> dict[str, Any] | None:
        for _ in range(_MAX_NESTING):
            if not isinstance(schema, dict):
                return None
            ref = schema.get("$ref")
            if not isinstance(ref, str):
                return schema
            target = self.references.target(ref, self.path)
            if not isinstance(target, dict):
                return None
            schema = {**target, **{k: v for k, v in schema.items() if k != "$ref"}}
        return None

    def _report(self, path: str, code: str, *, lossy: bool, text: str) -> None:
        self.changes.append(Change(path, code, lossy, text))

    def _write(self, schema: Any, path: str, trail: _Trail, nesting: int) -> dict[str, Any]:
        if isinstance(schema, bool):
            return self._write_bool(path, accepts=schema)
        if not isinstance(schema, dict):
            message = f"a schema is an object or a boolean, not {type(schema).__name__}"
            raise EncodeError(message, path=path)
        self.n_nodes += 1
        if nesting > _MAX_NESTING or self.n_nodes > _MAX_NODES:
            message = "the schema is too deep or too large when its references are written out"
            raise EncodeError(message, path=self.path, hint="use fewer nested definitions")

        def report(code: str, lossy: bool, text: str) -> None:
            self._report(path, code, lossy=lossy, text=text)

        schema, trail = self._resolved(schema, path, trail, report)
        schema = self._rewritten(schema, report)
        if not self.dialect.type_lists:
            schema = _openapi_object(schema, is_root=nesting == 0)
        return self._with_children(schema, path, trail, nesting)

    def _write_bool(self, path: str, *, accepts: bool) -> dict[str, Any]:
        if not self.dialect.typed:
            return {} if accepts else {"not": {}}
        text = "a boolean schema becomes a string, a number or a boolean"
        self._report(path, "any_type", lossy=True, text=text)
        return {"anyOf": rewrite.ANY}

    def _resolved(
        self, schema: dict[str, Any], path: str, trail: _Trail, report: rewrite.Report
    ) -> tuple[dict[str, Any], _Trail]:
        """Return the schema without the references and `allOf`s that the dialect does not take."""
        keywords = self.dialect.keywords
        for _ in range(_MAX_NESTING):
            if isinstance(schema.get("$ref"), str):
                followed = self._followed(schema, path, trail)
                if followed is None:
                    return schema, trail
                schema, trail = followed
            elif keywords is not None and "allOf" not in keywords and "allOf" in schema:
                schema, trail = self._merged(schema, path, trail, report)
            else:
                return schema, trail
        message = "references and `allOf`s lead in a circle"
        raise EncodeError(message, path=path, hint="define the schema they name")

    def _followed(
        self, schema: dict[str, Any], path: str, trail: _Trail
    ) -> tuple[dict[str, Any], _Trail] | None:
        """Return what a reference stands for; None where it stays."""
        ref: str = schema["$ref"]
        rest = {k: v for k, v in schema.items() if k != "$ref"}
        mode = self.dialect.refs
        if mode == "keep" or (mode == "acyclic" and not self.references.is_recursive(ref)):
            if self.dialect.keywords is not None:
                self.references.target(ref, path)  # a reference to nothing fails here
            if self.dialect.plain_ref and rest.keys() & {"description", "anyOf", "type"}:
                # OpenAI: "$ref cannot have keywords {'description'}"; a union of one may have them.
                return {**rest, "anyOf": [{"$ref": ref}]}, trail
            return None
        target = self.references.target(ref, path)
        if isinstance(target, bool):
            target = dict[str, Any]()
        if not isinstance(target, dict):
            message = f"the reference {short(ref)} does not name a schema"
            raise EncodeError(message, path=path)
        if trail.count(ref) >= self.depth:
            text = f"a recursive definition is written out {self.depth} times and cut there"
            self._report(path, "cut_recursion", lossy=True, text=text)
            leaf = {k: target[k] for k in ("type", "description") if k in target}
            return {"type": "object", **leaf, **rest}, trail
        return {**target, **rest}, (*trail, ref)

    def _merged(
        self, schema: dict[str, Any], path: str, trail: _Trail, report: rewrite.Report
    ) -> tuple[dict[str, Any], _Trail]:
        """Return a schema whose `allOf` became part of it."""
        rest = {k: v for k, v in schema.items() if k != "allOf"}
        parts = schema["allOf"]
        if not isinstance(parts, list):
            report("dropped_keyword", True, "`allOf` without a list is left out")
            return rest, trail
        if len(parts) == 1 and isinstance(parts[0], dict):
            return {**parts[0], **rest}, trail
        known: list[dict[str, Any]] = []
        for part in parts:
            for _ in range(_MAX_NESTING):
                if not isinstance(part, dict) or not isinstance(ref := part.get("$ref"), str):
                    break
                if trail.count(ref) >= max(self.depth, 1):
                    part = {k: v for k, v in part.items() if k != "$ref"}
                    text = "a recursive definition is cut here"
                    self._report(path, "cut_recursion", lossy=True, text=text)
                    break
                trail = (*trail, ref)
                others = {k: v for k, v in part.items() if k != "$ref"}
                target = self.references.target(ref, path)
                part = {**target, **others} if isinstance(target, dict) else others
            if isinstance(part, dict):
                known.append(part)
        report("merged_all_of", False, "`allOf` is written as one schema")

        def unjoined(key: str) -> None:
            report("dropped_keyword", True, f"two values of `{key[:40]}` in `allOf` are not joined")

        return merge.all_of([*known, rest], unjoined), trail

    def _rewritten(self, schema: dict[str, Any], report: rewrite.Report) -> dict[str, Any]:
        dialect = self.dialect
        keywords = dialect.keywords
        if "$ref" in schema and isinstance(schema["$ref"], str):
            return rewrite.drop_keywords(schema, dialect, report)
        if dialect.type_lists:
            schema = rewrite.standard(schema, report)
        if keywords is not None:
            schema = rewrite.one_of(schema, report)
            schema = rewrite.tuples(schema, report)
            if "exclusiveMinimum" not in keywords and "minimum" in keywords:
                schema = rewrite.ranges(schema, report)
        if not dialect.type_lists:
            schema = rewrite.without_null(schema, report)
        if dialect.string_enums:
            schema = rewrite.strings_only(schema, report)
        if dialect.typed:
            schema = rewrite.type_named(schema, report)
        if dialect.closed:
            schema = rewrite.close_objects(schema, dialect, report)
        return rewrite.drop_keywords(schema, dialect, report)

    def _is_written_out(self, key: str, name: str, nesting: int) -> bool:
        """Return whether a definition is left out because its references are written out."""
        if self.dialect.refs != "acyclic" or nesting or key not in ("$defs", "definitions"):
            return False
        return self.references.is_recursive(f"#/{key}/{name.replace('~', '~0').replace('/', '~1')}")

    def _with_children(
        self, schema: dict[str, Any], path: str, trail: _Trail, nesting: int
    ) -> dict[str, Any]:
        result: dict[str, Any] = {}
        deeper = nesting + 1
        for key, value in schema.items():
            here = f"{path}.{key}"
            if key in MAPS and isinstance(value, dict):
                result[key] = {
                    name: self._write(child, f"{here}.{name}", trail, deeper)
                    for name, child in value.items()
                    if not self._is_written_out(key, name, nesting)
                }
            elif isinstance(value, list) and (key in LISTS or key in SINGLES):
                result[key] = [
                    self._write(child, f"{here}[{i}]", trail, deeper)
                    for i, child in enumerate(value)
                ]
            elif key in SINGLES and isinstance(value, dict):
                result[key] = self._write(value, here, trail, deeper)
            else:
                result[key] = value
        return result


def _openapi_object(schema: dict[str, Any], *, is_root: bool) -> dict[str, Any]:
    """Return an object as OpenAPI has it: no empty `properties`, nothing required that is not there.

    Gemini answers 400 to both ("should be non-empty for OBJECT type", "property is not defined").
    """
    properties = schema.get("properties")
    if properties == {} and not is_root:
        schema = {k: v for k, v in schema.items() if k != "properties"}
    names = schema.get("required")
    if isinstance(names, list):
        known = properties if isinstance(properties, dict) else {}
        present = [n for n in names if isinstance(n, str) and n in known]
        if len(present) < len(names):
            schema = {k: v for k, v in schema.items() if k != "required"}
            if present:
                schema["required"] = present
    return schema


def _without_unused(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema without definitions that nothing refers to."""
    used: set[str] = set()
    todo: list[Any] = [{k: v for k, v in schema.items() if k not in ("$defs", "definitions")}]
    while todo:
        node = todo.pop()
        if isinstance(node, list):
            todo.extend(node)
        elif isinstance(node, dict):
            ref = node.get("$ref")
            if isinstance(ref, str) and ref not in used:
                used.add(ref)
                kind, _, name = ref.removeprefix("#/").partition("/")
                holder = schema.get(kind)
                todo.append(holder.get(name) if isinstance(holder, dict) else None)
            todo.extend(node.values())
    result = schema
    for kind in ("$defs", "definitions"):
        if isinstance(holder := schema.get(kind), dict):
            kept = {n: d for n, d in holder.items() if f"#/{kind}/{n}" in used}
            if len(kept) < len(holder) or not kept:
                result = {k: v for k, v in result.items() if k != kind}
                if kept:
                    result[kind] = kept
    return result
