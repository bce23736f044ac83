"""The tokens of Django REST framework, sent as ours are."""

from rest_framework.authentication import TokenAuthentication


class BearerAuthentication(TokenAuthentication):
    """``Authorization: Bearer ...``; in a module of its own, because the framework's settings import it."""

    keyword = "Bearer"
