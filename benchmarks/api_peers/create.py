"""``python -m benchmarks.api_peers.create``: make the tables of the peers and a user; print the user's token."""

import os

import django
from django.core.management import call_command


def main() -> None:
    os.environ["DJANGO_SETTINGS_MODULE"] = "benchmarks.api_peers.settings"
    django.setup()
    call_command("migrate", run_syncdb=True, verbosity=0)
    from django.contrib.auth.models import User
    from rest_framework.authtoken.models import Token

    user, _is_new = User.objects.get_or_create(username="bench", defaults={"is_staff": True})
    print(Token.objects.get_or_create(user=user)[0].key)


if __name__ == "__main__":
    main()
