"""The peers of the API's benchmark: Django REST framework and django-ninja over the same table, in one Django project.

These modules run in an environment of their own, made by benchmarks/beside.py from requirements.txt. Both APIs are
written as their documentation shows, with what makes them quick: persistent connections, cursor pages (no count), an
index for each query, and ETags from the version, compared before a record is serialised.
"""
