"""A session of an editor with the server: a real client, over standard input and output."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from lsprotocol import types as lsp
from pygls.lsp.client import LanguageClient

T = TypeVar("T")
COMMAND = (sys.executable, "-m", "ptokit", "lsp")
PATIENCE = 60  # seconds


class Editor(LanguageClient):
    """A client that keeps what the server tells, and the texts that it has open."""

    def __init__(self) -> None:
        super().__init__("editor", "1")
        self.found: dict[str, lsp.PublishDiagnosticsParams] = {}
        self.messages: list[str] = []
        self.told = asyncio.Event()
        self.versions: dict[str, int] = {}

        def published(params: lsp.PublishDiagnosticsParams) -> None:
            self.found[params.uri] = params
            self.told.set()

        def shown(params: lsp.ShowMessageParams) -> None:
            self.messages.append(params.message)

        told = lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS, lsp.WINDOW_SHOW_MESSAGE
        for name, taken in zip(told, (published, shown), strict=True):
            self.feature(name)(taken)

    def open(self, text: str, uri: str = "") -> str:
        """Open a text under a name of its own, or that of a file."""
        uri = uri or f"file:///work/kernel{len(self.versions)}.pto"
        language = "python" if uri.endswith(".py") else "pto"
        self.versions[uri] = 1
        item = lsp.TextDocumentItem(uri, language, 1, text)
        self.text_document_did_open(lsp.DidOpenTextDocumentParams(item))
        return uri

    def change(self, uri: str, *changes: lsp.TextDocumentContentChangeEvent) -> None:
        self.versions[uri] += 1
        document = lsp.VersionedTextDocumentIdentifier(self.versions[uri], uri)
        self.text_document_did_change(lsp.DidChangeTextDocumentParams(document, changes))

    def replace(self, uri: str, text: str) -> None:
        self.change(uri, lsp.TextDocumentContentChangeWholeDocument(text))

    async def diagnostics(
        self, uri: str, until: Callable[[list[lsp.Diagnostic]], bool] = lambda found: True
    ) -> list[lsp.Diagnostic]:
        """Return what the server says of the present version, once `until` holds of it."""
        while True:
            now = self.found.get(uri)
            if now is not None and now.version == self.versions[uri]:
                found = [*now.diagnostics]
                if until(found):
                    return found
            self.told.clear()
            await asyncio.wait_for(self.told.wait(), PATIENCE)


class Session:
    """A client with a server that was started for it; both live as long as tests need them."""

    def __init__(self, options: object = None) -> None:
        self.loop = asyncio.new_event_loop()
        self.editor = Editor()
        self.play(self._begin(options))

    def play(self, steps: Coroutine[Any, Any, T]) -> T:
        """Return what comes of steps; Any: as coroutines are."""
        return self.loop.run_until_complete(steps)

    async def _begin(self, options: object) -> None:
        editor = self.editor
        await editor.start_io(*COMMAND)  # pyright: ignore[reportUnknownMemberType] - its **kwargs
        capabilities = lsp.ClientCapabilities()
        params = lsp.InitializeParams(capabilities, initialization_options=options)
        await editor.initialize_async(params)
        editor.initialized(lsp.InitializedParams())

    def end(self) -> None:
        self.play(self._end())
        self.loop.close()

    async def _end(self) -> None:
        await self.editor.shutdown_async(None)
        self.editor.exit(None)
        await self.editor.stop()


def at(text: str, mark: str, behind: int = 0) -> lsp.Position:
    """The position of the first place where `mark` stands in a text."""
    offset = text.index(mark) + behind
    line = text.count("\n", 0, offset)
    return lsp.Position(line, offset - (text.rfind("\n", 0, offset) + 1))
