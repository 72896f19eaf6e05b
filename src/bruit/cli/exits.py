"""How a command ends: with its exit code and at most one message, whatever happens, and with no data in it."""

from __future__ import annotations

import contextlib
import functools
import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import FrameType
from typing import ParamSpec

import typer

from bruit import _checks
from bruit.cli import console
from bruit.cli.console import Exit
from bruit.errors import ParameterError

Parameters = ParamSpec("Parameters")

#: Signals by which a system asks a program to end. Python would end at once, and leave half-written files behind.
SIGNALS = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]

_PACKAGE = Path(__file__).parents[1]
#: What comes in bruit's wheel: the library and the studies.
_OURS = (_PACKAGE, _PACKAGE.with_name("bruit_studies"))


class Stopped(BaseException):
    """A signal asked the program to end; on its way up, unfinished files are removed."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number


@contextlib.contextmanager
def stoppable() -> Iterator[None]:
    """Within the block, a signal that asks for the end raises `Stopped`."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    # One that is ignored, as after nohup, stays so.
    handlers = {number: signal.getsignal(number) for number in SIGNALS}
    changed = {number: before for number, before in handlers.items() if before is signal.SIG_DFL}
    for number in changed:
        signal.signal(number, _stop)
    try:
        yield
    finally:
        for number, before in changed.items():
            signal.signal(number, before)


def check_arguments(arguments: Sequence[str]) -> None:
    """Refuse arguments whose bytes are no text: no ledger, document or page could hold them."""
    if not all(map(_checks.is_whole, arguments)):
        raise ParameterError(
            "An argument is not whole Unicode: its bytes are no text in this system's encoding. Rename the file, or "
            "set the terminal to UTF-8."
        )


def _stop(number: int, _: FrameType | None) -> None:
    raise Stopped(number)


def ended(command: Callable[Parameters, None]) -> Callable[Parameters, None]:
    """The command, ending with a documented code instead of an exception.

    Around each command, not around all: Typer ends interrupts and broken pipes in ways of its own, with code 1.
    """

    @functools.wraps(command)
    def run(*arguments: Parameters.args, **options: Parameters.kwargs) -> None:
        try:
            with console.weak_privacy():
                command(*arguments, **options)
            sys.stdout.flush()
            return
        except (typer.Exit, SystemExit):
            raise
        except BaseException as error:
            code = end(error)
        raise typer.Exit(code)

    return run


def end(error: BaseException) -> int:
    """Say what happened, and return the code to end with."""
    code = Exit(128 + error.number) if isinstance(error, Stopped) else console.exit_code(error)
    if code is Exit.PIPE:
        _discard_output()
        return code
    with contextlib.suppress(OSError):
        console.err().print(f"bruit: {console.readable(_message(error, code))}", style="red", soft_wrap=True)
    if code is Exit.DEFECT and os.environ.get("BRUIT_DEBUG") == "1":
        traceback.print_exception(error)
    return code


def _discard_output() -> None:
    """Python tries to write what is left when it ends, and would complain."""
    with contextlib.suppress(OSError, ValueError), Path(os.devnull).open("w") as nothing:
        os.dup2(nothing.fileno(), sys.stdout.fileno())


def _message(error: BaseException, code: Exit) -> str:
    if code in (Exit.INTERRUPTED, Exit.HUNG_UP, Exit.TERMINATED):
        return "interrupted; nothing half-written was left."
    if code is Exit.DEFECT:
        # Words of an unexpected error may quote data; its kind and place do not.
        return (
            f"this is a defect of bruit ({type(error).__name__} in {_place(error)}). Please report it. "
            "With BRUIT_DEBUG=1 it shows more, which may include data."
        )
    if isinstance(error, OSError) and error.strerror:
        return f"{error.strerror}: {error.filename}" if error.filename else error.strerror
    return str(error)


def _place(error: BaseException) -> str:
    """The last line of bruit's own that ran."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if any(Path(frame.filename).is_relative_to(package) for package in _OURS)]
    if not ours:
        return "an unknown place"
    file = Path(ours[-1].filename).relative_to(_PACKAGE.parent).as_posix().removeprefix(f"{_PACKAGE.name}/")
    return f"{file}, line {ours[-1].lineno}"
