"""Names of robots and objects: each has its own."""

import pytest

from tabi import ModelError
from tabi.model.names import free_name


def test_a_taken_name_gets_the_next_number():
    assert free_name("box", {"ball"}) == "box"
    assert free_name("box", {"box"}) == "box_2"
    assert free_name("box", {"box", "box_2", "box_3"}) == "box_4"


def test_a_name_given_on_purpose_is_refused_where_it_is_taken():
    assert free_name("box", {"ball"}, explicit=True) == "box"
    with pytest.raises(ModelError, match="name 'box' occurs twice in the world"):
        free_name("box", {"box"}, explicit=True)
    with pytest.raises(ModelError, match="empty name"):
        free_name("", set())
