"""The field types that a kind can use; each parses, validates and renders its values."""

from groundtransport.records.fields.base import Field, Paragraphs, declare
from groundtransport.records.fields.bound import OtherPlaces, Place
from groundtransport.records.fields.choices import Choice, Select, SeveralChoices, YesNo
from groundtransport.records.fields.columns import AmountColumn, DateColumn
from groundtransport.records.fields.contact import Email, Link, Phone
from groundtransport.records.fields.hours import OpeningHours
from groundtransport.records.fields.numbers import Amount, DateField, WholeNumber, declare_amount
from groundtransport.records.fields.place import AirportCity, AirportField, CityField, StateField

__all__ = [
    "AirportCity",
    "AirportField",
    "Amount",
    "AmountColumn",
    "Choice",
    "CityField",
    "DateColumn",
    "DateField",
    "Email",
    "Field",
    "Link",
    "OpeningHours",
    "OtherPlaces",
    "Paragraphs",
    "Phone",
    "Place",
    "Select",
    "SeveralChoices",
    "StateField",
    "WholeNumber",
    "YesNo",
    "declare",
    "declare_amount",
]
