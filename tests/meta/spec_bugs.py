"""Mistakes in what Clip is said to mean, each with the obligation that has to fail.

A mistake is a text that stands once in a file and what replaces it. `told` has words of the message by which
evaluation finds the mistake; it is empty where no sample shows it. `make nightly` asks the provers of each by
itself, `make test` of those in `TOGETHER`, a whole group at once. tests/claims evaluates those with `told`.
"""

from __future__ import annotations

from dataclasses import dataclass

YAML = "spec/clip.yaml"
DRIVER = "why3/drivers/elements.gen"
LOW = "when: not inverted and X <= L\n    result: L"


@dataclass(frozen=True)
class Bug:
    """A planted mistake, and what catches it."""

    name: str
    file: str
    old: str
    new: str
    caught_by: tuple[str, ...]
    told: str = ""


# fmt: off

CASES = [
    Bug("results of low and high swapped", YAML, LOW, LOW.replace("result: L", "result: M"),
        ("int8.clip_is_cases", "int8.example_int_1"), "`real.formula_agrees` is false"),
    Bug("< for <= in low", YAML, LOW, LOW.replace("<=", "<"),
        ("float32.cases_complete", "float32.clip_is_cases"), "`real.cases_complete` is false"),
    Bug("<= for < in inverted", YAML, "when: M < L\n", "when: M <= L\n",
        ("float32.clip_is_cases", "float32.nan_out"), "`real.low_equal_bounds_inhabited` is false"),
    Bug("high dropped where X is M", YAML, "not (X <= L) and M <= X\n", "not (X <= L) and M < X\n",
        ("int8.cases_complete", "int8.high_tie_inhabited"), "`real.cases_complete` is false"),
    Bug("low forgets that inverted comes first", YAML, LOW, LOW.replace("not inverted and ", ""),
        ("int8.cases_disjoint",), "`real.cases_disjoint` is false"),
]

CLAIMS = [
    Bug("a claim of a finding is false", YAML, "holds: L > M implies C2\n", "holds: L < M implies C2\n",
        ("float32.finding_c2_for_floats_inverted",),
        "`float16.finding_c2_for_floats_inverted` is false for X = [nan], L = -inf, M = -0"),
    Bug("a claim of a finding is false where nobody tries it", YAML,
        "M) and not is_nan(M) and\n          (formula",
        "M) and not identical(M, -12345) and\n          (formula",
        ("float32.finding_nan_and_inverted_bounds",)),
    Bug("a claim on a conversion is false where nobody tries it", YAML, "holds: not becomes(-1, Y)",
        "holds: not becomes(-1, Y) and not becomes(F, 213)", ("uint8.finding_cast_of_no_number_unsigned",)),
]

CLASSES = [
    Bug("a class overlaps another", YAML, "when: M < X and L == M,", "when: M < X and L <= M,",
        ("int8.classes_of_high_disjoint",), "`real.classes_of_high_disjoint` is false"),
    Bug("a class leaves a hole", YAML, "is_nan(X) and not bounds_are_numbers,", "is_nan(X) and is_nan(L),",
        ("float32.classes_of_inside_complete",),
        "`float16.classes_of_inside_complete` is false"),
    Bug("the smallest normal number is subnormal", YAML, "(0 < a and a < smallest_normal)",
        "(0 < a and a <= smallest_normal)", ("float32.encoding_is_subnormal",)),
]

PROPERTIES = [
    Bug("NaN out whenever NaN in", YAML, "iff (is_nan(X) and not M < L)", "iff is_nan(X)",
        ("bfloat16.nan_out",),
        "`float16.nan_out` is false for X = nan, L = -0, M = -inf"),
    Bug("condition forgets a NaN bound", YAML,
        "or high or (not is_nan(X) and bounds_are_numbers)", "or high or (not is_nan(X) and not is_nan(L))",
        ("float32.interval_repaired",),
        "`float16.interval_repaired` is false for X = -inf, L = -inf, M = nan"),
    Bug("a latitude that accepts other numbers", YAML, "accepts: A == 0 and", "accepts: A <= 0 and",
        ("float32.zero_sign_is_narrow",), "`float16.zero_sign_is_narrow` is false"),
    Bug("a latitude that leaves out the ties of both bounds", YAML, " or (low and identical(A, M)))", ")",
        ("float32.formula_2008_is_accepted", "float32.formula_2019_is_accepted", "float32.numpy_is_accepted"),
        "`float16.formula_cpp_is_accepted` is false"),
    Bug("a latitude that rests on a reading which does not do it", YAML,
        "given_by: [onnx-body, formula-2019, numpy]", "given_by: [formula-c, formula-2008]",
        ("float32.nan_inverted_is_given",), "`float16.nan_inverted_is_given` is false"),
    Bug("a condition excludes more than it must", YAML, "{float: inverted or high or (not is_nan(X)",
        "{float: inverted or (not is_nan(X)", ("float32.interval_repaired_nowhere_else",),
        "`float16.interval_repaired_nowhere_else` is false for X = -inf, L = nan, M = -inf"),
]

RENDERED_AND_WRITTEN = [
    Bug("R3 of the YAML forgets M", YAML, "not is_sparse(L) and not is_sparse(M)", "not is_sparse(L)",
        ("restrictions.R3_is_written",)),
    Bug("C1 of the YAML says nothing", YAML, "holds: shape(X) == shape(Y)", "holds: shape(X) == shape(X)",
        ("int8.C1_is_written",)),
    Bug("Clip by hand: lt for le", "why3/clip.mlw", "else if le m x then m  ", "else if lt m x then m  ",
        ("float32.clip_is_cases", "clip.nan_min_is_no_bound")),
    Bug("R4 by hand: a symbol counts as explicit", "why3/profile.mlw", "| And (Symbolic _) _ -> false",
        "| And (Symbolic _) rest -> all_known rest", ("restrictions.R4_independent",)),
    Bug("C2 by hand: no word on inverted bounds", "why3/tensor.mlw",
        "\\/ (forall i: index. valid i y.shape -> eq (y.entry i) (value m))", "", ("int8.C2_is_written",)),
]

AXIOM = "  (** Equal is less"
FOUNDATIONS = [
    Bug("an axiom that no type meets", "why3/ordered.mlw", AXIOM,
        f"  axiom bad: forall a b: t. le a b\n\n{AXIOM}", ("int8.bad",)),
    Bug("a vacuous axiom: no number exists", "why3/ordered.mlw", AXIOM,
        f"  axiom bad: forall a: t. nan a\n\n{AXIOM}", ("float16.bad",)),
    Bug("a contradiction", "why3/ordered.mlw", AXIOM, f"  axiom bad: false\n\n{AXIOM}",
        ("clip.smoke_clip", "tensor.smoke_tensor", "int8.bad")),
    Bug("a contradiction beside Clip", "why3/clip.mlw", "  function clip (x l m: t) : t =",
        "  axiom bad: forall a: t. lt a a /\\ not lt a a\n\n  function clip (x l m: t) : t =",
        ("int8.smoke_meaning", "int8.smoke_constraints")),
    Bug("<= of float32 is <", DRIVER, '"(float32_le %1 %2)"', '"(float32_lt %1 %2)"',
        ("float32.encoding_le", "float32.total", "float32.eq_is_both")),
    Bug("bfloat16 is read as float16", DRIVER, '"(fp.isNaN ((_ to_fp 8 8) %1))"',
        '"(fp.isNaN ((_ to_fp 5 11) %1))"',
        ("bfloat16.encoding_nan",)),
    Bug("-0 is below +0", DRIVER, "(bvult b a) (not (float64_zeros a b))", "(bvult b a) true",
        ("float64.encoding_lt", "float64.lt_is_strict")),
    Bug("int8 is compared as unsigned", DRIVER,
        '#x%2x"\n  syntax predicate ule  "(bvule %1 %2)"\n  syntax predicate ult  "(bvult %1 %2)"\n'
        '  syntax predicate sle  "(bvsle %1 %2)"',
        '#x%2x"\n  syntax predicate ule  "(bvule %1 %2)"\n  syntax predicate ult  "(bvult %1 %2)"\n'
        '  syntax predicate sle  "(bvule %1 %2)"',
        ("int8.lt_is_strict", "int8.extremes", "int8.example_int_1")),
]

BODY_AGREES = "returns: identical(Y, min_then_max)\n    agrees: {float: not (is_nan(X) and inverted)}"
BODY_REGION = "    differs_at: {float: {X: nan, L: 1, M: 0}}\n    agrees_bitwise: "
BODY_BITS = (
    f"{BODY_AGREES}\n{BODY_REGION}"
    '{float: "if inverted then not is_nan(X) else X == Y implies identical(X, Y)"}'
)
BODY = "returns: identical(Y, min_then_max)\n    "
READINGS = [
    Bug("the operands of Less swapped in the function body", YAML, "if M < body_tmp then",
        "if body_tmp < M then", ("int8.onnx_body_agrees", "int8.onnx_body_agrees_bitwise"),
        "`real.onnx_body_agrees` is false"),
    Bug("the region of a reading is too large by one point", YAML, BODY_AGREES,
        f"{BODY}"
        'agrees: {float: "not (is_nan(X) and inverted) or (is_nan(X) and identical(L, 7) and M == 3)"}',
        ("float32.onnx_body_agrees",)),
    Bug("the region for bits is too small by one point", YAML, BODY_BITS,
        f"{BODY_AGREES}\n{BODY_REGION}"
        '{float: "(if inverted then not is_nan(X) else X == Y implies identical(X, Y)) and not X == 7"}',
        ("float32.onnx_body_agrees_bitwise_nowhere_else",)),
    Bug("a signalling NaN is dropped as a quiet one", YAML,
        "      if is_signalling(X) or is_signalling(L) then (if is_nan(M) then is_nan(Y) else"
        " identical(Y, M)) else\n"
        "      if is_signalling(M) then is_nan(Y) else ", "      ",
        ("float32.formula_2008_agrees", "float32.formula_2008_agrees_bitwise_nowhere_else"),
        "`float16.formula_2008_agrees` is false"),
    Bug("IEEE 754-2019 with +0 before -0", YAML, "is: identical(a, -0) and identical(b, 0)",
        "is: identical(a, 0) and identical(b, -0)",
        ("float32.formula_2019_differs_bitwise",), "`float16.formula_2019_differs_bitwise` is false"),
]

TO_INT8 = (
    'theory convert.ToInt8\n  syntax predicate converts "(fp.eq ((_ to_fp 8 24) RNE (fp.roundToIntegral {} '
    "((_ to_fp 8 24) %1)))"
)
DIALECTS = [
    Bug("a dialect that answers as another reading", YAML,
        "    reading: onnx-13-words\n", "    reading: numpy\n",
        ("float32.onnx_13_after_onnx_12", "float32.onnx_13_allows_its_oracle"),
        "`float16.numpy_and_onnx_equation_other_values` is false"),
    Bug("what a version widens is left out", YAML, "    widens: {float: is_nan(X) and inverted}\n", "",
        ("float32.onnx_13_after_onnx_12",),
        "`float16.onnx_13_after_onnx_12` is false"),
    Bug("an entry that an example of ONNX does not expect", YAML,
        "    Y: [-1, 0, 1]\n    source: {page: onnx-clip-examples, section: clip_default_int8,",
        "    Y: [-1, 0, 2]\n    source: {page: onnx-clip-examples, section: clip_default_int8,",
        ("int8.example_onnx_default_int8_inbounds",), "`int8.example_onnx_default_int8_inbounds` is false"),
    Bug("a default that is dropped", YAML,
        '    section: "Clip - 11"\n'
        "    element_types: [float16, float32, float64]\n"
        "    ranks: {least: 0}\n"
        "    bounds: inputs\n"
        "    bound_type: tensor\n"
        "    missing: {min: lowest, max: highest, of: element}",
        '    section: "Clip - 11"\n'
        "    element_types: [float16, float32, float64]\n"
        "    ranks: {least: 0}\n"
        "    bounds: inputs\n"
        "    bound_type: tensor\n"
        "    missing: {min: 0, max: highest, of: element}",
        ("float16.onnx_11_defaults_are_limits", "float32.onnx_11_after_onnx_6_without_bounds"),
        "`float16.onnx_11_defaults_are_limits` is false"),
    Bug("a bound is rounded to nearest and not truncated", DRIVER, TO_INT8.format("RTZ"),
        TO_INT8.format("RNE"), ("int8.cast_defined_in_range", "int8.cast_toward_zero")),
    Bug("a FLOAT is rounded down to a float16", DRIVER,
        'predicate converts "(= ((_ to_fp 5 11) RNE', 'predicate converts "(= ((_ to_fp 5 11) RTN',
        ("float16.cast_overflows", "float16.cast_underflows", "float16.onnx_6_defaults_convert")),
    Bug("an error of a quarter unit", DRIVER, "#x3e70000000000000)", "#x3e60000000000000)",
        ("float32.scale_rounding_error",)),
]

COMPOSITION_FILE = "why3/composition.mlw"
COMPOSITION = [
    Bug("no sweep of (X, min)", COMPOSITION_FILE, "(forall x l: t. kernel x l hi = clip x l hi)\n    /\\ ",
        "", ("composition.sweeps_cover_every_triple",)),
    Bug("zeros of both signs are forgotten", COMPOSITION_FILE,
        "(if le x l /\\ eq l m then m else clip x l m)", "clip x l m", ("composition.lower_then_upper",)),
    Bug("a zero for an end", COMPOSITION_FILE, "fixed (0xfc00: t) (0x7c00: t) (0x7e00: t)",
        "fixed (0xfc00: t) (0x0000: t) (0x7e00: t)", ("composition.float16_ends",)),
]

KERNEL = "why3/kernel.mlw"
FLOAT16 = "generated/why3/c_float16.mlw"
BODY = """      write y i (clip_element (read x i) min max);
      i <- next i
"""
LIMIT = """    if ule a (0xf800: t) then bw_add a (0x0001: t) else (0x0000: t)

  (** the limit is as it is defined. *)
  let limit [@name:c_limit] [@shows:float16] [@extraction:c_static_inline] (a: t) : t
    ensures { result = limit_of a }
  = if at_most a (0xf800: t)"""

KERNELS = [
    Bug("a swapped branch", KERNEL, "if less_equal x min then min else limited",
        "if less_equal x min then max else limited", ("kernel.clip_element",)),
    Bug("source and target may overlap in part", KERNEL,
        "    requires { same_or_apart x y n }\n    writes   { memory }\n    ensures  { forall place",
        "    writes   { memory }\n    ensures  { forall place", ("kernel.clip_elements",)),
    Bug("the loop does not end", KERNEL, BODY, BODY.replace("      i <- next i", "      ()"),
        ("kernel.clip_elements",)),
    Bug("the last element is left out", KERNEL, "while below i n do", "while below (next i) n do",
        ("kernel.clip_elements",)),
    Bug("a wrong NaN constant", FLOAT16, LIMIT, LIMIT.replace("0xf800", "0xf801"), ("float16.c_less_equal",)),
    Bug("counted from above, the first NaN comes round to inf", FLOAT16,
        "= under (minus (0xf800: t) (rank a))", "= under (minus (0xf801: t) (rank a))",
        ("float16.c_at_least",)),
    Bug("NaNs are below everything", FLOAT16, "under (rank a) (rank b) && at_most (rank b) (0xf800: t)",
        "under (rank a) (rank b)", ("float16.c_less_than",)),
    Bug("the sign is forgotten", FLOAT16,
        "then plus a (0x7c00: t)\n    else minus (0x7c00: t) (bits_and a (0x7fff: t))",
        "then plus a (0x7c00: t)\n    else plus (bits_and a (0x7fff: t)) (0x7c00: t)", ("float16.c_rank",)),
    Bug("the kernel of one type is another program", FLOAT16, "= clip_elements y x min max n",
        "= clip_elements y x max min n", ("float16.c_clip",)),
]

REWRITES = [
    Bug("a rewrite is said to be always legal", "spec/rewrites.yaml",
        "int: {bits: D <= C or A <= C and D <= B}", "int: {bits: always}",
        ("rewrites.first_clip_dropped_int_bits_legal",)),
    Bug("a condition is narrower than the rewrite is legal", "spec/rewrites.yaml",
        "int: {bits: D <= C or A <= C and D <= B}", "int: {bits: A <= C and D <= B}",
        ("rewrites.first_clip_dropped_int_bits_exact",)),
    Bug("a repaired rewrite is not repaired", "spec/rewrites.yaml", "after: clip(X, max(A, 0), max(B, 0))",
        "after: clip(X, max(A, 0), B)", ("rewrites.clip_relu_by_max_of_both_real_bits_legal",)),
]

GROUPS = (
    CASES, CLAIMS, CLASSES, PROPERTIES, RENDERED_AND_WRITTEN, FOUNDATIONS, READINGS, DIALECTS, COMPOSITION,
    KERNELS, REWRITES,
)
ALL = [bug for group in GROUPS for bug in group]

_NAMED = {bug.name: bug for bug in ALL}
# Bugs that neither the loader nor the evaluation of claims finds. Those of a group are planted together: each
# is of another theory, and caught by an obligation of its own.
TOGETHER = {
    "the YAML": [
        _NAMED["Clip by hand: lt for le"],
        *(bug for bug in ALL if bug.file == YAML and not (bug.told or "region for bits" in bug.name)),
    ],
    "the drivers": [
        bug for bug in ALL
        if bug.file == DRIVER and "quarter" not in bug.name
    ],
    "theories and kernels": [
        *(bug for bug in RENDERED_AND_WRITTEN if bug.file in ("why3/profile.mlw", "why3/tensor.mlw")),
        *(_NAMED[name] for name in (
            "zeros of both signs are forgotten", "a zero for an end",
            "a swapped branch", "the last element is left out",
            "a wrong NaN constant", "counted from above, the first NaN comes round to inf",
            "NaNs are below everything", "the sign is forgotten",
            "the kernel of one type is another program",
        )),
    ],
    "an axiom": [_NAMED["a contradiction beside Clip"]],
}
