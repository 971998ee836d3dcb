"""``tabi bench view`` measures, in short."""

from tabi.apps.bench import view, view_client


def test_picture_of_forty_bodies_is_measured():
    frame = view.forty(frames=5)
    assert set(frame) == {"look_ms", "draw_ms"}
    assert 0 < frame["look_ms"] < 100
    assert 0 < frame["draw_ms"] < 100


def test_page_with_a_client_is_measured_and_told():
    assert view_client.PATIENCE > 1
    result = view.measure(seconds=1.0, scenes=view.SCENES[:1], show=False)
    played = result["scenes"][view.SCENES[0]]
    assert played["fault"] == ""
    assert played["bodies"] == 31
    assert played["contacts"] == 8
    assert played["client"]["messages_per_second"] > 1
    assert played["real_time_factor"] > 0
    told = view.text(result)
    assert "× real time" in told
    assert "messages/s" in told
