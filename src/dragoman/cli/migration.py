"""One file of a program: its imports rewritten, and what in it needs a hand.

Only imports (and the dotted names that hang on them) are changed, with everything around them as it
stands. What has no counterpart keeps its import and is listed.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple, cast

import libcst as cst
from libcst import metadata
from typing_extensions import override

from dragoman.cli.counterparts import counterpart, hint_of, is_module_here, is_theirs
from dragoman.cli.differences import Finding, differences

__all__ = ["Migrated", "migrate"]


class Migrated(NamedTuple):
    """A file after its migration.

    Attributes:
        code: The new contents.
        n_imports: How many names and modules were rewritten.
        findings: What needs a hand, in the order of lines.
    """

    code: bytes
    n_imports: int
    findings: list[Finding]


def migrate(code: bytes) -> Migrated:
    """Return the contents of a Python file with its imports rewritten.

    Raises:
        libcst.ParserSyntaxError: If it is not Python.

    >>> migrate(b"from langchain_core.messages import AIMessage").code
    b'from dragoman.messages import AIMessage'
    """
    module = cst.parse_module(code)
    names = _Names()
    wrapper = metadata.MetadataWrapper(module, unsafe_skip_copy=True)
    wrapper.visit(names)
    if not names.is_concerned:
        return Migrated(code, 0, [])
    writer = _Writer(names)
    changed = module.visit(writer)
    findings = [*names.findings, *differences(wrapper, names.imported)]
    findings.sort(key=lambda finding: finding.line)
    return Migrated(changed.bytes, writer.n_imports, findings)


def dotted(node: cst.BaseExpression | None) -> str:
    """Return `a.b.c` for such an expression, else ""."""
    if isinstance(node, cst.Name):
        return node.value
    if isinstance(node, cst.Attribute):
        left = dotted(node.value)
        return f"{left}.{node.attr.value}" if left else ""
    return ""


def expression(name: str) -> Any:
    """Return the expression `a.b.c`."""
    return cst.parse_expression(name)


class _Names(cst.CSTVisitor):
    """What a file imports from LangChain, what it calls it, and which of it is not here."""

    METADATA_DEPENDENCIES = (metadata.PositionProvider,)

    def __init__(self) -> None:
        super().__init__()
        self.imported: dict[str, str] = {}  # local name -> full name there
        self.modules: dict[str, str] = {}  # local name of a module -> its name there
        self.kept: set[str] = set()  # modules whose `import` cannot be rewritten
        self.findings: list[Finding] = []
        self.is_concerned = False

    def _find(self, node: cst.CSTNode, code: str, text: str) -> None:
        place: Any = self.get_metadata(metadata.PositionProvider, node)
        self.findings.append(Finding(place.start.line, code, text))

    def _missing(self, node: cst.CSTNode, name: str) -> None:
        self._find(node, "no-counterpart", f"{name} has no counterpart; {hint_of(name)}")

    @override
    def visit_ImportFrom(self, node: cst.ImportFrom) -> bool:
        module = dotted(node.module)
        if node.relative or not is_theirs(module):
            return False
        self.is_concerned = True
        if isinstance(node.names, cst.ImportStar):
            if is_module_here(module) is None:
                self._missing(node, module)
            return False
        for alias in node.names:
            name = dotted(alias.name)
            local = dotted(cast("Any", alias.asname.name)) if alias.asname else name
            self.imported[local] = f"{module}.{name}"
            if is_module_here(f"{module}.{name}") is not None:
                self.modules[local] = f"{module}.{name}"
            if counterpart(module, name) is None:
                self._missing(alias, f"{module}.{name}")
        return False

    @override
    def visit_Import(self, node: cst.Import) -> bool:
        for alias in node.names:
            module = dotted(alias.name)
            if not is_theirs(module):
                continue
            self.is_concerned = True
            local = dotted(cast("Any", alias.asname.name)) if alias.asname else module
            self.modules[local] = module
            if module.count(".") == 0 and alias.asname is None and is_module_here(module):
                continue
            if is_module_here(module) is None:
                self.kept.add(local)
                self._missing(alias, module)
        return False

    @override
    def visit_Attribute(self, node: cst.Attribute) -> bool:
        name = dotted(node)
        if not name:
            return True
        for local, module in self.modules.items():
            if not name.startswith(local + "."):
                continue
            rest = name[len(local) + 1 :]
            if local not in self.kept and not _resolves(module, rest):
                self.kept.add(local)
                self._missing(node, f"{module}.{rest}")
        return False

    @override
    def visit_SimpleString(self, node: cst.SimpleString) -> bool:
        value = node.evaluated_value
        if isinstance(value, str) and " " not in value and "." in value and is_theirs(value):
            self.is_concerned = True
            self._find(node, "text", f"a text names {value}; it is not changed")
        return False

    @property
    def kept_roots(self) -> set[str]:
        """Roots of dotted names that stay, because something under them stays."""
        return {local.partition(".")[0] for local in self.kept}


def _resolves(module: str, rest: str) -> bool:
    """Return whether the first names of `module.rest` are here."""
    for name in rest.split("."):
        deeper = is_module_here(f"{module}.{name}")
        if deeper is None:
            return counterpart(module, name) is not None
        module = f"{module}.{name}"
    return True


class _Writer(cst.CSTTransformer):
    """Rewrites imports; counts the names."""

    def __init__(self, names: _Names) -> None:
        super().__init__()
        self.names = names
        self.n_imports = 0
        # Only the root of a dotted name changes, and only if everything under it can.
        self.roots = {
            local.partition(".")[0]
            for local, module in names.modules.items()
            if local == module and local.partition(".")[0] not in names.kept_roots
        }

    @override
    def leave_SimpleStatementLine(
        self, original_node: cst.SimpleStatementLine, updated_node: cst.SimpleStatementLine
    ) -> Any:
        body: list[Any] = []
        for small in updated_node.body:
            body += self._import_from(small) if isinstance(small, cst.ImportFrom) else [small]
        if len(updated_node.body) != 1 or len(body) == 1:
            return updated_node.with_changes(body=body)
        lines = [cst.SimpleStatementLine([small]) for small in body]
        lines[0] = lines[0].with_changes(leading_lines=updated_node.leading_lines)
        lines[-1] = lines[-1].with_changes(trailing_whitespace=updated_node.trailing_whitespace)
        return cst.FlattenSentinel(lines)

    def _import_from(self, node: cst.ImportFrom) -> list[cst.ImportFrom]:
        module = dotted(node.module)
        if node.relative or not is_theirs(module):
            return [node]
        if isinstance(node.names, cst.ImportStar):
            here = is_module_here(module)
            if here is None:
                return [node]
            self.n_imports += 1
            return [node.with_changes(module=expression(here))]
        groups: dict[str, list[cst.ImportAlias]] = {}
        for alias in node.names:
            place = counterpart(module, dotted(alias.name))
            groups.setdefault(place.module if place else module, []).append(_renamed(alias, place))
            self.n_imports += place is not None
        if len(groups) == 1:
            ((here, aliases),) = groups.items()
            return [node.with_changes(module=expression(here), names=aliases)]
        return [_plain_import(here, aliases) for here, aliases in groups.items()]

    @override
    def leave_Import(self, original_node: cst.Import, updated_node: cst.Import) -> cst.Import:
        aliases: list[cst.ImportAlias] = []
        for alias in updated_node.names:
            module = dotted(alias.name)
            local = dotted(cast("Any", alias.asname.name)) if alias.asname else module
            here = is_module_here(module) if is_theirs(module) else None
            stays = local in self.names.kept
            if alias.asname is None:
                stays = stays or local.partition(".")[0] not in self.roots
            if here is None or stays:
                aliases.append(alias)
                continue
            self.n_imports += 1
            aliases.append(alias.with_changes(name=expression(here)))
        return updated_node.with_changes(names=aliases)

    @override
    def leave_Attribute(
        self, original_node: cst.Attribute, updated_node: cst.Attribute
    ) -> cst.Attribute:
        base = updated_node.value
        if isinstance(base, cst.Name) and base.value in self.roots:
            return updated_node.with_changes(value=base.with_changes(value="dragoman"))
        return updated_node

    @override
    def visit_Import(self, node: cst.Import) -> bool:
        return False  # its dotted names are no expressions

    @override
    def visit_ImportFrom(self, node: cst.ImportFrom) -> bool:
        return False


def _renamed(alias: cst.ImportAlias, place: Any) -> cst.ImportAlias:
    old = dotted(alias.name)
    if place is None or place.name == old:
        return alias
    kept = alias.asname or cst.AsName(cst.Name(old))
    return alias.with_changes(name=cst.Name(place.name), asname=kept)


def _plain_import(module: str, aliases: Sequence[cst.ImportAlias]) -> cst.ImportFrom:
    """Return an import on one line."""
    bare = [cst.ImportAlias(name=alias.name, asname=alias.asname) for alias in aliases]
    return cst.ImportFrom(module=expression(module), names=bare)
