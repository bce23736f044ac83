"""The waitress runner: ``use = egg:groundtransport`` in an ini's ``[server:main]``."""
