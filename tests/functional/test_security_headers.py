"""The score of the sign-in page by the rules of MDN's HTTP Observatory (charts.js of its 1.4.8)."""

from typing import Any

from bs4 import BeautifulSoup

from tests.site import Site

# Rules that need a look at the wire (redirect from http, certificate) are held by test_behind_nginx.py.
BONUS_FROM = 90
A_PLUS = 100


def directives(policy: str) -> dict[str, set[str]]:
    return {name: set(values) for name, *values in (part.split() for part in policy.split(";"))}


def penalties(answer: Any) -> dict[str, int]:
    """Return what is taken from the 100 points that everybody starts with."""
    policy, cookie = directives(answer.headers["Content-Security-Policy"]), answer.headers["Set-Cookie"]
    scripts = policy.get("script-src", policy["default-src"])
    page = BeautifulSoup(answer.text, "html.parser")
    foreign = [tag["src"] for tag in page.find_all("script") if "//" in tag.get("src", "")]
    seconds = int(answer.headers["Strict-Transport-Security"].split(";")[0].removeprefix("max-age="))
    return {
        "csp": 20 if {"'unsafe-inline'", "data:", "https:", "*"} & (scripts | policy["style-src"]) else 0,
        "csp eval": 10 if "'unsafe-eval'" in scripts else 0,
        "cookie without Secure": 40 if "secure" not in cookie else 0,
        "cookie without HttpOnly": 30 if "HttpOnly" not in cookie else 0,
        "cookie without SameSite": 20 if "SameSite=Lax" not in cookie else 0,
        "cors": 50 if "Access-Control-Allow-Origin" in answer.headers else 0,
        "hsts under six months": 10 if seconds < 15_768_000 else 0,
        "nosniff": 5 if answer.headers["X-Content-Type-Options"] != "nosniff" else 0,
        "framing": 20 if "frame-ancestors" not in policy else 0,
        "foreign scripts without integrity": 50 if foreign else 0,
    }


def bonuses(answer: Any) -> dict[str, int]:
    policy, cookie = directives(answer.headers["Content-Security-Policy"]), answer.headers["Set-Cookie"]
    private = ("no-referrer", "same-origin", "strict-origin", "strict-origin-when-cross-origin")
    return {
        "default-src 'none' and nothing unsafe": 10 if policy["default-src"] == {"'none'"} else 0,
        "cookies": 5 if cookie.startswith("__Host-") and "SameSite" in cookie else 0,
        "frame-ancestors": 5 if policy["frame-ancestors"] == {"'none'"} else 0,
        "referrer": 5 if answer.headers["Referrer-Policy"] in private else 0,
        "cross-origin resources": 10 if answer.headers["Cross-Origin-Resource-Policy"] == "same-origin" else 0,
    }


def test_the_sign_in_page_behind_tls_scores_over_120(whole_site: Site) -> None:
    environ = {"wsgi.url_scheme": "https", "HTTP_HOST": "localhost"}
    answer = whole_site.anonymous().app.get("/login", extra_environ=environ)

    taken, given = penalties(answer), bonuses(answer)

    assert {name: points for name, points in taken.items() if points} == {}
    score = 100 - sum(taken.values())
    score += sum(given.values()) if score >= BONUS_FROM else 0
    assert score >= A_PLUS + 20 + 1, given
    assert score == 135
