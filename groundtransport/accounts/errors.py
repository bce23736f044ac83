"""The base class of errors whose message is shown to the user."""

from translationstring import TranslationString


class Refused(ValueError):
    """The operation is refused. ``text`` is the reason, to be translated."""

    def __init__(self, text: TranslationString) -> None:
        super().__init__(text.interpolate())
        self.text = text
