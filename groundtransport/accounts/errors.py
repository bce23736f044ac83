"""A refusal with a reason for people."""

from translationstring import TranslationString


class Refused(ValueError):
    """It cannot be done; ``text``, to be translated, says why."""

    def __init__(self, text: TranslationString) -> None:
        super().__init__(text.interpolate())
        self.text = text
