"""The field types that a kind can use; each parses, validates and renders its values."""

from groundtransport.records.fields.base import Choice, Field, Paragraphs, Select, declare
from groundtransport.records.fields.bound import Place
from groundtransport.records.fields.choices import YesNo
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
    "Paragraphs",
    "Phone",
    "Place",
    "Select",
    "StateField",
    "WholeNumber",
    "YesNo",
    "declare",
    "declare_amount",
]
