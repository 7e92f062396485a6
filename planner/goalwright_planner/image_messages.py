"""Requests for models that cannot see: they are told of each image what it is, in its place."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from collections.abc import Container

    from goalwright_planner.model import Message, Request

BLIND = "You cannot see images. Not shown here:"
GONE = "Not shown here, since they are neither on this machine nor on record:"


def without_images(request: Request, why: str = BLIND, shown: Container[str] = ()) -> Request:
    """The request with lines in place of its images, except for those that are `shown`, by their hashes."""
    messages = tuple(_told(message, why, shown) for message in request.messages)
    return replace(request, messages=messages, contents=dict(request.contents) if shown else {})


def _told(message: Message, why: str, shown: Container[str]) -> Message:
    hidden = [image for image in message.images if image.sha256 not in shown]
    if not hidden:
        return message
    kept = tuple(image for image in message.images if image.sha256 in shown)
    lines = [f"[{why}", *(f"- {image}" for image in hidden)]
    content = "\n".join([message.content, "", *lines]).lstrip("\n") + "]"
    return msgspec.structs.replace(message, content=content, images=kept)
