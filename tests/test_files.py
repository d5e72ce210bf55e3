"""Files: whole or not at all."""

from __future__ import annotations

import errno
import os

import pytest

from privacyfunnel.errors import DataUnavailable, InvalidInput
from privacyfunnel.files import atomic_path, in_words, write_text


def names(folder):
    return sorted(p.name for p in folder.iterdir())


def test_nothing_is_seen_under_the_name_until_it_is_whole(tmp_path):
    with atomic_path(tmp_path / "a.txt") as part:
        part.write_text("half")
        assert not (tmp_path / "a.txt").exists()
        assert part.parent == tmp_path
        assert part.name.startswith(".")
    assert (tmp_path / "a.txt").read_text() == "half"
    assert names(tmp_path) == ["a.txt"]


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt, SystemExit, InvalidInput])
def test_any_error_removes_what_was_begun(error, tmp_path):
    def begin():
        with atomic_path(tmp_path / "a.txt", force=True) as part:
            part.write_text("half")
            raise error("stop")

    (tmp_path / "a.txt").write_text("old")
    with pytest.raises(error):
        begin()
    assert names(tmp_path) == ["a.txt"]
    assert (tmp_path / "a.txt").read_text() == "old"


def test_an_existing_target_needs_force(tmp_path):
    write_text(tmp_path / "a.txt", "one")
    with pytest.raises(InvalidInput, match="force=True"):
        write_text(tmp_path / "a.txt", "two")
    write_text(tmp_path / "a.txt", "two", force=True)
    assert (tmp_path / "a.txt").read_text() == "two"


def test_a_target_that_appears_meanwhile_is_kept(tmp_path):
    def race():
        with atomic_path(tmp_path / "a.txt") as part:
            part.write_text("ours")
            (tmp_path / "a.txt").write_text("theirs")

    with pytest.raises(InvalidInput, match="exists"):
        race()
    assert (tmp_path / "a.txt").read_text() == "theirs"
    assert names(tmp_path) == ["a.txt"]


def test_folders_are_moved_and_replaced_too(tmp_path):
    for content in ("one", "two"):
        with atomic_path(tmp_path / "out", force=content == "two") as part:
            part.mkdir()
            (part / f"{content}.txt").write_text(content)
    assert names(tmp_path) == ["out"]
    assert names(tmp_path / "out") == ["two.txt"]


def test_a_dangling_link_counts_as_a_target(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    with pytest.raises(InvalidInput, match="exists"):
        write_text(tmp_path / "link", "text")


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (errno.ENOSPC, "the disk is full"),
        (errno.EACCES, "no permission"),
        (errno.EROFS, "read-only"),
        (errno.EIO, "input/output error"),
    ],
)
def test_the_system_s_complaints_are_one_line(number, words, tmp_path):
    def fail():
        with atomic_path(tmp_path / "a.txt"):
            raise OSError(number, os.strerror(number))

    with pytest.raises(DataUnavailable, match=words) as info:
        fail()
    assert str(tmp_path / "a.txt") in str(info.value)
    assert "\n" not in str(info.value)
    assert names(tmp_path) == []


def test_folders_that_cannot_be_written_to(tmp_path, monkeypatch):
    with pytest.raises(DataUnavailable, match="there is no folder"):
        write_text(tmp_path / "none" / "a.txt", "text")
    (tmp_path / "file").write_text("")
    with pytest.raises(DataUnavailable):
        write_text(tmp_path / "file" / "a.txt", "text")
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(DataUnavailable, match="no permission"):
        write_text(tmp_path / "a.txt", "text")


def test_words_for_an_error_without_a_number():
    assert in_words(OSError("Something broke.\nDetails")) == "something broke"
