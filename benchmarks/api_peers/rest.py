"""The API of Django REST framework: a model viewset with filters, cursor pages, tokens and ETags."""

from typing import Any, ClassVar

from django.utils.cache import get_conditional_response
from django_filters.rest_framework import DjangoFilterBackend
from rest_framework.filters import OrderingFilter
from rest_framework.pagination import CursorPagination
from rest_framework.response import Response
from rest_framework.serializers import ModelSerializer
from rest_framework.viewsets import ModelViewSet

from benchmarks.api_peers.models import Transit


class Pages(CursorPagination):
    """Pages of 100, newest first unless ``ordering`` names other columns."""

    page_size, max_page_size, page_size_query_param, ordering = 100, 1_000, "limit", "-id"


class TransitSerializer(ModelSerializer):
    """All columns but the mark of deletion; code and name of the airport are those of ``airport``."""

    class Meta:
        model = Transit
        exclude = ("deleted_at",)
        read_only_fields = ("airport_code", "airport_name")

    def create(self, validated_data: dict[str, Any]) -> Transit:
        airport = validated_data["airport"]
        names = {"airport_code": airport.code, "airport_name": airport.airport_name}
        return super().create({**validated_data, **names})


class TransitViewSet(ModelViewSet):
    """Transit services that are not deleted."""

    queryset = Transit.objects.filter(deleted_at=None)
    serializer_class = TransitSerializer
    pagination_class = Pages
    filter_backends: ClassVar = [DjangoFilterBackend, OrderingFilter]
    filterset_fields = ("status", "airport_code", "company_name")
    ordering_fields = ("id", "company_name")

    def retrieve(self, request: Any, *args: Any, **options: Any) -> Any:
        """Read one record; 304 before it is serialised if the client has its version."""
        record = self.get_object()
        if not_modified := get_conditional_response(request, etag=record.etag):
            return not_modified
        return Response(self.get_serializer(record).data, headers={"ETag": record.etag})
