"""The requests of an editor, and who answers each."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib.metadata import version
from typing import Any, TypeAlias

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException, JsonRpcInvalidParams

from ptokit.diagnostics.diagnostic import PtoError
from ptokit.tools.lsp.codeactions import quick_fixes, rewriting, synchronising
from ptokit.tools.lsp.completing import completions, resolved, signatures
from ptokit.tools.lsp.editedtext import EditedText
from ptokit.tools.lsp.formatting import formatted
from ptokit.tools.lsp.hovering import hover
from ptokit.tools.lsp.inlays import inlay_hints
from ptokit.tools.lsp.languageserver import OpenFile, PtoServer
from ptokit.tools.lsp.occurrences import definition, highlights, named_thing, references, renamed
from ptokit.tools.lsp.outline import folds, symbols
from ptokit.tools.lsp.pictures import (
    layout_page_at,
    memory_page,
    profile_page,
    python_picture,
    told,
)
from ptokit.tools.lsp.pythonfiles import python_hover
from ptokit.tools.lsp.tokenkinds import LEGEND, semantic_tokens

TRIGGERS = [".", "%", "!", "#", "@", "<", "{", "="]


def start() -> None:
    """Serve an editor over standard input and output, until it goes."""
    made_server().start_io()


def made_server() -> PtoServer:
    """A server with all that it answers."""
    server = PtoServer("ptokit", version("ptokit"))
    _texts(server)
    _of_places(server)
    _looks(server)
    _changes(server)
    _pictures(server)
    return server


def _texts(server: PtoServer) -> None:
    """Take what an editor tells: its settings, and what happens to texts."""

    @server.feature(lsp.INITIALIZE)
    def _(params: lsp.InitializeParams) -> None:
        server.chosen(params.initialization_options)

    @server.feature(lsp.WORKSPACE_DID_CHANGE_CONFIGURATION)
    def _(params: lsp.DidChangeConfigurationParams) -> None:
        if params.settings:
            server.chosen(params.settings)

    @server.feature(lsp.TEXT_DOCUMENT_DID_OPEN)
    def _(params: lsp.DidOpenTextDocumentParams) -> None:
        server.opened(params.text_document)

    @server.feature(lsp.TEXT_DOCUMENT_DID_CHANGE)
    def _(params: lsp.DidChangeTextDocumentParams) -> None:
        server.edited(params)

    @server.feature(lsp.TEXT_DOCUMENT_DID_SAVE)
    def _(params: lsp.DidSaveTextDocumentParams) -> None:
        file = server.files.get(params.text_document.uri)
        if file is not None and file.python:
            server.look(file.uri)

    @server.feature(lsp.TEXT_DOCUMENT_DID_CLOSE)
    def _(params: lsp.DidCloseTextDocumentParams) -> None:
        server.closed(params.text_document.uri)


Answer: TypeAlias = "Callable[[OpenFile, int, object], object]"


def _of_places(server: PtoServer) -> None:
    """Answer requests about a place in a program: the file, the offset and the parameters."""
    completing = lsp.CompletionOptions(trigger_characters=TRIGGERS, resolve_provider=True)
    helping = lsp.SignatureHelpOptions(trigger_characters=["(", ","])
    answers: dict[str, tuple[Answer, object]] = {
        lsp.TEXT_DOCUMENT_DEFINITION: (_definition, None),
        lsp.TEXT_DOCUMENT_REFERENCES: (_references, None),
        lsp.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT: (_at(highlights), None),
        lsp.TEXT_DOCUMENT_PREPARE_RENAME: (_renamable, None),
        lsp.TEXT_DOCUMENT_RENAME: (_renamed, lsp.RenameOptions(prepare_provider=True)),
        lsp.TEXT_DOCUMENT_COMPLETION: (_at(completions), completing),
        lsp.TEXT_DOCUMENT_SIGNATURE_HELP: (_at(signatures), helping),
        lsp.TEXT_DOCUMENT_DOCUMENT_SYMBOL: (_whole(symbols), None),
        lsp.TEXT_DOCUMENT_FOLDING_RANGE: (_whole(lambda text: [*folds(text)]), None),
        lsp.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL: (_whole(semantic_tokens), LEGEND),
    }
    for request, (answer, options) in answers.items():
        server.feature(request, options)(_answering(server, answer))
    server.feature(lsp.COMPLETION_ITEM_RESOLVE)(resolved)


def _at(answer: Callable[[EditedText, int], object]) -> Answer:
    return lambda file, offset, params: answer(file.text, offset)


def _whole(answer: Callable[[EditedText], object]) -> Answer:
    return lambda file, offset, params: answer(file.text)


def _answering(server: PtoServer, answer: Answer) -> Callable[..., object]:
    """Return the handler of a request; of a file that is no program nothing is known."""

    def handler(params: Any) -> object:  # Any: each request has parameters of its own
        file = server.pto(params.text_document.uri)
        if file is None:
            return None
        place: lsp.Position | None = getattr(params, "position", None)
        return answer(file, 0 if place is None else file.text.at.offset(place), params)

    return handler


def _definition(file: OpenFile, offset: int, params: object) -> lsp.Location | None:
    return definition(file.text, file.uri, offset)


def _references(file: OpenFile, offset: int, params: object) -> list[lsp.Location]:
    assert isinstance(params, lsp.ReferenceParams)
    declared = params.context.include_declaration
    return references(file.text, file.uri, offset, declared=declared)


def _renamable(file: OpenFile, offset: int, params: object) -> lsp.Range | None:
    """Return the place of the name at an offset, if it can be renamed."""
    found = named_thing(file.text, offset)
    places = [] if found is None else found.places
    here = [place for place in places if place[0] - 1 <= offset <= place[1]]
    return file.text.at.range(*here[0]) if here else None


def _renamed(file: OpenFile, offset: int, params: object) -> lsp.WorkspaceEdit:
    assert isinstance(params, lsp.RenameParams)
    edits = renamed(file.text, offset, params.new_name)
    if isinstance(edits, str):
        raise JsonRpcInvalidParams(edits)
    return lsp.WorkspaceEdit({file.uri: edits})


def _looks(server: PtoServer) -> None:
    """Answer what is shown in and beside a text."""

    @server.feature(lsp.TEXT_DOCUMENT_HOVER)
    async def _(params: lsp.HoverParams) -> lsp.Hover | None:
        file = server.files.get(params.text_document.uri)
        if file is None:
            return None
        text, offset = file.text, file.text.at.offset(params.position)
        language = server.settings.language
        if file.python:
            return await server.analysed(partial(python_hover, text.at, offset, language))
        checked = server.checked(file)
        return await server.analysed(partial(hover, text, checked, offset, language))

    @server.feature(lsp.TEXT_DOCUMENT_INLAY_HINT)
    async def _(params: lsp.InlayHintParams) -> list[lsp.InlayHint]:
        file = server.pto(params.text_document.uri)
        if file is None:
            return []
        hints = partial(inlay_hints, file.text, server.checked(file), params.range)
        return await server.analysed(partial(hints, server.settings, file.older))


def _changes(server: PtoServer) -> None:
    """Answer what may be done to a text."""

    @server.feature(lsp.TEXT_DOCUMENT_FORMATTING)
    async def _(params: lsp.DocumentFormattingParams) -> list[lsp.TextEdit]:
        file = server.pto(params.text_document.uri)
        return [] if file is None else await server.analysed(partial(formatted, file.text))

    @server.feature(lsp.TEXT_DOCUMENT_CODE_ACTION)
    async def _(params: lsp.CodeActionParams) -> list[lsp.CodeAction]:
        file = server.pto(params.text_document.uri)
        if file is None:
            return []
        text, uri, checked = file.text, file.uri, server.checked(file)

        def found() -> list[lsp.CodeAction]:
            fixes = [*quick_fixes(text, uri, params.context.diagnostics)]
            if checked is not None:
                fixes += synchronising(text, uri, checked, params.range)
            return [*fixes, *rewriting(text, uri, params.range)]

        return await server.analysed(found)


def _pictures(server: PtoServer) -> None:
    """Answer commands that give a page for a view beside the text."""

    async def picture(what: str, uri: str, position: lsp.Position | None) -> str:
        file = server.files.get(uri)
        if file is None:
            raise JsonRpcInvalidParams(f"{uri} is not open")
        try:
            if file.python:
                if what == "layout" or not file.path:
                    raise JsonRpcInvalidParams(f"no {what} of a Python file")
                return await python_picture(file.path, what)
            if what == "layout":
                offset = file.text.at.offset(position or lsp.Position(0, 0))
                return layout_page_at(file.text, offset)
            checked = server.checked(file)
            if checked is None:
                raise JsonRpcInvalidParams("the text cannot be read: see its diagnostics")
            make = profile_page if what == "profile" else memory_page
            return await server.analysed(partial(make, checked))
        except PtoError as problem:
            raise JsonRpcException(told(problem), -32803) from None

    @server.command("ptokit.server.profile")
    async def profile(uri: str) -> str:
        """The HTML report of a profile."""
        return await picture("profile", uri, None)

    @server.command("ptokit.server.memory")
    async def memory(uri: str) -> str:
        """The memory map, as a picture."""
        return await picture("memory", uri, None)

    @server.command("ptokit.server.layout")
    async def layout(uri: str, position: lsp.Position) -> str:
        """The layout of the tile at a position, as a picture."""
        return await picture("layout", uri, position)

    _ = profile, memory, layout
