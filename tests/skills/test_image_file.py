"""Images are told by their bytes, measured by their headers, and never decoded."""

from __future__ import annotations

import hashlib

import pytest

from goalwright_skills.image_file import MOST_BYTES, MOST_IMAGES, Image, UnfitImage, fitting, read, type_of
from tests.image_bytes import bomb, gif, jpeg, png, webp

KINDS = {
    "image/png": png(640, 480),
    "image/jpeg": jpeg(640, 480),
    "image/gif": gif(640, 480),
    "image/webp": webp(b"VP8 ", 640, 480),
}


@pytest.mark.parametrize("kind", KINDS)
def test_an_image_is_recognised_by_its_bytes(kind: str) -> None:
    data = KINDS[kind]
    image = read(data, "notes.txt")
    assert (image.type, image.width, image.height, image.bytes) == (kind, 640, 480, len(data))
    assert image.sha256 == hashlib.sha256(data).hexdigest()
    assert str(image) == f"notes.txt ({kind}, 640 × 480 pixels, {len(data):,} bytes)"


@pytest.mark.parametrize("kind", [b"VP8 ", b"VP8L", b"VP8X"])
def test_all_three_forms_of_webp_are_measured(kind: bytes) -> None:
    image = read(webp(kind, 1200, 800), "a.webp")
    assert (image.width, image.height) == (1200, 800)


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"<html><script>alert(1)</script></html>", "not a PNG, JPEG, GIF or WebP"),
        (b'<svg xmlns="http://www.w3.org/2000/svg"/>', "not a PNG, JPEG, GIF or WebP"),
        (b"", "not a PNG, JPEG, GIF or WebP"),
        (b"BM" + bytes(100), "not a PNG, JPEG, GIF or WebP"),
        (bomb(60_000, 60_000), "60,000 × 60,000 pixels, and models accept at most 8,000"),
        (bomb(2**32 - 1, 1), "4,294,967,295 × 1 pixels"),
        (bomb(0, 0), "0 × 0 pixels"),
        (png()[:20], "header is broken"),
        (png()[:-12], "cut off"),
        (b"\x89PNG\r\n\x1a\n" + bytes(40) + b"IEND", "header is broken"),
        (jpeg()[:-2], "cut off"),
        (b"\xff\xd8\xff" + b"\xff" * 200, "header is broken"),
        (b"\xff\xd8" + b"\xff\xe1\0\2" * 3000 + b"\xff\xd9", "header is broken"),
        (gif()[:12], "cut off"),
        (webp(b"VP8X")[:24], "header is broken"),
        (b"RIFF\xff\xff\0\0WEBPVP8X" + bytes(20), "cut off"),
        (png() + bytes(MOST_BYTES), "bytes, and models accept at most 3,932,160; scale it down"),
    ],
)
def test_unsupported_images_are_refused_with_the_reason(data: bytes, why: str) -> None:
    with pytest.raises(UnfitImage, match=why):
        read(data, "chart.png")


def test_a_call_has_at_most_twenty_distinct_images() -> None:
    images = [Image(f"{n}.png", "image/png", f"{n:064}", 1000, 8, 8) for n in range(MOST_IMAGES + 2)]
    taken, left = fitting([images[0], *images])
    assert taken == images[:MOST_IMAGES]
    assert left == images[MOST_IMAGES:]
    assert fitting(images[:2], before=images[:1]) == ([images[1]], [])
    heavy = [Image(f"{n}.png", "image/png", f"{n:064}", 3_900_000, 8, 8) for n in range(5)]
    assert len(fitting(heavy)[0]) == 3


def test_text_that_starts_like_an_image_is_refused() -> None:
    assert type_of(b"GIF is a format") is None
    assert type_of(b"RIFF    WAVE") is None
