"""Adds tokens to requests: in a run the stored tokens, refreshed if needed; in a login new ones."""

from __future__ import annotations

import shlex
import time
from typing import TYPE_CHECKING, Any

import httpx2
from mcp.client.auth import OAuthClientProvider, OAuthFlowError
from mcp.client.auth.utils import extract_field_from_www_auth
from mcp.shared.auth import (
    OAuthClientInformationFull,
    OAuthClientMetadata,
    OAuthMetadata,
    OAuthToken,
    ProtectedResourceMetadata,
)
from pydantic import AnyUrl, ValidationError

from goalwright_skills.file_lock import hold_async
from goalwright_skills.mcp.authorisation.tokens import LoginNeeded

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from goalwright_skills.mcp.authorisation.callback import Callback
    from goalwright_skills.mcp.authorisation.tokens import TokenFile
    from goalwright_skills.mcp.entry import ServerLaunch

_CHALLENGE_LIMIT = 4_096


class _Storage:
    """The token file as storage for the package; a client in the entry takes precedence over a registered one."""

    def __init__(self, file: TokenFile, launch: ServerLaunch, redirect: str) -> None:
        self.file, self._launch, self._redirect = file, launch, redirect

    async def get_tokens(self) -> OAuthToken | None:
        tokens: OAuthToken | None = _parse(OAuthToken, self.file.load().get("tokens"))
        return tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        expires = time.time() + tokens.expires_in if tokens.expires_in else None
        self.file.save(tokens=tokens.model_dump(mode="json", exclude_none=True), expires=expires, needed=None)

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        stored = self.file.load()
        client: OAuthClientInformationFull | None = _parse(OAuthClientInformationFull, stored.get("client"))
        configured = self._launch.oauth
        if configured.client_id:
            is_same = client is not None and client.client_id == configured.client_id
            return OAuthClientInformationFull(
                client_id=configured.client_id,
                client_secret=configured.client_secret or None,
                redirect_uris=[AnyUrl(self._redirect)] if self._redirect else None,
                token_endpoint_auth_method=None if configured.client_secret else "none",
                issuer=client.issuer if is_same and client is not None else None,
            )
        if client is not None and stored.get("redirect") not in (None, self._redirect) and self._redirect:
            return None  # it was registered for another loopback address
        return client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.file.save(client=client_info.model_dump(mode="json", exclude_none=True), redirect=self._redirect)


def _parse(kind: Any, value: Any) -> Any:
    try:
        return kind.model_validate(value) if value is not None else None
    except ValidationError:
        return None


def _metadata(launch: ServerLaunch, redirect: str) -> OAuthClientMetadata:
    return OAuthClientMetadata(
        redirect_uris=[AnyUrl(redirect)],
        client_name="goalwright",
        software_id="goalwright",
        scope=launch.oauth.scope or None,
    )


class StoredLogin(OAuthClientProvider):
    """Uses the stored login; if it does not suffice, the challenge is saved and the request fails with LoginNeeded."""

    def __init__(self, launch: ServerLaunch, file: TokenFile) -> None:
        super().__init__(launch.url, _metadata(launch, "http://127.0.0.1/callback"), _Storage(file, launch, ""))
        self.fault: LoginNeeded | None = None
        self._launch, self._file = launch, file

    async def _initialize(self) -> None:
        """Load the login with its metadata; without it the package would guess where tokens are refreshed."""
        await super()._initialize()
        stored = self._file.load()
        self.context.token_expiry_time = stored.get("expires")
        self.context.oauth_metadata = _parse(OAuthMetadata, stored.get("metadata"))
        self.context.protected_resource_metadata = _parse(ProtectedResourceMetadata, stored.get("resource"))

    async def _auth_flow(self, request: httpx2.Request) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
        async with self.context.lock:
            if not self._initialized:
                await self._initialize()
        sent = self._sign(request)
        response = None
        if sent or not self._can_refresh:
            response = yield request
        if response is None or (response.status_code == 401 and sent and self._can_refresh):
            # One refresh at a time across processes, because a refresh token can be used only once.
            async with self.context.lock, hold_async(self._file.path.with_suffix(".lock")):
                await self._initialize()
                if self._token == sent or not self.context.is_token_valid():
                    refreshed = yield await self._refresh_token()
                    await self._handle_refresh_response(refreshed)
            self._sign(request)
            response = yield request
        self._check(response)

    @property
    def _token(self) -> str:
        return self.context.current_tokens.access_token if self.context.current_tokens else ""

    @property
    def _can_refresh(self) -> bool:
        return self.context.can_refresh_token() and self.context.oauth_metadata is not None

    def _sign(self, request: httpx2.Request) -> str:
        """Add the token to the request, if it is valid, and return it; otherwise return an empty string."""
        if not self.context.is_token_valid():
            return ""
        self._add_auth_header(request)
        return self._token

    def _check(self, response: httpx2.Response) -> None:
        """Save a challenge for the next login and raise LoginNeeded."""
        step_up = response.status_code == 403 and extract_field_from_www_auth(response, "error") == "insufficient_scope"
        if response.status_code != 401 and not step_up:
            return
        challenge = response.headers.get("www-authenticate", "")[:_CHALLENGE_LIMIT]
        self._file.save(needed={"status": response.status_code, "challenge": challenge})
        name = self._launch.name
        message = f"the MCP server {name!r} requires {'another login, with more rights' if step_up else 'a login'}"
        self.fault = LoginNeeded(message, hint=f"log in with: goalwright mcp login {shlex.quote(name)}")
        raise self.fault


class FreshLogin(OAuthClientProvider):
    """Logs in anew; answers the stored challenge of the server, if there is one."""

    def __init__(self, launch: ServerLaunch, file: TokenFile, callback: Callback, open_page: Any) -> None:
        self._file, self._callback, self._launch = file, callback, launch
        needed = file.load().get("needed")
        self._challenge: dict[str, Any] | None = needed if isinstance(needed, dict) else None
        self.logged_in = False
        self.fault: Exception | None = None

        async def open_url(url: str) -> None:
            await open_page(url)

        super().__init__(
            launch.url,
            _metadata(launch, callback.address),
            _Storage(file, launch, callback.address),
            redirect_handler=open_url,
            callback_handler=self._answer,
            client_metadata_url=launch.oauth.client_metadata_url or None,
        )

    async def _initialize(self) -> None:
        """Discard the old tokens, unless only their scope is too small."""
        await super()._initialize()
        if self._challenge is None or self._challenge.get("status") != 403:
            self.context.clear_tokens()

    async def _auth_flow(self, request: httpx2.Request) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
        flow = super()._auth_flow(request)
        try:
            outgoing = await flow.__anext__()
            while True:
                if outgoing is request and self._challenge is not None:
                    response = _challenge_response(request, self._challenge)
                    self._challenge = None
                else:
                    response = yield outgoing
                outgoing = await flow.asend(response)
        except StopAsyncIteration:
            return
        except Exception as error:
            self.fault = self.fault or error  # other code may replace it on the way up
            raise
        finally:
            await flow.aclose()

    async def _perform_authorization(self) -> httpx2.Request:
        client, metadata = self.context.client_info, self.context.oauth_metadata
        if metadata is None and self.context.protected_resource_metadata is not None:
            raise OAuthFlowError(
                "its authorisation server has no metadata with the URLs of a login"
            )  # the package would guess
        if client is not None and client.client_secret and client.token_endpoint_auth_method is None:
            methods = (metadata.token_endpoint_auth_methods_supported if metadata else None) or ["client_secret_basic"]
            client.token_endpoint_auth_method = next(
                (name for name in ("client_secret_basic", "client_secret_post") if name in methods), "none"
            )
        return await super()._perform_authorization()

    async def _answer(self) -> Any:
        from mcp.shared.auth import AuthorizationCodeResult

        answer = await self._callback.answer()
        return AuthorizationCodeResult(code=answer.get("code", ""), state=answer.get("state"), iss=answer.get("iss"))

    async def _handle_token_response(self, response: httpx2.Response) -> None:
        await super()._handle_token_response(response)
        context, client = self.context, self.context.client_info
        if client is not None and client.issuer is None and context.oauth_metadata is not None:
            client.issuer = str(context.oauth_metadata.issuer)  # binds a client from the entry to this server
        self._file.save(
            metadata=_dump(context.oauth_metadata),
            resource=_dump(context.protected_resource_metadata),
            client=_dump(client),
            redirect=self._callback.address,
        )
        self.logged_in = True


def _dump(value: Any) -> Any:
    return value.model_dump(mode="json", exclude_none=True) if value is not None else None


def _challenge_response(request: httpx2.Request, challenge: dict[str, Any]) -> httpx2.Response:
    headers = {"www-authenticate": str(challenge.get("challenge") or "Bearer")}
    return httpx2.Response(403 if challenge.get("status") == 403 else 401, headers=headers, request=request)
