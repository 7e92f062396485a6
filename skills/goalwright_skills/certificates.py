"""TLS contexts for HTTP clients, cached because loading the certificates takes longer than most requests."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import ssl


@cache
def trusted(*, by_environment: bool = True) -> ssl.SSLContext:
    """Return httpx's context; with `by_environment`, SSL_CERT_FILE and SSL_CERT_DIR may replace its certificates."""
    import httpx

    return httpx.create_ssl_context(trust_env=by_environment)


@cache
def none() -> ssl.SSLContext:
    """Return a context without certificates, for plain HTTP."""
    import ssl

    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
