"""Rules for names and prose: each takes source text and returns its faults, 'line: what'.

They catch the habits that make code hard to search: verbs of speech for data, participles as
nouns, adjectives as constants, and docstrings without a subject.
"""

import ast
import re
import tokenize
from collections.abc import Iterator
from io import StringIO
from pathlib import Path

from architecture.rules import nodes, parse

# a part of a name between underscores → what to write instead
NAME_PARTS = {
    "told": "command, reading, reported, specified",
    "said": "printed, reported, message",
    "tell": "write_command, report, print",
    "asked": "requested, target, desired",
    "heard": "active, received",
    "felt": "measured, body_state",
    "who": "the noun: controller, user, caller",
    "nobody": "unused, unlocked",
    "somebody": "user, caller",
}
# a whole name → what to write instead
NAMES = {
    "one": "the noun it stands for",
    "own": "the noun it stands for",
    "some": "subset, or the noun",
    "others": "rest, or the noun",
    "more": "extra, or the noun",
    "way": "path, direction, distance",
    "held": "fixed, locked, reference",
    "judged": "checked",
    "counted": "count",
    "placed": "pose, posed_…",
    "turned": "rotated",
    "moved": "displaced, transformed, moves_…",
    "kept": "stored, saved, selected",
    "chosen": "selected, selection",
    "found": "result, match, or the noun",
    "given": "specified, inputs, or the noun",
    "much": "the quantity",
}
MODULES = {
    "ahead", "apart", "caution", "doubts", "felt", "held", "killed", "noticing", "planted",
    "resoled", "told", "turns",
}  # fmt: skip
# in docstrings, comments and messages → what to write instead
WORDS = {
    r"told|tells?|telling": "command, report, specify, print, state",
    r"said": "reported, specified, stated",
    r"heard|hears?": "receive, read",
    r"felt|feels?": "measured, estimated",
    r"who|whoever": "name the subject: user, controller, caller",
    r"nobody|somebody": "name the subject",
    r"unless (?:given|told)": "default:",
    r"mend(?:s|ed|ing)?": "fix, repair, correct",
    r"seldom": "rarely",
    r"anew": "again",
    r"no numbers?(?= *(?:[.,;:!)\"']|$))": "not finite, NaN",
    r"missed steps?|steps? (?:was |were |are |is )?missed": "steps that did not converge",
}
WORD_PATTERN = re.compile(
    "|".join(f"(?P<w{i}>\\b(?:{words})\\b)" for i, words in enumerate(WORDS)), re.IGNORECASE
)
# the same in small letters, whatever follows: a text without any need not be taken apart
SUSPECTS = re.compile(rf"\b(?:{'|'.join(re.sub(r'[(][?]=.*[)]', '', words) for words in WORDS)})\b")
# first words of a docstring that leave its subject out
FIRST_WORDS = {
    "Of", "That", "Those", "Who", "What", "How", "Where", "When", "As", "None", "Some", "Others",
    "Same", "Likewise",
}  # fmt: skip
FORMULA = re.compile(r"[=×·²³⁻ᵀΣ√∈≤≥←⊗−+]|``")
# adjectives, adverbs and verbs: a constant with a value has the name of a quantity
NOT_QUANTITIES = frozenset(
    (Path(__file__).parent / "not_quantities.txt").read_text(encoding="utf-8").split()
)


def names(text: str) -> list[str]:
    """Names that say nothing to a reader, where they are defined."""
    return [
        f"{line}: the name {name}; better {better}"
        for line, name in sorted(_defined(parse(text), "RenamedAttribute" in text))
        if (better := _better(name)) is not None
    ]


def _better(name: str) -> str | None:
    plain = name.strip("_").lower()
    if plain in NAMES:
        return NAMES[plain]
    return next((NAME_PARTS[part] for part in plain.split("_") if part in NAME_PARTS), None)


def _defined(tree: ast.AST, has_aliases: bool) -> Iterator[tuple[int, str]]:
    """Line and name of every variable, parameter, attribute, function and class; left out are old
    names that are kept as aliases, if any, and ``tell`` of classes that ``seek``, as files do.
    """
    aliases = {
        target
        for node in (nodes(tree) if has_aliases else ())
        if isinstance(node, ast.Assign) and "RenamedAttribute" in ast.unparse(node.value)
        for target in node.targets
    }
    protocol = {
        method
        for node in nodes(tree)
        if isinstance(node, ast.ClassDef) and "seek" in {getattr(x, "name", "") for x in node.body}
        for method in node.body
        if getattr(method, "name", "") == "tell"
    }
    for node in nodes(tree):
        if node in aliases or node in protocol:
            continue
        match node:
            case ast.Name(ctx=ast.Store()):
                yield node.lineno, node.id
            case ast.Attribute(ctx=ast.Store()):
                yield node.lineno, node.attr
            case ast.arg():
                yield node.lineno, node.arg
            case ast.FunctionDef() | ast.ClassDef() | ast.AsyncFunctionDef():
                yield node.lineno, node.name


def constants(text: str) -> list[str]:
    """Constants with a value whose names are adjectives, adverbs or verbs.

    Names of alternatives, such as ``STICKS, SLIDES = 0, 1``, may be any word.
    """
    return [
        f"{name.lineno}: the constant {name.id}; better a quantity, MAX_… or MIN_…, with its unit"
        for name, value in _values(parse(text))
        if name.id.strip("_").lower() in NOT_QUANTITIES and _is_quantity(value)
    ]


def _values(tree: ast.Module) -> Iterator[tuple[ast.Name, ast.expr]]:
    for node in tree.body:
        if not isinstance(node, ast.Assign) or len(node.targets) != 1:
            continue
        target, value = node.targets[0], node.value
        if isinstance(target, ast.Name):
            yield target, value
        elif isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
            parts = zip(target.elts, value.elts, strict=True)
            # whole numbers in a row count alternatives
            whole = [v.value for v in value.elts if isinstance(v, ast.Constant)]
            if len(whole) == len(value.elts) and all(type(x) is int for x in whole):
                start: int = whole[0]
                if whole == list(range(start, start + len(whole))):
                    continue
            yield from ((name, v) for name, v in parts if isinstance(name, ast.Name))


def _is_quantity(value: ast.expr) -> bool:
    numbers = [n.value for n in ast.walk(value) if isinstance(n, ast.Constant)]
    plain = (ast.Constant, ast.UnaryOp, ast.BinOp)
    return isinstance(value, plain) and any(type(x) in (int, float) for x in numbers)


def docstrings(text: str) -> list[str]:
    """Docstrings of fewer than four words that are no formula, and those without a subject."""
    faults = []
    for node in nodes(parse(text)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            first = (ast.get_docstring(node) or "").split("\n\n")[0]
            if first and (fault := _docstring_fault(first, isinstance(node, ast.Module))):
                faults.append(f"{getattr(node, 'lineno', 1)}: {fault}: {first[:60]!r}")
    return faults


def _docstring_fault(first: str, module: bool) -> str | None:
    words = first.split()
    if words[0].strip(".,:;") in FIRST_WORDS:
        return "docstring without a subject; begin with a verb or a noun"
    if len(words) < 4 and not module and not FORMULA.search(first):
        return "docstring of fewer than four words; state what it does, with units and frames"
    return None


def prose(text: str) -> list[str]:
    """Words in docstrings, comments and messages that have a better one."""
    faults: list[str] = []
    if not SUSPECTS.search(text.lower()):
        return faults
    for token in tokenize.generate_tokens(StringIO(text).readline):
        kind = tokenize.tok_name[token.type]
        if kind == "COMMENT" or (
            kind in ("STRING", "FSTRING_MIDDLE") and re.search(r"\s", token.string)
        ):
            faults += [f"{token.start[0]}: {fault}" for fault in words(token.string)]
    return faults


def words(text: str) -> list[str]:
    """Words of a text that have a better one."""
    better = list(WORDS.values())
    return [
        f"'{match.group()}'; better {better[int(str(match.lastgroup)[1:])]}"
        for match in WORD_PATTERN.finditer(text)
    ]


def module_names(path: str) -> list[str]:
    """Names of modules that are neither nouns nor what the module does."""
    name = path.rsplit("/", 1)[-1].removesuffix(".py")
    return [f"1: the module {name}; better a noun"] if name in MODULES else []


MARKDOWN_WIDTH = 100
# lines that cannot be broken: tables, headings, images, HTML, definitions of links
UNBREAKABLE = re.compile(r"^\s*(\||#|!\[|<|\[[^\]]+\]: |members: )")


def markdown(text: str) -> list[str]:
    """Words of a page that have a better one, and prose wider than 100 characters."""
    faults, in_code = [], False
    for number, line in enumerate(text.split("\n"), 1):
        if line.lstrip().startswith("```"):
            in_code = not in_code
        elif not in_code:
            faults += [f"{number}: {fault}" for fault in words(re.sub(r"`[^`]*`", "x", line))]
            # spaces where a line may be broken: outside of code and of the addresses of links
            rest = re.sub(r"`[^`]*`|\]\([^)]*\)", "x", line.strip())
            if len(line) > MARKDOWN_WIDTH and " " in rest and not UNBREAKABLE.match(line):
                faults.append(f"{number}: a line of {len(line)} characters; wrap prose at 100")
    return faults
