"""Which certificates connections trust."""

from __future__ import annotations

import ssl
from typing import TYPE_CHECKING

import pytest

from goalwright_skills import certificates

if TYPE_CHECKING:
    from pathlib import Path


def test_certificates_are_read_once() -> None:
    context = certificates.trusted()
    assert certificates.trusted() is context
    assert context.cert_store_stats()["x509_ca"] > 0
    assert context.verify_mode == ssl.CERT_REQUIRED


def test_the_context_for_plain_http_trusts_no_certificate() -> None:
    context = certificates.none()
    assert context.cert_store_stats()["x509_ca"] == 0
    assert (context.verify_mode, context.check_hostname) == (ssl.CERT_REQUIRED, True)


def test_the_environment_may_name_other_certificates(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "missing.pem"))
    certificates.trusted.cache_clear()
    try:
        with pytest.raises(OSError, match="No such file"):
            certificates.trusted()
        assert certificates.trusted(by_environment=False).cert_store_stats()["x509_ca"] > 0
    finally:
        certificates.trusted.cache_clear()
