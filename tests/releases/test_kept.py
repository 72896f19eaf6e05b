"""`Once` and `publish_once`: one draw for one booking, kept, numbered, and given back."""

from pathlib import Path

import pytest

from bruit.errors import BudgetError, FormatError, LedgerError
from bruit.privacy import Ledger
from bruit.releases import Count, Kept, LimitsGuide, Release, Sum, publish_once
from bruit.releases.kept import KeptRelease, Once, read_result

AGES = [31, 40, 22, 57]
COUNT = Release(Count(epsilon=0.25))


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return Ledger.open(tmp_path / "people.ledger", epsilon=1.0)


def names(ledger: Ledger) -> list[str]:
    assert ledger.results is not None
    return sorted(file.name for file in ledger.results.iterdir()) if ledger.results.exists() else []


def stop(*_: object, **__: object) -> None:
    raise KeyboardInterrupt


def test_a_repeat_gives_what_is_kept_and_again_is_the_next_number(ledger: Ledger) -> None:
    first, repeated = publish_once(COUNT, AGES, ledger), publish_once(COUNT, AGES, ledger)
    assert (first.is_new, repeated.is_new, ledger.spent.epsilon) == (True, False, 0.25)
    assert repeated.result["count"].to_dict() == first.result["count"].to_dict()
    assert (repeated.path, repeated.entry, repeated.date) == (first.path, 0, ledger.entries[0].time)
    more = [publish_once(COUNT, AGES, ledger, again=True) for _ in range(2)]
    identity = KeptRelease(COUNT, ledger, "").identity
    assert names(ledger) == [f"count-{identity}-2.json", f"count-{identity}-3.json", f"count-{identity}.json"]
    assert [kept.entry for kept in more] == [1, 2]
    assert publish_once(COUNT, AGES, ledger).path == more[-1].path  # the newest


def test_tables_are_told_apart_by_their_place_or_their_label(ledger: Ledger, tmp_path: Path) -> None:
    for name in ("a.csv", "b.csv"):
        (tmp_path / name).write_text("age\n31\n")
        assert publish_once(COUNT, tmp_path / name, ledger).is_new
    assert publish_once(COUNT, AGES, ledger, label="wave 1").is_new
    assert publish_once(COUNT, AGES, ledger, label="wave 2").is_new
    assert not publish_once(COUNT, str(tmp_path / "a.csv"), ledger, label="another title").is_new


def test_what_was_stopped_is_drawn_under_its_booking_also_by_again(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    for again in (False, True):
        with monkeypatch.context() as patched:
            patched.setattr(Count, "publish", stop)
            with pytest.raises(KeyboardInterrupt):
                publish_once(COUNT, AGES, ledger, again=again)
        spent = ledger.spent.epsilon
        assert publish_once(COUNT, AGES, ledger, again=again).is_new
        assert ledger.spent.epsilon == spent
    assert len(ledger) == 2
    assert all(ledger.is_kept(entry) for entry in ledger.entries)


def test_a_whole_draw_that_has_no_name_yet_gets_it(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(Once, "_name", stop)
        with pytest.raises(KeyboardInterrupt):
            publish_once(COUNT, AGES, ledger)
    (hidden,) = ledger.results.iterdir()  # type: ignore[union-attr]
    assert hidden.stat().st_mode & 0o077 == 0
    drawn = read_result(hidden.read_bytes())
    kept = publish_once(COUNT, AGES, ledger)
    assert not kept.is_new
    assert kept.result["count"].to_dict() == drawn["count"].to_dict()  # type: ignore[index]
    assert names(ledger) == [kept.path.name]


def test_a_result_that_somebody_removed_is_never_drawn_again_under_its_booking(ledger: Ledger) -> None:
    kept = publish_once(COUNT, AGES, ledger)
    kept.path.unlink()
    once = Once(ledger, kept.path.name, COUNT.lines(), read_result)
    with pytest.raises(LedgerError, match="Restore it from a copy"):
        once.run(lambda: "never")
    following = publish_once(COUNT, AGES, ledger)
    assert (following.is_new, following.path.name, ledger.spent.epsilon) == (True, f"{kept.path.stem}-2.json", 0.5)


def test_a_ledger_that_was_put_back_is_booked_again_and_nothing_is_drawn(ledger: Ledger) -> None:
    first = publish_once(COUNT, AGES, ledger)
    path = Path(str(ledger.path))
    path.write_bytes(path.read_bytes().splitlines(keepends=True)[0])
    put_back = Ledger.open(path)
    assert len(put_back) == 0
    again = publish_once(COUNT, AGES, put_back)
    assert (again.is_new, again.path, put_back.spent.epsilon) == (False, first.path, 0.25)


def test_what_is_refused_leaves_nothing(ledger: Ledger, tmp_path: Path) -> None:
    with pytest.raises(BudgetError):
        publish_once(Release(Count(epsilon=2.0)), tmp_path / "absent.csv", ledger)  # before the table is read
    with pytest.raises(BudgetError):
        Once(ledger, "large.json", Release(Count(epsilon=2.0)).lines(), read_result).run(lambda: "never")
    assert names(ledger) == []
    assert not ledger.results.exists()  # type: ignore[union-attr]
    with pytest.raises(LedgerError, match="a ledger in a file"):
        publish_once(COUNT, AGES, Ledger(epsilon=1.0))


def test_a_damaged_result_is_refused_and_not_drawn_again(ledger: Ledger) -> None:
    kept = publish_once(COUNT, AGES, ledger)
    kept.path.write_text(kept.path.read_text().replace('"count"', '"sum"', 1))
    with pytest.raises(FormatError, match=r"^count-\w+\.json: .*changed or damaged.* Restore it from a copy"):
        publish_once(COUNT, AGES, ledger)
    assert ledger.spent.epsilon == 0.25


def test_several_statistics_and_a_guide_are_kept_as_they_were_drawn(ledger: Ledger) -> None:
    both = Release({"people": Count(epsilon=0.1), "fares": Sum("fare", bounds=(0, 9), epsilon=0.1)})
    table = {"fare": [1, 2, 3], "rider": [1, 1, 2]}
    kept = [publish_once(both, {"fare": table["fare"]}, ledger) for _ in range(2)]
    assert [list(item.result) for item in kept] == [["people", "fares"]] * 2
    people = Ledger.open(Path(str(ledger.path)).with_name("riders.ledger"), 1.0, neighbours="person-add-remove")
    guide = LimitsGuide(Count(epsilon=1.0), "rider", most=3)
    first, second = (publish_once(guide, table, people) for _ in range(2))
    assert isinstance(first, Kept)
    assert first.result.to_json() == second.result.to_json()
    assert people.spent.epsilon == 0.1
