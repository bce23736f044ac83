"""Parameter types of options."""

import re
from datetime import timedelta

import click

LONGEST = 100 * 365  # days
UNITS = {"d": 1, "w": 7, "y": 365}  # days


class Age(click.ParamType[timedelta]):
    """A duration such as 90d, 12w or 1y, up to 100 years."""

    name = "age"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> timedelta:
        match = re.fullmatch(r"([0-9]{1,5})([dwy])", str(value))
        days = int(match[1]) * UNITS[match[2]] if match else LONGEST + 1
        if days > LONGEST:
            self.fail("Write an age as 90d, 12w or 1y, up to 100y.", param, ctx)
        return timedelta(days=days)
