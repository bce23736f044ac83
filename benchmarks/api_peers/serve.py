"""``python -m benchmarks.api_peers.serve PORT``: serve both peers by waitress with 8 threads, as ours is served."""

import os
import sys

from django.core.wsgi import get_wsgi_application
from waitress import serve

if __name__ == "__main__":
    os.environ["DJANGO_SETTINGS_MODULE"] = "benchmarks.api_peers.settings"
    serve(get_wsgi_application(), listen=f"127.0.0.1:{sys.argv[1]}", threads=8)
