"""The example of the pages of the cube below tiles: two matrices are loaded, multiplied, stored."""

NZ_OF_16 = "dst_group(%one, %one, %n, %zero), ctrl(%zero, %no)"
TYPES = "nd2nz, shape i64, i64, src_layout(i64), dst_group i64, i64, i64, i64, ctrl i64, i1"
MULTIPLIED = f"""\
func.func @example(%a: !pto.ptr<f16>, %b: !pto.ptr<f16>, %c: !pto.ptr<f32>) {{
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %n = arith.constant 16 : i64
  %bytes = arith.constant 32 : i64
  %behind = arith.constant 512 : i64
  %no = arith.constant false
  %p = pto.castptr %zero : i64 -> !pto.ptr<f16, l1>
  %q = pto.castptr %behind : i64 -> !pto.ptr<f16, l1>
  %left = pto.castptr %zero : i64 -> !pto.ptr<f16, l0a>
  %right = pto.castptr %zero : i64 -> !pto.ptr<f16, l0b>
  %acc = pto.castptr %zero : i64 -> !pto.ptr<f32, l0c>
  pto.mte_gm_l1_frac %a, %p, nd2nz, shape(%n, %n), src_layout(%bytes), {NZ_OF_16} : \
!pto.ptr<f16>, !pto.ptr<f16, l1>, {TYPES}
  pto.mte_gm_l1_frac %b, %q, nd2nz, shape(%n, %n), src_layout(%bytes), {NZ_OF_16} : \
!pto.ptr<f16>, !pto.ptr<f16, l1>, {TYPES}
  pto.set_flag["PIPE_MTE2", "PIPE_MTE1", "EVENT_ID0"]
  pto.wait_flag["PIPE_MTE2", "PIPE_MTE1", "EVENT_ID0"]
  pto.mte_l1_l0a %p, %left, %n, %n : !pto.ptr<f16, l1>, !pto.ptr<f16, l0a>, i64, i64
  pto.mte_l1_l0b %q, %right, %n, %n {{transpose = true}} : \
!pto.ptr<f16, l1>, !pto.ptr<f16, l0b>, i64, i64
  pto.set_flag["PIPE_MTE1", "PIPE_M", "EVENT_ID0"]
  pto.wait_flag["PIPE_MTE1", "PIPE_M", "EVENT_ID0"]
  pto.mad %left, %right, %acc, %n, %n, %n : \
!pto.ptr<f16, l0a>, !pto.ptr<f16, l0b>, !pto.ptr<f32, l0c>, i64, i64, i64
  pto.set_flag["PIPE_M", "PIPE_FIX", "EVENT_ID0"]
  pto.wait_flag["PIPE_M", "PIPE_FIX", "EVENT_ID0"]
  pto.mte_l0c_gm %acc, %c, %n, %n, %n, %n, %zero, %zero, nz2nd : \
!pto.ptr<f32, l0c>, !pto.ptr<f32>, i64, i64, i64, i64, i64, i64
  return
}}"""
