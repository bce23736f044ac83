"""The error of a setting, and the prefix of the names of settings in the ini."""

PREFIX = "groundtransport."


class SettingsError(SystemExit):
    """A setting is missing or invalid. As a SystemExit it ends ``pserve`` with its message, without a traceback."""
