"""The page that goes with exported problems: what they are, how they are read, and all of them in a
table.
"""

from __future__ import annotations

from typing import Any

ABOUT = """\
# Contact problems of humanoids

{many} problems of HRP-2 and other robots, made by `tabi family export` of tabi {tabi} with \
`--count {count} --seed {seed}{hardest}`.

| family | what the robot does |
|:--|:--|
| stance | stands, squats and sways on both feet, held by its motors; mostly sticking |
| rocking | stands on its eight sole corners without joint torques; corners barely touch |
| slide | as stance, on smooth ground, moving over it |
| fall | lies or lands on feet, hands, knees, chest, back or side, fast |
| scene | a step of a scene of tabi in which robots walk, climb, lift, lean, push or carry |

A problem is one step of {step_ms:g} ms: find impulses r [N·s] and velocities u [m/s] with

    u = W r + q,   r_n ≥ 0, u_n ≥ 0, r_n u_n = 0
    ‖r_t‖ ≤ μ r_n,   r_t = −μ r_n u_t/‖u_t‖ where u_t ≠ 0

for every contact, normal first. Files are in FCLib's form (HDF5): group `fclib_local` with the
sparse matrix `W` [1/kg], `vectors/q` [m/s] and `vectors/mu`; the reference is the group
`solution` with `u` and `r`. `index.json` has all of the table and more; a JSON file beside each
problem has its own part. `tabi solve FILE` solves one.

W is singular wherever three or more corners of one sole touch: impulses are not unique. Judge an
answer by its own error, not by its distance to the reference. With ρ = 3/tr W_kk of each contact,
and Φ(u) = μ‖u_t‖ along the normal, the error here is

    e = max ‖r − P(r − ρ (u + Φ(u)))‖ / ρ,   P: the projection onto the friction cone

*error*: that of the reference, recomputed from the file [m/s]. *hardness*: number of the attempt in
tabi's list that solved it from zero impulses to {tolerance:g} of ‖q‖∞, and iterations until then.
"""


def readme(index: dict[str, Any]) -> str:
    """The page of an index, in Markdown."""
    hardest = f" --hardest {index['hardest']}" if index["hardest"] else ""
    lines = [
        ABOUT.format(
            many=len(index["problems"]),
            tabi=index["tabi"],
            count=index["count"],
            seed=index["seed"],
            hardest=hardest,
            tolerance=index["tolerance"],
            step_ms=1.0,
        )
    ]
    if not index["complete"]:
        lines.append("The export was interrupted; the same command goes on.\n")
    lines += [
        "| file | contacts | bodies | friction | error [m/s] | hardness |",
        "|:--|--:|--:|--:|--:|:--|",
        *(row(record) for record in index["problems"]),
    ]
    return "\n".join(lines) + "\n"


def row(record: dict[str, Any]) -> str:
    """One problem of the table."""
    low, high = record["friction"]
    mu = f"{low:.3g}" if low == high else f"{low:.3g} to {high:.3g}"
    hard = f"attempt {record['attempt']} ({record['attempt_name']}), {record['iterations']}"
    return (
        f"| {record['file']} | {record['contacts']} | {record['bodies']} | {mu} | "
        f"{record['certificate']['residual']:.1e} | {hard if record['solved'] else 'not solved'} |"
    )
