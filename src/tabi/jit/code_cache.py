"""A kernel's compiled code on disk.

The file of a kernel as other kernels see it, its *inside*, holds its own code only, and names the
kernels that it calls with the types of arguments and results: it is good as long as these are what
they were, whatever those kernels do. The file of its *outside*, which is whole, holds machine code
for one processor; its name has a digest of all that the kernel reaches, up to kernels that are
compiled apart (``units``). Both list the slots of those.

A file that is lost or broken is compiled again; one that cannot be written is not an error.
"""

from __future__ import annotations

import contextlib
import hashlib
import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm

from tabi.jit import cache_folder, compilation, identity, units
from tabi.jit.numba_private import caching, compiler, serialize


class KernelCache(caching.NullCache):
    """Cache files of one face of a kernel."""

    def __init__(self, function: Any, folder: Path, inside: bool) -> None:
        self.function, self.folder, self.inside = function, folder, inside

    @property
    def cache_path(self) -> str:
        """Path of the cache folder."""
        return str(self.folder)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The code for a signature, or None."""
        target_context.refresh()
        # broken files, and values without a digest
        with contextlib.suppress(Exception):
            key = self.key(sig, target_context.codegen())
            stored, called, slots, bitcode, rest = pickle.loads(
                cache_folder.content(self.folder, self.name(key))
            )
            if stored != key:
                return None
            find = identity.named if self.inside else identity.reached
            kernels = find(self.function) if called or slots else {}
            if any(kernels[label].apart != result for label, _, result in slots):
                return None
            found_slots = [units.slot(kernels[label], args) for label, args, _ in slots]
            code = pickle.loads(rest)
            if not self.inside:
                made = compiler.CompileResult._rebuild(target_context, *code)
                made.library.slots = found_slots
                return made
            return self._join(kernels, called, bitcode, code, target_context)
        return None

    def _join(self, kernels: Any, called: Any, bitcode: Any, code: Any, target: Any) -> Any:
        """An inside with those of the kernels that it calls, if these are as they were."""
        needed = []
        for label, args, *face in called:
            if kernels[label].apart is not None:
                return None
            inside = kernels[label].inside
            inside.compile(args)
            other = inside.overloads[args].library
            if other.face is None or list(other.face[2:]) != face:
                return None
            needed.append(other)
        library = compilation.load_inside(target, bitcode, needed)
        made = compilation.rebuild_inside(target, library, *code)
        library.face = self._face(made)
        return made

    def has(self, sig: Any, target_context: Any) -> bool:
        """Whether there is code for a signature."""
        try:
            return cache_folder.has(self.folder, self.name(self.key(sig, target_context.codegen())))
        except ValueError:
            return False

    @contextlib.contextmanager
    def alone(self, sig: Any, target_context: Any) -> Iterator[Any]:
        """Within, no other process compiles the same outside; gives the code if one just did."""
        name = ""
        with contextlib.suppress(ValueError):
            name = self.name(self.key(sig, target_context.codegen()))
        if self.inside or not name:
            yield None
            return
        with cache_folder.alone(self.folder, name) as done:
            yield self.load_overload(sig, target_context) if done else None

    def keep(self, sig: Any, made: Any, target_context: Any) -> Any:
        """Keep code that was compiled; returns the code to use, which is another process's if that
        was quicker.
        """
        library = made.library
        # such code holds addresses of this process
        if library.has_dynamic_globals or any(other.face is None for other in library.called):
            return made
        try:
            key = self.key(sig, made.codegen)
            face = self._face(made)
        except ValueError:
            return made
        # the annotation is the source with the types of everything: long, and for readers only
        code = made._replace(type_annotation="")._reduce()
        called, bitcode = (), b""
        if self.inside:
            called = tuple(other.face for other in library.called)
            (_, _, bitcode), *code, _ = code
            # as processes have it that read it from the file
            library._final_module, library.face = llvm.parse_bitcode(bitcode), face
        slots = [(s.label, s.args, s.kernel.apart) for s in units.slots_of(library._final_module)]
        content = serialize.dumps((key, called, slots, bitcode, serialize.dumps(code)))
        with contextlib.suppress(OSError):
            if not cache_folder.keep(self.folder, self.name(key), content):
                if other := self.load_overload(sig, target_context):
                    return other
                cache_folder.keep(self.folder, self.name(key), content, instead=True)
        return made

    def _face(self, made: Any) -> tuple[Any, ...]:
        """Interface of a kernel for its callers: label, types of its arguments, name in the code,
        type of its result.
        """
        label, signature = identity.label(self.function), made.signature
        return (label, signature.args, made.fndesc.llvm_func_name, signature.return_type)

    def key(self, sig: Any, codegen: Any) -> tuple[Any, ...]:
        """Everything that compiled code depends on: face, types, processor and content.

        Raises:
            ValueError: if the kernel closes over a value without a digest.
        """
        # the inside is for any processor of the kind
        platform, *processor = codegen.magic_tuple()
        if self.inside:
            return (True, sig, platform, identity.own_digest(self.function))
        return (False, sig, platform, *processor, identity.whole(self.function))

    def name(self, key: tuple[Any, ...]) -> str:
        """File name for a key: the kernel, its content, and a digest of the rest."""
        kind = hashlib.sha256(repr(key[:-1]).encode()).hexdigest()[:16]
        return f"{_begin(self.function, key[-1])}-{kind}.nbc"


def begin_of(function: Any) -> str:
    """First part of the names of the files of a kernel's inside."""
    return _begin(function, identity.own_digest(function))


def _begin(function: Any, digest: str) -> str:
    return f"{function.__module__}.{function.__name__}-{digest}"


class NoCache(caching.NullCache):
    """Cache for systems without a folder to write to."""

    def has(self, sig: Any, target_context: Any) -> bool:
        """Always False, as nothing is stored."""
        return False

    @contextlib.contextmanager
    def alone(self, sig: Any, target_context: Any) -> Iterator[Any]:
        """Yield None: no other process compiles the same."""
        yield None

    def keep(self, sig: Any, made: Any, target_context: Any) -> Any:
        """The code to use."""
        return made
