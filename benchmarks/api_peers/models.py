"""The tables of the peers: the airports, and the transit services with the columns that our API shows."""

from typing import ClassVar

from django.db import models

STATUSES = [("active", "Active"), ("inactive", "Inactive")]


class Airport(models.Model):
    """An airport."""

    code = models.CharField(max_length=3, unique=True)
    name = models.CharField(max_length=200)

    class Meta:
        db_table = "airport"

    @property
    def airport_name(self) -> str:
        """The airport as records name it."""
        return f"{self.name} ({self.code})"


class Transit(models.Model):
    """A transit service."""

    airport = models.ForeignKey(Airport, models.PROTECT)
    airport_code = models.CharField(max_length=3)
    airport_name = models.CharField(max_length=200)
    company_name = models.CharField(max_length=200, blank=True, null=True)
    company_address = models.CharField(max_length=300, blank=True, null=True)
    company_phone1 = models.CharField(max_length=40, blank=True, null=True)
    company_phone2 = models.CharField(max_length=40, blank=True, null=True)
    company_phone3 = models.CharField(max_length=40, blank=True, null=True)
    company_link = models.URLField(max_length=2000, blank=True, null=True)
    route_name = models.CharField(max_length=200, blank=True, null=True)
    place = models.CharField(max_length=200, blank=True, null=True)
    city = models.CharField(max_length=120, blank=True, null=True)
    state = models.CharField(max_length=6, blank=True, null=True)
    zip_code = models.CharField(max_length=20, blank=True, null=True)
    description = models.TextField(max_length=5000, blank=True, null=True)
    status = models.CharField(max_length=8, blank=True, null=True, choices=STATUSES)
    source = models.CharField(max_length=100, blank=True, null=True)
    source_id = models.CharField(max_length=200, blank=True, null=True)
    verified_at = models.DateTimeField(null=True, editable=False)
    verified_by = models.CharField(max_length=64, null=True, editable=False)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)
    version = models.IntegerField(default=1, editable=False)
    deleted_at = models.DateTimeField(null=True, editable=False)

    class Meta:
        db_table = "transit"
        indexes: ClassVar = [
            models.Index(fields=["company_name", "id"], name="by_company"),
            models.Index(fields=["status", "company_name", "id"], name="by_status_and_company"),
            models.Index(fields=["airport_code", "-id"], name="by_code"),
        ]

    @property
    def etag(self) -> str:
        """The ETag of the record: its version."""
        return f'"{self.version}"'
