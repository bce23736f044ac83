"""A clock that tests set, an authenticator app, and users with a second factor."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pyotp
import pytest
from sqlalchemy import select

from groundtransport import db
from groundtransport.accounts import secondfactor, users
from groundtransport.accounts.secondfactor import recovery, totp
from groundtransport.accounts.secondfactor.models import SecondFactor
from tests.functional.people import sign_in
from tests.site import Client, Site


class Clock:
    """The time that codes are made and checked by."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.at = datetime(2026, 11, 20, 12, 0, 10, tzinfo=UTC)
        patch.setattr(totp, "now", lambda: self.at)
        patch.setattr(recovery, "COST", {"time_cost": 1, "memory_cost": 8, "parallelism": 1})

    def tick(self, seconds: int = 30) -> None:
        self.at += timedelta(seconds=seconds)


class App:
    """The app on a person's phone; its clock may be wrong by ``skew`` seconds."""

    def __init__(self, clock: Clock, secret: str) -> None:
        self.clock, self.generator = clock, pyotp.TOTP(secret)

    def code(self, skew: int = 0) -> str:
        return self.generator.at(self.clock.at + timedelta(seconds=skew))


def give_factor(site: Site, clock: Clock, name: str = "pat") -> tuple[App, list[str]]:
    """Set up a second factor; return the app, at a code that was not used yet, and the recovery codes."""
    secrets = site.registry["settings"].secrets
    with db.transaction(site.engine) as dbsession:
        user = users.find(dbsession, name)
        secondfactor.begin(dbsession, secrets, user.id)
        app = App(clock, secondfactor.pending_secret(dbsession, secrets, user.id))
        codes = secondfactor.confirm(dbsession, secrets, user, app.code())
    clock.tick()
    return app, codes


def factor_of(site: Site, name: str = "pat") -> Any:
    with db.transaction(site.engine) as dbsession:
        user = users.find(dbsession, name)
        result = dbsession.scalar(select(SecondFactor).where(SecondFactor.user_id == user.id))
        if result:
            dbsession.expunge(result)
        return result


def type_code(client: Client, code: str, target: str = "", **headers: str) -> Any:
    return client.post("/login?step=code", {"code": code, "next": target}, **headers)


def sign_in_wholly(client: Client, code: str, **more: str) -> Any:
    answer = sign_in(client, **more)
    assert "step=code" in answer.location
    return type_code(client, code)
