"""Give a model the bytes of the images that its messages name, or tell it what it is not shown."""

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
class ShowingModel(WrappedModel):
    """A model that is shown a run's images; `vision` is the user's word on whether it can see."""

    images: RunImages
    vision: bool | None = None

    async def complete(self, request: Request) -> Reply:
        """Answer the request, with its images if the model can see and they are there."""
        images = request.images
        if not images:
            return await self.model.complete(request)
        if self.vision is False:
            return _unseen(await self.model.complete(without_images(request)), len(images))
        contents = await self.images.contents(images)
        gone = sum(image.sha256 not in contents for image in images)
        if gone:
            request = without_images(request, GONE, contents)
        reply = await self.model.complete(replace(request, contents=contents, vision=self.vision))
        return _unseen(reply, gone)


def _unseen(reply: Reply, more: int) -> Reply:
    return msgspec.structs.replace(reply, unseen=reply.unseen + more) if more else reply
