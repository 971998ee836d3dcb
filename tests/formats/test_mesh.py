"""Mesh files: points of the same cube from every format, closed outward hulls, packages found,
faults named.
"""

import struct
from pathlib import Path

import numpy as np
import pytest

from tabi._errors import ModelError
from tabi.formats import mesh

EDGE = 0.2
CORNERS = EDGE * (np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)]) - 0.5)
# two triangles a side, outward
TRIANGLES = np.array(
    [
        [0, 1, 3],
        [0, 3, 2],
        [4, 6, 7],
        [4, 7, 5],
        [0, 4, 5],
        [0, 5, 1],
        [2, 3, 7],
        [2, 7, 6],
        [0, 2, 6],
        [0, 6, 4],
        [1, 5, 7],
        [1, 7, 3],
    ]
)
SHIFT = np.array([1.0, 2.0, 3.0])
# coordinates in STL files are rounded to single precision
SINGLE = 1e-7

DAE = """<?xml version="1.0"?>
<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
<asset><unit name="unit" meter="{metre}"/><up_axis>{up}</up_axis></asset>
<library_geometries><geometry id="cube"><mesh>
<source id="p"><float_array id="a" count="{count}">{points}</float_array>
<technique_common><accessor source="#a" count="{rows}" stride="3"><param name="X" type="float"/>
<param name="Y" type="float"/>
<param name="Z" type="float"/></accessor></technique_common></source>
<vertices id="v"><input semantic="POSITION" source="#p"/></vertices>
<triangles count="12"><input semantic="VERTEX" source="#v" offset="0"/>
<input semantic="NORMAL" source="#p" offset="1"/><p>{index}</p></triangles>
</mesh></geometry></library_geometries>
<library_visual_scenes><visual_scene id="s">{nodes}</visual_scene></library_visual_scenes>
<scene><instance_visual_scene url="#s"/></scene>
</COLLADA>"""


def words(numbers) -> str:
    return " ".join(f"{x:.17g}" for x in np.ravel(numbers))


def dae(
    nodes: str = '<node><instance_geometry url="#cube"/></node>',
    metre: float = 1.0,
    up: str = "Z_UP",
    points=CORNERS,
) -> str:
    index = words(np.stack([TRIANGLES.ravel(), np.zeros(TRIANGLES.size, int)], axis=1))
    return DAE.format(
        nodes=nodes,
        metre=metre,
        up=up,
        points=words(points),
        count=3 * len(points),
        rows=len(points),
        index=index,
    )


def ascii_stl() -> str:
    corners = ["\n".join(f"    vertex {words(CORNERS[i])}" for i in t) for t in TRIANGLES]
    return (
        "solid cube\n"
        + "".join(f"facet normal 0 0 0\n  outer loop\n{c}\n  endloop\nendfacet\n" for c in corners)
        + "endsolid cube\n"
    )


def binary_stl(header: bytes = b"") -> bytes:
    rows = [struct.pack("<12fH", 0, 0, 0, *CORNERS[t].ravel(), 0) for t in TRIANGLES]
    return header.ljust(80) + struct.pack("<I", len(rows)) + b"".join(rows)


def obj(extra: str = "") -> str:
    lines = (
        [f"v {words(c)} 0.5 0.5 0.5" for c in CORNERS]
        + ["vn 0 0 1", extra]
        + [f"f {a + 1}//1 {b + 1}//1 {c + 1}//1" for a, b, c in TRIANGLES]
    )
    return "\n".join(lines)


def same_points(a, b, tolerance: float) -> bool:
    distances = np.linalg.norm(np.asarray(a)[:, None] - np.asarray(b)[None], axis=2)
    return (
        len(a) == len(b)
        and distances.min(axis=1).max() < tolerance
        and distances.min(axis=0).max() < tolerance
    )


def volume(hull) -> float:
    """By the divergence theorem, positive when the triangles look outward."""
    a, b, c = (hull.vertices[hull.triangles[:, k]] - hull.vertices.mean(axis=0) for k in range(3))
    return float(np.einsum("ij,ij->", a, np.cross(b, c)) / 6)


def is_closed(hull) -> bool:
    """Every edge is walked once each way."""
    t = hull.triangles
    edges = np.concatenate([t[:, [0, 1]], t[:, [1, 2]], t[:, [2, 0]]]).tolist()
    pairs = {tuple(e) for e in edges}
    return len(pairs) == len(edges) and all((b, a) in pairs for a, b in pairs)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("ascii.stl", ascii_stl()),
        ("binary.STL", binary_stl()),
        ("binary_that_begins_as_text.stl", binary_stl(b"solid by a careless exporter")),
        ("cube.obj", obj()),
        ("loose_point.obj", obj("v 9 9 9")),
        ("windows.obj", obj().replace("\n", "\r\n")),
        ("indented.obj", obj().replace("\n", "\n  ")),
        ("counted_back.obj", obj().replace("f 1//1", "f -8//1")),
        ("cube.dae", dae()),
        ("loose_point.dae", dae(points=np.vstack([CORNERS, [[9, 9, 9]]]))),
    ],
)
def test_every_format_gives_the_eight_corners_and_a_hull_of_edge_cubed(tmp_path, name, content):
    file = tmp_path / name
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    assert same_points(mesh.vertices(file), CORNERS, SINGLE)
    hull, flat = mesh.hull_of_file(file)
    assert not flat
    assert hull.file == file
    assert is_closed(hull)
    assert volume(hull) == pytest.approx(EDGE**3, rel=1e-6)


def test_a_format_of_others_is_read_through_trimesh(tmp_path):
    pytest.importorskip("trimesh")
    file = tmp_path / "cube.off"
    rows = [words(c) for c in CORNERS] + [f"3 {words(t)}" for t in TRIANGLES]
    file.write_text("\n".join(["OFF", f"{len(CORNERS)} {len(TRIANGLES)} 0", *rows]))
    assert same_points(mesh.vertices(file), CORNERS, SINGLE)


# ---- COLLADA ----------------------------------------------------------------------------------


def test_dae_nodes_are_composed_in_the_order_they_are_written(tmp_path):
    inner = (
        '<node><rotate>0 0 1 90</rotate><scale>1 2 3</scale><instance_geometry url="#cube"/></node>'
    )
    outer = (
        f"<node><matrix>0 0 1 10  0 1 0 0  -1 0 0 0  0 0 0 1</matrix><translate>0 5 0</translate>"
        f"{inner}</node>"
    )
    (tmp_path / "a.dae").write_text(dae(outer))
    turn_y = np.array([[0, 0, 1], [0, 1, 0], [-1, 0, 0]])
    turn_z = np.array([[0, -1, 0], [1, 0, 0], [0, 0, 1]])
    expected = ((CORNERS * [1, 2, 3]) @ turn_z.T + [0, 5, 0]) @ turn_y.T + [10, 0, 0]
    assert same_points(mesh.vertices(tmp_path / "a.dae"), expected, 1e-14)


def test_dae_node_used_twice_stands_in_both_places(tmp_path):
    nodes = (
        '<node id="n"><instance_geometry url="#cube"/></node><node><translate>1 2 3</translate>'
        '<instance_node url="#n"/></node>'
    )
    (tmp_path / "a.dae").write_text(dae(nodes))
    assert same_points(
        mesh.vertices(tmp_path / "a.dae"), np.vstack([CORNERS, CORNERS + SHIFT]), 1e-14
    )


def test_dae_unit_scales_to_metres_and_the_up_axis_turns_nothing(tmp_path):
    (tmp_path / "a.dae").write_text(dae(metre=0.01, up="Y_UP", points=CORNERS * [1, 2, 3]))
    assert same_points(mesh.vertices(tmp_path / "a.dae"), 0.01 * CORNERS * [1, 2, 3], 1e-15)


@pytest.mark.parametrize("up", ["X_UP", "Y_UP", "Z_UP"])
def test_dae_axes_and_nodes_agree_with_coal(tmp_path, up):
    coal = pytest.importorskip("coal")
    nodes = (
        "<node><translate>1 2 3</translate><rotate>1 0 0 30</rotate><node><scale>1 2 "
        '1</scale><instance_geometry url="#cube"/></node></node>'
    )
    (tmp_path / "a.dae").write_text(dae(nodes, up=up))
    other = coal.MeshLoader().load(str(tmp_path / "a.dae"), np.ones(3))
    other.computeLocalAABB()
    points = mesh.vertices(tmp_path / "a.dae")
    # assimp keeps single precision
    assert np.allclose(points.min(axis=0), other.aabb_local.min_, atol=1e-6)
    assert np.allclose(points.max(axis=0), other.aabb_local.max_, atol=1e-6)


# ---- faults -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "content", "word"),
    [
        ("short.stl", binary_stl()[:-7], "12 triangles"),
        ("empty.stl", b"", "bytes"),
        ("none.stl", b"solid nothing\nendsolid nothing", "no facet"),
        (
            "letters.stl",
            ascii_stl().replace(f"vertex {-0.1:.17g}", "vertex minus", 1).encode(),
            "stl",
        ),
        ("nan.stl", ascii_stl().replace(f"vertex {-0.1:.17g}", "vertex nan", 1).encode(), "finite"),
        ("empty.obj", b"", "no faces"),
        ("points.obj", b"v 0 0 0\nv 1 0 0", "no faces"),
        ("beyond.obj", obj().replace("f 1//1", "f 9//1").encode(), "point 9"),
        ("letters.obj", b"v a b c\nf 1 1 1", "obj"),
        ("broken.dae", dae()[:-12].encode(), "well-formed"),
        ("beyond.dae", dae().replace("<p>0 0", "<p>8 0").encode(), "point 8"),
        ("nowhere.dae", dae('<node><instance_geometry url="#sphere"/></node>').encode(), "#sphere"),
        (
            "circle.dae",
            dae('<node id="n"><instance_node url="#n"/></node>').encode(),
            "hold itself",
        ),
        (
            "skew.dae",
            dae('<node><skew>1 2 3</skew><instance_geometry url="#cube"/></node>').encode(),
            "<skew>",
        ),
        ("unit.dae", dae(metre=-1.0).encode(), "metres"),
        ("what.kind", b"123", ".kind"),
    ],
)
def test_a_mesh_that_cannot_be_read_is_refused_with_its_file(tmp_path, name, content, word):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ModelError) as caught:
        mesh.vertices(tmp_path / name)
    assert name in str(caught.value)
    assert word in str(caught.value)


def test_a_mesh_that_is_not_there_is_refused_with_its_file(tmp_path):
    with pytest.raises(ModelError, match=r"gone\.stl"):
        mesh.vertices(tmp_path / "gone.stl")


# ---- hulls ------------------------------------------------------------------------------------


def test_points_inside_are_no_part_of_the_hull():
    inside = np.random.default_rng(1).uniform(-0.09, 0.09, (500, 3))
    hull = mesh.convex_hull(np.vstack([inside, CORNERS, CORNERS]))
    assert same_points(hull.vertices, CORNERS, 1e-15)
    assert volume(hull) == pytest.approx(EDGE**3, rel=1e-12)


def test_hull_of_a_random_cloud_is_closed_and_holds_every_point():
    cloud = np.random.default_rng(2).normal(size=(3000, 3))
    hull = mesh.convex_hull(cloud)
    a, b, c = (hull.vertices[hull.triangles[:, k]] for k in range(3))
    normals = np.cross(b - a, c - a)
    assert is_closed(hull)
    assert (np.einsum("ij,kj->ki", normals, cloud) - np.einsum("ij,ij->i", normals, a)).max() < 1e-9


@pytest.mark.parametrize("normal", [(0, 0, 1), (1, 2, 3)])
def test_a_flat_mesh_becomes_a_plate_of_a_five_hundredth_of_its_size(normal):
    axis = np.array(normal) / np.linalg.norm(normal)
    u = np.linalg.svd(axis[None])[2][1:]
    square = np.array([[0, 0], [1, 0], [1, 1], [0, 1]]) @ u + [3.0, 0.0, 0.0]
    hull = mesh.convex_hull(square)
    # the principal directions of a square are not unique: its size is measured as something from
    # its edge to its diagonal
    assert is_closed(hull)
    assert 0.99e-3 * 2 <= volume(hull) <= 1.01e-3 * 2 * np.sqrt(2)
    assert np.abs((hull.vertices - square.mean(axis=0)) @ axis).max() < 1.5e-3


@pytest.mark.parametrize(
    "points",
    [
        [[1, 2, 3]],
        [[0, 0, 0], [0, 0, 1]],
        [[0, 0, 0], [1, 1, 1], [2, 2, 2]],
        [[1e5, 0, 0], [1e5, 1, 0], [1e5, 0, 1]],
    ],
)
def test_lines_points_and_far_planes_have_a_hull_that_holds_them(points):
    hull = mesh.convex_hull(points)
    assert is_closed(hull)
    assert volume(hull) > 0
    assert (np.asarray(points).max(axis=0) <= hull.vertices.max(axis=0) + 1e-12).all()


@pytest.mark.parametrize("points", [np.zeros((0, 3)), [[0, 0]], [[np.nan, 0, 0]]])
def test_a_hull_of_nothing_is_refused(points):
    with pytest.raises(ModelError, match="three finite numbers"):
        mesh.convex_hull(points)


def test_a_mirrored_hull_still_looks_outward():
    scale = np.array([2.0, -1.0, 0.5])
    hull = mesh.scaled(mesh.convex_hull(CORNERS + SHIFT), scale)
    assert same_points(hull.vertices, (CORNERS + SHIFT) * scale, 1e-15)
    assert volume(hull) == pytest.approx(EDGE**3, rel=1e-12)


# ---- finding files ----------------------------------------------------------------------------


@pytest.fixture
def workspace(tmp_path, monkeypatch) -> Path:
    for name in ("ROS_PACKAGE_PATH", "AMENT_PREFIX_PATH"):
        monkeypatch.delenv(name, raising=False)
    inside = ("robot/urdf/m.stl", "robot/meshes/a.stl", "share/beside/b.stl", "robots/cousin/c.stl")
    for place in (*(f"ws/{p}" for p in inside), "ros/far/d.stl", "opt/share/away/e.stl"):
        (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / place).touch()
    return tmp_path


@pytest.mark.parametrize(
    ("reference", "place"),
    [
        ("m.stl", "ws/robot/urdf/m.stl"),
        ("../meshes/a.stl", "ws/robot/meshes/a.stl"),
        ("package://robot/meshes/a.stl", "ws/robot/meshes/a.stl"),
        ("package:///robot/meshes/a.stl", "ws/robot/meshes/a.stl"),
        ("model://robot/meshes/a.stl", "ws/robot/meshes/a.stl"),
        ("package://beside/b.stl", "ws/share/beside/b.stl"),
        ("package://cousin/c.stl", "ws/robots/cousin/c.stl"),
        ("package://far/d.stl", None),
        ("package://robot/meshes/none.stl", None),
        ("http://robot/meshes/a.stl", None),
        ("package://../robot/meshes/a.stl", None),
        ("package://", None),
        ("x" * 5000, None),
    ],
)
def test_references_are_found_beside_and_above_the_file(workspace, reference, place):
    found = mesh.find(reference, workspace / "ws/robot/urdf/r.urdf")
    assert found == (None if place is None else workspace / place) or (
        place and found and found.samefile(workspace / place)
    )


def test_absolute_paths_and_file_addresses_are_found(workspace):
    file = workspace / "ros/far/d.stl"
    assert mesh.find(str(file), workspace / "ws/r.urdf") == file
    assert mesh.find(f"file://{file}", workspace / "ws/r.urdf") == file


def test_packages_are_found_on_the_paths_of_ros(workspace, monkeypatch):
    monkeypatch.setenv("ROS_PACKAGE_PATH", f"/nowhere:{workspace / 'ros'}")
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(workspace / "opt"))
    assert mesh.find("package://far/d.stl", workspace / "ws/r.urdf") == workspace / "ros/far/d.stl"
    assert (
        mesh.find("package://away/e.stl", workspace / "ws/r.urdf")
        == workspace / "opt/share/away/e.stl"
    )
    monkeypatch.setenv("ROS_PACKAGE_PATH", str(workspace / "ros/far"))
    assert mesh.find("package://far/d.stl", workspace / "ws/r.urdf") == workspace / "ros/far/d.stl"


# ---- faces ------------------------------------------------------------------------------------


def test_faces_of_a_mesh_enclose_its_volume(tmp_path):
    file = tmp_path / "cube.obj"
    lines = [f"v {x} {y} {z}" for x, y, z in CORNERS]
    file.write_text("\n".join([*lines, *(f"f {a + 1} {b + 1} {c + 1}" for a, b, c in TRIANGLES)]))
    points, triangles = mesh.faces(file)
    corners = points[triangles]
    volume = np.einsum("ij,ij->", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])) / 6
    assert volume == pytest.approx(EDGE**3)
    file.write_text("nothing")
    with pytest.raises(ModelError, match="faces"):
        mesh.faces(file)


def test_a_hull_knows_how_its_file_is_placed(tmp_path):
    file = tmp_path / "cube.obj"
    lines = [f"v {x} {y} {z}" for x, y, z in CORNERS + SHIFT]
    file.write_text("\n".join([*lines, *(f"f {a + 1} {b + 1} {c + 1}" for a, b, c in TRIANGLES)]))
    hull, _ = mesh.hull_of_file(file)
    assert mesh.scaled(hull, np.ones(3)) is hull
    large = mesh.scaled(hull, np.array([2.0, 3.0, -4.0]))
    placed = mesh.vertices(file) @ large.from_file[:, :3].T + large.from_file[:, 3]
    assert {tuple(p.round(9)) for p in placed} == {tuple(p.round(9)) for p in large.vertices}
