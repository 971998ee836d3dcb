"""Episodes of a recording: time runs forwards in each, and none has steps of another."""

import h5py
import numpy as np
import pytest

import tabi
from tabi.recording.episodes import steps_of
from tabi.recording.problems import RecordingError


def sliding_box():
    world = tabi.World()
    world.add_ground(friction=0.4)
    world.add_box(size=(0.3, 0.3, 0.3), mass=3.0, friction=0.4, position=(0.0, 0.0, 0.15))
    return tabi.Simulator(world)


def facts(path):
    """Begin and end [s], steps and kind of ending of every episode, after a look at its rows."""
    found = []
    for episode in tabi.Recording(path).episodes:
        run = tabi.Recording(path, episode.number)
        assert len(run.time) == episode.rows
        assert (np.diff(run.time) > 0).all()
        assert len(run.contacts["gap"]) == run.contact_count.sum()
        times = (round(episode.begin, 9), round(episode.end, 9))
        found.append((*times, episode.steps, episode.kind))
    return found


@pytest.fixture
def path(tmp_path):
    return tmp_path / "run.h5"


def test_a_learning_loop_that_resets_first_has_an_episode_for_each_round(path):
    sim = sliding_box()
    with sim.record(path):
        for k in range(3):
            sim.reset()
            # as where an episode begins at random
            sim.set_state(sim.model.initial(), [1.0 + k, 0, 0, 0, 0, 0])
            sim.run(0.1 * (k + 1))
    assert facts(path) == [
        (0.0, 0.1, 100, "reset"),
        (0.0, 0.2, 200, "reset"),
        (0.0, 0.3, 300, "closed"),
    ]
    # the first row is where the steps begin, not what the reset left
    assert [tabi.Recording(path, k).v[0, 0] for k in range(3)] == [1.0, 2.0, 3.0]


def test_a_reset_after_which_nothing_is_simulated_is_no_episode(path):
    sim = sliding_box()
    with sim.record(path):
        for _ in range(3):
            sim.run(0.05)
            sim.reset()
            sim.reset()
    assert facts(path) == [(0.0, 0.05, 50, "reset")] * 3


def test_each_episode_is_the_run_that_was_seen(path):
    sim, seen = sliding_box(), []
    with sim.record(path):
        for k in range(3):
            sim.set_state(sim.model.initial(), [0.5 + k, 0, 0, 0, 0, 0])
            rows = []
            # more than a second in all, so that episodes begin between two writings
            for _ in range(450):
                sim.step()
                rows.append((sim.time, sim.q.copy(), len(sim.contacts)))
            seen.append(rows)
            sim.reset()
    assert len(seen) == 3
    for k, rows in enumerate(seen):
        run = tabi.Recording(path, k)
        assert run.time[1:] == pytest.approx([time for time, *_ in rows])
        assert np.array_equal(run.q[1:], [q for _, q, _ in rows])
        assert run.contact_count[1:].tolist() == [count for *_, count in rows]
        assert len(run.step_errors["time"]) >= 1
        assert (run.step_errors["time"] <= run.time[-1] + 1e-9).all()


def test_a_state_restored_from_earlier_begins_an_episode_there(path):
    sim = sliding_box()
    with sim.record(path):
        sim.run(0.1)
        saved = sim.save()
        sim.run(0.05)
        sim.restore(saved)
        assert sim.time == pytest.approx(0.1)
        sim.run(0.02)
    assert facts(path) == [(0.0, 0.15, 150, "restore"), (0.1, 0.12, 20, "closed")]
    first, second = tabi.Recording(path, 0), tabi.Recording(path, 1)
    assert np.array_equal(second.q, first.q[100:121])


def test_a_state_restored_from_later_begins_an_episode_and_claims_no_step_between(path):
    sim = sliding_box()
    sim.run(0.3)
    saved = sim.save()
    sim.reset()
    with sim.record(path):
        sim.run(0.1)
        sim.restore(saved)
        sim.run(0.1)
    assert facts(path) == [(0.0, 0.1, 100, "restore"), (0.3, 0.4, 100, "closed")]


def test_a_state_restored_where_it_was_saved_goes_on_with_the_episode(path):
    sim = sliding_box()
    with sim.record(path):
        sim.run(0.1)
        sim.restore(sim.save())
        sim.run(0.1)
    assert facts(path) == [(0.0, 0.2, 200, "closed")]


def test_a_callback_that_restores_leaves_the_step_before_it_in_the_file(path):
    sim = sliding_box()
    saved = sim.save()
    # called before the recording's own turn
    again = sim.every(50, lambda data: sim.restore(saved) if data.steps == 50 else None)
    with sim.record(path):
        for _ in range(60):
            sim.step()
        again.cancel()
    assert facts(path) == [(0.0, 0.05, 50, "restore"), (0.0, 0.01, 10, "closed")]


@pytest.mark.parametrize("rate", [None, 200])
def test_a_jump_that_an_interrupt_kept_from_being_told_still_ends_the_episode(path, rate):
    sim = sliding_box()
    with sim.record(path, rate=rate):
        sim.run(0.05)
        sim._running.scheduled[0].jump = None
        sim.reset()
        sim.run(0.02)
    found = facts(path)
    assert found[0] == (0.0, 0.05, 50, "restore")
    # the step that tells is the first that is known of the next one
    assert found[1][1:] == (0.02, 19 if rate is None else 15, "closed")


def test_episodes_at_a_lower_rate_keep_their_first_row(path):
    sim = sliding_box()
    with sim.record(path, rate=100):
        sim.run(0.025)
        sim.reset()
        sim.run(0.005)
        sim.reset()
        sim.run(0.01)
    # of the second one, the steps lie between two rows
    assert facts(path) == [
        (0.0, 0.02, 20, "reset"),
        (0.0, 0.0, 0, "reset"),
        (0.0, 0.01, 10, "closed"),
    ]


def test_the_last_episode_is_chosen_unless_another_is(path):
    sim = sliding_box()
    with sim.record(path):
        for seconds in (0.01, 0.02, 0.03):
            sim.reset()
            sim.run(seconds)
    run = tabi.Recording(path)
    assert (run.episode, run.time[-1]) == (2, pytest.approx(0.03))
    assert run.episode_name == "episode 2 (of 0 to 2)"
    assert tabi.Recording(path, -3).episode == tabi.Recording(path, np.int64(0)).episode == 0
    assert tabi.Recording.load(path, episode=1).time[-1] == pytest.approx(0.02)


@pytest.mark.parametrize(
    ("episode", "words"),
    [
        (1, "there is no episode 1; it has one episode, 0"),
        (-2, "there is no episode -2; it has one episode, 0"),
        ("first", "episode is 'first'; expected a whole number"),
        (True, "episode is 'True'; expected a whole number"),
        (sliding_box, "what records a simulation is sim.record"),
    ],
)
def test_an_episode_that_is_not_there_is_refused_in_a_sentence(path, episode, words):
    sim = sliding_box()
    with sim.record(path):
        sim.run(0.01)
    with pytest.raises(RecordingError, match=words) as refused:
        tabi.Recording(path, episode)
    assert str(path) in str(refused.value)


def test_a_file_of_an_earlier_version_is_one_episode(path):
    sim = sliding_box()
    with sim.record(path):
        sim.run(0.02)
        sim.reset()
        sim.run(0.01)
    with h5py.File(path, "r+") as file:
        del file["episodes"], file.attrs["ended"], file.attrs["ended_by"]
    run = tabi.Recording(path)
    assert (len(run.time), len(run.episodes), run.episode_name) == (32, 1, "")
    assert run.closed
    # time that runs back is no step
    assert run.episodes[0].steps == 30


@pytest.mark.parametrize(
    ("name", "values"),
    [("row", [0, 5, 3]), ("row", [2, 3, 9]), ("event", [0, -1, 0]), ("ended", [0, 9, 0])],
)
def test_a_table_of_episodes_that_cannot_be_is_refused(path, name, values):
    sim = sliding_box()
    with sim.record(path):
        for _ in range(3):
            sim.run(0.01)
            sim.reset()
    with h5py.File(path, "r+") as file:
        file[f"episodes/{name}"][:] = values
    with pytest.raises(RecordingError, match="episode"):
        tabi.Recording(path)


def test_steps_are_counted_where_time_runs_forwards():
    dt = 1e-3
    assert steps_of(dt * np.arange(11), dt) == 10
    assert steps_of(np.concatenate([dt * np.arange(11), dt * np.arange(6)]), dt) == 15
    assert steps_of(np.zeros(1), dt) == steps_of(np.zeros(0), dt) == 0
