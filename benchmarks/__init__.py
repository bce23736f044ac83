"""How fast it is: `make bench`. Nothing of this is part of the service."""
