"""Arguments by position and by name, raw files, computed extents, launches as front ends do."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import ptokit as pto
from account.files import ROOT
from cli.commands import ptokit
from ptokit.launch.fills import Fill

ENGINES = ("reference", "native")
TILE = "!pto.tile_buf<vec, 1x16xf32>"
PART = "!pto.partition_tensor_view<1x16xf32>"
VIEW = "!pto.tensor_view<?x?xf32>"
VIEW1 = "!pto.tensor_view<?xf32>"


def rows(head: str, first: str = "%c0", step: str = "%c1", base: str = "%x") -> str:
    """A kernel that doubles rows of 16 of %x, n of them, into %y; `head`: further arguments."""
    part = "offsets = [%i, %c0], sizes = [%c1, %c16]"
    return f"""\
func.func @rows(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>, %n: index{head}) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %first = arith.index_cast {first} : TYPE to index
  %step = arith.index_cast {step} : TYPE to index
  %vx = pto.make_tensor_view {base}, shape = [%n, %c16], strides = [%c16, %c1] : {VIEW}
  %vy = pto.make_tensor_view %y, shape = [%n, %c16], strides = [%c16, %c1] : {VIEW}
  %t = pto.alloc_tile : {TILE}
  scf.for %i = %first to %n step %step {{
    %px = pto.partition_view %vx, {part} : {VIEW} -> {PART}
    %py = pto.partition_view %vy, {part} : {VIEW} -> {PART}
    pto.tload ins(%px : {PART}) outs(%t : {TILE})
    pto.tadd ins(%t, %t : {TILE}, {TILE}) outs(%t : {TILE})
    pto.tstore ins(%t : {TILE}) outs(%py : {PART})
  }}
  return
}}
"""


SERIAL = rows("").replace("TYPE", "index")
X = np.arange(128, dtype=np.float32).reshape(8, 16)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("k.pto").write_text(SERIAL)
    np.save("x.npy", X)
    X.tofile("x.bin")
    Path("short.bin").write_bytes(b"abc")
    np.save("f1.npy", X.astype(ml_dtypes.float8_e5m2))
    return tmp_path


BIT = """\
func.func @bit(%b: i1, %n: i32, %o: !pto.ptr<i32>) {
  %c0 = arith.constant 0 : index
  %one = arith.extui %b : i1 to i32
  %all = arith.addi %one, %n : i32
  pto.store_scalar %all, %o[%c0] : !pto.ptr<i32>, i32
  return
}
"""


def test_negative_numbers_by_position(folder: Path) -> None:
    Path("bit.pto").write_text(BIT)
    result = ptokit("run", "bit.pto", "true", "-3")
    assert result.exit_code == 2
    assert "unknown option -3: give a negative number by name, as in n=-3" in result.output
    assert ptokit("run", "bit.pto", "--", "true", "-3").exit_code == 0


# by position and by name


def test_python_takes_arguments_by_position() -> None:
    program = pto.loads(SERIAL)
    y = np.zeros_like(X)
    for engine in ENGINES:
        found = program.run(X, y, 8, engine=engine)["y"]
        assert np.array_equal(found, 2 * X)
        assert np.array_equal(program.run(X, n=8, engine=engine)["y"], found)
        assert np.array_equal(program.compile(engine=engine).run(X, y, 8)["y"], found)


def test_the_command_line_takes_arguments_by_position(folder: Path) -> None:
    assert ptokit("run", "k.pto", "x.npy", "n=8", "-o", "y=y.npy").exit_code == 0
    assert np.array_equal(np.load("y.npy"), 2 * X)
    assert ptokit("run", "k.pto", "x.npy", "zeros:8x16", "8", "-o", "y=z.npy").exit_code == 0
    assert np.array_equal(np.load("z.npy"), 2 * X)


def test_a_folder_may_have_an_equals_sign(folder: Path) -> None:
    Path("n=8").mkdir()
    np.save("n=8/x.npy", X)
    assert ptokit("run", "k.pto", "./n=8/x.npy", "n=8", "-o", "y=y.npy").exit_code == 0


CHOICE = """\
func.func @choice(%flag: i1, %y: !pto.ptr<i32>, %n: i32) {
  %c0 = arith.constant 0 : index
  %z = arith.constant 7 : i32
  %x = arith.select %flag, %n, %z : i32
  pto.store_scalar %x, %y[%c0] : !pto.ptr<i32>, i32
  return
}
"""


@pytest.mark.parametrize("word", ["true", "false", "True", "1", "0", "-1"])
def test_a_truth_value_is_given_by_its_word(folder: Path, word: str, engine: str) -> None:
    Path("k.pto").write_text(CHOICE)
    words = (f"flag={word}", "y=zeros:1", "n=3", "--engine", engine, "-o", "y=y.npy")
    assert ptokit("run", "k.pto", *words).exit_code == 0
    assert np.load("y.npy").tolist() == [7 if word in ("false", "0") else 3]


@pytest.mark.parametrize(
    ("words", "seen", "help"),
    [
        ("flag=2 y=zeros:1 n=3", "given 2", "give true or false, or 1 or 0"),
        ("flag=0.5 y=zeros:1 n=3", "given 0.5", "give true or false, or 1 or 0"),
        ("flag=1 y=zeros:1 n=1.5", "given 1.5", "give an integer"),
        ("flag=1 y=false n=3", "given false", "give an array"),
    ],
)
def test_truth_values_and_numbers_are_told_apart(
    folder: Path, words: str, seen: str, help: str
) -> None:
    Path("k.pto").write_text(CHOICE)
    result = ptokit("run", "k.pto", *words.split())
    assert result.exit_code == 2
    assert f"seen: {seen}\n" in result.output
    assert f"help: {help}\n" in result.output


# raw files, and arrays that are made up


@pytest.mark.parametrize("word", ["x.bin", "x.bin:f32", "x.bin:8x16", "x.bin:f32:8x16"])
def test_a_raw_file_is_an_array(folder: Path, word: str) -> None:
    result = ptokit("run", "k.pto", f"x={word}", "n=8", "-o", "y=y.bin", "-o", "x=x2.npy")
    assert result.exit_code == 2  # %x is no output, and nothing is written
    assert not Path("y.bin").exists()
    assert ptokit("run", "k.pto", f"x={word}", "n=8", "-o", "y=y.bin").exit_code == 0
    assert np.array_equal(np.fromfile("y.bin", np.float32), 2 * X.reshape(-1))


@pytest.mark.parametrize("offset", [0, 5])
@pytest.mark.parametrize("blocks", [1, 3])
def test_extents_follow_from_the_views(offset: int, blocks: int) -> None:
    """1 + the sum of (extent - 1) * stride + the offset of the pointer."""
    head = ", %block_idx: i32, %block_num: i32"
    text = rows(head, "%block_idx", "%block_num", "%q").replace("TYPE", "i32")
    moved = f"  %c{offset}x = arith.constant {offset} : index\n  %q = pto.addptr %x, %c{offset}x"
    text = text.replace("  %vx", f"{moved} : !pto.ptr<f32> -> !pto.ptr<f32>\n  %vx")
    program = pto.loads(text)
    x = Fill(content="random")
    fill = Fill(shape=(offset + 8 * 16,), content="random")
    whole = np.asarray(fill.array(program.func().args[0]))
    for engine in ENGINES:
        found = program.run(x=x, n=8, engine=engine, blocks=blocks)["y"]
        assert np.array_equal(found, 2 * whole[offset:].reshape(8, 16))


def test_extents_that_depend_on_the_array_are_asked_for(folder: Path) -> None:
    loaded = (
        "%m = pto.load_scalar %x[%c0] : !pto.ptr<f32> -> f32\n  %k = arith.fptosi %m : f32 to i32"
    )
    text = SERIAL.replace("  %vx", f"  {loaded}\n  %z = arith.index_cast %k : i32 to index\n  %vx")
    Path("k.pto").write_text(text.replace("%vx, shape = [%n", "%vx, shape = [%z"))
    result = ptokit("run", "k.pto", "random", "n=8")
    assert result.exit_code == 2
    assert "give the extents: x=random:f32:16x32" in result.output


def test_views_before_what_depends_on_data_tell_the_extents() -> None:
    """As front ends declare whole arrays first, and take rows that tables name afterwards."""
    views = (
        "  %vw = pto.make_tensor_view %w, shape = [%n], strides = [%c1] : !pto.tensor_view<?xi64>"
    )
    row = "%k = pto.load_scalar %w[%i] : !pto.ptr<i64> -> i64\n    "
    row += "%z = arith.index_cast %k : i64 to index\n    %px"
    text = rows(", %w: !pto.ptr<i64>").replace("TYPE", "index").replace("  %vx", f"{views}\n  %vx")
    program = pto.loads(
        text.replace("%px", row, 1).replace("%vx, offsets = [%i", "%vx, offsets = [%z")
    )
    fill = Fill(shape=(8 * 16,), content="random")
    whole = np.asarray(fill.array(program.func().args[0]))
    x, w = Fill(content="random"), Fill(content="zeros")
    for engine in ENGINES:
        found = program.run(x=x, w=w, n=8, engine=engine)["y"]
        assert np.array_equal(found, np.tile(2 * whole[:16], (8, 1)))


def test_looking_for_extents_prints_nothing() -> None:
    program = str(ROOT / "tests" / "pto" / "prints.pto")
    assert ptokit("run", program, "x=zeros", "n=4").output.count("n = +004") == 1


def test_a_wrong_program_is_told_so_before_extents_are_asked_for() -> None:
    program = str(ROOT / "tests" / "errors" / "pointer-from-number.pto")
    result = ptokit("run", program, "a=zeros")
    assert result.exit_code == 1
    assert "[pointer-from-number]" in result.output


def test_what_only_the_other_core_needs_has_any_extent(folder: Path) -> None:
    Path("k.pto").write_text(rows(", %w: !pto.ptr<bf16>").replace("TYPE", "index"))
    for content in ("random", "zeros"):
        result = ptokit("run", "k.pto", "x.npy", "n=8", f"w={content}", "-o", "y=y.npy")
        assert result.exit_code == 0, result.output
        assert np.array_equal(np.load("y.npy"), 2 * X)


def test_views_before_a_loop_that_data_decides_tell_how_large_arrays_are(
    folder: Path, engine: str
) -> None:
    """A test of a signal has no answer before the run: nor has what follows from it."""
    text = """\
func.func @f(%s: !pto.ptr<i32>, %x: !pto.ptr<f32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %one = arith.constant 1 : i32
  %vx = pto.make_tensor_view %x, shape = [%c8], strides = [%c1] : V8
  %v = pto.make_tensor_view %s, shape = [%c8], strides = [%c1] : !pto.tensor_view<8xi32>
  %p = pto.partition_view %v, offsets = [%c0], sizes = [%c1] : !pto.tensor_view<8xi32> -> P1
  scf.while : () -> () {
    %set = pto.comm.ttest(%p, %one : P1, i32) {cmp = #pto<wait_cmp lt>} -> i1
    scf.condition(%set)
  } do {
    pto.comm.tnotify(%p, %one : P1, i32) {notifyOp = #pto<notify_op set>}
    pto.store_scalar %one, %s[%c1] : !pto.ptr<i32>, i32
    scf.yield
  }
  return
}
"""
    text = text.replace("V8", "!pto.tensor_view<8xf32>")
    Path("k.pto").write_text(text.replace("P1", "!pto.partition_tensor_view<1xi32>"))
    result = ptokit("run", "k.pto", "s=zeros", "x=zeros", "--engine", engine, "-o", "s=s.npy")
    assert result.exit_code == 0, result.output
    assert np.load("s.npy").tolist() == [1, 1] + 6 * [0]


def test_what_nobody_reads_need_not_be_given(engine: str) -> None:
    """A pointer that is not used, one with a view that is not used; one that is read is needed."""
    more = ", %unused: !pto.ptr<i8>, %viewed: !pto.ptr<f32>"
    view = f"  %v = pto.make_tensor_view %viewed, shape = [%c16], strides = [%c1] : {VIEW1}\n"
    text = rows(more).replace("TYPE", "index").replace("  %vx", f"{view}  %vx")
    assert np.array_equal(pto.loads(text).run(X, n=8, engine=engine)["y"], 2 * X)
    with pytest.raises(pto.CallError, match="%x: missing argument"):
        pto.loads(text).run(n=8, engine=engine)


def test_workspaces_of_pipes_and_sessions_need_not_be_given() -> None:
    """Whether named by a pointer or by a view."""
    pipe = "pto.aic_initialize_pipe {dir_mask = 1, slot_size = 1024}"
    consumer = "c2v_consumer_buf = %c0 : i32, v2c_consumer_buf = %c0 : i32"
    text = f"""\
func.func @cube(%gm: !pto.ptr<f32>, %base: !pto.ptr<i64>) {{
  %c0 = arith.constant 0 : i32
  pto.set_ffts %base : !pto.ptr<i64>
  {pipe} (gm_slot_buffer = %gm : !pto.ptr<f32>, {consumer})
  return
}}
"""
    assert pto.loads(text).run(target="a2a3").keys() <= {"gm"}


# launches as front ends do


@pytest.mark.parametrize("kind", ["i32", "i64", "index"])
@pytest.mark.parametrize(
    ("index", "number"),
    [
        ("__pypto_spmd_block_idx", "__pypto_spmd_block_num"),
        ("block_idx", "block_num"),
        ("k.spmd.block_idx", "k.spmd.block_num"),
    ],
)
def test_each_block_gets_its_place_as_an_argument(
    index: str, number: str, kind: str, engine: str
) -> None:
    text = rows(f", %{index}: {kind}, %{number}: {kind}", f"%{index}", f"%{number}")
    program = pto.loads(text.replace("TYPE", kind))
    for blocks in (1, 3):
        assert np.array_equal(program.run(X, n=8, blocks=blocks, engine=engine)["y"], 2 * X)
    place: dict[str, Any] = {index: 2, number: 3}
    one = program.run(X, np.zeros_like(X), 8, engine=engine, **place)
    assert np.flatnonzero(one["y"].any(axis=1)).tolist() == [2, 5]


def test_sub_blocks_too(engine: str) -> None:
    head = ", %__pypto_spmd_subblock_idx: i32, %sub_block_num: i32"
    text = rows(head, "%__pypto_spmd_subblock_idx", "%sub_block_num").replace("TYPE", "i32")
    assert np.array_equal(pto.loads(text).run(X, n=8, engine=engine)["y"], 2 * X)


def test_the_report_says_what_the_launch_bound(folder: Path) -> None:
    head = ", %a_block_idx: i32, %a_block_num: i32"
    text = rows(head, "%a_block_idx", "%a_block_num").replace("TYPE", "i32")
    Path("k.pto").write_text(text)
    result = ptokit("run", "k.pto", "x.npy", "n=8", "--blocks", 2, "--report")
    bound = "%a_block_idx as pto.get_block_idx, %a_block_num as pto.get_block_num"
    assert result.output.endswith(f"bound by the launch: {bound}\n")
    result = ptokit("run", "k.pto", "x.npy", "n=8", "a_block_idx=0", "--report")
    assert result.output.endswith("bound by the launch: %a_block_num as pto.get_block_num\n")


# the entry


TWO = """\
func.func @f(%n: index) ATTRIBUTES {
  return
}
func.func @g(%m: index) {
  return
}
"""


def test_a_private_function_that_nobody_calls_is_no_entry(folder: Path) -> None:
    Path("k.pto").write_text(TWO.replace("ATTRIBUTES", "").replace("@g", "private @g"))
    assert ptokit("run", "k.pto", "n=1").exit_code == 0
    assert ptokit("run", "k.pto", "m=1", "--entry", "g").exit_code == 0


def test_an_attribute_chooses_the_entry(folder: Path) -> None:
    Path("k.pto").write_text(TWO.replace("ATTRIBUTES", "attributes {pto.entry}"))
    assert ptokit("run", "k.pto", "n=1").exit_code == 0
    for option in ("--entry", "--func"):
        assert ptokit("run", "k.pto", "m=1", option, "g").exit_code == 0


def test_without_it_one_is_to_be_chosen(folder: Path) -> None:
    Path("k.pto").write_text(TWO.replace("ATTRIBUTES", ""))
    result = ptokit("run", "k.pto", "n=1")
    assert result.exit_code == 2
    assert "the program has @f, @g" in result.output
    assert "--entry NAME" in result.output


# comparing


def test_expectations(folder: Path) -> None:
    np.save("y.npy", 2 * X)
    done = ptokit("run", "k.pto", "x.npy", "n=8", "--expect", "y=y.npy")
    assert (done.exit_code, done.output) == (
        0,
        "y: all 128 elements are as expected   (tolerance 0.0001 + 0.0001 * |found|)\n",
    )
    wrong = 2 * X
    wrong[3, 4] += 1
    wrong[7, 15] = -3
    np.save("w.npy", wrong)
    done = ptokit("run", "k.pto", "x.npy", "n=8", "--expect", "y=w.npy", "-o", "y=z.npy")
    assert done.exit_code == 1
    assert np.array_equal(np.load("z.npy"), 2 * X)
    assert done.output.splitlines() == [
        "y: 2 of 128 elements differ   (tolerance 0.0001 + 0.0001 * |found|)",
        "  first           [3, 4] is 104.0, expected 105.0",
        "  largest error   [7, 15] is 254.0, expected -3.0: 257",
        "  largest in ulp  [7, 15] is 254.0, expected -3.0: 2210267136 ulp",
    ]
    assert (
        ptokit("run", "k.pto", "x.npy", "n=8", "--expect", "y=w.npy", "--atol", 257).exit_code == 0
    )


@pytest.mark.parametrize(
    ("golden", "message"),
    [
        (X[:4], "--expect y: shape mismatch: got 8x16, expected 4x16"),
        (X.astype(np.float64), "--expect y: the element type is float64, not f32"),
    ],
)
def test_what_cannot_be_compared_is_saved_nowhere(
    folder: Path, golden: np.ndarray, message: str
) -> None:
    np.save("g.npy", golden)
    done = ptokit("run", "k.pto", "x.npy", "n=8", "--expect", "y=g.npy", "-o", "y=z.npy")
    assert done.exit_code == 2
    assert message in done.output
    assert not Path("z.npy").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("x.npy", "8", "8", "9"), "4 arguments are given"),
        (("x.npy", "x=x.npy"), "argument-twice"),
        (("x.npy", "N=8"), "did you mean n?"),
        (("3", "n=8"), "given the number 3"),
        (("X.npy", "n=8"), "did you mean x.npy?"),
        (("x.npy", "n=8", "-o", "y"), "-o 'y' is not of the form"),
        (("x.bin:f32:7x16", "n=8"), "x.bin has 512, which is 128 elements of f32"),
        (("x.bin:f16", "n=8"), "%x has elements of f32"),
        (("x.bin:bf16:16x16", "n=8"), "given x=x.bin:bf16:16x16"),
        (("x.bin:hif8", "n=8"), "given x=x.bin:hif8"),
        (("x.bin:q7", "n=8"), "x.bin:q7: 'q7' is neither an element type nor extents"),
        (("x.bin:f32:-8x16", "n=8"), "'-8x16' is neither an element type nor extents"),
        (("none.bin:8x16:q7", "n=8"), "'q7' is neither an element type nor extents"),
        (("short.bin", "n=8"), "an element of f32 has 4 bytes: the last one is cut"),
        (("f1.npy", "n=8"), "save the codes, array.view(np.uint8)"),
        (("none.bin", "n=8"), "none.bin: No such file"),
        (("x.npy:f32", "n=8"), "a .npy file has its own type and shape"),
        (("zeros:99999999x99999999", "n=8"), "these extents are of 9999999800000001"),
        (("random:f32:f16", "n=8"), "give one element type and one list of extents"),
        (("x.bin:8x16:f32:8x16", "n=8"), "x.bin:8x16: No such file"),
        (("x.npy", "n=8", "-o", "x=x.bin:f32"), "an output keeps its element type and extents"),
        (("x.npy", "n=8", "-o", "x=x.txt"), "expected a .npy or .bin file"),
        (("x.npy", "n=8", "--expect", "z=x.npy"), "the program has no output 'z'; it has y"),
        (("x.npy", "n=8", "--expect", "y=none.npy"), "none.npy: No such file"),
        (("x.npy", "n=8", "--expect", "y=none.bin"), "none.bin: No such file"),
        (("x.npy", "n=8", "--expect", "y=3"), "--expect 3: name a file"),
        (("x.npy", "n=8", "--rtol", "1"), "need --expect"),
        (("x.npy", "n=8", "--expect", "y=x.npy", "--rtol", "-1"), "--rtol is -1.0"),
        (("x.npy", "n=8", "--expect", "y=x.npy", "--atol", "nan"), "--atol is nan"),
        (("x.npy", "n=8", "--entry", "g"), "no function @g"),
        (("x.npy", "n=8", "n=2"), "duplicate n="),
        (("x.npy", "n=8", "%n=8"), "duplicate n="),
        (("x.npy", "n=8", "-o", "y=x.npy"), "-o duplicate y="),
        (("x.npy", "n=8", "--type", "x=f32", "--type", "x=f16"), "--type duplicate x="),
        (("x.npy", "n=8", "--type", "x=foo"), "--type"),
        (("x.npy", "n=8", "--type", "x=!pto.tile<q"), "--type"),
        (("x.npy", "n=8", "--type", "zz=!pto.tile_buf<vec, 8x8xf32>"), "--type"),
        (("x.npy", "n=8", "--target", "all"), "'all' is not one of 'cpu', 'a2a3', 'a5'"),
        (("x.npy", "n=8", "--engine", "fast"), "unknown engine 'fast'"),
        (("x.npy", "n=8", "--fixpipe", "soft"), "unknown fix-pipe reading 'soft'"),
        (("x.npy", "n=8", "--blocks", "0"), "blocks is 0"),
        (("x.npy", "n=8", "--blocks", "99999999999999999999"), "blocks is"),
        (("x.npy", "n=1e5"), "argument-type"),
        (("=3", "n=8"), "NAME=VALUE"),
        (("x.npy", "n="), "NAME=VALUE"),
    ],
)
def test_one_message_with_status_2(folder: Path, words: tuple[str, ...], message: str) -> None:
    result = ptokit("run", "k.pto", *words, "-o", "y=y.npy")
    assert result.exit_code == 2
    assert message in result.output
    assert result.output.lower().count("error") == 1
    assert not Path("y.npy").exists()


def test_the_time_of_a_run_bounds_the_making_of_random_arguments(tmp_path: Path) -> None:
    """So many random numbers would take many seconds."""
    file = tmp_path / "k.pto"
    file.write_text("%y = textract %x[%r, %r] : !pto.tile<...> -> !pto.tile<...>", encoding="utf-8")
    start = time.monotonic()
    words = ["x=random:u8:32768x16384", "r=0", "--timeout", "0.2"]
    result = ptokit("run", file, *words)
    assert "error[time-limit]: %x: time limit of 0.2 seconds" in result.output
    assert result.exit_code == 1
    assert time.monotonic() - start < 20
