"""Keys stored by `goalwright keys`: in a keyring or a private file; the environment overrides them."""

from __future__ import annotations

import os
import stat
import sys
from typing import TYPE_CHECKING

import pytest

from goalwright.batch.bundle.pack import pack
from goalwright.batch.goals import BatchGoal
from goalwright.models.choice import ModelChoice
from goalwright.models.litellm import keyring
from goalwright.models.litellm.keyring import Keyring
from goalwright.models.litellm.keys import KEYS
from goalwright.models.litellm.stored_keys import KeyStore, checked_provider, load
from goalwright.runs.runtime import Goalwright
from goalwright.settings.settings import Settings
from goalwright_executor.capture.secrets import Secrets
from goalwright_skills import hidden_paths
from goalwright_skills.errors import InputError, SetupError

if TYPE_CHECKING:
    from pathlib import Path

KEY = "sk-kept-0123456789abcdef"
# Does what libsecret's program does, with a file for each account; notes its arguments.
SECRET_TOOL = f"""#!{sys.executable}
import os, pathlib, sys
home = pathlib.Path(__file__).parent
(home / "arguments").open("a").write(" ".join(sys.argv[1:]) + "\\n")
if (home / "locked").exists():
    sys.exit("the keyring is locked")
kept = home / ("kept-" + sys.argv[-1])
match sys.argv[1]:
    case "store":
        assert sys.argv[-4:-1] == ["service", "goalwright", "account"], sys.argv
        kept.write_text(sys.stdin.read())
    case "lookup":
        sys.exit(1) if not kept.exists() else sys.stdout.write(kept.read_text())
    case "clear":
        kept.unlink(missing_ok=True)
"""


@pytest.fixture
def file_store(own_home: Path) -> KeyStore:
    return KeyStore(own_home / ".config" / "goalwright" / "providers.key", None)


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "bin" / "secret-tool"
    path.parent.mkdir()
    path.write_text(SECRET_TOOL, encoding="utf-8")
    path.chmod(0o755)
    return path


def test_key_is_stored_in_a_file_readable_only_by_its_owner(file_store: KeyStore) -> None:
    umask = os.umask(0)
    try:
        assert file_store.set("openai", KEY) == "file"
    finally:
        os.umask(umask)
    assert stat.S_IMODE(file_store.path.stat().st_mode) == 0o600
    assert (file_store.kept(), file_store.get("openai")) == ({"openai": "file"}, KEY)
    assert file_store.set("openai", f"{KEY}-new") == "file"
    assert file_store.get("openai") == f"{KEY}-new"
    assert file_store.remove("openai") == "file"
    assert (file_store.kept(), file_store.get("openai")) == ({}, None)
    assert KEY not in file_store.path.read_text(encoding="utf-8")
    with pytest.raises(InputError, match="no key of openai is stored"):
        file_store.remove("openai")


def test_no_tool_may_read_the_file_even_where_the_home_is_the_workspace(file_store: KeyStore, own_home: Path) -> None:
    file_store.set("openai", KEY)
    assert hidden_paths.is_hidden(own_home, file_store.path)


@pytest.mark.parametrize("mode", [0o640, 0o604])
def test_key_file_readable_by_others_is_refused(file_store: KeyStore, mode: int) -> None:
    file_store.set("openai", KEY)
    file_store.path.chmod(mode)
    with pytest.raises(SetupError, match="can be read by other users") as caught:
        file_store.get("openai")
    assert "chmod 600" in caught.value.hint


@pytest.mark.parametrize("text", ["", "{", "[]", '{"keys": 3}', '{"other": {}}', "x" * 300_000])
def test_damaged_file_is_an_error_without_its_content(file_store: KeyStore, text: str) -> None:
    file_store.path.parent.mkdir(parents=True)
    file_store.path.write_text(text, encoding="utf-8")
    file_store.path.chmod(0o600)
    with pytest.raises(SetupError, match="cannot be read") as caught:
        file_store.kept()
    assert "goalwright keys set" in caught.value.hint


def test_pipe_or_link_instead_of_the_key_file_does_not_block(file_store: KeyStore) -> None:
    file_store.path.parent.mkdir(parents=True)
    os.mkfifo(file_store.path, 0o600)
    with pytest.raises(SetupError, match="cannot be read"):
        file_store.kept()


@pytest.mark.parametrize(
    "key", ["", "short", "has a space in it", "two\nlines-of-key", 'quote"quote"quote', "k" * 4001]
)
def test_invalid_key_is_refused_and_not_shown(file_store: KeyStore, key: str) -> None:
    with pytest.raises(InputError, match="not a key") as caught:
        file_store.set("openai", key)
    assert not key or key not in str(caught.value)
    assert not file_store.path.exists()


def test_keyring_is_used_and_gets_keys_by_pipe(program: Path, monkeypatch: pytest.MonkeyPatch, own_home: Path) -> None:
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    monkeypatch.setattr(sys, "platform", "linux")
    store = KeyStore.of(os.environ)
    assert store.set("anthropic", KEY) == "keyring"
    assert (store.kept(), store.get("anthropic")) == ({"anthropic": "keyring"}, KEY)
    assert KEY not in store.path.read_text(encoding="utf-8")
    assert KEY not in (program.parent / "arguments").read_text(encoding="utf-8")
    assert store.remove("anthropic") == "keyring"
    assert not (program.parent / "kept-anthropic").exists()
    assert store.kept() == {}


def test_locked_keyring_falls_back_to_the_file(program: Path, own_home: Path) -> None:
    store = KeyStore(own_home / "providers.key", Keyring(str(program)))
    assert store.set("openai", KEY) == "keyring"
    (program.parent / "locked").touch()
    assert store.get("openai") is None
    assert store.set("openai", KEY) == "file"
    assert store.get("openai") == KEY


def test_a_program_in_the_current_folder_is_not_the_keyring(program: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(program.parent)
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("PATH", ".")
    assert keyring.find() is None


def test_environment_overrides_a_stored_key(file_store: KeyStore) -> None:
    file_store.set("gemini", KEY)
    file_store.set("openai", KEY)
    env = {"GOOGLE_API_KEY": "theirs-0123456789", "OPENAI_API_KEY": " "}
    load(env)
    assert env == {"GOOGLE_API_KEY": "theirs-0123456789", "OPENAI_API_KEY": KEY}


def test_stored_key_chooses_the_model_and_is_redacted(
    file_store: KeyStore, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    file_store.set("openai", KEY)
    try:
        assert ModelChoice(Settings()).default.model == "gpt-6.1-sol"
        assert Secrets.of(os.environ).redact(f"the key is {KEY}") == "the key is [redacted]"
        bundle = pack(Goalwright(workspace, Settings(model="openai/x")), [BatchGoal("a", 1, "Say hello")])
        assert KEY.encode() not in bundle.data
        assert b"providers.key" not in bundle.data
    finally:
        os.environ.pop("OPENAI_API_KEY", None)


def test_provider_names_ignore_case_and_are_guessed() -> None:
    assert checked_provider("OpenAI") == "openai"
    with pytest.raises(InputError, match="no key can be stored for 'opnai'") as caught:
        checked_provider("opnai")
    assert caught.value.hint == "did you mean openai?"
    assert set(KEYS) >= {"openai", "anthropic", "mistral"}
