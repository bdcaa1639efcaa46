"""The server: the texts that are open, and the order of work on them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import PurePath
from typing import TypeVar

from lsprotocol import types as lsp
from pygls import uris
from pygls.lsp.server import LanguageServer

from ptokit.analysis.legality import merged
from ptokit.diagnostics.diagnostic import Diagnostic
from ptokit.tools.cli.failures import fault
from ptokit.tools.lsp.checking import CheckedProgram
from ptokit.tools.lsp.editedtext import EditedText
from ptokit.tools.lsp.editorsettings import Settings, settings
from ptokit.tools.lsp.keptverdicts import KeptVerdicts
from ptokit.tools.lsp.markdown import warm
from ptokit.tools.lsp.positions import TextPositions, changed
from ptokit.tools.lsp.published import published
from ptokit.tools.lsp.pythonfiles import has_kernels, python_diagnostics

READ_AFTER, CHECK_AFTER, RACES_AFTER = 0.005, 0.12, 0.6  # seconds without a further edit
T = TypeVar("T")


class OpenFile:
    """A file in the editor: its present text, and what is known of it."""

    def __init__(self, uri: str, text: EditedText, *, python: bool) -> None:
        self.uri, self.text, self.python = uri, text, python
        self.path = uris.to_fs_path(uri)
        self.checked: CheckedProgram | None = None  # of the present text, if it is a program
        self.older: CheckedProgram | None = None  # of the last text that was a program
        self.kept = KeptVerdicts()
        self.work: asyncio.Task[None] | None = None


class PtoServer(LanguageServer):
    """The language server of ptokit.

    Reading answers most requests, at once. Analyses run in one thread of their own.
    """

    def __init__(self, name: str, release: str) -> None:
        super().__init__(name, release)  # pyright: ignore[reportUnknownMemberType] - its *args
        self.files: dict[str, OpenFile] = {}
        self.settings = Settings()
        self.analyses = ThreadPoolExecutor(1, "analyses")

    # texts

    @property
    def encoding(self) -> str:
        chosen = self.server_capabilities.position_encoding or lsp.PositionEncodingKind.Utf16
        return lsp.PositionEncodingKind(chosen).value

    def opened(self, document: lsp.TextDocumentItem) -> None:
        uri, at = document.uri, TextPositions(document.text, self.encoding)
        made = EditedText(path_of(uri), document.version, at)
        python = document.language_id == "python" or uri.endswith(".py")
        self.files[uri] = OpenFile(uri, made, python=python)
        self.look(uri)

    def edited(self, params: lsp.DidChangeTextDocumentParams) -> None:
        uri, number = params.text_document.uri, params.text_document.version
        file = self.files.get(uri)
        if file is not None:
            at = changed(file.text.at, self.encoding, params.content_changes)
            file.text, file.checked = EditedText(file.text.path, number, at), None
            if not file.python:
                self.look(uri)

    def closed(self, uri: str) -> None:
        file = self.files.pop(uri, None)
        if file is not None and file.work is not None:
            file.work.cancel()
        self.publish(uri, None, [])

    def chosen(self, given: object) -> None:
        """Take settings, and look at every text again."""
        problems: list[str] = []
        self.settings = settings(given, problems)
        for problem in problems:
            self.window_show_message(lsp.ShowMessageParams(lsp.MessageType.Warning, problem))
        for uri, file in self.files.items():
            file.checked = None
            self.look(uri)

    # work

    def look(self, uri: str) -> None:
        """Begin to read and check a text; what was under way for an older one ends."""
        file = self.files[uri]
        if file.work is not None:
            file.work.cancel()
        looked = self._looked_at_python if file.python else self._looked
        file.work = asyncio.get_running_loop().create_task(looked(file))
        file.work.add_done_callback(self._ended)

    def _ended(self, work: asyncio.Task[None]) -> None:
        """Tell of a fault of ptokit: without a word, a text would seem to have no mistakes."""
        problem = None if work.cancelled() else work.exception()
        if isinstance(problem, Exception):
            message = fault(problem)
            self.window_show_message(lsp.ShowMessageParams(lsp.MessageType.Error, message))

    async def _looked(self, file: OpenFile) -> None:
        text = file.text
        await asyncio.sleep(READ_AFTER)
        problems = text.reading.problems
        if problems:
            known = merged(file.kept.of(text, self.settings.targets))
            self.tell(file, text, [*problems, *known])
            return
        checked = self.checked(file)
        assert checked is not None
        first, *others = self.settings.targets
        self.tell(file, text, await self.analysed(partial(checked.diagnostics_on, first)))
        await asyncio.sleep(CHECK_AFTER - READ_AFTER)
        for name in others:  # an edit is told of between two
            await self.analysed(partial(checked.diagnostics_on, name))
        found = await self.analysed(lambda: checked.diagnostics)
        self.tell(file, text, found)
        await self.analysed(warm)
        if self.settings.races and not any(one.is_error for one in found):
            await asyncio.sleep(RACES_AFTER - CHECK_AFTER)
            steps = await self.analysed(lambda: [*checked.race_steps()])
            for step in steps:
                await self.analysed(step)
            if more := await self.analysed(lambda: checked.races):
                self.tell(file, text, [*found, *more])

    async def _looked_at_python(self, file: OpenFile) -> None:
        """Check a file as it is saved, if it has kernels."""
        text = file.text
        found: list[lsp.Diagnostic] = []
        if self.settings.python and file.path and has_kernels(text.text):
            found = await python_diagnostics(file.path, text.at, self.settings.targets)
        self.publish(file.uri, text, found)

    def pto(self, uri: str) -> OpenFile | None:
        """The file of a program in text."""
        file = self.files.get(uri)
        return None if file is None or file.python else file

    def checked(self, file: OpenFile) -> CheckedProgram | None:
        """The analyses of the present text; None while it cannot be read."""
        program = file.text.program
        if file.checked is None and program is not None:
            made = CheckedProgram(file.text, program, self.settings.targets, file.kept)
            file.checked = file.older = made
        return file.checked

    async def analysed(self, work: Callable[[], T]) -> T:
        """Return what analyses find, in their thread."""
        return await asyncio.get_running_loop().run_in_executor(self.analyses, work)

    def tell(self, file: OpenFile, text: EditedText, found: Iterable[Diagnostic]) -> None:
        """Show what is known of a text."""
        self.publish(file.uri, text, [*published(found, text, file.uri, self.settings.targets)])

    def publish(self, uri: str, text: EditedText | None, found: list[lsp.Diagnostic]) -> None:
        number = None if text is None else text.version
        self.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(uri, found, number))


def path_of(uri: str) -> str:
    """Return the name that messages have for a text: that of its file."""
    path = uris.to_fs_path(uri)
    return PurePath(path).name if path else uri
