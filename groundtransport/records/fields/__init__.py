"""The fields a kind can have: each turns what was typed into a value, or says why not.

The rules are those of the contract. A field reads the ``Place`` that its schema was bound to.
"""

from groundtransport.records.fields.base import Choice, Field, Paragraphs, Select, declare
from groundtransport.records.fields.bound import Place
from groundtransport.records.fields.contact import Link, Phone
from groundtransport.records.fields.place import AirportCity, AirportField, CityField, StateField

__all__ = [
    "AirportCity",
    "AirportField",
    "Choice",
    "CityField",
    "Field",
    "Link",
    "Paragraphs",
    "Phone",
    "Place",
    "Select",
    "StateField",
    "declare",
]
