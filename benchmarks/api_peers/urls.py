"""The URLs of both peers: ``/rest/transit/`` and ``/ninja/transit/``."""

from django.urls import include, path
from rest_framework.routers import SimpleRouter

from benchmarks.api_peers.ninja_api import api
from benchmarks.api_peers.rest import TransitViewSet

router = SimpleRouter()
router.register("transit", TransitViewSet)
urlpatterns = [path("rest/", include(router.urls)), path("ninja/", api.urls)]
