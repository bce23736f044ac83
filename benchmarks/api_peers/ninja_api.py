"""The API of django-ninja: functions with schemas, cursor pages, a bearer token and ETags."""

from typing import Any

from django.db.models import QuerySet
from django.http import HttpResponse
from django.shortcuts import get_object_or_404
from django.utils.cache import get_conditional_response
from ninja import FilterSchema, ModelSchema, NinjaAPI, Query
from ninja.pagination import CursorPagination, paginate
from ninja.security import HttpBearer
from rest_framework.authtoken.models import Token

from benchmarks.api_peers.models import Airport, Transit

LIVE = Transit.objects.filter(deleted_at=None)
READ_ONLY = ["id", "airport_code", "airport_name", "verified_at", "verified_by", "created_at", "updated_at", "version"]


class TokenAuth(HttpBearer):
    """The tokens of the other peer's table, with their users."""

    def authenticate(self, request: Any, token: str) -> Any:
        found = Token.objects.select_related("user").filter(key=token, user__is_active=True).first()
        return found and found.user


class TransitOut(ModelSchema):
    """A record as it is read."""

    class Meta:
        model = Transit
        exclude = ("deleted_at",)


class TransitIn(ModelSchema):
    """A record as it is sent."""

    class Meta:
        model = Transit
        exclude = (*READ_ONLY, "deleted_at")


class Filters(FilterSchema):
    """The filters of the lists."""

    status: str | None = None
    airport_code: str | None = None
    company_name: str | None = None


api = NinjaAPI(auth=TokenAuth())


@api.get("/transit/", response=list[TransitOut])
@paginate(CursorPagination, ordering=("-id",), page_size=100, max_page_size=1_000)
def show(request: Any, filters: Query[Filters]) -> QuerySet[Transit]:
    return filters.filter(LIVE)


@api.get("/transit/by-company", response=list[TransitOut])
@paginate(CursorPagination, ordering=("company_name", "id"), page_size=100, max_page_size=1_000)
def show_by_company(request: Any, filters: Query[Filters]) -> QuerySet[Transit]:
    return filters.filter(LIVE)


@api.get("/transit/{int:record_id}/", response=TransitOut)
def read(request: Any, response: HttpResponse, record_id: int) -> Any:
    record = get_object_or_404(LIVE, id=record_id)
    if not_modified := get_conditional_response(request, etag=record.etag):
        return not_modified
    response["ETag"] = record.etag
    return record


@api.post("/transit/", response={201: TransitOut})
def create(request: Any, sent: TransitIn) -> Any:
    values = sent.dict()
    airport = get_object_or_404(Airport, id=values.pop("airport"))
    record = Transit(airport=airport, airport_code=airport.code, airport_name=airport.airport_name, **values)
    record.save(force_insert=True)
    return 201, record
