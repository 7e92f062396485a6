"""The static files: bundles that browsers cache; and every handler in the table of routes exists."""

from __future__ import annotations

import importlib
import pkgutil
import re
from typing import TYPE_CHECKING

import goalwright
import goalwright_executor
import goalwright_skills
from goalwright.interfaces.web import errors
from goalwright.interfaces.web.app import ROUTES, load
from goalwright_skills.errors import GoalwrightError
from tests.goalwright.interfaces.web.served import PORT, client, make_site

if TYPE_CHECKING:
    from pathlib import Path


async def test_a_view_is_bundled_into_cacheable_files(
    workspace: Path,
) -> None:
    site = make_site(workspace)
    async with client(site) as asked:
        asked.base_url = f"http://127.0.0.1:{PORT}"
        view = await asked.get("/runs/any?task=x")
        assert view.headers["cache-control"] == "no-cache"
        named = re.findall(r'(?:src|href)="/((?:frame|app)-[0-9a-f]{16}\.(?:js|css))"', view.text)
        assert [re.sub("-.*[.]", ".", name) for name in named] == ["frame.css", "app.js", "app.css"]
        assert view.text.index("<nav") < view.text.index(named[2])  # the frame does not wait for it
        (first,) = re.findall(r'<script src="/(first-[0-9a-f]{16}\.js)"', view.text)
        awaited = [await asked.get(f"/{name}", headers={"accept-encoding": "gzip"}) for name in ("", named[0], first)]
        assert sum(int(one.headers["content-length"]) for one in awaited) < 6_000  # 0.1 s of a slow line
        assert 'type="module"' not in view.text
        script = (await asked.get(f"/{named[1]}")).text
        (later,) = re.findall(r'import\("/(other_views-[0-9a-f]{16}\.js)"\)', script)
        assert "export const { otherView }" in (await asked.get(f"/{later}")).text
        for name in (*named, later):
            file = await asked.get(f"/{name}")
            assert "immutable" in file.headers["cache-control"]
            again = await asked.get(f"/{name}", headers={"if-none-match": file.headers["etag"]})
            assert again.status_code == 304
        modules = await asked.get("/index.html")
        assert 'type="module" src="/app.js"' in modules.text
        assert (await asked.get("/graph/layout.js")).headers["cache-control"] == "no-cache"
        for name in ("app-0123456789abcdef.js", "../app.py", "..%2fapp.py", "vendor/../../app.py"):
            assert (await asked.get(f"/{name}")).status_code == 404
    await site.close()


async def test_files_and_long_responses_are_compressed_if_accepted(workspace: Path) -> None:
    skills = workspace / "skills"
    for number in range(30):
        (skills / f"skill-{number}").mkdir(parents=True)
        text = f"---\nname: skill-{number}\ndescription: Do the work of kind {number} for a team.\n---\nDo it.\n"
        (skills / f"skill-{number}" / "SKILL.md").write_text(text, encoding="utf-8")
    site = make_site(workspace)
    async with client(site) as asked:
        for path in ("/skills", "/about"):
            plain = await asked.get(path, headers={"accept-encoding": "identity"})
            refused = await asked.get(path, headers={"accept-encoding": "gzip;q=0, br"})
            packed = await asked.get(path, headers={"accept-encoding": "br, gzip"})
            assert plain.json() == packed.json() == refused.json()
            assert "content-encoding" not in plain.headers
            assert "content-encoding" not in refused.headers
            assert packed.headers.get("content-encoding") == ("gzip" if len(plain.content) >= 2000 else None)
        assert len((await asked.get("/skills")).content) > 2000
        asked.base_url = f"http://127.0.0.1:{PORT}"
        view = await asked.get("/runs", headers={"accept-encoding": "gzip"})
        script = re.findall(r'src="/(app-[0-9a-f]{16}\.js)"', view.text)[0]
        assert view.headers["content-encoding"] == "gzip"
        packed = await asked.get(f"/{script}", headers={"accept-encoding": "gzip"})
        plain = await asked.get(f"/{script}", headers={"accept-encoding": "identity"})
        assert packed.content == plain.content
        assert int(packed.headers["content-length"]) < len(plain.content) / 3
        assert packed.headers["vary"] == "accept-encoding"
    await site.close()


def test_every_route_names_a_function_and_every_status_an_error() -> None:
    for one in ROUTES:
        assert callable(load(one.handler)), one
    for package in (goalwright, goalwright_skills, goalwright_executor):
        for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if found.name.rpartition(".")[2] in (
                "errors",
                "answers",
                "requests",
                "edit",
                "install",
                "trust",
                "safe_files",
            ):
                importlib.import_module(found.name)

    def below(kind: type[GoalwrightError]) -> set[str]:
        return {kind.__name__}.union(*(below(child) for child in kind.__subclasses__()))

    assert set(errors._STATUSES) <= below(GoalwrightError)
