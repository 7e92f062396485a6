"""Images in requests: content parts for models that accept images, descriptions for others."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from goalwright.models.budget import Budget, BudgetedModel
from goalwright.models.litellm import lifecycle
from goalwright.models.litellm.capabilities import Capabilities
from goalwright.models.litellm.estimates import prompt_tokens
from goalwright.models.litellm.model import LitellmModel
from goalwright.models.litellm.prices import Price
from goalwright.models.metered import MeteredModel
from goalwright_planner.errors import BudgetSpent
from goalwright_planner.model import Message, Request, image_tokens
from goalwright_skills.image_file import Image, read
from tests.image_bytes import jpeg, png
from tests.openai_server import Call, Fail, Say

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

    from tests.openai_server import OpenAIServer, Script

    Serve = Callable[[Script], OpenAIServer]

RED, PHOTO = png(640, 480), jpeg(1024, 768)
IMAGES = read(RED, "red.png"), read(PHOTO, "photo.jpg")


@pytest.fixture(autouse=True)
async def hung_up() -> AsyncIterator[None]:
    """Close connections to stopped servers."""
    yield
    await lifecycle.close()


def looking(vision: bool | None = None) -> Request:
    contents = {image.sha256: data for image, data in zip(IMAGES, (RED, PHOTO), strict=True)}
    return Request((Message("user", "What is this?", images=IMAGES),), contents=contents, vision=vision)


async def test_vision_model_gets_each_image_after_its_name(serve: Serve) -> None:
    server = serve(lambda _: Say("Red."))
    reply = await LitellmModel("openai/gpt-4o").complete(looking())
    assert (reply.text, reply.unseen) == ("Red.", 0)
    (call,) = server.calls
    parts = call.body["messages"][0]["content"]
    assert [part["type"] for part in parts] == ["text", "text", "image_url", "text", "image_url"]
    assert [part["text"] for part in parts if part["type"] == "text"] == ["What is this?", "red.png:", "photo.jpg:"]
    assert call.images == [("image/png", RED), ("image/jpeg", PHOTO)]


@pytest.mark.parametrize(
    ("model", "vision"), [("openai/gpt-3.5-turbo", None), ("openai/nobody-knows-it", None), ("openai/gpt-4o", False)]
)
async def test_model_without_vision_gets_a_description_of_images(serve: Serve, model: str, vision: bool | None) -> None:
    server = serve(lambda _: Say("I cannot see it."))
    reply = await LitellmModel(model).complete(looking(vision))
    assert reply.unseen == 2
    (call,) = server.calls
    assert not call.images
    assert call.body["messages"][0]["content"] == (
        "What is this?\n\n[You cannot see images. Not shown here:\n"
        f"- red.png (image/png, 640 × 480 pixels, {len(RED):,} bytes)\n"
        f"- photo.jpg (image/jpeg, 1,024 × 768 pixels, {len(PHOTO)} bytes)]"
    )


async def test_vision_override_applies_to_unlisted_models(serve: Serve) -> None:
    server = serve(lambda _: Say("Red."))
    reply = await LitellmModel("openai/nobody-knows-it").complete(looking(vision=True))
    assert (reply.unseen, len(server.calls[0].images)) == (0, 2)


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (400, "Invalid content type. image_url is only supported by certain models."),
        (400, "mine is not a multimodal model"),
        (400, "At most 0 image(s) may be provided in one request."),
        (400, "unknown variant `image_url`, expected `text`"),
        (404, "No endpoints found that support image input"),
        (500, "image input is not supported - hint: if this is unexpected, you may need to provide the mmproj"),
    ],
)
async def test_refused_images_are_replaced_by_text_and_remembered(
    serve: Serve, tmp_path: Path, status: int, said: str
) -> None:
    server = serve(lambda call: Fail(status, said) if call.images else Say("Words will do."))
    file = tmp_path / "capabilities.json"
    first = await LitellmModel("openai/gpt-4o", capabilities=Capabilities(file)).complete(looking())
    assert (first.text, first.unseen) == ("Words will do.", 2)
    again = await LitellmModel("openai/gpt-4o", capabilities=Capabilities(file)).complete(looking())
    assert again.unseen == 2
    assert [bool(call.images) for call in server.calls] == [True, False, False]


async def test_bad_image_does_not_disable_images_for_the_model(serve: Serve, tmp_path: Path) -> None:
    def script(_: Call) -> Fail:
        return Fail(400, "You uploaded an unsupported image. Please make sure your image is valid: image format")

    serve(script)
    capabilities = Capabilities(tmp_path / "capabilities.json")
    with pytest.raises(Exception, match="unsupported image"):
        await LitellmModel("openai/gpt-4o", capabilities=capabilities).complete(looking())
    assert not (tmp_path / "capabilities.json").exists()


def test_image_tokens_are_the_highest_of_all_providers() -> None:
    def image(width: int, height: int) -> Image:
        return Image("a", "image/png", "0", 1, width, height)

    assert image_tokens(image(1, 1)) == 258
    assert image_tokens(image(512, 512)) == 350
    assert image_tokens(image(1024, 1024)) == 1399
    assert image_tokens(image(8000, 8000)) == 258 * 121
    bare = Request((Message("user", "What is this?"),))
    assert prompt_tokens(looking()) - prompt_tokens(bare) == sum(map(image_tokens, IMAGES))


async def test_budget_reserves_image_tokens_before_the_call(serve: Serve) -> None:
    server = serve(lambda _: Say("Red."))
    budget = Budget(max_tokens=600, price_of=lambda _: Price(1e-6, 1e-6, 100))
    model = BudgetedModel(MeteredModel(LitellmModel("openai/gpt-4o")), budget, lambda _: None)
    with pytest.raises(BudgetSpent):
        await model.complete(looking())
    assert not server.calls
