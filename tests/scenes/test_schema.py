"""The schema and the tables say what the reader knows."""

import json
from pathlib import Path

import pytest
import yaml

from tabi import scenes
from tabi.scenes import schema
from tabi.scenes.keys import things

DOCS = Path(__file__).resolve().parents[2] / "docs"


def test_the_schema_in_the_package_is_current():
    assert (
        Path(schema.__file__).with_name(schema.FILE).read_text(encoding="utf-8") == schema.text()
    ), "run docs/generate/scene_tables.py"


def test_every_property_of_the_schema_says_what_it_is():
    made = schema.schema()
    # a struct for every table, and one for every kind where there are several
    assert len(made["$defs"]) >= len(schema.TABLES)
    for name, one in made["$defs"].items():
        for key, value in one.get("properties", {}).items():
            assert value.get("description"), f"{name}.{key}"
        assert one["additionalProperties"] is False


def test_every_key_has_its_line():
    assert all(schema.TABLES.values())
    for kinds in schema.TABLES.values():
        for kind in kinds:
            assert set(kind.__struct_fields__) <= set(schema.attributes(kind))


@pytest.mark.slow
def test_keys_with_dimensions_have_their_units_in_their_names():
    units = (
        "_m",
        "_kg",
        "_s",
        "_deg",
        "_hz",
        "_n",
        "_nm",
        "_m_s",
        "_m_s2",
        "_rad_s",
        "_nm_rad",
        "_nms_rad",
        "_n_m",
        "_ns_m",
        "_kg_m2",
        "_kg_m3",
        "_pa",
        "_1_s",
    )
    plain = {
        "friction",
        "restitution",
        "static_friction",
        "quaternion",
        "color",
        "count",
        "steps",
        "axis",
        "facets",
        "order",
        "scale",
        "max_points",
        "candidates",
        "gear_ratio",
        "poisson_ratio",
        "seed",
        "work_limit",
        "treads",
        "inclination",
        "swing",
        "course",
        # in the units of what a sensor measures
        "noise",
        "bias",
        "drift",
        "limit",
        "resolution",
        "matrix",
        "offset",
    }
    numbers = [
        key
        for kinds in schema.TABLES.values()
        for kind in kinds
        for key, value in schema.schema()["$defs"][kind.__name__]["properties"].items()
        if any(f'"type": "{number}"' in json.dumps(value) for number in ("number", "integer"))
    ]
    assert len(numbers) > 40
    assert [key for key in numbers if not key.endswith(units) and key not in plain] == []


@pytest.mark.parametrize("name", scenes.names())
def test_built_in_scenes_obey_the_schema_and_name_it_for_editors(name):
    text = scenes.load(name).file.read_text(encoding="utf-8")
    assert text.startswith("# yaml-language-server: $schema=../scene.schema.json\n")
    tree, made = yaml.safe_load(text), schema.schema()
    assert set(tree) <= set(made["$defs"]["Contents"]["properties"])
    assert obeys(tree, {"$ref": made["$ref"]}, made), name


def obeys(value, rule, root) -> bool:
    """Whether a value obeys a schema, as far as ours have rules."""
    if "$ref" in rule:
        return obeys(value, root["$defs"][rule["$ref"].rpartition("/")[2]], root)
    if "anyOf" in rule:
        return any(obeys(value, one, root) for one in rule["anyOf"])
    if "enum" in rule:
        return value in rule["enum"]
    kinds = {
        "object": dict,
        "array": list,
        "string": str,
        "number": (int, float),
        "integer": int,
        "null": type(None),
        "boolean": bool,
    }
    if not isinstance(value, kinds[rule["type"]]):
        return False
    if isinstance(value, dict):
        known, other = rule.get("properties", {}), rule.get("additionalProperties", True)
        return set(rule.get("required", [])) <= set(value) and all(
            obeys(v, known[k], root)
            if k in known
            else other is not False and (other is True or obeys(v, other, root))
            for k, v in value.items()
        )
    if isinstance(value, list):
        return rule.get("minItems", 0) <= len(value) <= rule.get("maxItems", 1e9) and all(
            obeys(v, rule["items"], root) for v in value
        )
    if isinstance(value, str):
        return True
    return rule.get("minimum", -1e99) <= value <= rule.get("maximum", 1e99) and value > rule.get(
        "exclusiveMinimum", -1e99
    )


def test_the_schema_refuses_what_the_reader_refuses():
    made = schema.schema()
    box = {"shape": "box", "size_m": [1, 1, 1], "mass_kg": 1}
    for wrong in ({"mass_kg": 0}, {"frction": 1}, {"shape": "bx"}, {"size_m": [1, 1]}):
        assert not obeys({"title": "t", "objects": [box | wrong]}, {"$ref": made["$ref"]}, made)
    assert obeys({"title": "t", "objects": [box]}, {"$ref": made["$ref"]}, made)


@pytest.mark.parametrize("name", schema.TABLES)
def test_every_table_of_the_page_is_that_of_the_types(name):
    page = (DOCS / "scenes.md").read_text(encoding="utf-8")
    assert f"<!-- table {name}: " in page
    assert schema.table(name) in page, "run docs/generate/scene_tables.py"


def test_a_table_tells_which_shapes_a_key_is_for():
    table = schema.table("fixed")
    assert (
        "| `size_m` (box) | edges along its x, y, z | list of 3 numbers > 0 | required |" in table
    )
    assert (
        "| `size_m` (height_field) | edges along its x and y | list of 2 numbers > 0 | required |"
        in table
    )
    assert schema.attributes(things.Stairs)["friction"].startswith("coefficient of friction")
