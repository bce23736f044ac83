"""The screens that pages are looked at on."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Screen:
    width: int
    height: int
    scale: float = 1
    touch: bool = False

    @property
    def viewport(self) -> dict[str, int]:
        return {"width": self.width, "height": self.height}


DESKTOP = Screen(1280, 900)
WIDE = Screen(2560, 1440)
PHONE = Screen(360, 740, scale=2, touch=True)
# A desktop's window zoomed to 200 % has half its CSS pixels at twice the density.
ZOOMED = Screen(640, 450, scale=2)
