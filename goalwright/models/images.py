"""Adds the bytes of the images that a request's messages refer to."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import msgspec

from goalwright_planner.model import GONE, without_images
from goalwright_planner.wrapped_model import WrappedModel

if TYPE_CHECKING:
    from goalwright_executor.files.images import RunImages
    from goalwright_planner.model import Reply, Request


@dataclass(frozen=True, slots=True)
class ImageModel(WrappedModel):
    """A model that gets a run's images; `vision` is the user's override of whether it accepts images."""

    images: RunImages
    vision: bool | None = None

    async def complete(self, request: Request) -> Reply:
        """Answer the request with its images, or with their names if the model accepts none or they are deleted."""
        images = request.images
        if not images:
            return await self.model.complete(request)
        if self.vision is False:
            return _with_unseen(await self.model.complete(without_images(request)), len(images))
        contents = await self.images.contents(images)
        missing = sum(image.sha256 not in contents for image in images)
        if missing:
            request = without_images(request, GONE, contents)
        reply = await self.model.complete(replace(request, contents=contents, vision=self.vision))
        return _with_unseen(reply, missing)


def _with_unseen(reply: Reply, count: int) -> Reply:
    return msgspec.structs.replace(reply, unseen=reply.unseen + count) if count else reply
