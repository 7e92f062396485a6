"""Images in requests to a call process, and descriptions if `vision` is off."""

from __future__ import annotations

from goalwright.models.call_process import messages
from goalwright.models.images import ImageModel
from goalwright.settings.settings import Settings
from goalwright_executor.capture.capture import Capture
from goalwright_executor.files.images import RunImages
from goalwright_planner.model import Message, Reply, Request
from goalwright_skills.image_file import read
from tests.fakes import ScriptedModel
from tests.image_bytes import png

RED, BLUE = png(), png(colour=(0, 0, 255))
IMAGES = read(RED, "red.png"), read(BLUE, "blue.png")
ASKED = Request((Message("user", "What is this?", images=IMAGES),))


def recorded(*known: bytes) -> RunImages:
    found = {read(data, "").sha256: data for data in known}
    return RunImages(lambda _: None, Capture(), find=found.get)


async def test_model_gets_the_recorded_bytes() -> None:
    model = ScriptedModel(lambda _: Reply("Red and blue"))
    reply = await ImageModel(model, recorded(RED, BLUE)).complete(ASKED)
    assert (reply.unseen, list(model.asked[0].contents.values())) == (0, [RED, BLUE])


async def test_deleted_images_are_described_and_others_shown() -> None:
    model = ScriptedModel(lambda _: Reply("Red"))
    reply = await ImageModel(model, recorded(RED)).complete(ASKED)
    (asked,) = model.asked
    assert (reply.unseen, asked.images, list(asked.contents.values())) == (1, IMAGES[:1], [RED])
    assert "neither on this machine nor on record:\n- blue.png (image/png" in asked.messages[0].content


async def test_model_without_vision_by_override_gets_no_images() -> None:
    model = ScriptedModel(lambda _: Reply("I cannot see"))
    reply = await ImageModel(model, recorded(RED, BLUE), vision=False).complete(ASKED)
    (asked,) = model.asked
    assert (reply.unseen, asked.images, asked.contents) == (2, (), {})
    assert "You cannot see images. Not shown here:\n- red.png" in asked.messages[0].content


def test_images_are_sent_to_the_call_process() -> None:
    contents = {image.sha256: data for image, data in zip(IMAGES, (RED, BLUE), strict=True)}
    sent = messages.frame(messages.ModelCall.of(1, "m", Request(ASKED.messages, contents=contents, vision=True)))
    got = messages.TO_PROCESS.decode(sent[4:])
    assert isinstance(got, messages.ModelCall)
    assert (got.request.images, got.request.contents, got.request.vision) == (IMAGES, contents, True)


def test_vision_override_by_name_wins_over_patterns() -> None:
    settings = Settings(vision={"*": True, "ollama/*": False, "ollama/llava": True})
    assert [settings.sees(name) for name in ("ollama/llava", "ollama/qwen3", "openai/x")] == [True, False, True]
    assert Settings().sees("openai/gpt-4o") is None
