"""Settings of the peers: those of ``django-admin startproject``, with persistent connections, and WAL on SQLite.

PEERS_DATABASE is the path of an SQLite file, or the URL of a PostgreSQL database.
"""

import os
from urllib.parse import urlsplit

_URL = urlsplit(os.environ["PEERS_DATABASE"])
SECRET_KEY = "of the benchmark"  # noqa: S105 -- on loopback, for minutes
DEBUG = False
ALLOWED_HOSTS = ["127.0.0.1"]
ROOT_URLCONF = "benchmarks.api_peers.urls"
INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django_filters",
    "rest_framework",
    "rest_framework.authtoken",
    "benchmarks.api_peers",
]
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]
SQLITE = {
    "ENGINE": "django.db.backends.sqlite3",
    "NAME": _URL.path,
    "OPTIONS": {
        "transaction_mode": "IMMEDIATE",
        "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA cache_size=-65536",
    },
}
POSTGRESQL = {
    "ENGINE": "django.db.backends.postgresql",
    "NAME": _URL.path[1:],
    "USER": _URL.username or "",
    "PASSWORD": _URL.password or "",
    "HOST": _URL.hostname or "",
    "PORT": _URL.port or "",
}
DATABASES = {"default": {**(POSTGRESQL if _URL.scheme else SQLITE), "CONN_MAX_AGE": None}}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
TIME_ZONE, USE_TZ = "UTC", True
REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": ["benchmarks.api_peers.authentication.BearerAuthentication"],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["rest_framework.parsers.JSONParser"],
}
