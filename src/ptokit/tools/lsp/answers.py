"""The requests of an editor, and who answers each."""

from __future__ import annotations

from functools import partial
from importlib.metadata import version

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException, JsonRpcInvalidParams

from ptokit.diagnostics.diagnostic import PtoError
from ptokit.tools.lsp.codeactions import quick_fixes, rewriting, synchronising
from ptokit.tools.lsp.completing import completions, resolved, signatures
from ptokit.tools.lsp.formatting import formatted
from ptokit.tools.lsp.hovering import hover
from ptokit.tools.lsp.inlays import inlay_hints
from ptokit.tools.lsp.languageserver import PtoServer
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
PICTURES = ("profile", "memory", "layout")


def start() -> None:
    """Serve an editor over standard input and output, until it goes."""
    made_server().start_io()


def made_server() -> PtoServer:
    """A server with all that it answers."""
    server = PtoServer("ptokit", version("ptokit"))
    _texts(server)
    _names(server)
    _typing(server)
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


def _names(server: PtoServer) -> None:
    """Answer where names are defined and used."""

    @server.feature(lsp.TEXT_DOCUMENT_DEFINITION)
    def _(params: lsp.DefinitionParams) -> lsp.Location | None:
        file = server.pto(params.text_document.uri)
        if file is None:
            return None
        return definition(file.text, file.uri, file.text.at.offset(params.position))

    @server.feature(lsp.TEXT_DOCUMENT_REFERENCES)
    def _(params: lsp.ReferenceParams) -> list[lsp.Location]:
        file = server.pto(params.text_document.uri)
        if file is None:
            return []
        declared, offset = params.context.include_declaration, file.text.at.offset(params.position)
        return references(file.text, file.uri, offset, declared=declared)

    @server.feature(lsp.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT)
    def _(params: lsp.DocumentHighlightParams) -> list[lsp.DocumentHighlight]:
        file = server.pto(params.text_document.uri)
        return [] if file is None else highlights(file.text, file.text.at.offset(params.position))

    @server.feature(lsp.TEXT_DOCUMENT_PREPARE_RENAME)
    def _(params: lsp.PrepareRenameParams) -> lsp.Range | None:
        file = server.pto(params.text_document.uri)
        if file is None:
            return None
        offset = file.text.at.offset(params.position)
        found = named_thing(file.text, offset)
        places = [] if found is None else found.places
        here = [place for place in places if place[0] - 1 <= offset <= place[1]]
        return file.text.at.range(*here[0]) if here else None

    @server.feature(lsp.TEXT_DOCUMENT_RENAME, lsp.RenameOptions(prepare_provider=True))
    def _(params: lsp.RenameParams) -> lsp.WorkspaceEdit | None:
        file = server.pto(params.text_document.uri)
        if file is None:
            return None
        edits = renamed(file.text, file.text.at.offset(params.position), params.new_name)
        if isinstance(edits, str):
            raise JsonRpcInvalidParams(edits)
        return lsp.WorkspaceEdit({file.uri: edits})


def _typing(server: PtoServer) -> None:
    """Answer what may be typed."""

    @server.feature(
        lsp.TEXT_DOCUMENT_COMPLETION,
        lsp.CompletionOptions(trigger_characters=TRIGGERS, resolve_provider=True),
    )
    def _(params: lsp.CompletionParams) -> lsp.CompletionList | None:
        file = server.pto(params.text_document.uri)
        return (
            None if file is None else completions(file.text, file.text.at.offset(params.position))
        )

    @server.feature(lsp.COMPLETION_ITEM_RESOLVE)
    def _(item: lsp.CompletionItem) -> lsp.CompletionItem:
        return resolved(item)

    @server.feature(
        lsp.TEXT_DOCUMENT_SIGNATURE_HELP, lsp.SignatureHelpOptions(trigger_characters=["(", ","])
    )
    def _(params: lsp.SignatureHelpParams) -> lsp.SignatureHelp | None:
        file = server.pto(params.text_document.uri)
        return None if file is None else signatures(file.text, file.text.at.offset(params.position))


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

    @server.feature(lsp.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
    def _(params: lsp.DocumentSymbolParams) -> list[lsp.DocumentSymbol]:
        file = server.pto(params.text_document.uri)
        return [] if file is None else symbols(file.text)

    @server.feature(lsp.TEXT_DOCUMENT_FOLDING_RANGE)
    def _(params: lsp.FoldingRangeParams) -> list[lsp.FoldingRange]:
        file = server.pto(params.text_document.uri)
        return [] if file is None else [*folds(file.text)]

    @server.feature(lsp.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL, LEGEND)
    def _(params: lsp.SemanticTokensParams) -> lsp.SemanticTokens:
        file = server.pto(params.text_document.uri)
        return lsp.SemanticTokens([]) if file is None else semantic_tokens(file.text)

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
