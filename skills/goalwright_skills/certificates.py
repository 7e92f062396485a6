"""Which certificates HTTPS connections trust; read once in a process, since that takes longer than most requests."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import ssl


@cache
def trusted(*, by_environment: bool = True) -> ssl.SSLContext:
    """Those that httpx trusts; with `by_environment`, SSL_CERT_FILE and SSL_CERT_DIR may name others."""
    import httpx

    return httpx.create_ssl_context(trust_env=by_environment)


@cache
def none() -> ssl.SSLContext:
    """None, for plain HTTP."""
    import ssl

    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
