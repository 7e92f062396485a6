"""The hints that the terminal words for errors."""

from __future__ import annotations

from goalwright.interfaces.cli.hints import hint_for
from goalwright_executor.stores.errors import BadStore, LeaseLost, NoJournal, StoreFailed
from goalwright_skills.manage.git_source import UnsupportedAddress
from goalwright_skills.manage.install import Exists, SeveralSkills


def test_the_hint_for_an_unusable_journal_names_the_flag() -> None:
    for error in (
        BadStore("it is damaged", hint="name another journal", journal="/w/journal.sqlite"),
        StoreFailed("the disk is full", hint="name another journal", journal="/w/journal.sqlite"),
    ):
        assert hint_for(error) == "name another journal with --journal URL"
        assert "--" not in error.hint


def test_the_hint_for_a_missing_journal_names_the_flags() -> None:
    assert "--workspace or --journal" in hint_for(NoJournal("/w/journal.sqlite"))


def test_hints_that_need_no_other_journal_are_unchanged() -> None:
    assert hint_for(StoreFailed("it is locked", hint="wait for the other process")) == "wait for the other process"
    assert "--journal" not in hint_for(LeaseLost("another process has taken over run r", ["r"]))


def test_the_hints_for_imports_name_the_flags() -> None:
    assert "--yes" in hint_for(Exists("it exists", replaceable=True))
    assert "--all" in hint_for(SeveralSkills("there are several"))
    assert "--allow-local" in hint_for(UnsupportedAddress("file:///x"))
    assert "--allow-local" not in hint_for(UnsupportedAddress("ext::x", allow_local=True))
    assert hint_for(Exists("it exists", hint="choose another name")) == "choose another name"
